//! `status`: the waits of pods. For one pod the last line of its gate, and the verdict by the rules of the installed sluice; for
//! several a tree.

mod blocks;
mod creations;
mod events;
mod gate_told;
mod live;
mod owner;
mod rows;
mod scene;
mod screen;
mod stage;
mod text;
mod told;
mod tree;

pub(crate) use gate_told::{GateTold, dependent, judge};
pub(crate) use scene::{exists, is_there};

use crate::gate_findings;
use crate::gate_log::{self, GateWord};
use crate::installation::{self, Basis, Installation, Unseen};
use crate::installed::Installed;
use crate::output;
use crate::reader::Reader;
use crate::root_causes;
use crate::stranded;
use crate::style::Style;
use crate::subject::{self, Named};
use anyhow::Result;
use clap::ValueEnum;
use events::EventSubject;
use jiff::Timestamp;
use kube::Client;
use rules::gate::Gate;
use rules::keys;
use rules::selector::Selector;
use scene::{Chosen, Scene};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, stdout};
use std::process::ExitCode;
use text::TreeView;
use told::PodTold;
use tree::Tree;
use wire::env;

/// The exit code for "something holds the pod back".
const WAITS: u8 = 3;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusFormat {
    /// For people.
    Text,
    /// A tree, also of a single pod, with what is satisfied, the nodes and the last word of each gate; not with -f.
    Wide,
    /// One JSON object; with -f one a line, with kind, namespace, name, status, reason and message.
    Json,
    /// One YAML document in place of JSON; not with -f.
    Yaml,
}

/// The subject of the question that `status` answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Named(Named),
    Release(String),
    /// The pods that wait in a namespace.
    Namespace,
    /// The pods that wait in any namespace.
    Everywhere,
}

/// The form of the answer, and how it is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) format: StatusFormat,
    pub(crate) style: Style,
    /// Shows the tree again on each change, until nothing waits any more.
    pub(crate) watch: bool,
}

impl Manner {
    fn is_wide(self) -> bool {
        self.format == StatusFormat::Wide
    }

    /// Whether the format is for people.
    fn is_text(self) -> bool {
        matches!(self.format, StatusFormat::Text | StatusFormat::Wide)
    }
}

pub(crate) async fn run(
    client: Client,
    namespace: &str,
    subject: Subject,
    labels: Selector,
    manner: Manner,
) -> Result<ExitCode> {
    match &subject {
        Subject::Named(Named::Pod(name)) if !manner.is_wide() && !manner.watch => {
            one(client, namespace, name, manner).await
        }
        _ => several(client, namespace, subject, labels, manner).await,
    }
}

/// Prints the state of one pod, the last line of its gate and the verdict on each dependency. The exit code is 3 while the pod waits.
async fn one(client: Client, namespace: &str, name: &str, manner: Manner) -> Result<ExitCode> {
    let (mut reader, pod, basis) = begin(&client, namespace, name).await?;
    let word = match Gate::of(&pod) {
        Gate::NotStarted => GateWord::Nothing,
        Gate::Waiting { .. } | Gate::Passed { .. } | Gate::Refused { .. } => {
            gate_log::last(&client, namespace, name).await
        }
    };
    let now = Timestamp::now();
    let answer = reader.settle(|reader| {
        let installed = Installed::of_pod(reader, &basis, &pod);
        // Once the pod's own gate has opened, the memory of its revision may come from this very pod, so the memory is ignored.
        let afresh = installed.afresh || word.has_opened();
        judge(
            &Installed {
                afresh,
                ..installed
            },
            &pod,
            now,
        )
    });
    let answer = answer.await;
    let mut unseen = Installed::of_pod(&reader, &basis, &pod).unseen();
    let mut told = match (answer, &word) {
        (Ok(told), _) => told,
        (Err(why), GateWord::Said(said)) => {
            // With so few rights nothing else is seen either, which needs no lines of its own.
            unseen = vec![Unseen {
                part: None,
                told: format!("only the gate's own word is known: {why}"),
            }];
            GateTold::by_its_word(said)
        }
        (Err(why), _) => return Err(why),
    };
    if let GateWord::Said(said) = &word {
        unseen.extend(gate_findings::unseen(gate_findings::fill(
            &mut told.answer,
            &told.unjudged,
            said,
        )));
        root_causes::hear(&mut told.roots, &told.answer);
    }
    let uid = pod["metadata"]["uid"].as_str().unwrap_or_default();
    let is_at_gate = matches!(Gate::of(&pod), Gate::Waiting { .. }) && !word.has_opened();
    let is_stranded = is_at_gate && stranded::pods(&client, Some(namespace)).await.contains(uid);
    if is_stranded {
        told = GateTold::stranded(&pod);
    }
    let mut not_started = scene::not_started(&pod, now);
    let silent = not_started.is_none() && scene::is_to_start(&pod);
    let images = scene::early_images(&pod);
    let mut pulls = Vec::new();
    if silent || !images.is_empty() {
        let subject = EventSubject {
            namespace,
            uid,
            images: &images,
        };
        let found = events::read(&client, std::iter::once(subject)).await;
        let facts = found.into_values().next().unwrap_or_default();
        if silent {
            not_started = facts.trouble.map(|it| it.to_string());
        }
        pulls = facts.pulls;
    }
    let told = PodTold::new(&pod, told.answer, word, unseen)
        .behind(told.roots)
        .kept_by(not_started, pulls)
        .stranded(is_stranded)
        .troubled_by(scene::trouble(&pod, now));
    told.print(manner.format, manner.style)?;
    Ok(code(told.waits()))
}

/// Prints the answer for several pods as a tree, or follows it live. `labels` choose among the pods; empty for all. The exit code is 3 while a pod
/// waits or a creation is held.
async fn several(
    client: Client,
    namespace: &str,
    subject: Subject,
    labels: Selector,
    manner: Manner,
) -> Result<ExitCode> {
    let mut reader = Reader::new(client.clone());
    let looks_around = matches!(subject, Subject::Namespace | Subject::Everywhere);
    let (mut scene, basis) = scene_of(&client, &mut reader, namespace, subject, labels).await?;
    scene.patient = manner.watch && manner.is_text() && stdout().is_terminal();
    if manner.watch {
        return live::follow(&client, reader, &basis, &scene, manner).await;
    }
    let now = Timestamp::now();
    let mut tree = look(&mut reader, &basis, &scene, &BTreeSet::new(), now).await?;
    tree.learn(&events::read(&client, tree.silent()).await);
    tree.strand(&stranded_in(&client, &tree, &scene).await);
    if looks_around {
        tree.creations = creations::read(&client, scene.namespace.as_deref(), now).await;
    }
    let words = listen(&client, &tree, manner.is_wide()).await;
    tree.hear(&words);
    show(&tree, manner, now)?;
    Ok(code(tree.waiting > 0 || !tree.creations.is_empty()))
}

/// The choice of pods that a subject means, and the settings, rights and rules of the installed sluice, which is looked for in the namespace that the
/// gates of these pods name.
async fn scene_of(
    client: &Client,
    reader: &mut Reader,
    namespace: &str,
    subject: Subject,
    labels: Selector,
) -> Result<(Scene, Basis)> {
    let mut scene = Scene {
        namespace: (subject != Subject::Everywhere).then(|| namespace.to_owned()),
        chosen: match &subject {
            Subject::Named(Named::Pod(name)) => Chosen::Pod(name.clone()),
            Subject::Release(name) => Chosen::Release(name.clone()),
            Subject::Named(Named::Object { .. }) | Subject::Namespace | Subject::Everywhere => {
                Chosen::Waiting
            }
        },
        labels,
        patient: false,
    };
    let pods = reader.settle(|reader| scene.pods(reader)).await?;
    let home = pods.iter().find_map(home);
    let basis = Installation::basis(client, home.as_deref()).await?;
    if let Subject::Named(Named::Object { word, name }) = subject {
        let kind = subject::kind(&word, &basis.settings.workloads)?;
        scene.chosen = Chosen::Workload(kind, name);
    }
    Ok((scene, basis))
}

async fn look(
    reader: &mut Reader,
    basis: &Basis,
    scene: &Scene,
    followed: &BTreeSet<String>,
    now: Timestamp,
) -> Result<Tree> {
    let tree = reader.settle(|reader| {
        let world = Installed {
            reader,
            basis,
            afresh: false,
        };
        let mut tree = scene.look(&world, followed, now)?;
        tree.unseen = world.unseen();
        Ok(tree)
    });
    tree.await
}

/// Reads the last lines of gates about their waits, by the pods' UIDs: with `all` of every gate that has started, else only of those that this
/// command cannot judge, or that wait although its judgement says that they need not.
async fn listen(client: &Client, tree: &Tree, all: bool) -> BTreeMap<String, GateWord> {
    let asked = |pod: &&tree::Pod| pod.is_disputed() || pod.is_heard() || all && pod.may_say();
    let pods = tree.pods().filter(asked);
    let pods = pods.map(|pod| (&*pod.uid, &*pod.namespace, &*pod.name));
    gate_findings::listen(client, pods).await
}

/// The UIDs of the stranded pods of a scene. Where none of its pods waits at its gate, nothing is requested.
async fn stranded_in(client: &Client, tree: &Tree, scene: &Scene) -> BTreeSet<String> {
    if tree.pods().any(|pod| pod.may_say() && pod.stage.waits()) {
        stranded::pods(client, scene.namespace.as_deref()).await
    } else {
        BTreeSet::new()
    }
}

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the answer of a command line tool"
)]
fn show(tree: &Tree, manner: Manner, now: Timestamp) -> Result<()> {
    let (wide, style) = (manner.is_wide(), manner.style);
    match manner.format {
        StatusFormat::Json => println!("{}", serde_json::to_string(tree)?),
        StatusFormat::Yaml => print!("{}", serde_saphyr::to_string(tree)?),
        StatusFormat::Text | StatusFormat::Wide => {
            for warning in installation::warnings(&tree.unseen) {
                eprintln!("warning: {warning}");
            }
            let width = output::columns();
            let view = TreeView {
                wide,
                style,
                now,
                width,
            };
            for line in view.lines(tree).all() {
                println!("{line}");
            }
        }
    }
    Ok(())
}

fn code(waits: bool) -> ExitCode {
    if waits {
        ExitCode::from(WAITS)
    } else {
        ExitCode::SUCCESS
    }
}

/// Reads a pod, and the settings, rights and rules of the sluice whose gate is in it. A pod that does not exist is an error.
pub(crate) async fn begin(
    client: &Client,
    namespace: &str,
    name: &str,
) -> Result<(Reader, Value, Basis)> {
    let mut reader = Reader::new(client.clone());
    let pod = reader
        .settle(|reader| scene::pod(reader, namespace, name))
        .await?;
    let basis = Installation::basis(client, home(&pod).as_deref()).await?;
    Ok((reader, pod, basis))
}

/// The namespace of sluice, from the address that the pod's gate asks at: `sluice.sluice-system.svc`; `None` for a pod without a gate.
pub(crate) fn home(pod: &Value) -> Option<String> {
    let by_name = |list: &Value, name: &str| {
        let found = list.as_array()?.iter().find(|it| it["name"] == name);
        found.cloned()
    };
    let gate = by_name(&pod["spec"]["initContainers"], keys::GATE_CONTAINER)?;
    let address = by_name(&gate["env"], env::SERVER_NAME)?;
    let mut labels = address["value"].as_str()?.split('.');
    labels.nth(1).map(ToOwned::to_owned)
}
