//! The command line.

mod manifests;

use crate::offline::{self, Profile};
use crate::output::Output;
use crate::{check, health_rules, input, release, status, ui};
use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{ArgGroup, Args as ClapArgs, CommandFactory, Parser, Subcommand};
use jiff::Timestamp;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use manifests::{GraphArgs, LintArgs};
use rules::health::Rules;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Says what waits for what in a cluster with sluice, and why. `release POD` opens the gate of a pod; `--release NAME` is
/// a Helm release.
#[derive(Debug, Parser)]
#[command(name = "kubectl-sluice", bin_name = "kubectl sluice", version)]
pub(crate) struct Args {
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, ClapArgs)]
struct Connection {
    /// The namespace; default: that of the kubeconfig's context.
    #[arg(short, long, global = true)]
    namespace: Option<String>,
    /// The kubeconfig file; default: KUBECONFIG, then ~/.kube/config, then the pod's own account.
    #[arg(long, global = true)]
    kubeconfig: Option<PathBuf>,
    /// The kubeconfig's context.
    #[arg(long, global = true)]
    context: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What a pod waits for, or with -f what the rules say of each object of a manifest.
    ///
    /// With POD: each dependency of its list, its status, and why. Reads the cluster with your own rights and judges
    /// with the rules of the status service.
    ///
    /// With -f: asks no cluster. A Service is judged by the EndpointSlices of the same file, a claim by its
    /// StorageClasses, a custom resource by its CustomResourceDefinition.
    ///
    /// Exit code 0: nothing holds the pod back, or every object is Current; 1: an error, after what came before it;
    /// 2: wrong arguments; 3: something is not as it has to be.
    Status(StatusArgs),
    /// Break-glass: opens a pod's gate at once, whatever it waits for.
    ///
    /// Sets the annotation sluice.dev/skip to "true" on the pod, or with --owner on the workload above it, for every pod
    /// that it makes from then on. Nothing restarts. Prints how to undo it, and asks nothing. Needs the right to
    /// patch the pod or the workload.
    ///
    /// Exit code 0: it is set, or the gate was open; 1: an error; 2: wrong arguments.
    Release(ReleaseArgs),
    /// Who waits for whom, in which order things start, and where the time went.
    ///
    /// Without -f: the workloads of a namespace, or with --release of one release, and what they wait for. A row for each
    /// in the order in which they start: its step (those of one step start together), its wave, its status and why, and
    /// what it waits for. Then how long the gate of each pod waited, and the critical path: the chain of dependencies that
    /// determined when the last one became ready, with the seconds of each. Times are those that pods and Jobs carry, so
    /// a pod that was not ready for a while counts from when it was ready again. Reads the cluster with your own rights.
    ///
    /// With -f: the same of manifests or a chart, without status and times; asks no cluster.
    ///
    /// What is in a cycle is marked `cycle`, what waits for that `never`.
    ///
    ///   kubectl sluice graph --release shop
    ///   kubectl sluice graph -f CHART -o dot | dot -Tsvg > shop.svg
    ///
    /// Exit code 0: it is told; 1: an error; 2: wrong arguments; 3: there is a cycle.
    #[command(verbatim_doc_comment)]
    Graph(GraphArgs),
    /// The same of a cluster in your browser, while it changes.
    ///
    /// A page with the graph, what waits for what and why, the critical path and a timeline. Serves it on 127.0.0.1 alone, at an address with a secret, which it prints, until Ctrl-C ends it. Reads the cluster with
    /// your own rights, and as long as somebody looks; nothing new runs in it.
    ///
    /// Exit code 0: it was ended by Ctrl-C; 1: an error; 2: wrong arguments.
    Ui(UiArgs),
    /// What is wrong with the annotations of manifests, before a cluster sees them.
    ///
    /// Reads every annotation of sluice, of HIP-0025 and config.kubernetes.io/depends-on, on objects and on pod
    /// templates, and names the file, line and column, the object and the key of what is refused at admission.
    /// Then looks at what the objects are to each other: what never starts (a cycle, a hook that comes too late) is an
    /// error too; a dependency that is likely not meant is a warning; one that is not in the input is a note, or a
    /// warning where one with nearly its name is. Weights, caps and plans are looked at as well. Asks no cluster. A
    /// chart's folder is rendered by helm.
    ///
    /// Exit code 0: no error; 1: an error, or with --strict anything; 2: wrong arguments.
    Lint(LintArgs),
    /// Whether the installed sluice can do its work, or with --health-rules what is wrong with a file of health rules.
    ///
    /// Without an option: looks at the controller, its webhook configuration, the administrator's health rules, what
    /// the controller may read, the versions, and the namespaces in which every pod is gated. A line for each: `ok`,
    /// `warning` or `problem`, and the way out. Reads the cluster with your own rights and changes nothing.
    ///
    /// With --health-rules: asks no cluster.
    ///
    /// Exit code 0: no problem; 1: a problem, or an error; 2: wrong arguments.
    Check(CheckArgs),
}

#[derive(Debug, ClapArgs)]
struct ReleaseArgs {
    /// The pod, `NAME` or `pod/NAME`.
    pod: String,
    /// On the topmost workload above the pod (the Deployment, not its ReplicaSet), for all of its pods.
    #[arg(long)]
    owner: bool,
}

#[derive(Debug, ClapArgs)]
struct UiArgs {
    /// Show this Helm release or Argo CD application first, and what it waits for.
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// The port to serve at; 0 is one that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

#[derive(Debug, ClapArgs)]
struct CheckArgs {
    /// Health rules: a list of them, or the ConfigMap that holds them; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    health_rules: Option<PathBuf>,
    /// How to print what is found in the cluster.
    #[arg(short, long, value_enum, default_value_t = Output::Text, conflicts_with = "health_rules")]
    output: Output,
}

#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("subject").args(["pod", "file"]).required(true))]
struct StatusArgs {
    /// The pod, `NAME` or `pod/NAME`.
    pod: Option<String>,
    /// A manifest: YAML documents, JSON values or lists; `-` is standard input.
    #[arg(short, long = "filename", value_name = "FILE")]
    file: Option<PathBuf>,
    /// The rules that judge the manifest.
    #[arg(long, value_enum, default_value_t = Profile::Sluice, conflicts_with = "pod")]
    profile: Profile,
    /// Health rules of an administrator, which judge the manifest before the library does: a list of them, or the
    /// ConfigMap that holds them; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "pod")]
    rules: Option<PathBuf>,
    /// The time to judge the manifest at, like 2026-01-31T12:00:00Z; default: now.
    #[arg(long, value_name = "TIME", conflicts_with = "pod")]
    now: Option<Timestamp>,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

impl Args {
    pub(crate) async fn run(self) -> Result<ExitCode> {
        let Self {
            connection,
            command,
        } = self;
        match command {
            Command::Status(status) => status.run(connection).await,
            Command::Release(ReleaseArgs { pod, owner }) => {
                let (client, namespace) = connection.open().await?;
                release::run(client, &namespace, bare(&pod), owner).await
            }
            Command::Graph(graph) => graph.run(connection).await,
            Command::Ui(ui) => ui.run(connection).await,
            Command::Lint(lint) => lint.run(connection),
            Command::Check(check) => check.run(connection).await,
        }
    }
}

impl UiArgs {
    async fn run(self, connection: Connection) -> Result<ExitCode> {
        let (client, namespace) = connection.open().await?;
        let Self { release, port } = self;
        ui::run(
            client,
            ui::Options {
                namespace,
                release,
                port,
            },
        )
        .await
    }
}

impl CheckArgs {
    async fn run(self, connection: Connection) -> Result<ExitCode> {
        let Self {
            health_rules,
            output,
        } = self;
        match health_rules {
            Some(path) => check::rules(&path),
            None => check::cluster(&connection.open().await?.0, output).await,
        }
    }
}

impl StatusArgs {
    async fn run(self, connection: Connection) -> Result<ExitCode> {
        let Self {
            pod,
            file,
            profile,
            rules,
            now,
            output,
        } = self;
        if let Some(file) = file {
            let rules = rules.map(|rules| administrators(&rules, &file, profile));
            return offline::run(&offline::Options {
                file,
                profile,
                now: now.unwrap_or_else(Timestamp::now),
                output,
                rules: rules.transpose()?.unwrap_or_default(),
            });
        }
        let pod = pod.context("a pod or a file must be named")?;
        let (client, namespace) = connection.open().await?;
        status::run(client, &namespace, bare(&pod), output).await
    }
}

/// The name in `pod/NAME`.
fn bare(pod: &str) -> &str {
    pod.strip_prefix("pod/")
        .or_else(|| pod.strip_prefix("pods/"))
        .unwrap_or(pod)
}

/// The rules of `--rules`, where it makes sense beside the other arguments.
fn administrators(rules: &Path, manifest: &Path, profile: Profile) -> Result<Rules> {
    if profile == Profile::Kstatus {
        wrong("--rules judges with --profile sluice; leave one of them out");
    }
    if input::is_stdin(rules) && input::is_stdin(manifest) {
        wrong("standard input can be read once; name a file for -f or for --rules");
    }
    health_rules::load(rules)
}

/// Ends the process as clap does where arguments do not fit together.
fn wrong(why: &str) -> ! {
    Args::command()
        .error(ErrorKind::ArgumentConflict, why)
        .exit()
}

impl Connection {
    async fn open(self) -> Result<(Client, String)> {
        let Self {
            namespace,
            kubeconfig,
            context,
        } = self;
        let options = KubeConfigOptions {
            context,
            ..KubeConfigOptions::default()
        };
        let mut config = match (kubeconfig, &options.context) {
            (Some(path), _) => {
                let file = Kubeconfig::read_from(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                Config::from_custom_kubeconfig(file, &options).await?
            }
            (None, Some(_)) => Config::from_kubeconfig(&options).await?,
            (None, None) => Config::infer().await?,
        };
        // A person waits for the answer: by default kube asks for minutes where the server of an aggregated API is down.
        config.default_retry = false;
        let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
        Ok((
            Client::try_from(config).context("cannot make a client for the API server")?,
            namespace,
        ))
    }
}
