//! Finds the waits of each object, from lists, plans and weights, and the objects that these mean.

use super::graph::{Graph, UnreadText, means};
use super::object::Object;
use rules::annotation;
use rules::dependency::{Dependency, Edge, NodeRules, ObjectRef, Part, Parts, Selection};
use rules::dependent::{Source, Wait};
use rules::edges;
use rules::keys;
use rules::kinds::Kind;
use rules::lookup::Lookup;
use rules::ordinals;
use rules::world::World;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// An object that another object waits for, or that stands behind a Service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) to: usize,
    /// The index of the wait among those of the waiting object; `None` for an object that stands behind a Service.
    pub(crate) wait: Option<usize>,
    /// Whether the waiting object can never become ready without this one. A choice, or a wait for existence alone, makes the answer no.
    pub(crate) must: bool,
}

impl Graph<'_> {
    /// The waits of each object, by the object's index, and the fault that makes its list or its plan unreadable, if there is one.
    pub(super) fn waits(&self) -> Vec<(Vec<Wait>, Option<UnreadText>)> {
        let plans = plans(self.objects);
        let objects = self.objects.iter().enumerate();
        objects
            .map(|(at, object)| self.waits_of(at, object, &plans))
            .collect()
    }

    /// Adds the waits that the node rules of a cluster give to the pods of the objects. A rule whose Namespace the caller may not read is left
    /// out, and so is every rule for a workload whose gates are skipped.
    pub(crate) fn under(mut self, rules: &NodeRules, world: &dyn World) -> Self {
        for (object, waits) in self.objects.iter().zip(&mut self.lists) {
            let dependent = object.dependent();
            let dependent = dependent.filter(|it| it.skipped_on().is_none());
            let edges = dependent.map_or(Ok(Vec::new()), |it| it.ruled(rules, world));
            let source = Source::NodeRule;
            let edges = edges.unwrap_or_default().into_iter();
            waits.extend(edges.map(|edge| Wait { edge, source }));
        }
        self
    }

    fn waits_of(
        &self,
        at: usize,
        object: &Object,
        plans: &HashMap<&str, Vec<Value>>,
    ) -> (Vec<Wait>, Option<UnreadText>) {
        let Some(dependent) = object.dependent() else {
            return (Vec::new(), None);
        };
        let plans = || Lookup::Found(plans.get(object.namespace()).cloned().unwrap_or_default());
        let is_same = |kind: &Kind, word: &Kind| means(word, kind);
        let has_chart = |part: &Part| self.has_chart(at, part);
        let mut waits = match dependent.waits(true, plans, &is_same, &has_chart) {
            Ok(waits) => waits,
            Err(why) => {
                let unplanned = || Lookup::Found(Vec::new());
                let of_plan = || {
                    dependent
                        .waits(true, unplanned, &is_same, &has_chart)
                        .is_ok()
                };
                let waits = self.is_gated(at) || of_plan();
                return (listed(object), Some(UnreadText { why, waits }));
            }
        };
        let gated = self.is_gated(at) || waits.iter().any(|wait| wait.source == Source::Plan);
        waits.retain(|wait| match wait.edge {
            Edge::Wave(below) => gated && self.is_below(object, below),
            _ => true,
        });
        (waits, None)
    }

    /// Whether an object in the scope and namespace of the object `at` carries the label of this sub-chart.
    fn has_chart(&self, at: usize, part: &Part) -> bool {
        let within = Parts {
            part: part.clone(),
            namespace: None,
            min: None,
        };
        let mut found = self.part(at, &within).into_iter();
        found.any(|it| part.holds_exactly(&self.objects[it].value))
    }

    /// Whether the object's scope has an object that weighs less than `below`.
    fn is_below(&self, object: &Object, below: i64) -> bool {
        let mut lighter = object.scope.iter().flat_map(|it| self.lighter(it, below));
        lighter.next().is_some()
    }

    /// The objects that an object waits for; for a Service, those that stand behind it.
    pub(crate) fn links(&self, at: usize) -> Vec<Link> {
        if self.objects[at].is_service() {
            let behind = edges::behind(self.backends(at).unwrap_or_default());
            let link = |edges::Link { to, must }| Link {
                to,
                wait: None,
                must,
            };
            return behind.into_iter().map(link).collect();
        }
        let mut links = Vec::new();
        let beside = Beside {
            graph: self,
            from: at,
        };
        for (number, wait) in self.lists[at].iter().enumerate() {
            for edges::Link { to, must } in edges::links(&wait.edge, &beside) {
                let wait = Some(number);
                links.push(Link { to, wait, must });
            }
        }
        links
    }

    /// The objects that an entry of an object means.
    pub(crate) fn meant(&self, from: usize, entry: &Dependency) -> Vec<usize> {
        self.meant_by(from, &Edge::Listed(entry.clone()))
    }

    /// The objects that an edge of an object means.
    pub(crate) fn meant_by(&self, from: usize, edge: &Edge) -> Vec<usize> {
        let links = edges::links(edge, &Beside { graph: self, from });
        links.into_iter().map(|link| link.to).collect()
    }

    /// The weight of the heaviest lighter object that waits for a wave itself. Links of the object `at` to still lighter objects are implied by that
    /// one, so a drawing need not show them. `None` where there is no such object.
    pub(crate) fn implied_below(&self, at: usize) -> Option<i64> {
        let below = |at: usize| {
            let mut waits = self.lists[at].iter().rev();
            waits.find_map(|wait| match wait.edge {
                Edge::Wave(below) => Some(below),
                _ => None,
            })
        };
        let scope = self.objects[at].scope.as_ref()?;
        let mut lighter = self.lighter(scope, below(at)?);
        let waits = lighter.find(|at| below(*at).is_some())?;
        self.waves[waits]
    }

    /// The indexes of the objects that this object waits for directly and cannot become ready without.
    pub(crate) fn needs(&self, at: usize) -> Vec<usize> {
        let links = self.links(at).into_iter();
        links.filter(|link| link.must).map(|link| link.to).collect()
    }
}

/// The objects of the input, seen from one that waits.
struct Beside<'g, 'o> {
    graph: &'g Graph<'o>,
    from: usize,
}

/// Finds the targets among all objects that were read.
impl edges::Targets for Beside<'_, '_> {
    type Object = usize;

    /// The object that a reference of the dependent names. `None` where the input lacks it, and for the pod 0 of the dependent's own StatefulSet: it
    /// holds the other ordinals back, and is no object beside the set.
    fn named(&self, named: &ObjectRef) -> Option<usize> {
        let found = self.graph.find(self.from, named)?;
        let is_first = || ordinals::of(&named.name).is_some_and(|(_, ordinal)| ordinal == 0);
        let is_own = found == self.from && self.graph.objects[found].is_stateful_set();
        let is_own_first = is_own && named.kind.is_pod() && is_first();
        (!is_own_first).then_some(found)
    }

    fn selected(&self, selection: &Selection) -> Vec<usize> {
        let mut found = self.graph.selected(self.from, selection);
        found.retain(|at| *at != self.from);
        found
    }

    fn part(&self, parts: &Parts) -> Vec<usize> {
        self.graph.part(self.from, parts)
    }

    fn lighter(&self, below: i64) -> Vec<usize> {
        let scope = self.graph.objects[self.from].scope.iter();
        let lighter = scope.flat_map(|scope| self.graph.lighter(scope, below));
        let mut lighter: Vec<_> = lighter.collect();
        lighter.retain(|at| !self.graph.is_twin(self.from, *at));
        lighter
    }
}

/// The plans of the input, by their namespaces.
fn plans(objects: &[Object]) -> HashMap<&str, Vec<Value>> {
    let mut plans: HashMap<&str, Vec<Value>> = HashMap::new();
    for plan in objects.iter().filter(|object| object.is_plan()) {
        let of_namespace = plans.entry(plan.namespace()).or_default();
        of_namespace.push(plan.value.clone());
    }
    plans
}

/// The entries of an object's readable lists, where another text of it is unreadable.
fn listed(object: &Object) -> Vec<Wait> {
    let list = |key: &str| {
        let alone = Map::from_iter([(key.to_owned(), object.said(key)?.into())]);
        annotation::declared(&alone).ok()
    };
    let lists = [keys::DEPENDS_ON, keys::CONFIG_DEPENDS_ON];
    let dependencies = lists.into_iter().filter_map(list).flatten();
    let wait = |entry| Wait {
        edge: Edge::Listed(entry),
        source: Source::List,
    };
    dependencies.map(wait).collect()
}
