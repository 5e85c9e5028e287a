//! The effects of sluice that a user sees in a real cluster. `make test` brings one up, installs sluice and runs these; by hand:
//! `KUBECONFIG=... cargo test --workspace --test it -- --ignored --test-threads 16 cluster::`. They mostly wait, so more
//! of them than there are processors run at a time.

mod admitted; // what admission makes of pods and workloads that are out of the ordinary
mod annotations; // which annotations count, and where they stand
mod causes; // why what is waited for is not ready, down to its root
mod charts; // the charts of the pages about public charts
mod custom; // kinds that are not built in, and those that come later
mod documented; // the blocks of the documentation that need a cluster
mod drawn; // what `kubectl sluice graph` and `ui` draw beside the gate
mod early; // what would open a gate too early
mod edits; // a list that is changed while pods wait
mod entries; // webhooks of the configuration that come and go with the chart
mod fits; // pods that no more than fit, come from elsewhere, or have an old template
mod helm; // the examples by `helm install --wait` and `helm upgrade`
mod hooks; // a migration that Helm runs as a hook
mod installers; // Helm over a release that waits
mod jobs; // when a Job is done
pub(crate) mod judged; // what `kubectl sluice status` says beside the gate
mod kinds; // every kind of workload
mod memory; // what outlives the objects that it was seen on
mod metrics; // what the controller counts, and the alerts that rest on it
mod missing; // dependencies that are not there
mod namespaces; // dependencies in other namespaces
mod never; // dependencies that never come
mod order; // chains and diamonds
mod outside; // addresses outside of the cluster, and ordinals
mod page; // `kubectl sluice ui` in a browser
mod parts; // sub-charts, groups and releases
mod patience; // entries with a timeout of their own, and entries that have to last
mod plans; // plans, and cycles
mod pods; // pods whose namespace or own settings are narrow
mod port; // what is sent to the port of admission that is no review
mod pulled; // images that are pulled before the gate begins
mod ready; // kinds of which kstatus alone says too little
mod refused; // what admission refuses, and in which words
mod reinvoked; // another webhook beside ours
mod rolled_back; // what a rollback brings back
pub(crate) mod room; // what fits on no node
mod selected; // entries that mean several objects
mod services; // when pods serve a Service
pub(crate) mod slots; // caps: how many of a wave may run at once
mod stale; // what is left to be seen of an older state
mod states; // the word behind the colon
mod strategies; // pods that are replaced late, or run by the kubelet alone
mod suggested; // what `kubectl sluice suggest` proposes
mod terms; // timeouts, failures, what is asked again, and skipping
mod told; // events and `kubectl sluice`
mod updates; // what becomes of a workload that is applied, replaced, scaled or restarted
mod waves; // weights
mod without_others; // each runs alone: what is one for the whole cluster
mod without_sluice;
mod writers; // kubectl, other than by a plain apply // last, because each runs alone: sluice removed, rolled, stopped
