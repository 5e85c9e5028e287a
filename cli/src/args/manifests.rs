//! The commands that read manifests and charts.

use super::{Colored, Connection, OUTPUT, wrong};
use crate::graph::GraphFormat;
use crate::objects::Input;
use crate::source::Chart;
use crate::{graph, input, lint, suggest};
use anyhow::Result;
use clap::Args as ClapArgs;
use std::path::PathBuf;
use std::process::ExitCode;

/// The sources of objects without a cluster.
#[derive(Debug, ClapArgs)]
struct Manifests {
    /// Manifests: files, folders with *.yaml, *.yml and *.json, charts (folders with a Chart.yaml, rendered by `helm template`),
    /// kustomizations (folders with a kustomization.yaml, built by `kubectl kustomize`); `-` is standard input. May be given several
    /// times. An object without a namespace is put into that of -n, or into that of the chart beside it.
    #[arg(short, long = "filename", value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Read the folders in a folder too. A file that only a kustomization reads, and a kustomization that another one refers to, is then
    /// no manifest of its own.
    #[arg(short = 'R', long, requires = "file")]
    recursive: bool,
    /// Values to render a chart with, as Helm takes them. May be given several times.
    #[arg(long, value_name = "FILE", requires = "file")]
    values: Vec<PathBuf>,
    /// A value to render a chart with, as Helm takes it. May be given several times.
    #[arg(long, value_name = "KEY=VALUE", requires = "file")]
    set: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct LintArgs {
    #[command(flatten)]
    manifests: Manifests,
    /// Take a warning or a note for an error.
    #[arg(long)]
    strict: bool,
    /// How to print it.
    #[arg(short, long, help_heading = OUTPUT, value_enum, default_value_t = lint::ReportFormat::Text)]
    output: lint::ReportFormat,
    #[command(flatten)]
    color: Colored,
}

#[derive(Debug, ClapArgs)]
pub(super) struct GraphArgs {
    #[command(flatten)]
    manifests: Manifests,
    /// Only this Helm release or Argo CD application, and what it waits for. A chart is rendered under this name.
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// How to print it.
    #[arg(short, long, help_heading = OUTPUT, value_enum, default_value_t = GraphFormat::Text)]
    output: GraphFormat,
    #[command(flatten)]
    color: Colored,
}

#[derive(Debug, ClapArgs)]
pub(super) struct SuggestArgs {
    /// Charts, kustomizations, folders with manifests or templates, or single files; a Compose file gets labels for its services. May be
    /// given several times.
    #[arg(short, long = "filename", value_name = "CHART|DIR", required = true)]
    file: Vec<PathBuf>,
    /// Values to render a chart with, as Helm takes them. May be given several times.
    #[arg(long, value_name = "FILE")]
    values: Vec<PathBuf>,
    /// A value to render a chart with, as Helm takes it. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Manifests {
    fn input(self, namespace: Option<String>, release: Option<String>) -> Input {
        if self
            .file
            .iter()
            .filter(|path| input::is_stdin(path))
            .count()
            > 1
        {
            wrong("standard input can be read once; name `-` once");
        }
        Input {
            paths: self.file,
            recursive: self.recursive,
            chart: Chart {
                release,
                namespace,
                values: self.values,
                set: self.set,
            },
        }
    }
}

impl LintArgs {
    pub(super) fn run(self, connection: Connection) -> Result<ExitCode> {
        if self.manifests.file.is_empty() {
            wrong(
                "lint needs -f, the manifests or the chart to look at, for example:\n  kubectl sluice lint -f chart/\n  \
                 helm template chart/ | kubectl sluice lint -f -",
            );
        }
        let input = self.manifests.input(connection.namespace, None);
        lint::run(&input, self.strict, self.output, self.color.style())
    }
}

impl SuggestArgs {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { file, values, set } = self;
        suggest::run(&suggest::Suggesting {
            paths: file,
            values,
            set,
        })
    }
}

impl GraphArgs {
    pub(super) async fn run(self, connection: Connection) -> Result<ExitCode> {
        let Self {
            manifests,
            release,
            output,
            color,
        } = self;
        let form = (output, color.style());
        if !manifests.file.is_empty() {
            let input = manifests.input(connection.namespace, release.clone());
            return graph::offline(&input, release.as_deref(), form);
        }
        let (client, namespace) = connection.open().await?;
        graph::cluster(client, &namespace, release.as_deref(), form).await
    }
}
