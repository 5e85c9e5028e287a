//! Tests of the effects of sluice that a user sees in a real cluster. `make test` brings one up, installs sluice and runs these; by hand:
//! `KUBECONFIG=... cargo test --workspace --test it -- --ignored --test-threads 10 cluster::`. They mostly wait, so more of them than there are
//! processors run at a time.

mod annotations; // what a list says, and what admission makes of it
pub(crate) mod command_line; // `kubectl sluice` beside the gate
mod documented; // the blocks of the documentation that need a cluster
mod installers; // Helm, kubectl and public charts
mod metrics; // what the controller counts, and the alerts that rest on it
pub(crate) mod order; // order in a release
mod outside; // addresses outside of the cluster, and ordinals
mod pulled; // images that are pulled before the gate begins
mod readiness; // when a dependency is satisfied
mod security; // narrow pods, other webhooks, and what is sent to the port
pub(crate) mod troubleshooting; // what a user is told of a wait
mod without_others; // each runs alone: what is one for the whole cluster
mod without_sluice; // last, because each runs alone: sluice removed, rolled, stopped
