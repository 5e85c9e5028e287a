//! Integration tests: one binary, because linking is what costs.

/// The admission webhook over its router, without a socket: answers, goldens, and the laws of its patches.
mod admission;
/// What Helm renders of charts/sluice.
mod chart;
