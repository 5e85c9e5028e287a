//! Tests that the verdict of a shared round is the one that each pod would get by itself, for as long as nothing changes.

mod boots;

use super::super::answer::{PodVerdict, answer};
use super::super::wait_registry::Waiter;
use super::*;
use crate::known::{READ, Settings};
use futures::FutureExt;
use rules::keys::ALLOW_DEPENDENTS_FROM;
use rules::kinds::{Kind, by_word};
use rules::verdict::Why;
use serde_json::json;
use std::time::Duration;

const NAMESPACES: [&str; 3] = ["shop", "bank", "mill"];

/// Lists, each with whether all pods that are alike get the same verdict by it.
const LISTS: [(&str, bool); 16] = [
    ("configmap/a", true),
    ("configmap/missing", true),
    ("- configmap/a\n- job/seed", true),
    ("nonsense", true),
    ("mill/configmap/a", true),
    ("deployment/api", true),
    (
        "- {kind: ConfigMap, name: missing, timeout: 40s, on-timeout: proceed}",
        true,
    ),
    (
        "- {kind: ConfigMap, name: missing, timeout: 40s, on-timeout: fail}\n- configmap/b",
        true,
    ),
    (
        "- {kind: ConfigMap, name: missing, timeout: 20s}\n- {any: [cm/b, cm/c], timeout: 40s, on-timeout: proceed}",
        true,
    ),
    (
        "- {kind: ConfigMap, name: a, state: present, stable: 49s}",
        true,
    ),
    ("pod/web-1-a", false),
    ("- any: [configmap/missing, pod/web-1-b]", false),
    ("- {kind: Pod, selector: 'app=web'}", false),
    ("- {kind: DaemonSet, name: csi, sameNode: true}", false),
    (
        "- any: [configmap/b, {kind: DaemonSet, name: csi, sameNode: true}]",
        false,
    ),
    ("", true),
];

fn kind(word: &str) -> Kind {
    by_word(word).map(Kind::Builtin).unwrap()
}

fn object(namespace: &str, name: &str, annotations: &Value) -> Value {
    json!({"metadata": {
        "namespace": namespace, "name": name, "uid": name, "annotations": annotations,
        "creationTimestamp": "1970-01-01T00:00:00Z",
    }})
}

fn owned_by(word: &str, name: &str, mut object: Value) -> Value {
    let kind = kind(word);
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": kind.api_version(), "kind": kind.word(), "name": name, "uid": name, "controller": true,
    }]);
    object
}

/// A pod of the Deployment `web`: the first where its name ends with `a`, else the second, which is on another node and was started half a minute
/// later.
fn pod(namespace: &str, name: &str) -> Value {
    let mut pod = owned_by("replicaset", "web-1", object(namespace, name, &json!({})));
    let first = name.ends_with('a');
    pod["metadata"]["labels"] = json!({
        "app": "web", "batch.kubernetes.io/job-completion-index": if first { "0" } else { "1" },
    });
    pod["spec"] = json!({"nodeName": if first { "one" } else { "two" }});
    let started = if first { "00" } else { "30" };
    pod["status"] =
        json!({"phase": "Pending", "startTime": format!("1970-01-01T00:00:{started}Z")});
    pod
}

/// The cluster with two pods in each of [`NAMESPACES`], of a Deployment with the annotations `says`, beside a few objects. `mill` lets `shop`
/// depend on it.
fn known(says: &Value) -> Arc<Known> {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    known.plans().replace::<&Value>([]);
    for shard in 0..rules::shards::COUNT {
        known.memory().learn(shard, [].into());
    }
    let words = [
        "deployment",
        "replicaset",
        "statefulset",
        "daemonset",
        "job",
        "cronjob",
        "pod",
        "configmap",
        "namespace",
        "secret",
        "replicationcontroller",
    ];
    for word in words {
        known.want(&kind(word)).replace::<&Value>([]);
    }
    known.plans().replace::<&Value>([]);
    known.gated().replace::<&Value>([]);
    let put = |word: &str, object: &Value| known.want(&kind(word)).apply(object);
    for namespace in NAMESPACES {
        let mut home = object("", namespace, &json!({}));
        if namespace == "mill" {
            home["metadata"]["annotations"] = json!({ALLOW_DEPENDENTS_FROM: "shop"});
        }
        put("namespace", &home);
        put("deployment", &object(namespace, "web", says));
        let set = object(namespace, "web-1", &json!({}));
        put("replicaset", &owned_by("deployment", "web", set));
        put("configmap", &object(namespace, "a", &json!({})));
        put("daemonset", &object(namespace, "csi", &json!({})));
        for name in ["web-1-a", "web-1-b"] {
            let pod = pod(namespace, name);
            known.gated().apply(&pod);
            put("pod", &pod);
        }
        let mut csi = owned_by("daemonset", "csi", object(namespace, "csi-x", &json!({})));
        csi["spec"] = json!({"nodeName": "one"});
        csi["status"] =
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        put("pod", &csi);
    }
    known
}

fn ask(rounds: &Rounds, namespace: &str, pod: &str, second: i64) -> PodVerdict {
    let waiter = Waiter {
        namespace: namespace.to_owned(),
        name: pod.to_owned(),
        uid: pod.to_owned(),
    };
    let now = Timestamp::from_second(second).unwrap();
    let (view, report) = (rounds.known.view(), GateReport::default());
    answer(&waiter, rounds, &view, &report, now, false).unwrap()
}

/// The verdict on a pod, the topmost workload above the pod and the start of its wait, as text.
fn told(judged: &PodVerdict) -> String {
    let above = judged.round.as_ref().and_then(|round| round.above());
    format!("{:?} {above:?} {:?}", judged.verdict, judged.started)
}

#[tokio::test(start_paused = true)]
async fn what_is_shared_is_what_each_would_be_told_by_itself() {
    let terms = [
        json!({}),
        json!({"sluice.dev/timeout": "45s", "sluice.dev/on-timeout": "fail"}),
        json!({"sluice.dev/timeout": "45s", "sluice.dev/on-timeout": "proceed"}),
        json!({"sluice.dev/skip": "true"}),
        json!({"sluice.dev/scope": "r", "sluice.dev/weight": "1"}),
        json!({"sluice.dev/scope": "r", "sluice.dev/weight": "1", "sluice.dev/parallelism": "1"}),
    ];
    let mut distinct = std::collections::BTreeSet::new();
    for (list, same) in LISTS {
        for terms in &terms {
            let mut says = terms.clone();
            says["sluice.dev/depends-on"] = json!(list);
            let known = known(&says);
            for second in [31, 50, 80] {
                let rounds = Rounds::new(Arc::clone(&known));
                let mut first = Vec::new();
                for namespace in NAMESPACES {
                    for pod in ["web-1-a", "web-1-b"] {
                        let shared = ask(&rounds, namespace, pod, second);
                        let alone = Rounds::new(Arc::clone(&known));
                        let alone = ask(&alone, namespace, pod, second);
                        assert_eq!(
                            told(&shared),
                            told(&alone),
                            "{list} {terms} {namespace} {pod}"
                        );
                        // Beside it, as if nothing could be shared at all.
                        let by_itself = by_itself(&rounds, namespace, pod, second);
                        assert_eq!(told(&shared), by_itself, "{list} {terms} {namespace} {pod}");
                        distinct.insert(by_itself);
                        first.push(shared.round.unwrap());
                    }
                    let [.., a, b] = &first[..] else { panic!() };
                    let capped =
                        terms.get("sluice.dev/parallelism").is_some() && list != "nonsense";
                    let skipped = terms.get("sluice.dev/skip").is_some();
                    assert_eq!(
                        Arc::ptr_eq(a, b),
                        skipped || same && !capped,
                        "{list} {terms}"
                    );
                }
            }
        }
    }
    assert!(distinct.len() > 100, "{}", distinct.len());
}

/// The answer to a pod of the Deployment `web` from a new round that serves it alone, as text.
fn by_itself(rounds: &Rounds, namespace: &str, name: &str, second: i64) -> String {
    let known = Arc::clone(&rounds.known);
    let mut alone = pod(namespace, name);
    let now = Timestamp::from_second(second).unwrap();
    let round = Arc::new(Rounds::new(known).judge(&alone, &GateReport::default(), now));
    let Lookup::Found(judged) = &round.judged else {
        panic!("resolved")
    };
    let decided = judged.found.decided(judged.dependent.started, now, false);
    alone["metadata"]["name"] = json!(name);
    told(&PodVerdict {
        started: judged.dependent.started,
        round: Some(Arc::clone(&round)),
        ..decided.into()
    })
}

fn waits_for(list: &str) -> Rounds {
    Rounds::new(known(&json!({"sluice.dev/depends-on": list})))
}

/// The rounds of the two pods of `web` in `shop`, each asked for at its second.
fn both(rounds: &Rounds, seconds: [i64; 2]) -> [Arc<Round>; 2] {
    let [first, second] = seconds;
    let first = ask(rounds, "shop", "web-1-a", first).round.unwrap();
    let second = ask(rounds, "shop", "web-1-b", second).round.unwrap();
    [first, second]
}

#[tokio::test(start_paused = true)]
async fn a_round_serves_for_a_moment_while_nothing_changes() {
    let rounds = waits_for("configmap/a");
    let shared = |seconds| {
        let [a, b] = both(&rounds, seconds);
        Arc::ptr_eq(&a, &b)
    };
    assert!(shared([50, 50]));
    assert!(!shared([50, 51]), "it is older");
    assert!(!shared([50, 49]), "the clock was set back");
    let first = ask(&rounds, "shop", "web-1-a", 60).round.unwrap();
    // No gate waits on a round that opened.
    let gone = object("shop", "a", &json!({}));
    rounds.known.want(&kind("configmap")).delete(&gone);
    let second = ask(&rounds, "shop", "web-1-b", 60);
    assert!(!Arc::ptr_eq(&first, second.round.as_ref().unwrap()));
    assert_eq!(second.verdict.why, Why::Unmet);
}

#[tokio::test(start_paused = true)]
async fn a_round_serves_no_longer_than_what_it_read_is_believed() {
    let rounds = waits_for("configmap/a");
    let first = ask(&rounds, "shop", "web-1-a", 50);
    assert_eq!(first.verdict.why, Why::Satisfied);
    tokio::time::advance(Duration::from_secs(31)).await;
    let known = &rounds.known;
    for shard in 0..rules::shards::COUNT {
        known.memory().heard(shard);
    }
    for word in ["deployment", "replicaset"] {
        known.want(&kind(word)).heard();
    }
    known.gated().heard();
    known.plans().heard();
    let stale = ask(&rounds, "shop", "web-1-b", 50).verdict;
    assert_eq!(stale.why, Why::Unmet, "the ConfigMap is not believed");
    assert_eq!(stale.answer.dependencies[0].reason, "Stale");
}

#[tokio::test(start_paused = true)]
async fn all_who_wait_on_a_round_are_woken_one_after_the_other() {
    let rounds = waits_for("configmap/missing");
    let [round, same] = both(&rounds, [50, 50]);
    assert!(Arc::ptr_eq(&round, &same));
    let rest = Arc::clone(&round).rest();
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(rest.over())).collect();
    for one in &mut waiting {
        assert!(one.now_or_never().is_none());
    }
    let put = |name: &str| {
        let object = object("shop", name, &json!({}));
        rounds.known.want(&kind("configmap")).apply(&object);
    };
    put("other");
    assert!(waiting[0].as_mut().now_or_never().is_none());
    put("missing");
    // One that leaves hands it on.
    drop(waiting.remove(0));
    for one in waiting {
        assert!(one.now_or_never().is_some());
    }
    assert!(rest.over().now_or_never().is_some(), "who comes late");
    let anew = ask(&rounds, "shop", "web-1-a", 50).verdict;
    assert_eq!(anew.why, Why::Satisfied, "a new round");
}

#[tokio::test(start_paused = true)]
async fn a_crowd_of_one_revision_is_judged_once_and_leaves_nothing_behind() {
    let rounds = waits_for("- configmap/a\n- configmap/missing");
    let size = 1000;
    for number in 0..size {
        let mut pod = pod("shop", &format!("web-1-{number}a"));
        pod["metadata"]["labels"] = json!({});
        rounds.known.gated().apply(&pod);
    }
    READ.set(0);
    let asked = (0..size).map(|number| ask(&rounds, "shop", &format!("web-1-{number}a"), 50));
    let asked: Vec<PodVerdict> = asked.collect();
    assert!(READ.get() < size + 20, "{}", READ.get());
    drop(asked);
    for second in 0..size {
        let mut other = pod("shop", "web-1-a");
        other["metadata"]["creationTimestamp"] = json!(
            Timestamp::from_second(i64::try_from(second).unwrap())
                .unwrap()
                .to_string()
        );
        rounds.known.gated().apply(&other);
        let _ = ask(&rounds, "shop", "web-1-a", 5000);
    }
    assert!(rounds.lock().len() < 20, "{}", rounds.lock().len());
}

#[tokio::test(start_paused = true)]
async fn what_was_found_is_kept_for_others_alone() {
    let found = |list: &str| {
        let asked = ask(&waits_for(list), "shop", "web-1-a", 50);
        let round = asked.round.unwrap();
        let Lookup::Found(judged) = &round.judged else {
            panic!("resolved")
        };
        let judged = Arc::downgrade(judged);
        let _rest = round.rest();
        judged.upgrade().is_some()
    };
    assert!(found("configmap/missing"));
    assert!(!found("pod/missing"));
}
