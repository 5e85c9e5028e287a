//! Notes dependencies of kinds that sluice reads only where a value of its chart allows that.

use super::finding::Finding;
use super::spots;
use crate::explain;
use crate::objects::{self, Graph, Object};
use rules::advice::Level;
use rules::dependency::{Dependency, Reference};
use rules::keys;
use rules::kinds::Kind;
use serde_json::Value;
use std::collections::BTreeMap;

/// The name of the rule of `lint` under which these notes are printed.
pub(super) const RULE: &str = "NeedsRights";

/// The kinds of each entry of `rbac.presets`, by API group.
const PRESETS: &str = include_str!("../../../charts/sluice/files/presets.yaml");

/// One note for each kind that entries name and that sluice may read only with a value of its chart, at the first dependent that names it. No note
/// where a ClusterRole of the input lets sluice read the kind.
pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    // The first entry of the kind, and its dependent.
    let mut needed: BTreeMap<&Kind, (usize, &Dependency)> = BTreeMap::new();
    for at in 0..graph.objects.len() {
        let waits = graph.lists[at].iter();
        let entries = waits.filter_map(|wait| wait.edge.entry()).flat_map(plain);
        for (kind, entry) in entries {
            needed.entry(kind).or_insert((at, entry));
        }
    }
    let mut findings = Vec::new();
    for (kind, (at, entry)) in needed {
        let Some(value) = value(kind).filter(|_| !is_granted(graph, kind)) else {
            continue;
        };
        let object = &graph.objects[at];
        let told = format!(
            "it depends on {entry}, and sluice may read {kind} only where the values of its chart have {value}; without that the wait \
             does not end"
        );
        let finding = Finding::new(RULE, Level::Note, &object.place, told);
        let name = match &entry.reference {
            Reference::Object(it) => it.name.as_str(),
            _ => kind.word(),
        };
        findings.push(finding.spot(spots::entry(object, name)));
    }
    findings
}

/// The kinds that an entry names, each with the entry, or the alternative inside of it, that names the kind.
fn plain(entry: &Dependency) -> Vec<(&Kind, &Dependency)> {
    match &entry.reference {
        Reference::Object(it) => vec![(&it.kind, entry)],
        Reference::Selected(it) => vec![(&it.kind, entry)],
        Reference::Any(it) => it.of.iter().flat_map(plain).collect(),
        Reference::Part(_) | Reference::Address(_) => Vec::new(),
    }
}

/// The value of the chart that lets sluice read a kind: `rbac.presets: [cert-manager]`. `None` for the kinds that it may always read.
fn value(kind: &Kind) -> Option<String> {
    let Kind::Custom { group, .. } = kind else {
        return (kind.word() == "Secret").then(|| "rbac.secrets: true".to_owned());
    };
    if is_workload(kind) {
        return None;
    }
    let presets: Value = serde_saphyr::from_str(PRESETS).ok()?;
    let mut presets = presets.as_object()?.iter();
    let has = |groups: &Value| {
        let plurals = groups[group.as_str()].as_array().into_iter().flatten();
        let mut plurals = plurals.filter_map(Value::as_str);
        plurals.any(|plural| objects::is_plural(kind.word(), plural))
    };
    Some(match presets.find(|(_, groups)| has(groups)) {
        Some((preset, _)) => format!("rbac.presets: [{preset}]"),
        None => format!("rbac.kinds with the group {group}"),
    })
}

/// Whether the kind is a custom workload in the chart's default values: sluice gates its pods, and so may read it without any further value.
fn is_workload(kind: &Kind) -> bool {
    let values: Option<Value> = serde_saphyr::from_str(explain::VALUES).ok();
    let custom = values.and_then(|it| it["workloads"]["custom"].as_array().cloned());
    let mut custom = custom.into_iter().flatten();
    let plural = |it: &Value| {
        it["resource"]
            .as_str()
            .is_some_and(|it| objects::is_plural(kind.word(), it))
    };
    custom.any(|it| it["group"] == kind.group() && plural(&it))
}

/// Whether a ClusterRole of the input, with the label by which sluice's role aggregates it, names the kind.
fn is_granted(graph: &Graph<'_>, kind: &Kind) -> bool {
    let grants = |it: &&Object| {
        it.word() == "ClusterRole" && it.label(keys::AGGREGATE_TO_WATCH) == Some("true")
    };
    let mut rules = graph.objects.iter().filter(grants).flat_map(|it| {
        let rules = it.value["rules"].as_array();
        rules.into_iter().flatten()
    });
    rules.any(|rule| {
        let names = |list: &str, is_one: &dyn Fn(&str) -> bool| {
            let mut words = rule[list].as_array().into_iter().flatten();
            words.any(|it| it == "*" || it.as_str().is_some_and(is_one))
        };
        names("apiGroups", &|it| it == kind.group())
            && names("resources", &|it| objects::is_plural(kind.word(), it))
    })
}
