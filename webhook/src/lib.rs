//! The controller process: admission webhook and status service.

pub mod admin;
pub mod admission;
pub mod args;
pub mod authority;
pub mod client;
mod event;
pub mod follow;
pub mod gate_policy;
pub mod inject;
pub mod known;
pub mod metrics;
pub mod readiness;
pub mod server;
pub mod shutdown;
pub mod status;
pub mod telemetry;
