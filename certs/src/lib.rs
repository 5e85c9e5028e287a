//! One certificate authority, leaves in memory, and the plan that says when to renew.
//!
//! * The **CA** is shared: every replica of the controller signs with the same CA, so one bundle is enough to trust all
//!   replicas. Former CAs vouch for it, because a gate carries the bundle of its injection for the life of its pod.
//! * A **leaf** belongs to one process, is never stored, and lives for a week by default.
//! * The **bundle** holds the certificates that clients trust: those of the CA, of the next CA and of the former CA.
//! * The [`plan`] compares the store, the memory of this process and the clock, and decides the next step and its reason.
//! * The [`Resolver`] puts a leaf behind a TLS listener and swaps it without a restart.
//!
//! This crate knows PEM and time. It does not know Kubernetes, does no I/O and reads no clock.
//!
//! Floors, top to bottom; a module imports only from floors below its own:
//! * plan, resolver
//! * leaf
//! * ca
//! * bundle, checked_lifetimes, parameters, verify

mod bundle;
mod ca;
mod checked_lifetimes;
mod leaf;
mod parameters;
pub mod plan;
mod resolver;
mod verify;

pub use bundle::{MAX_CERTIFICATES, MAX_PEM, PemError, certificates, joined};
pub use ca::{Ca, CaError, CaParts};
pub use checked_lifetimes::{Lifetimes, LifetimesError};
pub use leaf::{Leaf, LeafError};
pub use resolver::Resolver;
/// A certificate as DER. Two certificates are equal when these bytes are.
pub use rustls::pki_types::CertificateDer;
