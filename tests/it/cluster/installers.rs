mod charts; // the charts of the pages about public charts
pub(in crate::cluster) mod helm; // the examples by `helm install --wait` and `helm upgrade`
mod hooks; // a migration that Helm runs as a hook
mod waits; // Helm over a release that waits
mod writers; // kubectl, other than by a plain apply // last, because each runs alone: sluice removed, rolled, stopped
