//! Integration tests.

/// The admission webhook over its router, without a socket: answers, goldens, and the laws of its patches.
mod admission;
