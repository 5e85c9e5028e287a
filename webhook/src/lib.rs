//! The controller process: admission webhook and status service.

pub mod admin;
pub mod admission;
pub mod args;
pub mod authority;
pub mod cache;
pub mod catalog;
pub mod client;
mod config_map;
mod event;
pub mod gate_policy;
pub mod health_rules;
pub mod inject;
pub mod memory;
pub mod metrics;
pub mod plans;
pub mod readiness;
pub mod server;
pub mod shutdown;
pub mod slots;
pub mod status;
pub mod telemetry;
pub mod watch;
