//! Tests dependencies of custom kinds that come to an end, as a Job does.

#![expect(clippy::needless_pass_by_value, reason = "a test hands over a literal")]

use super::*;
use crate::health;
use crate::keys;
use crate::memory::Completing;

const LISTED: &str = "jobset.jobset.x-k8s.io/train";

fn train(conditions: Value) -> Value {
    json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"namespace": "shop", "name": "train", "uid": "u1", "creationTimestamp": "1969-12-31T00:00:00Z"},
        "spec": {}, "status": {"conditions": conditions},
    })
}

fn condition(kind: &str) -> Value {
    json!([{"type": kind, "status": "True", "reason": "Because", "message": "of this"}])
}

/// The decision on a pod that is to fail with its dependency, and the reason of its first edge.
fn decided(depends_on: &str, cluster: &Cluster) -> (wire::Decision, Reason) {
    let mut pod = pod(depends_on);
    pod["metadata"]["annotations"][keys::ON_FAILURE] = json!("fail");
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], cluster) else {
        panic!("resolved")
    };
    let decided = decide(
        &dependent,
        &Policy::of_the_chart(),
        cluster,
        Timestamp::UNIX_EPOCH,
        true,
    );
    (decided.answer.verdict, decided.edges[0].judged.reason)
}

#[test]
fn what_has_failed_for_good_is_final_and_what_has_completed_is_complete() {
    use wire::Decision::{Open, Refuse, Wait};
    for state in ["", ":complete"] {
        let list = format!("{LISTED}{state}");
        let of = |conditions: Value| decided(&list, &Cluster::of(vec![train(conditions)]));
        assert_eq!(
            of(condition("Failed")),
            (Refuse, Reason::FailedForGood),
            "{state}"
        );
        assert_eq!(
            of(condition("Completed")),
            (Open, Reason::Satisfied),
            "{state}"
        );
        assert_eq!(of(json!([])).0, Wait, "{state}");
    }
    // A kind that recovers is not given up.
    let mut rollout = train(condition("InvalidSpec"));
    rollout["apiVersion"] = json!("argoproj.io/v1alpha1");
    rollout["kind"] = json!("Rollout");
    let of = decided("rollout.argoproj.io/train", &Cluster::of(vec![rollout]));
    assert_eq!(of, (Wait, Reason::Failed));
}

#[test]
fn what_has_completed_and_is_gone_goes_on_counting() {
    let kind = Kind::Custom {
        group: "jobset.x-k8s.io".to_owned(),
        word: "JobSet".to_owned(),
    };
    let what = Completing::of(&kind).unwrap();
    let ended = memory::ended(&train(condition("Completed"))).unwrap();
    let key = what.key("shop", "train");
    let cluster = Cluster {
        memory: BTreeMap::from([(key, memory::text(&ended).unwrap())]),
        ..Cluster::of(Vec::new())
    };
    for (list, expected) in [
        (LISTED, Reason::Remembered),
        ("jobsets.jobset.x-k8s.io/train:complete", Reason::Remembered),
        ("jobset.jobset.x-k8s.io/other", Reason::NotFound),
        ("jobset.jobset.x-k8s.io/train:present", Reason::NotFound),
        ("job/train", Reason::NotFound),
    ] {
        assert_eq!(reasons(&pod(list), &cluster), [expected], "{list}");
    }
}

/// Each custom kind that comes to an end has a rule in the library, since only a health rule tells the end of such an object.
#[test]
fn each_kind_that_ends_has_a_rule_that_knows_both_ends() {
    for ending in crate::ending_kinds::all() {
        let object = json!({"apiVersion": format!("{}/v1", ending.group), "kind": ending.kind});
        assert!(health::is_builtin(&object), "{ending:?}");
    }
}
