//! Each entry of a list beside the objects of the input.

use super::finding::{Finding, Level};
use crate::objects::{Graph, Object, Source};
use rules::dependency::{Dependency, ObjectRef, Part, Parts, Reference, State};
use rules::keys;
use rules::kinds::Kind;

pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, list) in graph.lists.iter().enumerate() {
        // What plans say is told of the plan.
        for wait in list.iter().filter(|wait| wait.source == Source::List) {
            for (told, level) in of_dependency(graph, at, &wait.dependency) {
                let place = &graph.objects[at].place;
                findings.push(Finding::new(level, place, told));
            }
        }
    }
    findings
}

fn of_dependency(graph: &Graph<'_>, from: usize, dependency: &Dependency) -> Vec<(String, Level)> {
    match &dependency.reference {
        Reference::Any(alternatives) => alternatives
            .of
            .iter()
            .flat_map(|it| of_dependency(graph, from, it))
            .collect(),
        Reference::Part(parts) => {
            let told = of_part(graph, from, parts, dependency);
            told.into_iter().collect()
        }
        Reference::Selected(_) | Reference::Wave(_) | Reference::Slot(_) => Vec::new(),
        Reference::Object(object) => match graph.find(from, object) {
            None => absent(object, dependency).into_iter().collect(),
            // A cycle of one is told with the others.
            Some(to) if to == from => Vec::new(),
            Some(to) => {
                let early = early_hook(graph, from, to, object);
                let early = early.map(|told| (told, Level::Warning));
                let mut told = of_target(graph, to, object, dependency);
                told.extend(early);
                told
            }
        },
    }
}

/// What is not here may be in the cluster, or be made by an operator: only a note.
fn absent(object: &ObjectRef, dependency: &Dependency) -> Option<(String, Level)> {
    let told = format!("it depends on {object}, which is not among these objects");
    (!dependency.optional && !is_the_clusters(object)).then_some((told, Level::Note))
}

fn of_part(
    graph: &Graph<'_>,
    from: usize,
    parts: &Parts,
    dependency: &Dependency,
) -> Option<(String, Level)> {
    let scope = &graph.objects[from].scope;
    if matches!(parts.part, Part::SubChart(_)) && scope.is_none() {
        let told = format!(
            "it depends on {dependency} and is in no scope, so it has no sub-charts and waits for ever; name the objects themselves, or give both {}",
            keys::SCOPE
        );
        return Some((told, Level::Warning));
    }
    let found = graph.part(from, parts);
    let told = match &parts.part {
        // One that is switched off holds nobody back.
        Part::SubChart(_) => {
            "of which these objects have none: a sub-chart that stays away is not waited for; check the spelling"
        }
        Part::Group(_) => "in which no other of these objects is",
        Part::Release(_) => "which is not among these objects",
    };
    (found.is_empty() && !dependency.optional).then(|| {
        let told = format!("it depends on {dependency}, {told}");
        (told, Level::Note)
    })
}

/// Whether a cluster has it by itself.
fn is_the_clusters(object: &ObjectRef) -> bool {
    let Kind::Builtin(builtin) = &object.kind else {
        return false;
    };
    let of_system = object
        .namespace
        .as_ref()
        .is_some_and(|namespace| namespace.starts_with("kube-"));
    !builtin.namespaced
        || of_system
        || matches!(
            (builtin.kind, object.name.as_str()),
            ("ServiceAccount", "default")
                | ("ConfigMap", "kube-root-ca.crt")
                | ("Service", "kubernetes")
        )
}

fn of_target(
    graph: &Graph<'_>,
    to: usize,
    reference: &ObjectRef,
    dependency: &Dependency,
) -> Vec<(String, Level)> {
    let object = &graph.objects[to];
    let mut told = Vec::new();
    if let Some(hook) = late_hook(object) {
        told.push((
            format!(
                "it depends on {reference}, a {hook} hook: Helm runs that after everything else is there, with --wait after everything is ready, which then never comes; make it a plain object"
            ),
            Level::Warning,
        ));
    }
    if object.word() == "Job" && dependency.state != State::Present {
        told.extend(removed(object).map(|why| {
            let told = format!(
                "it depends on {reference}, which is removed {why}: pods that come later rely on sluice having seen it complete"
            );
            (told, Level::Warning)
        }));
    }
    if object.word() == "Service" && dependency.state == State::Ready {
        let why = match graph.backends(to) {
            None => Some("has no selector: it counts as ready as soon as it exists"),
            Some(behind) if behind.is_empty() => {
                Some("selects no pod of these objects: without an endpoint it is never ready")
            }
            Some(_) => None,
        };
        told.extend(why.map(|why| {
            (
                format!("it depends on {reference}, which {why}"),
                Level::Warning,
            )
        }));
    }
    told
}

/// A hook that runs before the release's objects, and waits for one of them. On an upgrade they are there.
fn early_hook(graph: &Graph<'_>, from: usize, to: usize, reference: &ObjectRef) -> Option<String> {
    let [from, to] = [from, to].map(|at| &graph.objects[at]);
    let early = |object: &Object| {
        let hooks = object.annotation("helm.sh/hook").unwrap_or_default();
        hooks.split(',').any(|hook| hook.trim() == "pre-install")
    };
    (early(from) && !early(to) && from.scope == to.scope).then(|| {
        format!(
            "it is a pre-install hook and depends on {reference}, which Helm creates only after its end, so neither comes; make it a plain object"
        )
    })
}

/// A hook that runs after the release's objects.
fn late_hook(object: &Object) -> Option<&str> {
    let hooks = object.annotation("helm.sh/hook")?;
    let mut hooks = hooks.split(',').map(str::trim);
    let late = |hook: &&str| hook.starts_with("post-");
    // One that runs before as well is there in time.
    let first = hooks.clone().find(late)?;
    hooks.all(|hook| late(&hook)).then_some(first)
}

/// When a Job is gone although it completed.
fn removed(job: &Object) -> Option<String> {
    if let Some(seconds) = job.value.pointer("/spec/ttlSecondsAfterFinished") {
        return Some(format!("{seconds} s after it finished"));
    }
    job.annotation("helm.sh/hook")?;
    let policy = job.annotation("helm.sh/hook-delete-policy")?;
    let succeeded = policy.split(',').any(|it| it.trim() == "hook-succeeded");
    succeeded.then(|| "as soon as it succeeded (helm.sh/hook-delete-policy)".to_owned())
}
