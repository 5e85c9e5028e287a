//! Tools that several tests share: our processes, stand-ins for the services that these talk to, and a real cluster.

pub mod cluster;
pub mod gate;
pub mod gitops;
pub mod machine;
pub mod presets;
pub mod process;
pub mod samples;
pub mod status;
pub mod token;
pub mod unscheduled;
