//! Tests entries with a selector.

use super::*;

/// A Job with label `app`, complete or running.
pub(super) fn job(namespace: &str, name: &str, app: &str, complete: bool) -> Value {
    let mut job = owned("Job", name, None, json!({}));
    job["metadata"]["namespace"] = json!(namespace);
    job["metadata"]["labels"] = json!({"app": app});
    job["status"] = if complete {
        json!({"conditions": [{"type": "Complete", "status": "True"}]})
    } else {
        json!({"startTime": "2024-01-01T00:00:00Z", "active": 1})
    };
    job
}

pub(super) fn failed_job(name: &str, app: &str) -> Value {
    let mut job = job("shop", name, app, false);
    job["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:00Z");
    job["status"]["conditions"] =
        json!([{"type": "Failed", "status": "True", "reason": "Deadline"}]);
    job
}

/// The decision on a pod, and the status, the reason and the message of its first edge: `wait InProgress JobNotComplete: 1 of 2 ready;
/// ...`.
pub(super) fn told(pod: &Value, cluster: &Cluster) -> String {
    let edges = edges_of(pod, cluster, &Policy::of_the_chart());
    let [edge] = edges.as_slice() else {
        panic!("one edge")
    };
    let Judged {
        satisfied,
        status,
        reason,
        message,
    } = &edge.judged;
    let verdict = if *satisfied { "open" } else { "wait" };
    format!("{verdict} {status} {reason}: {message}")
}

fn jobs() -> Vec<Value> {
    vec![
        job("shop", "a", "seed", true),
        job("shop", "b", "seed", false),
        job("shop", "c", "seed", true),
        job("shop", "d", "seed", false),
        job("shop", "x", "other", false),
        job("data", "y", "seed", false),
    ]
}

#[test]
fn every_match_must_be_satisfied_and_the_first_that_is_not_is_named() {
    let ask = |objects: Vec<Value>| {
        let pod = pod("- {kind: Job, selector: app=seed}");
        told(&pod, &Cluster::of(objects))
    };
    assert_eq!(
        ask(jobs()),
        "wait InProgress JobNotComplete: 2 of 4 ready; b: Job in progress. success:0, active: 1, failed: 0"
    );
    let done = jobs()
        .into_iter()
        .filter(|job| job["metadata"]["name"] != "b");
    assert_eq!(
        ask(done.clone().collect()),
        "wait InProgress JobNotComplete: 2 of 3 ready; d: Job in progress. success:0, active: 1, failed: 0"
    );
    let done = done.filter(|job| job["metadata"]["name"] != "d");
    assert_eq!(ask(done.collect()), "open Current Satisfied: 2 of 2 ready");
}

#[test]
fn min_asks_for_so_many_and_a_part_counts_as_a_whole() {
    let ask = |min: &str, state: &str| {
        let list = format!("- {{kind: Job, selector: app=seed, min: {min}, state: {state}}}");
        let told = told(&pod(&list), &Cluster::of(jobs()));
        told.split(';').next().unwrap_or_default().to_owned()
    };
    for (min, expected) in [
        ("1", "open Current Satisfied: 2 of 4 ready"),
        ("2", "open Current Satisfied: 2 of 4 ready"),
        (
            "3",
            "wait InProgress JobNotComplete: 2 of 4 ready, 3 needed",
        ),
        (
            "5",
            "wait InProgress JobNotComplete: 2 of 4 ready, 5 needed",
        ),
        ("1%", "open Current Satisfied: 2 of 4 ready"),
        ("50%", "open Current Satisfied: 2 of 4 ready"),
        (
            "51%",
            "wait InProgress JobNotComplete: 2 of 4 ready, 3 needed",
        ),
        ("100%", "wait InProgress JobNotComplete: 2 of 4 ready"),
    ] {
        assert_eq!(ask(min, "ready"), expected, "{min}");
    }
    assert_eq!(
        ask("5", "started"),
        "wait InProgress NotFound: 4 of 4 started, 5 needed"
    );
}

#[test]
fn a_selector_that_finds_the_dependent_alone_says_so() {
    let mut web = owned(
        "Deployment",
        "web",
        None,
        list("- {kind: Deployment, selector: app=web}"),
    );
    web["metadata"]["labels"] = json!({"app": "web"});
    let pod = owned("Pod", "web-x", Some(("Deployment", "web")), json!({}));
    assert_eq!(
        told(&pod, &Cluster::of(vec![web])),
        "wait NotFound NotFound: only the dependent itself has these labels so far; take the entry out, unless another \
         Deployment is to come"
    );
}

#[test]
fn labels_that_are_on_the_pods_alone_are_told() {
    let of = |list: &str, template: Value| {
        let mut web = owned("Deployment", "web", None, json!({}));
        web["spec"]["template"] =
            json!({"metadata": {"labels": template}, "spec": {"containers": []}});
        told(&pod(list), &Cluster::of(vec![web]))
    };
    let list = "- {kind: Deployment, selector: tier=back}";
    assert_eq!(
        of(list, json!({"tier": "back"})),
        "wait NotFound NotFound: no Deployment with these labels has been created yet; the pods of Deployment/web have them, and a \
         selector looks at the labels of the Deployment itself: label that too, or write kind: Pod"
    );
    let unknown = "wait NotFound NotFound: no Deployment with these labels has been created yet";
    assert_eq!(of(list, json!({"tier": "front"})), unknown);
    let job = "- {kind: Job, selector: tier=back}";
    assert_eq!(
        of(job, json!({"tier": "back"})),
        "wait NotFound NotFound: no Job with these labels has been created yet"
    );
}

#[test]
fn nothing_that_matches_is_not_found() {
    let cluster = Cluster::of(vec![job("shop", "x", "other", true)]);
    assert_eq!(
        told(&pod("- {kind: Job, selector: app=seed}"), &cluster),
        "wait NotFound NotFound: no Job with these labels has been created yet"
    );
    let optional = pod("- {kind: Job, selector: app=seed, min: 2, optional: true}");
    assert_eq!(
        told(&optional, &cluster),
        "open NotFound OptionalNotFound: not found, and optional"
    );
}

#[test]
fn a_failed_job_is_the_reason_only_where_the_others_cannot_make_up_for_it() {
    let objects = vec![
        failed_job("a", "seed"),
        job("shop", "b", "seed", false),
        job("shop", "c", "seed", true),
    ];
    let reason = |min: &str| {
        let pod = pod(&format!("- {{kind: Job, selector: app=seed{min}}}"));
        reasons(&pod, &Cluster::of(objects.clone()))
    };
    assert_eq!(reason(""), [Reason::JobFailed]);
    assert_eq!(reason(", min: 2"), [Reason::JobNotComplete]);
    assert_eq!(reason(", min: 1"), [Reason::Satisfied]);
}

#[test]
fn another_namespace_is_told_nothing_of_its_selected_objects() {
    let foreign = pod("- {kind: Job, namespace: data, selector: app=seed}");
    let namespace = |who: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "data", "annotations": {"sluice.dev/allow-dependents-from": who}}});
    let with = |objects: Vec<Value>| {
        edges_of(&foreign, &Cluster::of(objects), &Policy::of_the_chart()).remove(0)
    };
    let seed = job("data", "y", "seed", false);
    let refused = with(vec![namespace("other"), seed.clone()]);
    assert_eq!(refused.judged.reason, Reason::NotPermitted);
    assert_eq!(
        refused,
        with(vec![namespace("other")]),
        "whether anything matches is not told"
    );
    let told = answer(&[with(vec![namespace("shop"), seed])]);
    assert_eq!(told.dependencies[0].reason, "JobNotComplete");
    assert_eq!(told.dependencies[0].message, None, "texts stay at home");
    assert_eq!(told.dependencies[0].dependency, "data/Job[app=seed]");
}

#[test]
fn a_selector_passes_the_dependent_and_its_siblings_over() {
    let labelled = |mut object: Value| {
        object["metadata"]["labels"] = json!({"app": "web"});
        object
    };
    let by_set =
        |name: &str, set: &str| labelled(owned("Pod", name, Some(("ReplicaSet", set)), json!({})));
    let set = labelled(owned(
        "ReplicaSet",
        "web-1",
        Some(("Deployment", "web")),
        json!({}),
    ));
    let reasons_of = |list_text: &str, more: Vec<Value>| {
        let web = labelled(owned("Deployment", "web", None, list(list_text)));
        let mut objects = vec![set.clone(), web, by_set("web-1-b", "web-1")];
        objects.extend(more);
        reasons(&by_set("web-1-a", "web-1"), &Cluster::of(objects))
    };
    let pods = "- {kind: Pod, selector: app=web}";
    assert_eq!(reasons_of(pods, vec![]), [Reason::NotFound]);
    assert_eq!(
        reasons_of(pods, vec![by_set("old-x", "old")]),
        [Reason::InProgress],
        "a pod of another owner is waited for"
    );
    let deployments = "- {kind: Deployment, selector: app=web, state: present}";
    assert_eq!(reasons_of(deployments, vec![]), [Reason::NotFound]);
    let other = labelled(owned("Deployment", "other", None, json!({})));
    assert_eq!(reasons_of(deployments, vec![other]), [Reason::Satisfied]);
}

#[test]
fn a_kind_that_cannot_be_read_never_opens() {
    let mut cluster = Cluster::of(vec![job("shop", "a", "seed", true)]);
    for (why, reason) in [
        (Unavailable::Syncing, Reason::Syncing),
        (Unavailable::NotServed, Reason::KindNotServed),
        (Unavailable::Forbidden, Reason::KindForbidden),
        (Unavailable::Stale, Reason::Stale),
    ] {
        cluster.unavailable = vec![("Job", why)];
        let pod = pod("- {kind: Job, selector: app=seed, min: 1}");
        assert_eq!(reasons(&pod, &cluster), [reason]);
    }
}
