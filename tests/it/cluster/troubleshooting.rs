mod causes; // why what is waited for is not ready, down to its root
mod fits; // pods that no more than fit, come from elsewhere, or have an old template
mod missing; // dependencies that are not there
mod never; // dependencies that never come
pub(crate) mod room; // what fits on no node
mod told; // events and `kubectl sluice`
