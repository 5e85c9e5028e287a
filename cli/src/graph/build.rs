//! Builds the model of the graph that is printed: its nodes, links, steps and cycles.

use super::line::{End, Line, Lines};
use super::model::{Cycle, Edge, Health, Model, Node};
use super::order;
use super::told::Findings;
use crate::objects::{Graph, Object};
use rules::dependency::{Dependency, Reference};
use rules::dependent::Source;
use rules::judged::{Judged, Reason};
use rules::kstatus::Status;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// The object or the address that a node of the graph stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Object(usize),
    /// An object that is not there: namespace, kind and name.
    Missing(String, String, String),
    /// An address outside of the cluster that a dependent waits for.
    Outside(String),
}

impl Model {
    /// The model of the graph of the objects that are [`shown`].
    pub(super) fn new(graph: &Graph<'_>, shown: &BTreeSet<usize>, findings: &Findings) -> Self {
        let home = home(graph, shown);
        let cycles = graph.cycles();
        let cycles: Vec<_> = cycles
            .into_iter()
            .filter(|cycle| cycle.iter().any(|at| shown.contains(at)))
            .collect();
        let mut keys: Vec<Key> = shown.iter().map(|at| Key::Object(*at)).collect();
        let links = links(graph, shown, findings, &mut keys);
        let steps = steps(graph, &keys, &links);
        let nodes = keys
            .iter()
            .zip(&steps)
            .enumerate()
            .map(|(number, (key, step))| {
                let leads_here = links.iter().filter(|link| link.to == number);
                let known: Vec<&Line> = leads_here.flat_map(|link| &link.lines).collect();
                let node = node(graph, key, &home, findings, &known);
                let in_cycle = |at: &usize| cycles.iter().any(|cycle| cycle.contains(at));
                Node {
                    step: *step,
                    cycle: matches!(key, Key::Object(at) if in_cycle(at)),
                    ..node
                }
            });
        let nodes: Vec<Node> = nodes.collect();
        let edges = links.into_iter().map(|link| Edge {
            from_node: link.from,
            to_node: link.to,
            from: nodes[link.from].id.clone(),
            to: nodes[link.to].id.clone(),
            because: link.because,
            must: link.must,
            implied: link.implied,
            holds: holds(&link.lines),
            reason: reason(&link.lines),
            cycle: cycles
                .iter()
                .any(|cycle| follows(cycle, &keys[link.from], &keys[link.to])),
        });
        let edges = edges.collect();
        let told = cycles.iter().map(|cycle| Cycle {
            path: graph.path(cycle),
            way_out: graph.way_out(cycle),
        });
        let at = keys.iter().enumerate().filter_map(|(node, key)| match key {
            Key::Object(at) => Some((*at, node)),
            Key::Missing(..) | Key::Outside(_) => None,
        });
        let model = Self {
            edges,
            cycles: told.collect(),
            at: at.collect(),
            nodes,
        };
        model.sorted()
    }
}

/// The step at which each node of `keys` starts, from 1; `None` for a node that never does: in a cycle, behind one, or with a list that
/// cannot be read.
fn steps(graph: &Graph<'_>, keys: &[Key], links: &[Arrow]) -> Vec<Option<usize>> {
    let mut plain: Vec<_> = links.iter().map(|it| (it.from, it.to, it.must)).collect();
    // An object whose list cannot be read never starts, like one that waits for itself.
    let unreadable = keys.iter().enumerate().filter(|(_, key)| match key {
        Key::Object(at) => graph.waits_for_a_text(*at),
        Key::Missing(..) | Key::Outside(_) => false,
    });
    plain.extend(unreadable.map(|(node, _)| (node, node, true)));
    order::steps(keys.len(), &plain)
}

/// Whether one of several lines holds its dependent back; `None` where there is no line.
fn holds<'l>(lines: impl IntoIterator<Item = &'l Line>) -> Option<bool> {
    let holds = lines.into_iter().map(|line| line.holds);
    holds.reduce(|one, other| one || other)
}

/// The reason of the first line that holds its dependent back and has one, else of the first line with one.
fn reason(lines: &[Line]) -> Option<&'static str> {
    let holding = lines.iter().filter(|line| line.holds);
    let mut all = holding.chain(lines).filter_map(|line| line.reason);
    all.next().map(Reason::label)
}

/// The health of an object that its node shows: as a line judges it that holds a dependent back, else its own, else as the first line judges it.
fn health(own: Option<&Judged>, lines: &[&Line]) -> Option<Judged> {
    let mut holding = lines.iter().filter(|line| line.holds);
    let held = holding.find_map(|line| line.shown.as_ref());
    let mut told = lines.iter().filter_map(|line| line.shown.as_ref());
    held.or(own).or_else(|| told.next()).cloned()
}

/// The indexes of the objects to print: those that make pods and have no owner (of one release, where one is asked for), and all that they wait
/// for, directly or not.
pub(super) fn shown(graph: &Graph<'_>, release: Option<&str>) -> BTreeSet<usize> {
    let is_of_release = |object: &Object| {
        let scope = object.scope.as_ref();
        release.is_none_or(|name| scope.is_some_and(|it| it.name == name))
    };
    let starts = |at: &usize| {
        let object = &graph.objects[*at];
        object.is_dependent() && object.owner().is_none() && is_of_release(object)
    };
    let mut open: Vec<usize> = (0..graph.objects.len()).filter(starts).collect();
    let mut shown = BTreeSet::new();
    while let Some(at) = open.pop() {
        if shown.insert(at) {
            open.extend(graph.links(at).into_iter().map(|link| link.to));
        }
    }
    shown
}

/// The namespace of most of the shown objects, which the graph leaves out of their names; empty where nothing is shown.
fn home(graph: &Graph<'_>, shown: &BTreeSet<usize>) -> String {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for at in shown {
        *count.entry(graph.objects[*at].namespace()).or_default() += 1;
    }
    let most = count.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(name, _)| name.to_owned()).unwrap_or_default()
}

/// Whether `to` comes directly after `from` on a cycle.
fn follows(cycle: &[usize], from: &Key, to: &Key) -> bool {
    let (Key::Object(from), Key::Object(to)) = (from, to) else {
        return false;
    };
    let next = cycle.iter().cycle().skip(1);
    cycle.iter().zip(next).any(|pair| pair == (from, to))
}

/// A link of the graph from a node to a node.
struct Arrow {
    from: usize,
    to: usize,
    must: bool,
    because: Option<String>,
    implied: bool,
    /// The lines that make up this link, one for each wait.
    lines: Vec<Line>,
}

/// The links from node to node, one for each pair. A missing object or an address that an entry names is added to `keys`, as a further node.
fn links(
    graph: &Graph<'_>,
    shown: &BTreeSet<usize>,
    findings: &Findings,
    keys: &mut Vec<Key>,
) -> Vec<Arrow> {
    let nodes: BTreeMap<usize, usize> = shown.iter().copied().zip(0..).collect();
    let mut found: BTreeMap<(usize, usize), Arrow> = BTreeMap::new();
    for (at, from) in &nodes {
        let implied_below = graph.implied_below(*at);
        let lines = Lines {
            graph,
            findings,
            from: *at,
        };
        for link in graph.links(*at) {
            let by_weight = link
                .wait
                .is_some_and(|wait| graph.lists[*at][wait].source == Source::Weight);
            let next = Arrow {
                from: *from,
                to: nodes[&link.to],
                must: link.must,
                because: graph.how(*at, link),
                implied: by_weight && graph.waves[link.to] < implied_below,
                lines: lines
                    .line(link.wait, End::Object(link.to))
                    .into_iter()
                    .collect(),
            };
            match found.entry((next.from, next.to)) {
                Entry::Vacant(vacant) => drop(vacant.insert(next)),
                Entry::Occupied(mut known) => known.get_mut().beside(next),
            }
        }
        for (number, wait) in graph.lists[*at].iter().enumerate() {
            let entry = wait.edge.entry().into_iter();
            for (key, must, named) in entry.flat_map(|it| missing(graph, *at, it)) {
                let to = keys.iter().position(|it| *it == key);
                let to = to.unwrap_or_else(|| {
                    keys.push(key);
                    keys.len() - 1
                });
                let known = found.entry((*from, to)).or_insert(Arrow {
                    from: *from,
                    to,
                    must,
                    because: None,
                    implied: false,
                    lines: Vec::new(),
                });
                let line = lines.line(Some(number), End::Missing(named));
                known.lines.extend(line);
            }
        }
    }
    found.into_values().collect()
}

impl Arrow {
    /// Merges another wait for the object into the link. If one of the waits needs the object, the link does.
    fn beside(&mut self, next: Self) {
        let mut lines = std::mem::take(&mut self.lines);
        lines.extend_from_slice(&next.lines);
        if next.must && !self.must {
            *self = next;
        }
        self.lines = lines;
    }
}

/// The missing objects and the addresses that an entry names: for each its key, whether the object `from` cannot start without it (false for an
/// optional object and for each of several alternatives), and the entry or the alternative that names it. Selectors, parts and objects of the graph
/// have none.
fn missing<'d>(
    graph: &Graph<'_>,
    from: usize,
    dependency: &'d Dependency,
) -> Vec<(Key, bool, &'d Dependency)> {
    match &dependency.reference {
        Reference::Object(object) if graph.find(from, object).is_none() => {
            let own = graph.objects[from].namespace().to_owned();
            let namespace = object.namespace.clone().unwrap_or(own);
            let key = Key::Missing(namespace, object.kind.to_string(), object.name.clone());
            vec![(key, !dependency.optional, dependency)]
        }
        Reference::Address(address) => {
            vec![(Key::Outside(address.to_string()), true, dependency)]
        }
        Reference::Any(alternatives) => {
            let found = alternatives.of.iter();
            let found = found.flat_map(|it| missing(graph, from, it));
            found.map(|(key, _, named)| (key, false, named)).collect()
        }
        _ => Vec::new(),
    }
}

fn node(graph: &Graph<'_>, key: &Key, home: &str, findings: &Findings, lines: &[&Line]) -> Node {
    let (namespace, kind, name, object) = match key {
        Key::Object(at) => {
            let object = &graph.objects[*at];
            let kind = object.kind.as_ref().map(ToString::to_string);
            let kind = kind.unwrap_or_else(|| object.word().to_owned());
            let (namespace, name) = (object.namespace(), &object.place.name);
            (
                namespace.to_owned(),
                kind,
                name.clone(),
                Some((*at, object)),
            )
        }
        Key::Missing(namespace, kind, name) => {
            (namespace.clone(), kind.clone(), name.clone(), None)
        }
        Key::Outside(address) => (String::new(), "Address".to_owned(), address.clone(), None),
    };
    let own = object.and_then(|(at, _)| findings.own.get(&at));
    let judged = health(own, lines);
    let prefix = match namespace.as_str() {
        "" => String::new(),
        of if of == home => String::new(),
        other => format!("{other}/"),
    };
    Node {
        id: match key {
            Key::Outside(address) => address.clone(),
            _ => format!("{prefix}{kind}/{name}"),
        },
        scope: object.and_then(|(_, it)| Some(it.scope.as_ref()?.name.clone())),
        wave: object.and_then(|(_, it)| it.scope.as_ref().and(it.wave())),
        parallelism: object.and_then(|(_, it)| it.cap()),
        step: None,
        cycle: false,
        missing: matches!(key, Key::Missing(..))
            && judged
                .as_ref()
                .is_none_or(|it| it.status == Status::NotFound),
        holds_up: holds(lines.iter().copied()),
        health: judged.map(Health::from),
        root_cause: None,
        waits_for: object.map_or_else(Vec::new, |(at, _)| waits_for(graph, at)),
        kind,
        namespace,
        name,
    }
}

/// The waits of an object as texts: each entry of its list, its waves, a plan (with ` (plan)` behind it) or a node rule in its written form,
/// and `a list that can be read` where its list has a fault. For a Service only the workloads behind it, `pods of Deployment/api`.
fn waits_for(graph: &Graph<'_>, at: usize) -> Vec<String> {
    if graph.objects[at].is_service() {
        let behind = graph.backends(at).unwrap_or_default().into_iter();
        let name = |at: usize| &graph.objects[at].place;
        return behind
            .map(|at| format!("pods of {}/{}", name(at).kind, name(at).name))
            .collect();
    }
    let waits = graph.lists[at].iter();
    let unreadable = graph
        .waits_for_a_text(at)
        .then(|| "a list that can be read".to_owned());
    waits
        .map(|wait| match wait.source {
            Source::Plan => format!("{} (plan)", wait.edge),
            Source::List | Source::Weight | Source::NodeRule => wait.edge.to_string(),
        })
        .chain(unreadable)
        .collect()
}
