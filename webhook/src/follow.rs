//! What fills [`crate::known`] from the API server, and writes down what has to outlive the process.
//!
//! Nothing asks anything of these modules: they are spawned, and what they learn is read from [`crate::known`].

pub(crate) mod catalog;
pub(crate) mod discovery;
pub(crate) mod glances;
pub(crate) mod granted;
pub(crate) mod health_rules;
pub(crate) mod memory;
pub(crate) mod plans;
mod served;
pub(crate) mod sheets;
mod single;
pub(crate) mod slots;
mod watch;

pub(crate) use single::ConfigMapRef;
pub(crate) use watch::Observer;
