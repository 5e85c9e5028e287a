mod chains; // chains and diamonds
mod parts; // sub-charts, groups and releases
mod plans; // plans, and cycles
mod rolled_back; // what a rollback brings back
pub(crate) mod slots; // caps: how many of a wave may run at once
mod strategies; // pods that are replaced late, or run by the kubelet alone
mod updates; // what becomes of a workload that is applied, replaced, scaled or restarted
mod waves; // weights
