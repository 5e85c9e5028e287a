//! The checks of the controller's Deployment: how many replicas are ready, why one is not, and whether the versions fit each other.

use super::Checked;
use crate::home::Home;
use crate::installation::argument;
use jiff::Timestamp;
use rules::cause::{Cause, Stuck};
use rules::lookup::Lookup;
use rules::object;
use serde_json::Value;
use std::fmt;

const CHECK: &str = "controller";
const VERSIONS: &str = "versions";

/// The only Deployment of a controller that the cluster has.
///
/// # Errors
///
/// The line of `check` that says why there is not exactly one Deployment to look at.
pub(super) fn find(deployments: &Lookup<Vec<Value>>) -> Result<&Value, Checked> {
    let found = match deployments {
        Lookup::Found(found) => found.as_slice(),
        Lookup::NotFound => &[],
        Lookup::Unavailable(why) => {
            return Err(Checked::unseen(CHECK, "the Deployment", *why));
        }
    };
    match found {
        [deployment] => Ok(deployment),
        [] => Err(Checked::problem(
            CHECK,
            format!(
                "sluice is not installed; {}",
                Home::own().installation(wire::VERSION)
            ),
        )),
        several => {
            let names: Vec<_> = several.iter().map(name).collect();
            let names = names.join(", ");
            let told =
                format!("sluice is installed more than once ({names}); uninstall all but one");
            Err(Checked::problem(CHECK, told))
        }
    }
}

/// The numbers of replicas that the controller's Deployment asks for, that are ready, and that have the newest pod template.
pub(super) struct Replicas {
    wanted: u64,
    ready: u64,
    updated: u64,
}

impl Replicas {
    pub(super) fn of(deployment: &Value) -> Self {
        let count = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_u64);
        Self {
            wanted: count("/spec/replicas").unwrap_or(1),
            ready: count("/status/readyReplicas").unwrap_or(0),
            updated: count("/status/updatedReplicas").unwrap_or(0),
        }
    }

    /// Whether fewer replicas are ready than the Deployment asks for: then the controller's pods are read for the cause.
    pub(super) fn are_lacking(&self) -> bool {
        self.ready < self.wanted
    }

    /// Whether no replica answers although the Deployment asks for some.
    pub(super) fn are_silent(&self) -> bool {
        self.ready == 0 && self.wanted > 0
    }
}

/// The most telling trouble among the controller's own pods, of several equal ones that of the youngest pod; `None` where no pod has any, and
/// where the pods cannot be read.
pub(super) fn trouble(pods: &Lookup<Vec<Value>>, now: Timestamp) -> Option<Stuck> {
    match pods {
        Lookup::Found(pods) => Stuck::among(pods, now),
        Lookup::NotFound | Lookup::Unavailable(_) => None,
    }
}

/// Whether no replica of the controller ever came so far that it could answer: every pod has this trouble, and its cause is one that ends a pod
/// before that, such as a missing image, a crash or no node.
pub(super) fn never_ran(trouble: &Stuck) -> bool {
    trouble.alike == trouble.of
        && match &trouble.cause {
            Cause::Image { .. }
            | Cause::Container { .. }
            | Cause::Crash { .. }
            | Cause::Failed(_)
            | Cause::Claim { .. }
            | Cause::NoNode { .. }
            | Cause::NotMade => true,
            Cause::Gate
            | Cause::Init(_)
            | Cause::NotStarted(_)
            | Cause::NotReady(_)
            | Cause::Lingers { .. }
            | Cause::Unready(_)
            | Cause::NoPods { .. } => false,
        }
}

/// Checks the replicas of the controller: none is a problem; fewer ready than the Deployment asks for, a rollout under way, or a single replica
/// is a warning. `trouble`: why a replica is not ready, where that is known.
pub(super) fn replicas(deployment: &Value, trouble: Option<&Stuck>) -> Checked {
    let Replicas {
        wanted,
        ready,
        updated,
    } = Replicas::of(deployment);
    let name = name(deployment);
    let namespace = text(deployment, "/metadata/namespace");
    if wanted == 0 {
        return Checked::problem(
            CHECK,
            format!(
                "Deployment {name} is scaled to 0: annotated objects are refused and gates wait; kubectl -n {namespace} scale deployment/{} --replicas 2",
                object::name(deployment)
            ),
        );
    }
    let told = format!("Deployment {name}: {ready} of {wanted} replicas are ready");
    let why = trouble.map(|it| format!(" ({it})")).unwrap_or_default();
    let way_out = match trouble.map(|it| &it.cause) {
        Some(Cause::Image { .. }) => {
            "set the chart's value image.registry to the registry that has it, or load the image onto the nodes".to_owned()
        }
        _ if ready > 0 => format!("look at kubectl -n {namespace} describe pods"),
        _ => format!(
            "look at kubectl -n {namespace} describe pods, and kubectl -n {namespace} logs deployment/sluice"
        ),
    };
    if ready == 0 {
        let told = format!("{told}{why}: annotated objects are refused and gates wait; {way_out}");
        return Checked::problem(CHECK, told);
    }
    if ready < wanted {
        return Checked::warning(CHECK, format!("{told}{why}; {way_out}"));
    }
    if updated < wanted {
        return Checked::warning(
            CHECK,
            format!("{told}, {updated} of them of the newest version; wait for the rollout"),
        );
    }
    if wanted == 1 {
        return Checked::warning(
            CHECK,
            format!(
                "{told}: while it restarts, annotated objects are refused; set the chart's value replicas to 2"
            ),
        );
    }
    Checked::ok(CHECK, told)
}

/// The version of an installed chart, from a label of the controller's Deployment (`unknown` without it), and the images of the controller and
/// of the gate.
pub(super) struct Versions<'d> {
    chart: &'d str,
    controller: &'d str,
    gate: &'d str,
}

impl<'d> Versions<'d> {
    pub(super) fn of(deployment: &'d Value) -> Self {
        let chart = deployment.pointer("/metadata/labels/app.kubernetes.io~1version");
        Self {
            chart: chart.and_then(Value::as_str).unwrap_or("unknown"),
            controller: text(deployment, "/spec/template/spec/containers/0/image"),
            gate: argument(deployment, "--gate-image").unwrap_or_default(),
        }
    }
}

/// Writes a line for each of the installed versions.
impl fmt::Display for Versions<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            chart,
            controller,
            gate,
        } = self;
        writeln!(out, "chart {chart}\ncontroller {controller}\ngate {gate}")
    }
}

/// Checks that the images of the controller and of the gate have one tag, where both have a tag, and that the chart has the version of this
/// command; warns otherwise.
pub(super) fn versions(deployment: &Value) -> Checked {
    let ours = wire::VERSION;
    let Versions {
        chart,
        controller: image,
        gate,
    } = Versions::of(deployment);
    let told = format!("chart {chart}, controller {image}, gate {gate}, kubectl sluice {ours}");
    match (tag(image), tag(gate)) {
        (Some(controller), Some(of_gate)) if controller != of_gate => {
            return Checked::warning(
                VERSIONS,
                format!(
                    "{told}: controller and gate differ; set the chart's values image.tag and gate.image.tag alike"
                ),
            );
        }
        _ => {}
    }
    beside_chart(chart, told)
}

/// Checks that this command has the version of the chart, and warns otherwise: for a caller that may not read the images.
pub(super) fn version_of_chart(chart: &str) -> Checked {
    beside_chart(
        chart,
        format!("chart {chart}, kubectl sluice {}", wire::VERSION),
    )
}

fn beside_chart(chart: &str, told: String) -> Checked {
    let ours = wire::VERSION;
    if chart == ours {
        return Checked::ok(VERSIONS, told);
    }
    Checked::warning(
        VERSIONS,
        format!("{told}: this command judges by the rules of {ours}; install the one of {chart}"),
    )
}

/// The tag of an image, `None` where the image has no tag. A digest counts as none: it tells no version.
fn tag(image: &str) -> Option<&str> {
    let last = image.rsplit('/').next()?;
    let named = last.split('@').next()?;
    named.split_once(':').map(|(_, tag)| tag)
}

fn name(object: &Value) -> String {
    let (namespace, name) = (
        text(object, "/metadata/namespace"),
        text(object, "/metadata/name"),
    );
    format!("{namespace}/{name}")
}

pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
