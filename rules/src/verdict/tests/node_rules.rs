//! Tests the administrator's rules that hold pods until an agent of their node is ready.

use super::*;
use crate::annotation::node_rules;
use crate::reboot::Reboot;
use crate::terms::Regate;

const RULE: &str = "[{kind: DaemonSet, name: csi, namespace: storage, sameNode: true}]";

fn namespace(name: &str, labels: &Value) -> Value {
    json!({"kind": "Namespace", "metadata": {"name": name, "labels": labels}})
}

fn in_namespace(mut object: Value, namespace: &str) -> Value {
    object["metadata"]["namespace"] = json!(namespace);
    object
}

/// The agent (the DaemonSet `csi` with these annotations), its pod on the node of the dependents, ready or not, and the Namespaces.
fn objects(ready: bool, annotations: Value) -> Vec<Value> {
    let mut set = in_namespace(owned("DaemonSet", "csi", None, annotations), "storage");
    set["metadata"]["uid"] = json!("set");
    set["spec"]["selector"]["matchLabels"] = json!({"app": "csi"});
    let mut pod = in_namespace(
        owned("Pod", "csi-a", Some(("DaemonSet", "csi")), json!({})),
        "storage",
    );
    pod["metadata"]["labels"] = json!({"app": "csi"});
    pod["metadata"]["ownerReferences"][0]["uid"] = json!("set");
    pod["spec"]["nodeName"] = json!("one");
    let status = if ready { "True" } else { "False" };
    pod["status"] =
        json!({"phase": "Running", "conditions": [{"type": "Ready", "status": status}]});
    let labelled = json!({"sluice.dev/inject": "enabled"});
    let of = |name: &str| namespace(name, &labelled);
    vec![set, pod, of("shop"), of("storage"), of("vault")]
}

/// A dependent with these annotations, on the node of the agent's pod, with the label that the rules select.
fn on_node(annotations: Value) -> Value {
    let mut pod = owned("Pod", "p", None, annotations);
    pod["metadata"]["labels"] = json!({"needs": "gpu"});
    pod["spec"]["nodeName"] = json!("one");
    pod
}

fn policy(rules: &str) -> Policy {
    Policy {
        node_rules: node_rules(rules).unwrap(),
        ..Policy::of_the_chart()
    }
}

fn decided(pod: &Value, cluster: &Cluster, rules: &str) -> Verdict {
    let Lookup::Found(dependent) = Dependent::resolve(pod, &[], cluster) else {
        panic!("resolved")
    };
    decide(
        &dependent,
        &policy(rules),
        cluster,
        Timestamp::UNIX_EPOCH,
        true,
    )
}

/// The words for the edges of a pod, each with its reason.
fn waits(pod: &Value, objects: Vec<Value>, rules: &str) -> Vec<String> {
    let verdict = decided(pod, &Cluster::of(objects), rules);
    let edge = |it: &JudgedEdge| format!("{} {}", it.edge, it.judged.reason.label());
    verdict.edges.iter().map(edge).collect()
}

#[test]
fn a_pod_of_a_labelled_namespace_waits_without_a_list_and_without_consent() {
    let pod = on_node(json!({}));
    assert_eq!(
        waits(&pod, objects(false, json!({})), RULE),
        ["storage/DaemonSet/csi (node rule) InProgress"]
    );
    assert_eq!(
        waits(&pod, objects(true, json!({})), RULE),
        ["storage/DaemonSet/csi (node rule) Satisfied"]
    );
    // The same entry in a list still asks the other namespace.
    let list = "- {kind: DaemonSet, name: csi, namespace: storage, sameNode: true}";
    assert_eq!(
        waits(&on_node(super::list(list)), objects(true, json!({})), RULE),
        [
            "storage/DaemonSet/csi NotPermitted",
            "storage/DaemonSet/csi (node rule) Satisfied"
        ]
    );
}

#[test]
fn a_namespace_without_the_label_a_pod_without_the_labels_and_a_skipped_pod_are_not_held() {
    let none: [&str; 0] = [];
    let pod = on_node(json!({}));
    for labels in [json!({}), json!({"sluice.dev/inject": "disabled"})] {
        let mut objects = objects(false, json!({}));
        objects[2] = namespace("shop", &labels);
        assert_eq!(waits(&pod, objects, RULE), none);
    }
    let some = |selector: &str| RULE.replace("}]", &format!(", pods: {{selector: {selector}}}}}]"));
    assert_eq!(
        waits(&pod, objects(false, json!({})), &some("needs=cpu")),
        none
    );
    assert_eq!(
        waits(&pod, objects(false, json!({})), &some("needs=gpu")).len(),
        1
    );
    let skipped = on_node(json!({"sluice.dev/skip": "true"}));
    let verdict = decided(&skipped, &Cluster::of(objects(false, json!({}))), RULE);
    assert_eq!(verdict.why, Why::Skipped);
}

#[test]
fn while_the_namespace_is_unread_no_pod_passes_for_that_its_revision_has() {
    let mut cluster = Cluster::of(objects(false, json!({})));
    cluster.unavailable = vec![("Namespace", Unavailable::Syncing)];
    let verdict = decided(&on_node(json!({})), &cluster, RULE);
    assert_eq!((verdict.why, verdict.provisional), (Why::Unread, true));
    assert_eq!(
        decided(&on_node(json!({})), &cluster, "[]").why,
        Why::Satisfied
    );
}

/// While sluice has not seen the Namespace of a pod, the pod waits: the watch of pods may be ahead of the watch of Namespaces.
#[test]
fn while_the_namespace_is_not_seen_no_pod_passes() {
    let mut unseen = objects(false, json!({}));
    unseen.retain(|it| it["metadata"]["name"] != "vault");
    let pod = in_namespace(on_node(json!({})), "vault");
    let verdict = decided(&pod, &Cluster::of(unseen), RULE);
    assert_eq!((verdict.why, verdict.provisional), (Why::Unread, true));
}

/// The verdict on a pod of a revision that has passed, whose Job has this list, beside this plan and under this rule.
fn after_another(list: &str, plan: Option<&str>, rules: &str, plans: Option<Unavailable>) -> Why {
    let mut pod = on_node(json!({}));
    pod["metadata"]["ownerReferences"] = json!([
        {"apiVersion": "batch/v1", "kind": "Job", "name": "seed", "uid": "seed", "controller": true}
    ]);
    let mut job = owned("Job", "seed", None, super::list(list));
    job["metadata"]["uid"] = json!("seed");
    let mut cluster = Cluster::of(objects(false, json!({})));
    cluster.objects.push(job);
    cluster.objects.extend(plan.map(|text| {
        let mut plan = config_map("shop", "plan");
        plan["data"] = json!({"order": text});
        plan
    }));
    cluster.passed = true;
    cluster.unavailable = plans.map(|why| ("plan", why)).into_iter().collect();
    decided(&pod, &cluster, rules).why
}

#[test]
fn what_may_hold_every_pod_must_be_known_although_another_pod_has_passed() {
    let bad = "Configmapp/a";
    let every = "everyPod: [{kind: DaemonSet, name: gone, sameNode: true}]";
    for list in ["configmap/a", bad] {
        assert_eq!(after_another(list, None, "[]", None), Why::Passed, "{list}");
        for why in [Unavailable::Syncing, Unavailable::Forbidden] {
            let unread = after_another(list, None, "[]", Some(why));
            assert_eq!(unread, Why::Unread, "{list} {why:?}");
        }
        let each = "everyPod: [{kind: nonsense/, sameNode: true}]";
        let broken = after_another(list, Some(each), "[]", None);
        assert_eq!(broken, Why::Unread, "{list}");
        // No entry of this plan could hold a pod of a revision that has passed.
        let broken = after_another(list, Some("everyPod: [nonsense/]"), "[]", None);
        assert_eq!(broken, Why::Passed, "{list}");
        let planned = after_another(list, Some(every), "[]", None);
        assert_eq!(planned, Why::Unmet, "{list}");
        assert_eq!(after_another(list, None, RULE, None), Why::Unmet, "{list}");
    }
}

/// A rule holds each pod, and once more after a boot of the node, under every value of `regate`.
#[test]
fn a_boot_of_the_node_makes_the_pod_wait_again() {
    let cluster = Cluster::of(objects(false, json!({})));
    let resolved = Dependent::resolve(&on_node(json!({})), &[], &cluster);
    let Lookup::Found(mut dependent) = resolved else {
        panic!("resolved")
    };
    dependent.rebooted = Some(Reboot {
        id: "b".to_owned(),
        booted: Timestamp::UNIX_EPOCH,
        asked: Timestamp::UNIX_EPOCH,
    });
    for regate in [Regate::Once, Regate::Boot, Regate::Always] {
        let policy = Policy {
            regate,
            ..policy(RULE)
        };
        let verdict = decide(&dependent, &policy, &cluster, Timestamp::UNIX_EPOCH, true);
        assert_eq!(verdict.why, Why::Unmet, "{regate:?}");
    }
    let verdict = decided(
        &on_node(json!({})),
        &Cluster::of(objects(true, json!({}))),
        RULE,
    );
    assert_eq!(verdict.why, Why::Satisfied);
    assert!(!verdict.answer.for_good, "the gate asks again after a boot");
}

/// No rule holds a pod that an agent may need: the pod would wait for the agent of its node, and the agent for the pod.
#[test]
fn what_an_agent_may_need_is_held_by_no_rule() {
    let none: [&str; 0] = [];
    let other = "[{kind: DaemonSet, name: csi, namespace: storage, sameNode: true},
        {kind: DaemonSet, name: cni, namespace: net, sameNode: true}]";
    // The pods of the agent, and of its namespace.
    let ours = || objects(false, json!({}));
    assert_eq!(waits(&ours()[1], ours(), other), none);
    let beside = in_namespace(on_node(json!({})), "storage");
    assert_eq!(waits(&beside, ours(), other), none);
    // A pod of its release, elsewhere.
    let release =
        json!({"meta.helm.sh/release-name": "csi", "meta.helm.sh/release-namespace": "storage"});
    let of_release = objects(false, release.clone());
    let pod = in_namespace(on_node(release), "vault");
    assert_eq!(waits(&pod, of_release, other), none);
    assert_eq!(
        waits(&in_namespace(on_node(json!({})), "vault"), ours(), other).len(),
        2
    );
}

#[test]
fn what_the_list_of_an_agent_leads_to_is_held_by_no_rule() {
    let vault = || {
        let mut set = in_namespace(owned("StatefulSet", "vault", None, json!({})), "vault");
        set["metadata"]["labels"] = json!({"app": "vault"});
        set
    };
    let service = json!({"apiVersion": "v1", "kind": "Service", "spec": {"selector": {"needs": "gpu"}},
        "metadata": {"namespace": "vault", "name": "vault"}});
    let between = in_namespace(
        owned("Deployment", "auth", None, list("statefulset/vault")),
        "vault",
    );
    let mut pod = in_namespace(on_node(json!({})), "vault");
    pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "vault", "controller": true}]);
    for (text, held) in [
        ("vault/statefulset/vault", false),
        ("vault/svc/vault", false),
        ("vault/deployment/auth", false),
        (
            "- {kind: StatefulSet, namespace: vault, selector: app=vault}",
            false,
        ),
        ("- any: [vault/statefulset/vault, vault/svc/other]", false),
        ("statefulset/vault", true),
        ("vault/statefulset/other", true),
    ] {
        let mut objects = objects(false, list(text));
        objects.extend([vault(), service.clone(), between.clone()]);
        let found = waits(&pod, objects, RULE);
        assert_eq!(!found.is_empty(), held, "{text}: {found:?}");
    }
}
