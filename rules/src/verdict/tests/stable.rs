//! Tests entries with `stable`.

use super::*;
use crate::dependency::State;

const LIST: &str = "- {kind: Widget.example.com, name: db, stable: 30s}";

/// A custom resource that is ready since second 100.
fn db() -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"namespace": "shop", "name": "db", "creationTimestamp": "1970-01-01T00:00:00Z"},
        "status": {"conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "1970-01-01T00:01:40Z"},
        ]},
    })
}

fn judged(list: &str, object: Value, seen: Option<i64>, now: i64) -> JudgedEdge {
    let second = |second| Timestamp::from_second(second).expect("in range");
    let cluster = Cluster {
        seen: seen.map(second),
        ..Cluster::of(vec![object])
    };
    let Lookup::Found(dependent) = Dependent::resolve(&pod(list), &[], &cluster) else {
        panic!("resolved")
    };
    let edges = dependent.edges(true, &cluster).unwrap();
    let policy = Policy::of_the_chart();
    let Judgement {
        mut edges, again, ..
    } = judge(&dependent, edges, &policy, &cluster, second(now));
    let edge = edges.remove(0);
    let turns: Vec<Timestamp> = edge.turns.iter().map(|turn| turn.at).collect();
    assert_eq!(
        again.into_iter().collect::<Vec<_>>(),
        turns,
        "it is looked at again then"
    );
    edge
}

/// The first second from 100 to 299 at which the entry counts; `None` where it does not count by then.
fn counts_at(list: &str, object: &Value, seen: Option<i64>) -> Option<i64> {
    let is_satisfied = |now: &i64| judged(list, object.clone(), seen, *now).judged.satisfied;
    (100..300).find(is_satisfied)
}

#[test]
fn what_a_condition_tells_counts_from_there_whatever_a_replica_has_seen() {
    // The API server rounds down.
    for seen in [None, Some(0), Some(120)] {
        assert_eq!(counts_at(LIST, &db(), seen), Some(131), "{seen:?}");
    }
    let edge = judged(LIST, db(), Some(0), 130);
    assert_eq!(edge.judged.reason, Reason::NotStable);
    assert_eq!(edge.judged.status, crate::kstatus::Status::Current);
    assert_eq!(
        edge.judged.message,
        "Resource is Ready, since 1970-01-01T00:01:41Z, which has to last 30s"
    );
}

#[test]
fn a_condition_that_contradicts_ready_counts_too() {
    let beside = |word: &str, status: &str| {
        let mut db = db();
        let condition =
            json!({"type": word, "status": status, "lastTransitionTime": "1970-01-01T00:03:00Z"});
        let conditions = db["status"]["conditions"].as_array_mut();
        conditions.unwrap().push(condition);
        db
    };
    for word in ["Synced", "Reconciled", "Accepted"] {
        let at = counts_at(LIST, &beside(word, "True"), Some(120));
        assert_eq!(at, Some(211), "{word} held it back");
    }
    for word in ["Reconciling", "Stalled"] {
        let at = counts_at(LIST, &beside(word, "False"), Some(150));
        assert_eq!(at, Some(180), "since when {word} has not, a replica saw");
    }
    let at = counts_at(LIST, &beside("Ponders", "True"), Some(120));
    assert_eq!(at, Some(131), "it holds nobody back");
}

#[test]
fn what_no_condition_tells_counts_from_when_it_was_seen() {
    let written = |second: &str| {
        let mut db = db();
        db["metadata"]["managedFields"] = json!([{"time": format!("1970-01-01T00:{second}Z")}]);
        db
    };
    assert_eq!(counts_at(LIST, &written("01:40"), Some(120)), Some(131));
    assert_eq!(
        counts_at(LIST, &written("01:41"), Some(120)),
        Some(150),
        "of an older spec"
    );

    let mut silent = db();
    silent["status"]["conditions"][0]["lastTransitionTime"] = Value::Null;
    assert_eq!(counts_at(LIST, &silent, Some(120)), Some(150));
    let unseen = judged(LIST, silent, None, 299).judged;
    assert_eq!(unseen.reason, Reason::NotStable, "{unseen:?}");
    assert!(
        unseen
            .message
            .ends_with("since when it does cannot be seen from here")
    );

    let by_itself = "- {kind: Widget.example.com, name: db, stable: 30s, health: /status/x != 1}";
    let mut db = db();
    db["status"]["x"] = json!(2);
    assert_eq!(counts_at(by_itself, &db, Some(120)), Some(150));
    let several = "- {kind: Widget.example.com, selector: a=b, stable: 30s}";
    db["metadata"]["labels"] = json!({"a": "b"});
    assert_eq!(counts_at(several, &db, Some(120)), Some(150), "of several");
}

#[test]
fn what_is_not_satisfied_keeps_its_reason() {
    let mut down = db();
    down["status"]["conditions"][0]["status"] = json!("False");
    let edge = judged(LIST, down, Some(0), 200);
    assert_eq!(edge.judged.reason, Reason::InProgress);
}

#[test]
fn one_of_several_may_have_to_stand_too() {
    let list = "- any: [{kind: Widget.example.com, name: db, stable: 30s}, configmap/b]";
    let cluster = Cluster::of(vec![db()]);
    let Lookup::Found(dependent) = Dependent::resolve(&pod(list), &[], &cluster) else {
        panic!("resolved")
    };
    let found = |now| {
        let edges = dependent.edges(true, &cluster).unwrap();
        let now = Timestamp::from_second(now).expect("in range");
        let found = judge(&dependent, edges, &Policy::of_the_chart(), &cluster, now);
        (
            found.edges[0].judged.reason,
            found.again.map(Timestamp::as_second),
        )
    };
    assert_eq!(found(130), (Reason::NotStable, Some(131)));
    assert_eq!(found(131), (Reason::Satisfied, None));
}

#[test]
fn only_conditions_that_decide_alone_are_believed() {
    let condition = |word: &str| json!({"type": word, "status": "True", "lastTransitionTime": "1970-01-01T00:01:40Z"});
    let of = |kind: &str, status: Value| {
        let mut object = owned(kind, "x", None, json!({}));
        object["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:50Z");
        object["status"] = status;
        object
    };
    let since = |word: &str, object: &Value, state| {
        let kind = kinds::by_word(word).map(Kind::Builtin).expect("built in");
        let since = crate::profile::since(&kind, object, (state, &[]), &Cluster::of(vec![]));
        since.map(Timestamp::as_second)
    };
    let pod = |phase: &str| {
        of(
            "Pod",
            json!({"phase": phase, "conditions": [condition("Ready")]}),
        )
    };
    assert_eq!(since("pod", &pod("Running"), State::Ready), Some(100));
    assert_eq!(since("pod", &pod("Succeeded"), State::Ready), None);
    assert_eq!(since("pod", &pod("Running"), State::Present), Some(50));
    let mut own = pod("Running");
    own["metadata"]["annotations"]["sluice.dev/health"] = json!("/status/phase == Running");
    assert_eq!(since("pod", &own, State::Ready), None);
    let job = of("Job", json!({"conditions": [condition("Complete")]}));
    for (state, expected) in [
        (State::Ready, Some(100)),
        (State::Complete, Some(100)),
        (State::Started, None),
    ] {
        assert_eq!(since("job", &job, state), expected, "{state:?}");
    }
    let web = of(
        "Deployment",
        json!({"conditions": [condition("Available"), condition("Progressing")]}),
    );
    assert_eq!(since("deployment", &web, State::Available), Some(100));
    assert_eq!(
        since("deployment", &web, State::Ready),
        None,
        "its counts decide"
    );
    let both = json!({"conditions": [condition("Ready"), condition("Ready")], "phase": "Running"});
    assert_eq!(since("pod", &of("Pod", both), State::Ready), None);
}

/// A Deployment that has been ready since second 55, of which `more` says how it rolls.
fn web(more: Value) -> Value {
    let mut web = owned("Deployment", "web", None, json!({}));
    web["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:10Z");
    web["spec"] = more;
    let replicas = web["spec"]["replicas"].as_u64().unwrap_or(1);
    let at = "1970-01-01T00:00:55Z";
    web["status"] = json!({
        "replicas": replicas, "updatedReplicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas,
        "conditions": [
            {"type": "Available", "status": "True", "lastTransitionTime": at, "lastUpdateTime": at},
            {
                "type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable",
                "lastTransitionTime": "1970-01-01T00:00:10Z", "lastUpdateTime": "1970-01-01T00:00:50Z",
            },
        ],
    });
    web
}

/// The second at which an older Deployment counts for a pod that is made at second 100 and asks for `stable: 30s`, where a
/// replica has seen the Deployment since second 100; `None` where it does not count before second 300.
fn web_counts_at(web: &Value) -> Option<i64> {
    let mut pod = pod("- {kind: Deployment, name: web, stable: 30s}");
    pod["metadata"]["creationTimestamp"] = json!("1970-01-01T00:01:40Z");
    let second = |second| Timestamp::from_second(second).expect("in range");
    (100..300).find(|now| {
        let cluster = Cluster {
            seen: Some(second(100)),
            ..Cluster::of(vec![web.clone()])
        };
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
            panic!("resolved")
        };
        let edges = dependent.edges(true, &cluster).unwrap();
        let policy = Policy::of_the_chart();
        let judged = judge(&dependent, edges, &policy, &cluster, second(*now));
        assert!(
            !cluster.noted.borrow().contains(&false),
            "to settle is no break"
        );
        judged.edges[0].judged.satisfied
    })
}

#[test]
fn what_has_lasted_for_long_enough_waits_for_no_more_than_to_settle() {
    assert_eq!(web_counts_at(&web(json!({}))), Some(104));
    let mut late = web(json!({}));
    late["status"]["conditions"][0]["lastTransitionTime"] = json!("1970-01-01T00:01:35Z");
    assert_eq!(web_counts_at(&late), Some(126), "it lasts since second 95");
    let mut rolled = web(json!({}));
    rolled["status"]["conditions"][1]["lastUpdateTime"] = json!("1970-01-01T00:01:35Z");
    assert_eq!(web_counts_at(&rolled), Some(126));
}

#[test]
fn a_deployment_that_may_lack_a_pod_lasts_since_it_was_seen() {
    for (spec, told) in [
        (json!({"replicas": 3}), true),
        (json!({"replicas": 4}), false),
        (
            json!({"replicas": 9, "strategy": {"rollingUpdate": {"maxUnavailable": "10%", "maxSurge": 1}}}),
            true,
        ),
        (
            json!({"replicas": 10, "strategy": {"rollingUpdate": {"maxUnavailable": "10%", "maxSurge": 1}}}),
            false,
        ),
        (
            json!({"replicas": 2, "strategy": {"rollingUpdate": {"maxUnavailable": 1}}}),
            false,
        ),
        (
            json!({"replicas": 9, "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": "1%"}}}),
            true,
        ),
        (
            json!({"replicas": 9, "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}}}),
            false,
        ),
        (
            json!({"replicas": 9, "strategy": {"type": "Recreate"}}),
            true,
        ),
        (
            json!({"replicas": 2, "strategy": {"rollingUpdate": {"maxUnavailable": "odd"}}}),
            false,
        ),
    ] {
        let expected = if told { 104 } else { 130 };
        assert_eq!(web_counts_at(&web(spec.clone())), Some(expected), "{spec}");
    }
}

#[test]
fn zero_says_that_nothing_has_to_last() {
    let list = "- {kind: Widget.example.com, name: db, stable: 0s}";
    assert_eq!(counts_at(list, &db(), None), Some(100));
}
