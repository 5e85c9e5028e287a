//! Finds dependencies that mean no object of the input: the object may be in the cluster, be made by an operator, or be misspelt.

use crate::lint::finding::Finding;
use crate::lint::spots;
use crate::objects::{Graph, Object, means};
use rules::advice::Level;
use rules::dependency::{Dependency, ObjectRef, Part, Parts, Reference, Selection};
use rules::keys;
use rules::kinds::{self, Kind};
use rules::ordinals;
use rules::scope;
use rules::suggest::{affixed, nearest, of_deployment};

pub(super) fn check(graph: &Graph<'_>, from: usize, dependency: &Dependency) -> Vec<Finding> {
    let told = match &dependency.reference {
        Reference::Any(alternatives) => {
            let of = alternatives.of.iter();
            return of.flat_map(|it| check(graph, from, it)).collect();
        }
        _ if dependency.optional => None,
        // Only a gate can tell whether an address answers.
        Reference::Address(_) => None,
        Reference::Object(object) => named(graph, from, object),
        Reference::Selected(selection) => selected(graph, from, selection),
        Reference::Part(parts) => of_part(graph, from, parts, dependency),
    };
    told.into_iter().collect()
}

fn finding(graph: &Graph<'_>, from: usize, level: Level, name: &str, told: String) -> Finding {
    let object = &graph.objects[from];
    let finding = Finding::new("NotAmong", level, &object.place, told);
    finding.spot(spots::entry(object, name))
}

/// A note with the text `told`; where the input has a likely word, `meant`, a warning that names it.
fn unless_meant(
    graph: &Graph<'_>,
    from: usize,
    name: &str,
    told: &str,
    meant: Option<String>,
) -> Finding {
    match meant {
        None => finding(graph, from, Level::Note, name, told.to_owned()),
        Some(likely) => {
            let told = format!("{told}; did you mean {likely:?}?");
            finding(graph, from, Level::Warning, name, told)
        }
    }
}

fn named(graph: &Graph<'_>, from: usize, named: &ObjectRef) -> Option<Finding> {
    let ObjectRef {
        kind,
        namespace,
        name,
    } = named;
    let here = |it: &&Object| graph.may_mean(from, namespace.as_ref(), it);
    let of_kind = |it: &&Object| it.kind.as_ref().is_some_and(|it| means(kind, it));
    let objects = || graph.objects.iter();
    let is_there = |it: &Object| it.place.name == *name;
    let is_known = graph.find(from, named).is_some()
        || is_the_clusters(named)
        || objects().any(|it| is_there(it) && of_kind(&it) && here(&it));
    if is_known {
        return None;
    }
    if let Some((set, ordinal)) = graph.set_of(from, named) {
        return Some(beyond(graph, from, named, &graph.objects[set], ordinal));
    }
    let others = objects().filter(of_kind).filter(here);
    let others = others.map(|it| it.place.name.clone());
    // The name of the StatefulSet may be misspelt while the ordinal is right.
    let sets = objects().filter(here).filter(|_| kind.is_pod());
    let ordinal = ordinals::of(name).map(|(_, ordinal)| ordinal);
    let pods = sets.filter_map(|it| {
        let is_made = |ordinal: &u64| ordinals::made_by(&it.value).contains(ordinal);
        let ordinal = ordinal.filter(|ordinal| it.is_stateful_set() && is_made(ordinal))?;
        Some(format!("{}-{ordinal}", it.place.name))
    });
    let all: Vec<String> = others.chain(pods).collect();
    let others = || all.iter().map(String::as_str);
    // A workload of another kind may have the name.
    let namesake = || {
        let mut named = objects().filter(|it| is_there(it));
        let found = named.find(|it| here(it) && it.is_dependent() && it.word() != "Pod")?;
        Some(format!("{}/{name}", found.word()))
    };
    let own = &graph.objects[from];
    // kustomize changes names and namespaces of objects, and no list.
    let moved = || {
        let mut moved = objects().filter(of_kind).filter(|it| is_there(it));
        let here = moved.any(|it| it.namespace() == own.namespace());
        here.then(|| format!("{kind}/{name}"))
    };
    // The name of a ReplicaSet changes with each rollout, so a list names the Deployment.
    let by_deployment = || {
        let deployment = Some(of_deployment(name)).filter(|_| kind.is_replica_set())?;
        let mut named = objects().filter(|it| it.place.name == deployment);
        let is_there = named.any(|it| here(&it) && it.word() == "Deployment");
        is_there.then(|| format!("Deployment/{deployment}"))
    };
    let near = || affixed(name, &own.place.name, others()).or_else(|| nearest(name, others()));
    let near = || near().map(|near| format!("{kind}/{near}"));
    let meant = by_deployment().or_else(near).or_else(moved);
    let meant = meant.or_else(namesake);
    let told = format!("it depends on {named}, which is not among these objects");
    let told = if kind.is_replica_set() && meant.is_none() {
        format!(
            "{told}; a Deployment names its ReplicaSets itself, anew for each rollout: name the Deployment"
        )
    } else {
        told
    };
    Some(unless_meant(graph, from, name, &told, meant))
}

/// The warning about a pod that a StatefulSet of the input does not make: its ordinal is out of range.
fn beyond(
    graph: &Graph<'_>,
    from: usize,
    named: &ObjectRef,
    set: &Object,
    ordinal: u64,
) -> Finding {
    let made = ordinals::made_by(&set.value);
    let name = &set.place.name;
    let makes = match made.end.saturating_sub(made.start) {
        0 => "makes no pod (its spec.replicas is 0)".to_owned(),
        1 => format!("makes {name}-{} alone", made.start),
        _ => format!("makes {name}-{} to {name}-{}", made.start, made.end - 1),
    };
    let way_out = if ordinal < made.start {
        "name one of those"
    } else {
        "name another, or raise its spec.replicas"
    };
    let told =
        format!("it depends on {named}, and StatefulSet/{name} {makes}, so it waits; {way_out}");
    finding(graph, from, Level::Warning, &named.name, told)
}

fn selected(graph: &Graph<'_>, from: usize, selection: &Selection) -> Option<Finding> {
    let is_of_pods = selection.kind == Kind::Builtin(kinds::POD);
    let selects = |it: &Object| {
        let of_kind = it.kind.as_ref().filter(|it| means(&selection.kind, it));
        let by_kind = of_kind.map(|_| &it.value);
        // The pods that a workload makes.
        let selected = by_kind.or_else(|| it.template().filter(|_| is_of_pods));
        graph.may_mean(from, selection.namespace.as_ref(), it)
            && selected.is_some_and(|it| selection.selector.selects(it))
    };
    if graph.objects.iter().any(selects) {
        return None;
    }
    let kind = &selection.kind;
    let mut of_kind = graph.objects.iter().filter(|it| {
        let is_it = it.kind.as_ref().is_some_and(|it| means(kind, it));
        is_it && graph.may_mean(from, selection.namespace.as_ref(), it)
    });
    let makes = |it: &&Object| {
        let template = it.template();
        template.is_some_and(|pods| selection.selector.selects(pods))
    };
    if let Some(workload) = of_kind.find(makes) {
        let told = format!(
            "it depends on {selection}, which selects none of these objects: the pods of {kind}/{} have the labels, and a selector looks at \
             those of the {kind} itself; label that too, or write kind: Pod",
            workload.place.name
        );
        return Some(finding(graph, from, Level::Warning, "", told));
    }
    let told = format!("it depends on {selection}, which selects none of these objects");
    Some(finding(graph, from, Level::Note, "", told))
}

fn of_part(
    graph: &Graph<'_>,
    from: usize,
    parts: &Parts,
    dependency: &Dependency,
) -> Option<Finding> {
    let Parts {
        part, namespace, ..
    } = parts;
    let name = part.name();
    if matches!(part, Part::SubChart(_)) && graph.objects[from].scope.is_none() {
        let told = format!(
            "it depends on {dependency} and is in no scope, so it has no sub-charts and waits for ever; name the objects themselves, or give both {}",
            keys::SCOPE
        );
        return Some(finding(graph, from, Level::Warning, name, told));
    }
    if !graph.part(from, parts).is_empty() {
        return None;
    }
    if let (Part::SubChart(_), None) = (part, namespace)
        && let Some(object) = unclaimed(graph, from, part)
    {
        let own = graph.objects[from].scope.as_ref();
        let told = format!(
            "it depends on {dependency}; {} {} is of that chart and says no release, so it waits for ever: give it {}: {}",
            object.word(),
            object.place.name,
            keys::SCOPE,
            own.map_or_else(String::new, |scope| scope.name.clone())
        );
        return Some(finding(graph, from, Level::Warning, name, told));
    }
    let told = match part {
        Part::SubChart(_) if namespace.is_some() => {
            "of which these objects have none there: it waits until there is one"
        }
        // Advice reports a sub-chart in another namespace.
        Part::SubChart(_) if !graph.elsewhere(from, part).is_empty() => return None,
        // A sub-chart that is switched off holds nothing back.
        Part::SubChart(_) => {
            "of which these objects have none: a sub-chart that stays away is not waited for; check the spelling"
        }
        Part::Group(_) => "in which no other of these objects is",
        Part::Release(_) => "which is not among these objects",
    };
    let told = format!("it depends on {dependency}, {told}");
    if let Some(alias) = alias(&graph.objects[from], part) {
        let told = format!(
            "{told}; Chart.yaml gives it the alias {alias}, which is the chart's name on its objects: write subchart/{alias}"
        );
        return Some(finding(graph, from, Level::Warning, name, told));
    }
    let meant = near_part(graph, from, part);
    Some(unless_meant(graph, from, name, &told, meant))
}

/// An object in the dependent's namespace that is of the sub-chart and in no scope, so that it counts for no release; `None` where there is none.
fn unclaimed<'g>(graph: &'g Graph<'_>, from: usize, part: &Part) -> Option<&'g Object> {
    let home = graph.objects[from].namespace();
    let mut counted = graph
        .objects
        .iter()
        .filter(|it| it.namespace() == home && it.is_counted());
    counted.find(|it| it.scope.is_none() && part.may_hold(&it.value))
}

/// The alias that the chart of an object gives to this sub-chart in Chart.yaml; `None` where it gives none, or the part is no sub-chart.
fn alias<'a>(object: &'a Object, part: &Part) -> Option<&'a str> {
    let mut aliases = object.aliases.iter();
    let found = aliases.find(|it| matches!(part, Part::SubChart(name) if *name == it.chart))?;
    Some(&found.alias)
}

/// The part of the input with nearly this name, `group/backend`: a group, a sub-chart of the dependent's release, or a release; `None` where none is
/// near.
fn near_part(graph: &Graph<'_>, from: usize, part: &Part) -> Option<String> {
    let own = graph.objects[from].scope.as_ref();
    let others = graph
        .objects
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != from);
    let others = others.map(|(_, object)| object);
    let near = match part {
        Part::Group(name) => nearest(name, others.flat_map(|it| scope::groups(&it.value))),
        Part::SubChart(name) => {
            let of_release = others.filter(|it| it.scope.as_ref() == own);
            nearest(name, of_release.filter_map(|it| scope::chart(&it.value)))
        }
        Part::Release(name) => {
            let names = others.filter_map(|it| Some(it.scope.as_ref()?.name.as_str()));
            nearest(name, names)
        }
    };
    Some(format!("{}/{}", part.word(), near?))
}

/// Whether the object is no finding when the input lacks it: a cluster-scoped one, one in a namespace `kube-*`, or one that Kubernetes makes in
/// each namespace.
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
