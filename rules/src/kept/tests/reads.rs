//! The fields that rules read are kept: objects in which every field that a rule names makes a difference are judged whole and
//! trimmed.

use super::cluster::{Cluster, is_plan, kind_of};
use super::source::{self, LABELS, NO_FIELDS};
use super::*;
use crate::advice::{self, Advice, Seen, Windows, Workload};
use crate::definition::Declared;
use crate::dependency::{Dependency, ObjectRef, Part, Reference, State};
use crate::dependent::Dependent;
use crate::gate::{self, Gate};
use crate::job;
use crate::lookup::Lookup;
use crate::memory;
use crate::object::{carried, controller_of, written};
use crate::plan;
use crate::profile;
use crate::reboot;
use crate::scope::{self, Position, Scope};
use crate::slots::Claim;
use crate::verdict::{self, Policy};
use crate::world::World;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt::Debug;

fn samples() -> Vec<Value> {
    serde_saphyr::from_str(include_str!("samples.yaml")).unwrap()
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
    trim_object(&kind, &mut object);
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
    for &state in State::ALL {
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
        trim_object(&kind, &mut object);
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
