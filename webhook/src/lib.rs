//! The controller process: admission webhook and status service.
//!
//! Floors, top to bottom; a module imports only from floors below its own:
//! * args
//! * gate_policy, process
//! * admission, status, follow, authority, server, admin
//! * inject, known, event, metrics
//! * readiness, shutdown, tasks, client, digest, telemetry
//! * clock

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that waits for what it spawned hears of its panic"
    )
)]

pub mod admin;
pub mod admission;
pub mod args;
pub mod authority;
pub mod client;
pub mod clock;
mod digest;
mod event;
pub mod follow;
pub mod gate_policy;
pub mod inject;
pub mod known;
pub mod metrics;
pub mod process;
pub mod readiness;
pub mod server;
pub mod shutdown;
pub mod status;
pub mod tasks;
pub mod telemetry;
