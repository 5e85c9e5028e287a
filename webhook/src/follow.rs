//! What fills [`crate::known`] from the API server, and writes down what has to outlive the process.
//!
//! Nothing asks anything of these modules: they are spawned, and what they learn is read from [`crate::known`].

pub(crate) mod catalog;
mod config_map;
pub(crate) mod glances;
pub(crate) mod health_rules;
pub(crate) mod memory;
pub(crate) mod plans;
pub(crate) mod sheets;
pub(crate) mod slots;
mod watch;

pub(crate) use config_map::ConfigMapRef;
