//! The status service: it finds the pod that a token belongs to, judges the dependencies of that pod, and answers its gate. It also
//! releases held pods, suspended Jobs and held creations.
//!
//! `http` is the boundary, `answer` the decision, `wait` the one loop in which `long_poll`, `held_pods`, `suspended_jobs` and
//! `held_creations` are looked at, and `tell` the effect: Events, conditions, metrics and the log.

mod answer;
mod budget;
mod gate_report;
mod held_creations;
mod held_places;
mod held_pods;
mod hold_writer;
mod http;
mod identity;
mod long_poll;
mod release;
mod remembered_tokens;
mod rounds;
mod service;
mod suspended_jobs;
mod tell;
mod token;
mod turns;
mod unidentified;
mod wait;
mod wait_places;
mod wait_registry;

pub(crate) use held_creations::CreationKeeper;
pub(crate) use held_places::HeldPlaces;
pub(crate) use held_pods::{PodReleaser, held_pods};
pub(crate) use http::router;
pub(crate) use identity::Authenticator;
pub(crate) use rounds::Rounds;
pub(crate) use service::{Beat, Service};
pub(crate) use suspended_jobs::{JobResumer, suspended_jobs};
pub(crate) use tell::{PodConditions, Recorder, Teller, WaitMetrics};
pub(crate) use token::issuer;
pub(crate) use turns::Turns;
pub(crate) use wait_registry::{WaitRegistry, Waiter};

#[cfg(test)]
mod tests;
