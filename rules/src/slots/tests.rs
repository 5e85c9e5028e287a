//! The claims that get a slot.

use super::*;
use crate::kinds::Kind;
use crate::lookup::Lookup;
use crate::scope::Scope;
use crate::selector::Selector;
use crate::world::{Objects, Only};
use serde_json::json;
use std::borrow::Cow;

pub(super) fn holder(index: usize, most: usize) -> Holder {
    Holder {
        group: "batch".to_owned(),
        kind: "Job".to_owned(),
        name: index.to_string(),
        uid: index.to_string(),
        revision: index.to_string(),
        pods_of: index.to_string(),
        most,
    }
}

pub(super) fn claim(index: usize, most: usize) -> Claim {
    let scope = Scope {
        namespace: "shop".to_owned(),
        name: "r".to_owned(),
        kept_in: None,
    };
    let position = Position {
        weight: 0,
        created: None,
        kind: "Job".to_owned(),
        name: index.to_string(),
    };
    Claim {
        wave: Wave { scope, weight: 0 },
        position,
        holder: holder(index, most),
    }
}

#[test]
fn the_first_in_turn_comes_first_and_the_smallest_cap_counts() {
    let names = |holders: Vec<Holder>| holders.into_iter().map(|it| it.name).collect::<Vec<_>>();
    let claims = vec![claim(2, 2), claim(0, 5), claim(1, 5)];
    assert_eq!(
        names(allot(
            Vec::new(),
            Vec::new(),
            |_| false,
            claims.clone(),
            usize::MAX
        )),
        ["0", "1"]
    );
    assert_eq!(
        names(allot(Vec::new(), Vec::new(), |_| false, claims, 1)),
        ["0"],
        "somebody whose turn it is not yet says 1"
    );
    let held = vec![holder(2, 1)];
    assert_eq!(
        names(allot(
            held.clone(),
            Vec::new(),
            |_| false,
            vec![claim(0, 5)],
            usize::MAX
        )),
        ["2"]
    );
    assert_eq!(
        names(allot(
            held.clone(),
            Vec::new(),
            |_| true,
            vec![claim(0, usize::MAX)],
            usize::MAX
        )),
        ["0"]
    );
    // A running object holds a slot even if it is not written down.
    assert_eq!(
        names(allot(
            Vec::new(),
            held,
            |_| false,
            vec![claim(0, 1)],
            usize::MAX
        )),
        ["2"]
    );
}

/// An object that is rolled out is ready only with its new pods; if they waited for the slot of the old ones, neither would get there.
#[test]
fn another_revision_of_what_runs_shares_its_slot() {
    let of = |object: usize, revision: &str| {
        let mut claim = claim(object, 2);
        claim.holder.revision = revision.to_owned();
        claim
    };
    let names = |holders: Vec<Holder>| {
        let name = |it: Holder| format!("{}{}", it.name, it.revision);
        holders.into_iter().map(name).collect::<Vec<_>>()
    };
    let claims = vec![of(1, "a"), of(0, "b"), of(2, "a"), of(1, "b")];
    let held = vec![of(0, "a").holder];
    let shared = allot(held, Vec::new(), |_| false, claims, usize::MAX);
    assert_eq!(objects(&shared).len(), 2);
    assert_eq!(names(shared), ["0a", "0b", "1a", "1b"]);
    // The oldest is forgotten; its pods are gone, or ask again.
    let rollouts = (0..20).fold(Vec::new(), |holders, number| {
        let next = vec![of(0, &number.to_string())];
        allot(holders, Vec::new(), |_| false, next, usize::MAX)
    });
    let kept: Vec<_> = rollouts.iter().map(|it| it.revision.as_str()).collect();
    assert_eq!(kept, ["12", "13", "14", "15", "16", "17", "18", "19"]);
}

#[test]
fn a_pod_that_has_ended_gives_its_slot_back() {
    let world = Only::of(All(Vec::new()));
    let pod = Holder {
        group: String::new(),
        kind: "Pod".to_owned(),
        ..holder(0, 1)
    };
    let done = |holder: &Holder, phase: &str| {
        let object = json!({"kind": "Pod", "status": {"phase": phase}});
        is_done(holder, &object, &world, Timestamp::UNIX_EPOCH)
    };
    let phases = ["Pending", "Running", "Succeeded", "Failed"];
    assert_eq!(
        phases.map(|phase| done(&pod, phase)),
        [false, false, true, true]
    );
}

/// A Job claims a slot for itself, also where a CronJob made it: a CronJob is ready in any state of its Jobs.
#[test]
fn a_job_claims_for_itself_whoever_made_it() {
    let named = |kind: &str, name: &str, owner: Value| {
        json!({"apiVersion": "batch/v1", "kind": kind, "metadata": {
            "namespace": "shop", "name": name, "uid": name, "ownerReferences": owner,
            "annotations": {"sluice.dev/scope": "r", "sluice.dev/parallelism": "1"},
        }})
    };
    let by = |kind: &str, name: &str| json!([{"apiVersion": "batch/v1", "kind": kind, "name": name, "uid": name, "controller": true}]);
    let world = Only::of(All(vec![
        named("CronJob", "nightly", json!([])),
        named("Job", "nightly-1", by("CronJob", "nightly")),
    ]));
    let pod = json!({"metadata": {"namespace": "shop", "name": "nightly-1-x", "uid": "x", "ownerReferences": by("Job", "nightly-1")}});
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &world) else {
        panic!("resolved")
    };
    assert_eq!(dependent.owners.len(), 2);
    let claim = Claim::of(&dependent).expect("it is capped");
    assert_eq!(claim.holder.to_string(), "Job/nightly-1");
    assert_eq!(claim.position.name, "nightly-1");
}

#[test]
fn no_more_is_written_down_than_there_is_room_for() {
    let names = |holders: &[Holder]| holders.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    let wave = claim(0, 9).wave;
    let entry = |holders: &[Holder]| {
        let (wave, holders) = (wave.clone(), holders.to_vec());
        serde_json::to_string(&Entry { wave, holders })
            .unwrap()
            .len()
    };
    let all: Vec<Holder> = (0..4).map(|index| holder(index, 9)).collect();
    let before = &all[1..2];
    let room = entry(&all[..2]) + 1;
    assert_eq!(names(&fit(&wave, before, all.clone(), room)), ["0", "1"]);
    assert_eq!(names(&fit(&wave, before, all.clone(), 0)), ["1"]);
    assert_eq!(fit(&wave, before, all.clone(), usize::MAX), all);
}

/// The claims of two pods of one owner.
fn claims_of(owner: (&str, &str, &str)) -> [Holder; 2] {
    let (group, version, kind) = owner;
    let api_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    let metadata = json!({
        "namespace": "shop", "name": "web", "uid": "u",
        "annotations": {"sluice.dev/scope": "r", "sluice.dev/parallelism": "1"},
    });
    let owner = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
    let world = Only::of(All(vec![owner]));
    ["a", "b"].map(|name| {
        let pod = json!({"metadata": {"namespace": "shop", "name": name, "uid": name, "ownerReferences": [
            {"apiVersion": api_version, "kind": kind, "name": "web", "uid": "u", "controller": true},
        ]}});
        let extra = [("example.com".to_owned(), "Fleet".to_owned())];
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &extra, &world) else {
            panic!("resolved")
        };
        Claim::of(&dependent).expect("it is capped").holder
    })
}

/// Objects of one namespace.
struct All(Vec<Value>);

impl Objects for All {
    fn object(&self, kind: &Kind, _: Option<&str>, name: &str) -> Lookup<Value> {
        let is_it = |it: &&Value| it["kind"] == kind.word() && it["metadata"]["name"] == name;
        let found = self.0.iter().find(is_it);
        found.cloned().map_or(Lookup::NotFound, Lookup::Found)
    }

    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(&self, _: &Kind, _: Option<&str>, _: &Selector) -> Lookup<Vec<Value>> {
        Lookup::Found(self.0.clone())
    }

    fn namespaced(&self, _: &Kind) -> Lookup<bool> {
        Lookup::Found(true)
    }
}

/// The pods of an owner whose revisions have no names share one slot: they are ready together or not at all.
#[test]
fn an_owner_whose_revision_has_no_name_holds_one_slot() {
    for owner in [
        ("", "v1", "ReplicationController"),
        ("example.com", "v1", "Fleet"),
    ] {
        let [one, other] = claims_of(owner);
        assert!(other.is_among(&[one]), "{owner:?}");
    }
}
