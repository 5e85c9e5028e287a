//! Who waits for whom: what lists, plans and weights say, and the objects that they mean.

use super::graph::Graph;
use super::object::Object;
use rules::annotation::{self, ParseError};
use rules::dependency::{Dependency, Part, Parts, Plan, Reference, State};
use rules::keys;
use rules::scope::{self, Scope};

/// One thing that an object waits for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wait {
    pub(crate) dependency: Dependency,
    pub(crate) source: Source,
}

/// Who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A list on the object or on its pod template.
    List,
    /// A plan of its scope.
    Plan,
    /// The weights and caps of its scope.
    Weight,
}

/// One object that another waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) to: usize,
    /// Which one of its waits; a Service has none.
    pub(crate) wait: Option<usize>,
    /// Whether there is no way around it. Where there is a choice, or existence is enough, there is one.
    pub(crate) must: bool,
}

impl Graph<'_> {
    /// What each object waits for.
    pub(super) fn waits(&self) -> Vec<Vec<Wait>> {
        let plans = plans(self.objects);
        let waits = |(at, object): (usize, &Object)| {
            let mut waits = list(object);
            if object.is_test() {
                return waits;
            }
            let planned = planned(object, &plans);
            let gated = self.is_gated(at) || !planned.is_empty();
            waits.extend(planned);
            waits.extend(gated.then(|| self.wave(object)).flatten());
            waits.extend(slot(object));
            waits
        };
        self.objects.iter().enumerate().map(waits).collect()
    }

    /// Everything of its scope that weighs less, where there is something.
    fn wave(&self, object: &Object) -> Option<Wait> {
        let below = weight(object).unwrap_or_default();
        let mut lighter = self.lighter(object.scope.as_ref()?, below);
        lighter.next().map(|_| Wait {
            dependency: Dependency::on(Reference::Wave(below)),
            source: Source::Weight,
        })
    }

    /// The objects that an object waits for.
    pub(crate) fn links(&self, at: usize) -> Vec<Link> {
        if self.objects[at].word() == "Service" {
            let behind = self.backends(at).unwrap_or_default();
            // Without its one workload there is no endpoint; of several, one is enough.
            let must = behind.len() == 1;
            let link = |to| Link {
                to,
                wait: None,
                must,
            };
            return behind.into_iter().map(link).collect();
        }
        let mut links = Vec::new();
        for (number, wait) in self.lists[at].iter().enumerate() {
            for (to, must) in self.meant(at, &wait.dependency) {
                let wait = Some(number);
                links.push(Link { to, wait, must });
            }
        }
        links
    }

    /// The weight below which a wave that an object waits for is waited for by another such wave already, so that a
    /// drawing need not show it.
    pub(crate) fn implied_below(&self, at: usize) -> Option<i64> {
        let below = |at: usize| {
            let mut waits = self.lists[at].iter().rev();
            waits.find_map(|wait| match wait.dependency.reference {
                Reference::Wave(below) => Some(below),
                _ => None,
            })
        };
        let scope = self.objects[at].scope.as_ref()?;
        let mut lighter = self.lighter(scope, below(at)?);
        let waits = lighter.find(|at| below(*at).is_some())?;
        self.waves[waits]
    }

    /// What has to be ready before this object can be.
    pub(crate) fn needs(&self, at: usize) -> Vec<usize> {
        let links = self.links(at).into_iter();
        links.filter(|link| link.must).map(|link| link.to).collect()
    }

    fn meant(&self, from: usize, dependency: &Dependency) -> Vec<(usize, bool)> {
        let waits = !dependency.optional && dependency.state != State::Present;
        let (found, must) = match &dependency.reference {
            Reference::Object(object) => {
                let found = self.find(from, object);
                let early = found.is_some_and(|at| self.starts_before_its_gate(at, dependency));
                (found.into_iter().collect(), !early)
            }
            Reference::Selected(selection) => {
                let mut found = self.selected(from, selection);
                found.retain(|at| *at != from);
                (found, selection.min.is_none())
            }
            Reference::Part(parts) => (self.part(from, parts), parts.min.is_none()),
            Reference::Wave(below) => {
                let scope = self.objects[from].scope.iter();
                let lighter = scope.flat_map(|scope| self.lighter(scope, *below));
                (lighter.collect(), true)
            }
            Reference::Any(alternatives) => {
                let of = alternatives.of.iter();
                let found = of.flat_map(|it| self.meant(from, it)).map(|(at, _)| at);
                (found.collect(), false)
            }
            Reference::Slot(_) => (Vec::new(), false),
        };
        found.into_iter().map(|at| (at, waits && must)).collect()
    }

    /// A Job counts as started while its pod still waits.
    fn starts_before_its_gate(&self, at: usize, dependency: &Dependency) -> bool {
        dependency.state == State::Started && self.objects[at].word() == "Job"
    }
}

/// Its turn, where its wave is capped.
fn slot(object: &Object) -> Option<Wait> {
    Some(Wait {
        dependency: Dependency::on(Reference::Slot(object.cap()?)),
        source: Source::Weight,
    })
}

fn weight(object: &Object) -> Option<i64> {
    annotation::weight(object.said(keys::WEIGHT)?)
}

/// The plans of the input, by their scopes.
fn plans(objects: &[Object]) -> Vec<(&Scope, Plan)> {
    let plan = |object: &'_ Object| {
        let text = object.value["data"][keys::ORDER].as_str()?;
        annotation::order(text).ok()
    };
    let plans = objects.iter().filter(|object| object.is_plan());
    plans
        .filter_map(|object| Some((object.scope.as_ref()?, plan(object)?)))
        .collect()
}

/// What the plans of its scope say of an object, under the names that it has there.
fn planned(object: &Object, plans: &[(&Scope, Plan)]) -> Vec<Wait> {
    let Some(scope) = object.scope.as_ref().filter(|_| object.is_dependent()) else {
        return Vec::new();
    };
    let of_scope = plans.iter().filter(|(of, _)| *of == scope);
    let steps = of_scope.flat_map(|(_, plan)| &plan.steps);
    let after = steps
        .filter(|step| is_called(object, &step.part))
        .flat_map(|step| step.after.iter().cloned());
    let wait = |part: Part| Wait {
        dependency: Dependency::on(Reference::Part(Parts {
            part,
            namespace: None,
            min: None,
        })),
        source: Source::Plan,
    };
    after.map(wait).collect()
}

/// Whether a plan may mean an object by a name: here either label of a sub-chart counts.
fn is_called(object: &Object, part: &Part) -> bool {
    match part {
        Part::SubChart(name) => {
            [scope::chart(&object.value), scope::app(&object.value)].contains(&Some(name))
        }
        Part::Group(name) => scope::groups(&object.value).any(|group| group == name),
        Part::Release(_) => false,
    }
}

/// Why the list of an object cannot be read: it waits until somebody can.
pub(crate) fn unreadable(object: &Object) -> Option<ParseError> {
    lists(object).into_iter().find_map(Result::err)
}

/// What its lists say, as far as they can be read.
fn list(object: &Object) -> Vec<Wait> {
    let wait = |dependency| Wait {
        dependency,
        source: Source::List,
    };
    let lists = lists(object).into_iter().filter_map(Result::ok);
    lists.flatten().map(wait).collect()
}

/// Both lists: the template's over the object's.
fn lists(object: &Object) -> Vec<Result<Vec<Dependency>, ParseError>> {
    if !object.is_dependent() {
        return Vec::new();
    }
    let own = object.said(keys::DEPENDS_ON);
    let config = object.said(keys::CONFIG_DEPENDS_ON);
    let own = own.map(annotation::parse_depends_on);
    let config = config.map(annotation::parse_config_depends_on);
    own.into_iter().chain(config).collect()
}
