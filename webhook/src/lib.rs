//! The controller process: admission webhook and status service.
//!
//! Floors, top to bottom; a module imports only from floors below its own:
//! * args
//! * gate_spec, process, stranded
//! * admission, status, follow, authority, server, admin
//! * inject, known, event, lists, metrics
//! * readiness, shutdown, tasks, client, connections, container, digest, fair_queue, lean, telemetry
//! * clock, memory_alarm

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "a test that waits for what it spawned hears of its panic"
    )
)]

mod admin;
mod admission;
mod args;
mod authority;
mod client;
mod clock;
mod connections;
mod container;
mod digest;
mod event;
mod fair_queue;
mod follow;
mod gate_spec;
mod inject;
mod known;
mod lean;
mod lists;
mod memory_alarm;
mod metrics;
mod process;
mod readiness;
mod server;
mod shutdown;
mod status;
mod stranded;
mod tasks;
mod telemetry;

// The types that `main` starts, and those that the crate `tests` uses without a process.
pub use admission::{
    AddressBlock, Admission, AdmissionLimits, AdmissionMetrics, Cached, CreationHolds,
};
pub use args::Args;
pub use authority::{Authority, AuthorityMetrics, Config as AuthorityConfig};
pub use clock::Clock;
pub use connections::{Bounds, Certified};
pub use inject::{
    Action, Amounts, Decision, Edit, GATE_USER, GateParts, GateSpec, Holds, Operation, Options,
    Prefetch, Request, Resources, ResourcesError, Skip, Subject, pod, workload,
};
pub use known::{Known, Settings, View};
pub use memory_alarm::MemoryAlarm;
pub use readiness::Readiness;
pub use server::{Port, Server, ServerLimits, ServerMetrics};
pub use shutdown::Shutdown;
