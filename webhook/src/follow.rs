//! Fills [`crate::known`] from the API server, and writes down the data that has to outlive the process.
//!
//! Other modules ask nothing of these modules: tasks run them, and their results are read from [`crate::known`].

pub(crate) mod catalog;
pub(crate) mod discovery;
pub(crate) mod granted;
pub(crate) mod health_rules;
pub(crate) mod memory;
mod one_object;
pub(crate) mod plans;
pub(crate) mod pod_causes;
mod served;
pub(crate) mod shards;
pub(crate) mod slots;
mod watch;

pub(crate) use one_object::ConfigMapRef;
pub(crate) use watch::Observer;

use std::time::Duration;

/// The pause after which sluice asks again for a kind that the API server did not serve.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
