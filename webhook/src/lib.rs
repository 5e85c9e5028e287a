//! The controller process: admission webhook and status service.

pub mod admin;
pub mod admission;
pub mod authority;
pub mod inject;
pub mod readiness;
pub mod server;
pub mod shutdown;
pub mod telemetry;
