//! The text of the chart's value for node rules: a list of entries of the long form, each with the pods that it holds.

use super::fault::NodeRuleFault;
use super::item::{self, Count};
use super::problem::{Flaw, Problem};
use super::yaml::{self, Node, Value};
use super::{ParseError, parse, selector};
use crate::dependency::{NodeRule, NodeRules, Reference};
use crate::keys::NODE_RULES;
use crate::kinds::{self, Kind};
use crate::object::OWN_LABELS;
use crate::selector::Selector;

/// The keys that a rule may have.
const KEYS: [&str; 8] = [
    "kind",
    "name",
    "namespace",
    "sameNode",
    "optional",
    "timeout",
    "on-timeout",
    PODS,
];

/// The key for the pods that a rule holds. An entry of a list has no such key.
const PODS: &str = "pods";

/// Reads the value of [`NODE_RULES`], as YAML or JSON.
///
/// # Errors
///
/// A text that is no list of rules, or a rule that does not name one `DaemonSet` with its namespace and `sameNode: true`.
pub fn node_rules(text: &str) -> Result<NodeRules, ParseError> {
    parse(NODE_RULES, text, |text| {
        let root = yaml::document(text.text)?;
        let Value::List(items) = root.value else {
            return Err(flaw(root.at, NodeRuleFault::NoRule));
        };
        let mut count = Count::default();
        let rules = items.into_iter().map(|node| rule(node, &mut count));
        rules.collect::<Result<_, _>>().map(NodeRules)
    })
}

fn rule(node: Node<'_>, count: &mut Count) -> Result<NodeRule, Flaw> {
    let Node { at, value } = node;
    let Value::Mapping(pairs) = value else {
        return Err(flaw(at, NodeRuleFault::NoRule));
    };
    for (key, _) in &pairs {
        if !KEYS.iter().any(|it| is_called(key, it)) {
            return Err(idle(key, &KEYS));
        }
    }
    let (pods, rest): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|(key, _)| is_called(key, PODS));
    let pods = match pods.as_slice() {
        [] => Selector::default(),
        [(_, value)] => labels(value)?,
        [_, (key, _), ..] => return Err(Flaw::at(key.at, Problem::DuplicateKey(PODS))),
    };
    let value = Value::Mapping(rest);
    let entry = item::item(&Node { at, value }, count)?;
    let lacks = match &entry.reference {
        Reference::Object(it) if it.kind != Kind::Builtin(kinds::DAEMON_SET) => {
            Some("kind: DaemonSet, whose pods are on the nodes")
        }
        Reference::Object(it) if it.namespace.is_none() => {
            Some("the namespace of its DaemonSet, since it holds pods of many")
        }
        _ if !entry.same_node => {
            Some("sameNode: true, or one broken node would hold the pods of all")
        }
        _ => None,
    };
    match lacks {
        Some(lacks) => Err(flaw(at, NodeRuleFault::Lacks(lacks))),
        None => Ok(NodeRule { entry, pods }),
    }
}

/// Reads the labels of the pods that a rule holds, from `{selector: …}`. A label that tells apart the pods of one workload is an error.
fn labels(value: &Node<'_>) -> Result<Selector, Flaw> {
    let Value::Mapping(pairs) = &value.value else {
        return Err(flaw(value.at, NodeRuleFault::Lacks("pods: {selector: …}")));
    };
    if let Some((key, _)) = pairs.iter().find(|(key, _)| !is_called(key, "selector")) {
        return Err(idle(key, &["selector"]));
    }
    let [(_, written)] = pairs.as_slice() else {
        return Err(flaw(value.at, NodeRuleFault::Lacks("one selector of pods")));
    };
    let Value::Text(text) = &written.value else {
        return Err(flaw(
            written.at,
            NodeRuleFault::Lacks("a selector in kubectl's syntax, as a text"),
        ));
    };
    let selector = selector::selector(text.piece())?;
    let own = selector
        .0
        .iter()
        .find(|it| OWN_LABELS.contains(&it.key.as_str()));
    match own {
        Some(own) => Err(flaw(written.at, NodeRuleFault::OwnLabel(own.key.clone()))),
        None => Ok(selector),
    }
}

fn is_called(key: &Node<'_>, name: &str) -> bool {
    matches!(&key.value, Value::Text(text) if text.piece().text == name)
}

fn idle(key: &Node<'_>, keys: &'static [&'static str]) -> Flaw {
    match &key.value {
        Value::Text(text) => {
            let name = text.piece().text.to_owned();
            flaw(key.at, NodeRuleFault::Idle { key: name, keys })
        }
        Value::List(_) | Value::Mapping(_) => Flaw::at(key.at, Problem::BadKey),
    }
}

fn flaw(at: usize, fault: NodeRuleFault) -> Flaw {
    Flaw::at(at, Problem::NodeRule(fault))
}
