//! What more than one test needs: processes of ours, and stand-ins for the services that they talk to.

pub mod process;
pub mod samples;
pub mod status;
