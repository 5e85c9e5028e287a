//! The fields that rules read are kept: objects in which every field that a rule names makes a difference are judged whole and
//! trimmed.

use super::source::{self, LABELS, NO_FIELDS};
use super::*;
use crate::advice::{self, Advice, Seen, Served, Target, Windows, Workload};
use crate::cause::{Behind, Stuck};
use crate::definition::Declared;
use crate::dependency::{Dependency, ObjectRef, Part, Reference, Selection, State};
use crate::dependent::Dependent;
use crate::gate::{self, Gate};
use crate::holder::{Running, Wave};
use crate::job;
use crate::judged::Judged;
use crate::lookup::{Lookup, Unavailable};
use crate::memory::{self, CompletedJob, Completing};
use crate::object::{carried, controller_of, group_kind, written};
use crate::plan;
use crate::profile;
use crate::reboot;
use crate::scope::{self, Position, Scope};
use crate::selector::Selector;
use crate::slots::Claim;
use crate::verdict::{self, Policy};
use crate::world::{Definitions, Hints, Objects, Pending, Remembered, Scopes, World};
use jiff::Timestamp;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// A cluster of these objects.
#[derive(Debug)]
struct Cluster<'o> {
    objects: &'o [Value],
}

impl Cluster<'_> {
    fn find(&self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        self.objects
            .iter()
            .filter(|it| wanted(it))
            .cloned()
            .collect()
    }
}

impl Objects for Cluster<'_> {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        let found = self.find(|it| {
            let metadata = &it["metadata"];
            kind_of(it) == *kind
                && metadata["namespace"].as_str() == namespace
                && metadata["name"] == name
        });
        found
            .into_iter()
            .next()
            .map_or(Lookup::NotFound, Lookup::Found)
    }

    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        Lookup::Found(self.find(|it| {
            kind_of(it) == *kind
                && namespace.is_none_or(|namespace| it["metadata"]["namespace"] == namespace)
                && selector.selects(it)
        }))
    }

    fn namespaced(&self, _: &Kind) -> Lookup<bool> {
        Lookup::Found(true)
    }
}

impl Scopes for Cluster<'_> {
    fn kinds(&self) -> Result<Vec<Kind>, Unavailable> {
        Ok(scope::workloads().collect())
    }

    fn is_same(&self, one: &Kind, other: &Kind) -> bool {
        one == other
    }

    fn is_granted(&self, _: &Kind) -> bool {
        true
    }

    fn active(&self, _: &Scope) -> Result<Option<Timestamp>, Unavailable> {
        Ok(None)
    }

    fn pending(&self, _: &Scope) -> Pending {
        Pending::NotFollowed
    }

    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>> {
        Lookup::Found(self.find(|it| is_plan(it) && it["metadata"]["namespace"] == namespace))
    }

    fn seen_to_change(&self, _: &Scope, _: Timestamp) -> Option<Timestamp> {
        None
    }
}

impl Remembered for Cluster<'_> {
    fn slots(&self, _: &Wave) -> Lookup<Running> {
        Lookup::Found(Running::default())
    }

    fn completed_job(&self, _: Completing, _: &str, _: &str) -> Lookup<CompletedJob> {
        Lookup::NotFound
    }

    fn completed_jobs(
        &self,
        _: Completing,
        _: &str,
        _: &Selector,
    ) -> Lookup<BTreeMap<String, CompletedJob>> {
        Lookup::Found(BTreeMap::new())
    }

    fn has_passed(&self, _: &str) -> Lookup<bool> {
        Lookup::Found(false)
    }

    fn satisfied_since(&self, _: &str, _: bool, _: Timestamp) -> Option<Timestamp> {
        None
    }

    fn recovered(&self, _: &str, _: bool, _: Timestamp) -> Option<Timestamp> {
        None
    }
}

impl Definitions for Cluster<'_> {
    fn declared(&self, _: &Kind) -> Lookup<Declared> {
        Lookup::Found(Declared::unseen())
    }

    fn health(&self, _: &Value, _: bool) -> Option<Judged> {
        None
    }

    fn rule_reads_a_generation(&self, _: &Value) -> bool {
        false
    }
}

impl Hints for Cluster<'_> {
    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        Lookup::Found(self.find(|it| {
            it["kind"] == "Pod"
                && it["metadata"]["namespace"] == namespace
                && it["spec"]["nodeName"].is_null()
                && selector.selects(it)
        }))
    }

    fn peek_gated(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        Lookup::Found(self.find(|it| {
            it["metadata"]["namespace"] == namespace
                && selector.selects(it)
                && it["metadata"]["labels"][keys::GATED] == keys::GATED_VALUE
        }))
    }

    fn stuck(&self, _: &Behind, _: Timestamp) -> Option<Stuck> {
        None
    }
}

impl World for Cluster<'_> {
    fn hints(&self) -> Option<&dyn Hints> {
        Some(self)
    }
}

/// A world for advice on a workload's dependencies; the workload itself is there whole.
impl Seen for Cluster<'_> {
    fn object(&self, _: &Workload<'_>, named: &ObjectRef) -> Lookup<Target> {
        match Objects::object(self, &named.kind, named.namespace.as_deref(), &named.name) {
            Lookup::Found(object) => Lookup::Found(Target {
                object,
                same_release: None,
            }),
            _ => Lookup::NotFound,
        }
    }

    fn selected(&self, _: &Workload<'_>, _: &Selection) -> Lookup<Vec<Target>> {
        Lookup::NotFound
    }

    fn served_by_others(&self, _: &Workload<'_>, _: &ObjectRef) -> Served {
        Served::Never
    }

    fn elsewhere(&self, _: &Workload<'_>, _: &Part) -> Vec<String> {
        Vec::new()
    }

    fn is_forbidden(&self, _: &Kind) -> bool {
        false
    }

    fn tells_of_other_namespaces(&self) -> bool {
        true
    }
}

fn samples() -> Vec<Value> {
    serde_saphyr::from_str(include_str!("samples.yaml")).unwrap()
}

fn kind_of(object: &Value) -> Kind {
    let (group, kind) = group_kind(object);
    Kind::Builtin(crate::kinds::builtin(group, kind).expect("the samples are built in"))
}

fn is_plan(object: &Value) -> bool {
    object["kind"] == "ConfigMap" && object["metadata"]["labels"][keys::PLAN] == "true"
}

/// The kept form of an object; plans are requested whole.
fn kept(mut object: Value) -> Value {
    let kind = kind_of(&object);
    if detail(&kind) == Detail::Metadata && !is_plan(&object) {
        let fields = ["apiVersion", "kind", "metadata"];
        object
            .as_object_mut()
            .unwrap()
            .retain(|field, _| fields.contains(&field.as_str()));
    }
    trim(&kind, &mut object);
    object
}

/// Every answer of the rules on these objects.
fn answers(objects: &[Value]) -> BTreeMap<String, String> {
    let now = "2024-01-01T12:00:00Z".parse().unwrap();
    let mut answers = BTreeMap::new();
    let world = Cluster { objects };
    for (at, object) in objects.iter().enumerate() {
        let mut note = |what: &str, answer: &dyn Debug| {
            answers.insert(format!("{at} {what}"), format!("{answer:?}"));
        };
        of_object(object, &world, now, &mut note);
        note("advice", &advice_on(object, &world));
        if object["kind"] == "Pod" {
            of_pod(object, &world, now, &mut note);
        } else if job::is_held(object) {
            of_pod(&job::pod_to_be(object), &world, now, &mut note);
        } else {
            of_workload(object, &world, &mut note);
        }
    }
    answers
}

type Note<'n> = &'n mut dyn FnMut(&str, &dyn Debug);

fn of_object(object: &Value, world: &dyn World, now: Timestamp, note: Note<'_>) {
    let kind = kind_of(object);
    for state in State::ALL {
        note(
            state.word(),
            &profile::judge(&kind, object, state, world, now),
        );
        note(
            &format!("{} since", state.word()),
            &profile::since(&kind, object, (state, &[]), world),
        );
    }
    note("scope", &Scope::of(object));
    note("position", &Position::of(object));
    note("hook", &scope::is_hook(object));
    note("groups", &scope::groups(object).collect::<Vec<_>>());
    note("chart", &(scope::chart(object), scope::app(object)));
    note("revision", &(carried(object), written(object)));
    note("owner", &controller_of(object));
    note("reported", &reboot::reported(object));
    note("remembered", &memory::completed(object));
    if let Some(versions) = object.pointer("/spec/versions").and_then(Value::as_array) {
        let declared: Vec<Declared> = versions.iter().map(Declared::of).collect();
        note("declared", &declared);
    }
    if is_plan(object) {
        note("plan", &plan::flaw_in(object, world, |_| true));
    }
}

fn advice_on(object: &Value, known: &dyn Seen) -> Vec<Advice> {
    let whole = json!({"metadata": {"labels": {"app": "api"}}});
    let workload = Workload {
        group: "apps",
        kind: "Deployment",
        namespace: "shop",
        name: "advised",
        object: &whole,
        template: &whole,
    };
    let text = |field: &str| object["metadata"][field].as_str().map(str::to_owned);
    let dependency = Dependency::on(Reference::Object(ObjectRef {
        kind: kind_of(object),
        namespace: text("namespace"),
        name: text("name").unwrap_or_default(),
    }));
    advice::of(&workload, &[dependency], Windows::Unknown, known)
}

fn of_pod(pod: &Value, world: &dyn World, now: Timestamp, note: Note<'_>) {
    note("gate", &(Gate::of(pod), gate::is_pending(pod)));
    note(
        "hold",
        &(
            gate::hold(pod),
            gate::was_held(pod),
            gate::comes_of_a_hold(pod),
        ),
    );
    let dependent = match Dependent::resolve(pod, &[], world) {
        Lookup::Found(dependent) => dependent,
        other => return note("dependent", &other),
    };
    note("name", &dependent.name());
    note("terms", &dependent.terms());
    note("template", &(dependent.revision(), dependent.lockstep()));
    note(
        "began",
        &(dependent.revision_began(), dependent.revision_returned()),
    );
    note("started", &dependent.started);
    note("claim", &Claim::of(&dependent));
    let edges = dependent.edges(true, world);
    note("waits", &edges);
    let edges = edges.unwrap_or_default();
    let judged = verdict::judge(&dependent, edges, &Policy::of_the_chart(), world, now);
    note("judged", &judged);
}

fn of_workload(object: &Value, world: &dyn World, note: Note<'_>) {
    let dependent = Dependent::of_workload(kind_of(object), object, "shop");
    note(
        "workload",
        &(
            dependent.name(),
            &dependent.scope,
            &dependent.parts as &Vec<Part>,
        ),
    );
    note("waits", &dependent.edges(true, world));
}

/// The answers that differ.
fn differences(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let differs = |(what, answer): (&String, &String)| {
        let theirs = other.get(what);
        (theirs != Some(answer)).then(|| format!("{what}: {answer} / {theirs:?}"))
    };
    let gone = other.keys().filter(|what| !one.contains_key(*what));
    one.iter()
        .filter_map(differs)
        .chain(gone.cloned())
        .collect()
}

#[test]
fn a_trimmed_object_is_judged_as_the_whole_one() {
    let whole = samples();
    let told = answers(&whole);
    let unreadable = told.values().filter(|answer| answer.starts_with("Err"));
    assert_eq!(unreadable.collect::<Vec<_>>(), [""; 0]);
    let trimmed: Vec<Value> = whole.iter().cloned().map(kept).collect();
    assert_eq!(differences(&told, &answers(&trimmed)), [""; 0]);
}

#[test]
fn every_field_that_a_rule_names_makes_a_difference_in_the_samples() {
    let (named, whole) = (source::fields(), samples());
    let told = answers(&whole);
    let idle = named
        .iter()
        .filter(|word| !NO_FIELDS.contains(&word.as_str()));
    let idle: Vec<&String> = idle
        .filter(|word| {
            let mut without = whole.clone();
            for object in &mut without {
                take_away(object, word);
            }
            // Without it an object is none of the samples any more.
            !["kind", "apiVersion"].contains(&word.as_str())
                && differences(&told, &answers(&without)).is_empty()
        })
        .collect();
    assert!(
        idle.is_empty(),
        "add samples that are judged otherwise without these fields: {idle:?}"
    );
    let stale = NO_FIELDS.iter().filter(|word| !named.contains(**word));
    assert_eq!(
        stale.collect::<Vec<_>>(),
        [&""; 0],
        "no rule has these words"
    );
}

#[test]
fn every_annotation_that_a_rule_names_is_kept() {
    let kind = Kind::Builtin(crate::kinds::builtin("", "PersistentVolumeClaim").unwrap());
    let lost = source::keys().into_iter().filter(|key| {
        let mut object = json!({"metadata": {"annotations": {key: "x"}}});
        trim(&kind, &mut object);
        object["metadata"]["annotations"][key].is_null()
    });
    assert_eq!(lost.collect::<Vec<_>>(), LABELS);
}

fn take_away(value: &mut Value, field: &str) {
    match value {
        Value::Object(map) => {
            map.remove(field);
            map.values_mut().for_each(|value| take_away(value, field));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| take_away(value, field)),
        _ => {}
    }
}
