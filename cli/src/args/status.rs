//! The arguments of `status`.

use super::{Colored, Connection, OUTPUT, wrong};
use crate::offline::{self, Profile};
use crate::output::Output;
use crate::status::{self, Manner, StatusFormat, Subject};
use crate::subject::Named;
use crate::{health_rules, input};
use anyhow::Result;
use clap::Args;
use jiff::Timestamp;
use rules::annotation;
use rules::health::Rules;
use rules::selector::Selector;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// A pod, `NAME` or `pod/NAME`, or a workload, `deploy/NAME`; default: every pod of the namespace that waits.
    #[arg(value_name = "POD|KIND/NAME", conflicts_with_all = ["release", "all_namespaces", "file"])]
    subject: Option<String>,
    /// The pods of this Helm release or Argo CD application.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["all_namespaces", "file"])]
    release: Option<String>,
    /// Every pod of all namespaces that waits.
    #[arg(short = 'A', long, conflicts_with = "file")]
    all_namespaces: bool,
    /// Only pods with these labels, like app=web,tier!=test.
    #[arg(short = 'l', long, value_name = "LABELS", conflicts_with_all = ["subject", "file"], value_parser = labels)]
    selector: Option<Selector>,
    /// A manifest: YAML documents, JSON values or lists, or the folder of a chart or a kustomization; `-` is standard input. An
    /// object without a namespace is put into that of -n.
    #[arg(short, long = "filename", value_name = "FILE")]
    file: Option<PathBuf>,
    /// The rules that judge the manifest.
    #[arg(long, value_enum, default_value_t = Profile::Sluice, requires = "file", conflicts_with = "subject")]
    profile: Profile,
    /// Health rules of an administrator, which judge the manifest before the library does: a list of them, or the
    /// ConfigMap that holds them; `-` is standard input.
    #[arg(
        long,
        value_name = "FILE",
        requires = "file",
        conflicts_with = "subject"
    )]
    rules: Option<PathBuf>,
    /// The time to judge the manifest at, like 2026-01-31T12:00:00Z; default: now.
    #[arg(long, value_name = "TIME", requires = "file", conflicts_with = "subject", value_parser = time)]
    now: Option<Timestamp>,
    /// How to print it.
    #[arg(short, long, help_heading = OUTPUT, value_enum, default_value_t = StatusFormat::Text)]
    output: StatusFormat,
    /// Live: shows it again whenever it changes, until nothing waits any more. Without a terminal, a line for each change.
    #[arg(short, long, conflicts_with = "file")]
    watch: bool,
    #[command(flatten)]
    color: Colored,
}

impl StatusArgs {
    pub(super) async fn run(self, connection: Connection) -> Result<ExitCode> {
        if let Some(file) = self.file {
            let rules = self.rules;
            let rules = rules.map(|rules| administrators(&rules, &file, self.profile));
            return offline::run(&offline::OfflineOptions {
                file,
                namespace: connection.namespace,
                profile: self.profile,
                now: self.now.unwrap_or_else(Timestamp::now),
                output: of_manifests(self.output),
                style: self.color.style(),
                rules: rules.transpose()?.unwrap_or_default(),
            });
        }
        let subject = match (self.subject, self.release, self.all_namespaces) {
            (Some(subject), ..) => Subject::Named(Named::of(&subject)?),
            (None, Some(release), _) => Subject::Release(release),
            (None, None, true) => Subject::Everywhere,
            (None, None, false) => Subject::Namespace,
        };
        let manner = Manner {
            format: self.output,
            style: self.color.style(),
            watch: self.watch,
        };
        let labels = self.selector.unwrap_or_default();
        let (client, namespace) = connection.open().await?;
        status::run(client, &namespace, subject, labels, manner).await
    }
}

fn of_manifests(format: StatusFormat) -> Output {
    match format {
        StatusFormat::Text => Output::Text,
        StatusFormat::Json => Output::Json,
        StatusFormat::Wide | StatusFormat::Yaml => wrong("of a manifest -o takes text or json"),
    }
}

fn labels(text: &str) -> Result<Selector, String> {
    annotation::labels(text).map_err(|problem| problem.to_string())
}

fn time(text: &str) -> Result<Timestamp, String> {
    let time = text.parse();
    time.map_err(|_| "write it in RFC 3339, like 2026-01-31T12:00:00Z".to_owned())
}

/// Loads the health rules of `--rules`. Ends the process where they stand beside `--profile kstatus`, or where the manifest and the rules are
/// both to be read from standard input.
fn administrators(rules: &Path, manifest: &Path, profile: Profile) -> Result<Rules> {
    if profile == Profile::Kstatus {
        wrong("--rules judges with --profile sluice; leave one of them out");
    }
    if input::is_stdin(rules) && input::is_stdin(manifest) {
        wrong("standard input can be read once; name a file for -f or for --rules");
    }
    health_rules::load(rules)
}
