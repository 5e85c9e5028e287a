//! The arguments of `check`.

use super::connection::duration;
use super::{Colored, Connection, OUTPUT};
use crate::check;
use crate::output::Output;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Whether it can be installed.
    #[arg(long, conflicts_with = "health_rules")]
    pre: bool,
    /// Looks again until there is no problem, for so long at most, like 90s or 2m.
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "health_rules")]
    wait: Option<Duration>,
    /// Health rules: a list of them, or the ConfigMap that holds them; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    health_rules: Option<PathBuf>,
    /// How to print what is found in the cluster.
    #[arg(short, long, help_heading = OUTPUT, value_enum, default_value_t = Output::Text, conflicts_with = "health_rules")]
    output: Output,
    #[command(flatten)]
    color: Colored,
}

impl CheckArgs {
    pub(super) async fn run(self, connection: Connection) -> Result<ExitCode> {
        if let Some(path) = self.health_rules {
            return check::rules(&path);
        }
        let named = connection.namespace.clone();
        let (client, namespace) = connection.open().await?;
        let what = if self.pre {
            check::CheckTarget::Before(named.unwrap_or_else(|| "sluice-system".to_owned()))
        } else {
            check::CheckTarget::Installed(namespace)
        };
        let patience = self.wait.unwrap_or_default();
        check::cluster(&client, &what, patience, (self.output, self.color.style())).await
    }
}
