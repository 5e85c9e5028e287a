mod beyond_kstatus; // kinds of which kstatus alone says too little
mod custom; // kinds that are not built in, and those that come later
mod early; // what would open a gate too early
mod jobs; // when a Job is done
pub(in crate::cluster) mod memory; // what outlives the objects that it was seen on
mod services; // when pods serve a Service
mod stale; // what is left to be seen of an older state
mod workloads; // every kind of workload
