//! The controller process: admission webhook and status service.
//!
//! Floors, top to bottom; a module imports only from floors below its own:
//! * args
//! * gate_policy
//! * admission, status, follow, authority, server, admin
//! * inject, known, shutdown, event, metrics
//! * readiness, client, telemetry

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
