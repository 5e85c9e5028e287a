//! What fills [`crate::known`] from the API server, and writes down what has to outlive the process.
//!
//! Nothing asks anything of these modules: they are spawned, and what they learn is read from [`crate::known`].

pub mod catalog;
mod config_map;
pub mod health_rules;
pub mod memory;
pub mod plans;
pub mod slots;
mod watch;

pub use config_map::ConfigMapRef;
