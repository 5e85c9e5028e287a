//! The command line.

mod check;
mod completion;
mod connection;
mod manifests;
mod mistakes;
mod status;

use crate::release::ReleaseOptions;
use crate::style::{Color, Style};
use crate::subject::Named;
use crate::{explain, release, ui};
use anyhow::Result;
use check::CheckArgs;
use clap::error::ErrorKind;
use clap::{Args as ClapArgs, CommandFactory, Parser, Subcommand};
use connection::Connection;
use manifests::{GraphArgs, LintArgs, SuggestArgs};
use status::StatusArgs;
use std::io::{IsTerminal, stdout};
use std::process::ExitCode;

/// Shows the waits of a cluster with sluice, and their reasons. `release POD` opens the gate of a pod; `--release NAME` is a Helm
/// release.
#[derive(Debug, Parser)]
#[command(name = "kubectl-sluice", bin_name = "kubectl sluice", version)]
pub(crate) struct Args {
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows the waits of pods, or with -f the verdict of the rules on each object of a manifest.
    ///
    /// Of a pod (`NAME`, `pod/NAME`): each dependency of its list, its status, and why. Of a workload (`deploy/api`), of a
    /// release, of a namespace and with -A of all of them: a tree of workloads, their pods, and what each waits for; of a
    /// namespace and of all only the pods that wait. Reads the cluster with your own rights and judges with the rules of the
    /// status service.
    ///
    ///   kubectl sluice status                     what waits in the namespace
    ///   kubectl sluice status deploy/api
    ///   kubectl sluice status --release shop
    ///
    /// With -f: asks no cluster. A Service is judged by the EndpointSlices of the same file, a claim by its
    /// StorageClasses, a custom resource by its CustomResourceDefinition.
    ///
    /// Exit code 0: nothing waits, or every object is Current; 1: an error, after what came before it; 2: wrong arguments;
    /// 3: a pod waits, a creation is held, or an object is not as it has to be.
    #[command(verbatim_doc_comment)]
    Status(StatusArgs),
    /// Break-glass: opens a pod's gate at once, without its dependencies.
    ///
    /// Sets the annotation sluice.dev/skip to "true" on the pod, or with --owner on the workload above it, for every pod
    /// that it makes from then on. From a pod that is held it takes the scheduling gate sluice.dev/hold too, whether or not sluice
    /// runs. Nothing restarts. Prints how to undo it, and asks nothing. Needs the right to patch the pod or the workload.
    ///
    /// With --all-holds: does that to every pod that is held, and resumes every Job that sluice suspended, in all namespaces, or
    /// in that of -n. It comes before an uninstall, since nothing else lets them go. Says what became of each. Needs the right to
    /// list and patch pods and Jobs there.
    ///
    /// Exit code 0: it is set, or there was nothing to do; 1: an error; 2: wrong arguments.
    Release(ReleaseArgs),
    /// Shows which workload waits for which, in which order they start, and where the time went.
    ///
    /// Without -f: the workloads of a namespace, or with --release of one release, and what they wait for. A row for each
    /// in the order in which they start: its step (those of one step start together), its wave, its status and why, and
    /// what it waits for. Then how long the gate of each pod waited, and the critical path: the chain of dependencies that
    /// determined when the last one became ready, with the seconds of each. Times are those that pods and Jobs carry, so
    /// a pod that was not ready for a while counts from when it was ready again. Reads the cluster with your own rights.
    ///
    /// With -f: the graph of manifests, a chart or a kustomization, without status and times; asks no cluster.
    ///
    /// An object in a cycle is marked `cycle`, an object that waits for one `never`.
    ///
    ///   kubectl sluice graph --release shop
    ///   kubectl sluice graph -f CHART -o dot | dot -Tsvg > shop.svg
    ///
    /// Exit code 0: it is told; 1: an error; 2: wrong arguments; 3: there is a cycle.
    #[command(verbatim_doc_comment)]
    Graph(GraphArgs),
    /// Shows the graph of a cluster in your browser, while it changes.
    ///
    /// A page with the graph, each wait and its reason, the critical path and a timeline. Serves it on 127.0.0.1 alone, at an
    /// address with a secret, which it prints and opens in your browser, until Ctrl-C ends it. Reads the cluster with your own
    /// rights, and only while the page is open; nothing new runs in it.
    ///
    /// Exit code 0: it was ended by Ctrl-C; 1: an error; 2: wrong arguments.
    Ui(UiArgs),
    /// Finds faults in the annotations of manifests, before a cluster sees them.
    ///
    /// Reads every annotation of sluice, of HIP-0025 and config.kubernetes.io/depends-on, on objects and on pod
    /// templates, and names the file, line and column, the object and the key of what is refused at admission.
    /// Then looks at what the objects are to each other: what never starts (a cycle, a hook that comes too late) is an
    /// error too; a dependency that is likely not meant is a warning; one that is not in the input is a note, or a
    /// warning where one with nearly its name is. Weights, caps and plans are looked at as well. Asks no cluster. A
    /// chart's folder is rendered by helm, that of a kustomization is built by kubectl.
    ///
    /// Exit code 0: no error; 1: an error, or with --strict anything but a note on rights; 2: wrong arguments.
    Lint(LintArgs),
    /// The annotations that say what a chart's own wait loops do, as a diff that `git apply` and `patch -p1` take.
    ///
    /// Renders a chart with helm, with its own values and with each value that decides about a wait set the other way, and
    /// reads what its containers wait for; without helm, and where a template does not render, the text is read. Each list is
    /// written into the template and rendered again before it is proposed. Where a sub-chart has podAnnotations, the diff is
    /// of the umbrella's values. Standard error names every container that looks like a wait: what replaces it and what goes
    /// with it, or why it stays. Of a Compose file it prints another one, with labels of which kompose makes annotations.
    /// Asks no cluster and changes nothing.
    ///
    ///   kubectl sluice suggest -f CHART | git apply
    ///
    /// Exit code 0: it is told; 1: an error; 2: wrong arguments.
    #[command(verbatim_doc_comment)]
    Suggest(SuggestArgs),
    /// Whether the installed sluice can do its work, with --pre whether it can be installed, or with --health-rules what is
    /// wrong with a file of health rules.
    ///
    /// Without an option: looks at the controller, its webhook configurations, the administrator's health rules, what
    /// the controller may read, the versions, the namespaces in which every pod is gated, the agents that node rules name, gates
    /// that can never open, and pods and Jobs that are held; and has the API server admit a gated pod in the namespace of -n,
    /// as a dry run, also with images that are pulled early. A line for each: `ok`, `warning` or `problem`, and the way out.
    /// Reads the cluster with your own rights and changes nothing.
    ///
    /// With --pre: looks at the version of Kubernetes, at your rights to create what the chart makes, in the namespace of -n or
    /// in sluice-system, at other installations, and at NetworkPolicies that gates could not get past.
    ///
    /// With --health-rules: asks no cluster.
    ///
    /// Exit code 0: no problem; 1: a problem, or an error; 2: wrong arguments.
    Check(CheckArgs),
    /// Explains an annotation, a reason, an event, a metric, a value of the chart or an exit code.
    ///
    /// In the words of the documentation, which is built in. Without KEY: every word that is known.
    ///
    /// Exit code 0: it is told; 1: nothing is known of it; 2: wrong arguments.
    Explain {
        /// The word to explain, such as `timeout`, `NoEndpoints`, `rbac.kinds`, or `3` for an exit code
        key: Option<String>,
    },
    /// Prints the script by which a shell completes this command.
    ///
    ///   source <(kubectl sluice completion bash)                 completes kubectl-sluice
    ///   kubectl sluice completion kubectl > kubectl_complete-sluice     made executable and on the PATH, completes kubectl sluice
    ///
    /// Exit code 0: the script is printed; 2: wrong arguments.
    #[command(verbatim_doc_comment)]
    Completion {
        /// For which shell, or for kubectl's own completion, whichever the shell is.
        #[arg(value_enum)]
        shell: completion::Completer,
    },
    /// Answers kubectl in its own completion protocol.
    #[command(name = "__complete", hide = true)]
    Complete {
        #[arg(last = true)]
        words: Vec<String>,
    },
    /// The versions of this command and of the installed sluice.
    ///
    /// Exit code 0: they are told; 1: an error, after the version of this command; 2: wrong arguments.
    Version {
        /// Only of this command; asks no cluster.
        #[arg(long)]
        client: bool,
    },
}

/// The heading in `--help` above the options that say how an answer is printed.
const OUTPUT: &str = "Output";

/// The colours of an answer.
#[derive(Debug, Clone, Copy, ClapArgs)]
#[command(next_help_heading = OUTPUT)]
struct Colored {
    /// When to colour.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
}

impl Colored {
    /// The style of standard output. With `auto` there are colours on a terminal, unless NO_COLOR is set or TERM is `dumb`.
    fn style(self) -> Style {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|it| it == "dumb");
        Style::new(
            self.color,
            stdout().is_terminal(),
            is_set("NO_COLOR") || dumb,
        )
    }
}

#[derive(Debug, ClapArgs)]
struct ReleaseArgs {
    /// The pod, `NAME` or `pod/NAME`, or a workload, `deploy/NAME`, for all of its pods.
    #[arg(
        value_name = "POD|KIND/NAME",
        required_unless_present = "all_holds",
        conflicts_with = "all_holds"
    )]
    subject: Option<String>,
    /// On the topmost workload above the pod (the Deployment, not its ReplicaSet), for all of its pods.
    #[arg(long, conflicts_with = "all_holds")]
    owner: bool,
    /// Everything that is held: in all namespaces, or in that of -n.
    #[arg(long)]
    all_holds: bool,
    /// Says what would become of each, and changes nothing: the API server tries it alone.
    #[arg(long)]
    dry_run: bool,
    /// The reason, for a later reader: stands beside it as sluice.dev/skip-reason, and in the Event.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Debug, ClapArgs)]
struct UiArgs {
    /// Show this Helm release or Argo CD application first, and what it waits for.
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// The port to serve at; 0 is one that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Opens no browser. None opens without a terminal, without a display and over SSH either.
    #[arg(long)]
    no_browser: bool,
}

impl Args {
    /// Reads the arguments of this process. Where they are wrong, or ask for help, prints clap's message, with the likely word for a misspelt
    /// one, and ends the process.
    pub(crate) fn read() -> Self {
        match Self::try_parse() {
            Ok(args) => args,
            Err(error) => mistakes::explained(error, &Self::command()).exit(),
        }
    }

    pub(crate) async fn run(self) -> Result<ExitCode> {
        let Self {
            connection,
            command,
        } = self;
        match command {
            Command::Status(status) => status.run(connection).await,
            Command::Release(release) => release.run(connection).await,
            Command::Explain { key } => explain::run(key.as_deref()),
            Command::Completion { shell } => Ok(completion::script(shell, Self::command())),
            Command::Complete { words } => Ok(completion::complete(&words, Self::command())),
            Command::Version { client } => version(connection, client).await,
            Command::Graph(graph) => graph.run(connection).await,
            Command::Ui(ui) => ui.run(connection).await,
            Command::Lint(lint) => lint.run(connection),
            Command::Suggest(suggest) => suggest.run(),
            Command::Check(check) => check.run(connection).await,
        }
    }
}

impl ReleaseArgs {
    async fn run(self, connection: Connection) -> Result<ExitCode> {
        let manner = ReleaseOptions {
            reason: self.reason.as_deref(),
            dry_run: self.dry_run,
        };
        let Some(subject) = self.subject else {
            let named = connection.namespace.clone();
            let (client, _) = connection.open().await?;
            return release::all(client, named.as_deref(), manner).await;
        };
        let subject = Named::of(&subject)?;
        let (client, namespace) = connection.open().await?;
        match subject {
            Named::Pod(pod) => release::pod(client, &namespace, &pod, self.owner, manner).await,
            Named::Object { word, name } => {
                release::workload(client, &namespace, (&word, &name), manner).await
            }
        }
    }
}

impl UiArgs {
    async fn run(self, connection: Connection) -> Result<ExitCode> {
        let (client, namespace) = connection.open().await?;
        let Self {
            release,
            port,
            no_browser,
        } = self;
        ui::run(
            client,
            ui::PageOptions {
                namespace,
                release,
                port,
                seat: ui::Seat::here(!no_browser),
            },
        )
        .await
    }
}

#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
async fn version(connection: Connection, client: bool) -> Result<ExitCode> {
    println!("kubectl sluice {}", wire::VERSION);
    if client {
        return Ok(ExitCode::SUCCESS);
    }
    crate::check::versions(&connection.open().await?.0).await
}

/// Prints what is wrong with the arguments, and ends the process as clap does. The message says the way out, so the usage of all
/// commands is left out.
fn wrong(why: &str) -> ! {
    let told = format!("{why}\n\nFor more information, try '--help'.\n");
    clap::Error::raw(ErrorKind::ArgumentConflict, told).exit()
}
