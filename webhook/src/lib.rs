//! Vocabulary.

pub mod admin;
pub mod authority;
pub mod readiness;
pub mod server;
pub mod shutdown;
pub mod telemetry;
