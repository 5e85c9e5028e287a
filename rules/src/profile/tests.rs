//! Each row of the documentation's table of `ready`, and of the other states.

#![expect(
    clippy::needless_pass_by_value,
    reason = "what json!() makes is a value"
)]

mod any;
mod claim;
mod custom;
mod existence;
mod generic;
mod health;
mod job;
mod library;
mod pod;
mod service;
mod workload;

use super::*;
use crate::definition::{Declared, Summary};
use crate::kinds::Builtin;
use crate::kstatus::arbitrary::{json as any_json, manifest};
use crate::lookup::{Lookup, Unavailable};
use crate::selector::Selector;
use crate::world::{Objects, Only};
use proptest::prelude::*;
use serde_json::json;
use std::borrow::Cow;

/// A cluster that answers every question with the test's values.
struct Cluster {
    object: Lookup<Value>,
    list: Lookup<Vec<Value>>,
    declared: Lookup<Declared>,
    health: Option<Judged>,
}

impl Cluster {
    fn empty() -> Self {
        Self {
            object: Lookup::NotFound,
            list: Lookup::Found(Vec::new()),
            declared: Lookup::NotFound,
            health: None,
        }
    }

    fn listing(list: Value) -> Self {
        let Value::Array(list) = list else {
            panic!("a list")
        };
        Self {
            list: Lookup::Found(list),
            ..Self::empty()
        }
    }

    fn unavailable(why: Unavailable) -> Self {
        Self {
            object: Lookup::Unavailable(why),
            list: Lookup::Unavailable(why),
            declared: Lookup::NotFound,
            health: None,
        }
    }

    /// A cluster whose definitions declare whether there is a status, but no field of it.
    fn declaring(status: bool) -> Self {
        Self::declared(Declared {
            status,
            summary: Some(Summary::default()),
        })
    }

    fn declared(declared: Declared) -> Self {
        Self {
            declared: Lookup::Found(declared),
            ..Self::empty()
        }
    }
}

impl Objects for &Cluster {
    fn object(&self, _: &Kind, _: Option<&str>, _: &str) -> Lookup<Value> {
        self.object.clone()
    }

    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(&self, _: &Kind, _: Option<&str>, _: &Selector) -> Lookup<Vec<Value>> {
        self.list.clone()
    }

    fn namespaced(&self, _: &Kind) -> Lookup<bool> {
        Lookup::Found(true)
    }
}

impl Cluster {
    fn world(&self) -> Only<&Self> {
        let health = self.health.clone();
        Only {
            declared: self.declared.clone(),
            health: Box::new(move |_, _| health.clone()),
            ..Only::of(self)
        }
    }
}

fn noon() -> Timestamp {
    "2024-01-01T12:00:00Z".parse().unwrap()
}

/// The kind of the object itself: custom where the group has a dot that is not Kubernetes' own.
fn kind_of(object: &Value) -> Kind {
    static ANY: Builtin = Builtin {
        group: "",
        version: "v1",
        kind: "ConfigMap",
        plural: "configmaps",
        short: &[],
        namespaced: true,
    };
    let (group, word) = kstatus::group_and_kind(object);
    let own = !group.contains('.') || group.ends_with(".k8s.io");
    if own {
        return Kind::Builtin(&ANY);
    }
    Kind::Custom {
        group: group.to_owned(),
        word: word.to_owned(),
    }
}

fn ask(object: &Value, state: State, world: &Cluster) -> Judged {
    judge(&kind_of(object), object, state, &world.world(), noon())
}

/// Judges an object for the state `ready` in an empty cluster, and writes the result as `Current Satisfied: message`.
fn told(object: &Value) -> String {
    told_as(object, State::Ready, &Cluster::empty())
}

fn told_as(object: &Value, state: State, world: &Cluster) -> String {
    let judged = ask(object, state, world);
    if state != State::Present {
        assert_eq!(
            judged.satisfied,
            judged.status == Status::Current,
            "{judged:?}"
        );
    }
    assert_eq!(
        judged.satisfied,
        judged.reason == Reason::Satisfied,
        "{judged:?}"
    );
    format!("{} {}: {}", judged.status, judged.reason, judged.message)
}

fn object(version: &str, kind: &str, spec: Value, status: Value) -> Value {
    json!({
        "apiVersion": version, "kind": kind,
        "metadata": { "name": "x", "namespace": "shop", "generation": 2, "creationTimestamp": "2024-01-01T00:00:00Z" },
        "spec": spec, "status": status,
    })
}

/// The object with other metadata, merged over its own.
fn with_metadata(mut object: Value, metadata: Value) -> Value {
    let Value::Object(metadata) = metadata else {
        panic!("a map")
    };
    for (key, value) in metadata {
        object["metadata"][key] = value;
    }
    object
}

fn conditions(list: &[(&str, &str)]) -> Value {
    list.iter()
        .map(|(kind, status)| json!({ "type": kind, "status": status }))
        .collect()
}

#[test]
fn every_reason_has_a_sentence() {
    for reason in Reason::ALL {
        assert!(!reason.sentence().contains("mmutable"));
    }
}

/// A message is cut to one line of 1024 bytes: that of a condition may have a megabyte, and many dependents may wait for its object.
#[test]
fn a_message_is_one_short_line() {
    let status = |message: &str| {
        let condition = json!({ "type": "Ready", "status": "False", "message": message });
        object(
            "example.com/v1",
            "Thing",
            json!({}),
            json!({ "conditions": [condition] }),
        )
    };
    let judged = |message: &str| ask(&status(message), State::Ready, &Cluster::empty()).message;
    assert_eq!(judged("a\nb"), "a b");
    let long = judged(&"\u{fc}".repeat(600_000));
    assert!((1020..=1024).contains(&long.len()), "{}", long.len());
    assert!(long.ends_with("\u{fc}…"), "{long}");
    // The messages of kstatus itself are not cut.
    let own = kstatus::compute(&status(&"x".repeat(5_000)), noon()).unwrap();
    assert_eq!(own.message.len(), 5_000);
}
