//! Tests the way from a pod to the workload whose list counts.

use super::*;

#[test]
fn the_list_comes_from_the_topmost_owner() {
    let pod = owned("Pod", "web-1-x", Some(("ReplicaSet", "web-1")), json!({}));
    let set = owned(
        "ReplicaSet",
        "web-1",
        Some(("Deployment", "web")),
        list("configmap/old"),
    );
    let web = owned("Deployment", "web", None, list("configmap/new"));
    let cluster = Cluster::of(vec![set, web, config_map("shop", "new")]);
    assert_eq!(reasons(&pod, &cluster), [Reason::Satisfied]);
}

#[test]
fn a_list_that_was_taken_away_does_not_live_on_in_a_copy() {
    let pod = owned("Pod", "web-1-x", Some(("ReplicaSet", "web-1")), json!({}));
    let set = owned(
        "ReplicaSet",
        "web-1",
        Some(("Deployment", "web")),
        list("configmap/old"),
    );
    let web = owned("Deployment", "web", None, json!({}));
    assert_eq!(reasons(&pod, &Cluster::of(vec![set, web])), []);
}

#[test]
fn the_pod_template_wins_key_by_key() {
    let pod = owned("Pod", "x", Some(("Job", "seed")), list("configmap/a"));
    let mut both = list("configmap/b");
    both["config.kubernetes.io/depends-on"] = json!("/namespaces/shop/ConfigMap/c");
    let cluster = Cluster::of(vec![owned("Job", "seed", None, both)]);
    let edges = edges_of(&pod, &cluster, &Policy::of_the_chart());
    let names: Vec<String> = edges.iter().map(|edge| edge.edge.name()).collect();
    assert_eq!(names, ["a", "c"]);
}

#[test]
fn cron_jobs_and_rollouts_are_followed() {
    for (middle, top) in [("Job", "CronJob"), ("ReplicaSet", "Rollout")] {
        let cluster = Cluster::of(vec![
            owned(middle, "web-1", Some((top, "web")), json!({})),
            owned(top, "web", None, list("configmap/a")),
        ]);
        let pod = owned("Pod", "w", Some((middle, "web-1")), json!({}));
        assert_eq!(reasons(&pod, &cluster), [Reason::NotFound], "{top}");
    }
}

#[test]
fn an_owner_that_is_not_seen_yet_is_waited_for_and_a_foreign_one_ends_the_climb() {
    let pod = owned("Pod", "w", Some(("ReplicaSet", "web-1")), json!({}));
    assert_eq!(
        Dependent::resolve(&pod, &rollouts(), &Cluster::of(vec![])),
        Lookup::NotFound
    );
    let mut cluster = Cluster::of(vec![owned(
        "ReplicaSet",
        "web-1",
        Some(("Rollout", "web")),
        list("configmap/a"),
    )]);
    cluster.unavailable = vec![("Rollout", Unavailable::Forbidden)];
    assert_eq!(reasons(&pod, &cluster), [Reason::NotFound]);
    cluster.unavailable = vec![("Rollout", Unavailable::Syncing)];
    let resolved = Dependent::resolve(&pod, &rollouts(), &cluster);
    assert_eq!(resolved, Lookup::Unavailable(Unavailable::Syncing));
    let strange = owned(
        "ReplicaSet",
        "web-1",
        Some(("Database", "db")),
        list("configmap/a"),
    );
    assert_eq!(
        reasons(&pod, &Cluster::of(vec![strange])),
        [Reason::NotFound]
    );
}

/// The list may stand on the owner that cannot be read, so the pod waits.
#[test]
fn an_owner_that_cannot_be_read_is_waited_for_where_no_other_list_is_known() {
    let pod = owned("Pod", "w", Some(("ReplicaSet", "web-1")), json!({}));
    let set = owned("ReplicaSet", "web-1", Some(("Rollout", "web")), json!({}));
    let mut cluster = Cluster::of(vec![set]);
    for why in [Unavailable::Forbidden, Unavailable::NotServed] {
        cluster.unavailable = vec![("Rollout", why)];
        let resolved = Dependent::resolve(&pod, &rollouts(), &cluster);
        assert_eq!(resolved, Lookup::Unavailable(why));
        let listed = owned(
            "Pod",
            "w",
            Some(("ReplicaSet", "web-1")),
            list("configmap/a"),
        );
        assert_eq!(reasons(&listed, &cluster), [Reason::NotFound]);
    }
}

/// A list that cannot be read makes its pod wait until it is corrected. Such a list was written while sluice was not there to refuse it.
#[test]
fn a_list_that_cannot_be_read_holds_a_pod_until_it_is_corrected() {
    let pod = owned("Pod", "w", Some(("Job", "seed")), json!({}));
    let told = |text: &str| {
        let seed = owned("Job", "seed", None, list(text));
        let cluster = Cluster::of(vec![seed, config_map("shop", "a")]);
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
            panic!("resolved")
        };
        let policy = Policy::of_the_chart();
        let verdict = decide(&dependent, &policy, &cluster, Timestamp::UNIX_EPOCH, true);
        (verdict.why, verdict.answer.note.unwrap_or_default())
    };
    let (why, note) = told("configmapp/a");
    assert_eq!(why, Why::Unread);
    assert!(note.contains("correct them"), "{note}");
    assert!(note.contains("configmapp"), "{note}");
    assert_eq!(told("configmap/a").0, Why::Satisfied);
}

#[test]
fn owners_that_own_each_other_end_somewhere() {
    let a = owned("ReplicaSet", "a", Some(("ReplicaSet", "b")), json!({}));
    let b = owned("ReplicaSet", "b", Some(("ReplicaSet", "a")), json!({}));
    let pod = owned("Pod", "x", Some(("ReplicaSet", "a")), json!({}));
    assert!(matches!(
        Dependent::resolve(&pod, &[], &Cluster::of(vec![a, b])),
        Lookup::Found(_)
    ));
}
