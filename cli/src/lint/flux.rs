//! Finds deadlocks between lists of sluice and Flux's `dependsOn`: Flux makes the objects of a release only once the releases that it depends
//! on are ready, and takes a release for ready only once its workloads are.

use super::finding::{Finding, Where};
use super::spots;
use crate::objects::{Graph, Object};
use rules::advice::Level;
use rules::dependency::{Part, Reference};
use rules::edges;
use rules::kinds::Kind;
use serde_json::Value;

const RELEASES: (&str, &str) = ("helm.toolkit.fluxcd.io", "HelmRelease");
const KUSTOMIZATIONS: (&str, &str) = ("kustomize.toolkit.fluxcd.io", "Kustomization");

/// An error for each cycle that leads through `dependsOn`.
pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let flux = Flux::new(graph);
    if flux.units.is_empty() {
        return Vec::new();
    }
    let needs: Vec<_> = (0..graph.objects.len()).map(|at| flux.needs(at)).collect();
    let mut cycles = edges::cycles(&needs);
    cycles.retain(|cycle| cycle.iter().any(|at| flux.units.contains(at)));
    cycles.iter().map(|cycle| flux.told(cycle)).collect()
}

struct Flux<'g, 'o> {
    graph: &'g Graph<'o>,
    /// The indices of the HelmReleases and Kustomizations of the input.
    units: Vec<usize>,
}

impl<'g, 'o> Flux<'g, 'o> {
    fn new(graph: &'g Graph<'o>) -> Self {
        let is_unit = |it: &Object| is(it, RELEASES) || is(it, KUSTOMIZATIONS);
        let objects = graph.objects.iter().enumerate();
        let units = objects.filter(|(_, it)| is_unit(it)).map(|(at, _)| at);
        let units = units.collect();
        Self { graph, units }
    }

    /// The objects that must be ready before an object can be: by its list, by the `dependsOn` of the HelmRelease or Kustomization that makes it, and
    /// for one of these its own workloads, if Flux waits for them.
    fn needs(&self, at: usize) -> Vec<usize> {
        let object = &self.graph.objects[at];
        let mut needs = self.graph.needs(at);
        if self.units.contains(&at) {
            needs.extend(self.depends_on(at));
            if waits_for_its_own(object) {
                let members = (0..self.graph.objects.len()).filter(|it| {
                    self.graph.objects[*it].is_dependent() && self.unit_of(*it) == Some(at)
                });
                needs.extend(members);
            }
            return needs;
        }
        let unit = self.unit_of(at);
        needs.extend(unit.into_iter().flat_map(|unit| self.depends_on(unit)));
        let entries = self.graph.lists[at].iter().filter_map(|it| it.edge.entry());
        needs.extend(entries.filter_map(|entry| match &entry.reference {
            Reference::Part(parts) if !entry.optional => match &parts.part {
                Part::Release(name) => self.unit(name),
                _ => None,
            },
            _ => None,
        }));
        needs
    }

    fn depends_on(&self, unit: usize) -> Vec<usize> {
        let object = &self.graph.objects[unit];
        let others = object.value["spec"]["dependsOn"].as_array();
        let named = |other: &Value| {
            let namespace = other["namespace"].as_str().unwrap_or(object.namespace());
            let mut units = self.units.iter().copied();
            units.find(|at| {
                let it = &self.graph.objects[*at];
                it.kind == object.kind
                    && it.namespace() == namespace
                    && other["name"] == it.place.name.as_str()
            })
        };
        others.into_iter().flatten().filter_map(named).collect()
    }

    /// The HelmRelease or Kustomization of the input that makes an object, by the name of the object's scope; `None` where there is none.
    fn unit_of(&self, at: usize) -> Option<usize> {
        self.unit(&self.graph.objects[at].scope.as_ref()?.name)
    }

    /// The HelmRelease or Kustomization of the input that makes a release of this name, by its own name or its `spec.releaseName`; `None` where
    /// there is none.
    fn unit(&self, release: &str) -> Option<usize> {
        let mut units = self.units.iter().copied();
        units.find(|at| {
            let object = &self.graph.objects[*at];
            let own = object.value["spec"]["releaseName"].as_str();
            own == Some(release) || object.place.name == release
        })
    }

    /// The error about a cycle. Its place is the entry of the first list that is a step of the cycle, else `spec.dependsOn` of the cycle's first
    /// object.
    fn told(&self, cycle: &[usize]) -> Finding {
        let steps = || cycle.iter().zip(cycle.iter().cycle().skip(1));
        let is_unit = |at: &usize| self.units.contains(at);
        let step = |(from, to): (&usize, &usize)| {
            let place = &self.graph.objects[*to].place;
            let listed = !is_unit(from) && self.graph.needs(*from).contains(to);
            let how = if is_unit(to) && !listed {
                " (dependsOn)"
            } else {
                ""
            };
            format!(" -> {place}{how}")
        };
        let first = self.graph.objects[cycle[0]].place.to_string();
        let path = steps().map(step).fold(first, |path, step| path + &step);
        let told = format!(
            "these wait for each other and never start: {path}; take one entry out, of a list or of a dependsOn"
        );
        let listed = steps().find(|(from, to)| self.graph.needs(**from).contains(to));
        let depends_on = || Where::Field("/spec/dependsOn".to_owned());
        let spot = listed.map_or_else(depends_on, |(from, to)| {
            let next = &self.graph.objects[*to].place.name;
            spots::entry(&self.graph.objects[*from], next)
        });
        let at = listed.map_or(cycle[0], |(from, _)| *from);
        let object = &self.graph.objects[at];
        Finding::new("Cycle", Level::Error, &object.place, told).spot(spot)
    }
}

fn is(object: &Object, (group, word): (&str, &str)) -> bool {
    let named = |kind: &Kind| kind.group() == group && kind.word() == word;
    object.kind.as_ref().is_some_and(named)
}

/// Whether Flux takes a Kustomization or a HelmRelease for ready only once its workloads are ready.
fn waits_for_its_own(unit: &Object) -> bool {
    let spec = &unit.value["spec"];
    if is(unit, RELEASES) {
        return spec["install"]["disableWait"] != true;
    }
    spec["wait"] == true
}
