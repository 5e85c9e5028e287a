//! Tests entries with groups, sub-charts and releases.

use super::selection::{job, told};
use super::wave::of_release;
use super::*;

fn labelled(mut object: Value, labels: Value) -> Value {
    object["metadata"]["labels"] = labels;
    object
}

fn chart(name: &str, chart: &str, complete: bool) -> Value {
    let job = of_release(job("shop", name, "x", complete), None, -60);
    labelled(job, json!({"helm.sh/chart": chart}))
}

fn dependent(list: &str) -> Value {
    of_release(pod(list), None, -60)
}

#[test]
fn a_sub_chart_is_every_object_of_it() {
    let cluster = Cluster::of(vec![
        chart("a", "postgresql-15.0.0", true),
        chart("b", "postgresql-15.0.0", false),
        chart("c", "postgresql-ha-1.0.0", false),
    ]);
    assert_eq!(
        told(&dependent("subchart/postgresql"), &cluster),
        "wait InProgress JobNotComplete: 1 of 2 ready; Job/b: Job in progress. success:0, active: 1, failed: 0"
    );
    assert_eq!(
        told(&dependent("- {subchart: postgresql, min: 1}"), &cluster),
        "open Current Satisfied: 1 of 2 ready"
    );
}

#[test]
fn a_sub_chart_that_is_not_there_holds_nobody_back_once_the_scope_is_quiet() {
    let cluster = Cluster::of(Vec::new());
    assert_eq!(
        reasons(&dependent("subchart/redis"), &cluster),
        [Reason::OptionalNotFound]
    );
    let new = of_release(pod("subchart/redis"), None, -1);
    assert_eq!(reasons(&new, &cluster), [Reason::Settling]);
}

#[test]
fn without_a_release_there_is_no_sub_chart() {
    let told = told(&pod("subchart/redis"), &Cluster::of(Vec::new()));
    assert!(
        told.starts_with("wait NotFound NotFound: the dependent is in no release"),
        "{told}"
    );
}

#[test]
fn a_group_is_of_the_scope_or_of_the_namespace() {
    let grouped = |name: &str, release: &str, complete: bool| {
        let mut job = of_release(job("shop", name, "x", complete), None, -60);
        job["metadata"]["annotations"]["meta.helm.sh/release-name"] = json!(release);
        job["metadata"]["annotations"]["sluice.dev/group"] = json!("data, backend");
        job
    };
    let cluster = Cluster::of(vec![grouped("a", "r", true), grouped("b", "other", false)]);
    assert_eq!(
        told(&dependent("group/backend"), &cluster),
        "open Current Satisfied: 1 of 1 ready"
    );
    assert!(told(&pod("group/backend"), &cluster).contains("1 of 2 ready; Job/b"));
    assert_eq!(
        reasons(&dependent("group/front"), &cluster),
        [Reason::NotFound]
    );
    let optional = dependent("- {group: front, optional: true}");
    assert_eq!(reasons(&optional, &cluster), [Reason::OptionalNotFound]);
}

#[test]
fn a_release_is_everything_of_that_name() {
    let cluster = Cluster::of(vec![
        chart("a", "x-1.0.0", true),
        of_release(
            owned("Pod", "hook", None, json!({"helm.sh/hook": "test"})),
            None,
            -60,
        ),
    ]);
    assert_eq!(
        told(&pod("release/r"), &cluster),
        "open Current Satisfied: 1 of 1 ready"
    );
    assert_eq!(reasons(&pod("release/s"), &cluster), [Reason::NotFound]);
    assert_eq!(
        reasons(&pod("data/release/r"), &cluster),
        [Reason::NotPermitted]
    );
}

#[test]
fn a_member_does_not_wait_for_itself() {
    let mut web = of_release(
        owned("Deployment", "web", None, list("group/all")),
        None,
        -60,
    );
    web["metadata"]["annotations"]["sluice.dev/group"] = json!("all");
    let set = of_release(
        owned(
            "ReplicaSet",
            "web-1",
            Some(("Deployment", "web")),
            json!({}),
        ),
        None,
        -60,
    );
    let mut seed = of_release(job("shop", "seed", "x", true), None, -60);
    seed["metadata"]["annotations"]["sluice.dev/group"] = json!("all");
    let pod = owned("Pod", "web-1-x", Some(("ReplicaSet", "web-1")), json!({}));
    assert_eq!(
        told(&pod, &Cluster::of(vec![web, set, seed])),
        "open Current Satisfied: 1 of 1 ready"
    );
}

/// An object of a sub-chart in namespace `data`, of the release `r` that is kept in this namespace.
fn in_data(name: &str, kept_in: &str, complete: bool) -> Value {
    let mut it = chart(name, "postgresql-15.0.0", complete);
    it["metadata"]["namespace"] = json!("data");
    it["metadata"]["annotations"]["meta.helm.sh/release-namespace"] = json!(kept_in);
    it
}

fn namespace_data(consents: bool) -> Value {
    let allow = if consents { "shop" } else { "" };
    json!({"kind": "Namespace", "metadata": {"name": "data", "annotations": {"sluice.dev/allow-dependents-from": allow}}})
}

#[test]
fn a_sub_chart_of_the_release_is_looked_for_where_the_entry_says() {
    let told = |objects: Vec<Value>| {
        let consents = [vec![namespace_data(true)], objects].concat();
        reasons(
            &dependent("data/subchart/postgresql"),
            &Cluster::of(consents),
        )
    };
    assert_eq!(
        told(vec![in_data("a", "shop", false)]),
        [Reason::JobNotComplete]
    );
    assert_eq!(told(vec![in_data("a", "shop", true)]), [Reason::Satisfied]);
    // An object of the sub-chart does not count in another namespace than the entry's, nor where it is of another release.
    assert_eq!(told(vec![]), [Reason::NotFound]);
    let here = chart("a", "postgresql-15.0.0", true);
    assert_eq!(told(vec![here]), [Reason::NotFound]);
    for of_another in ["other", "data"] {
        let theirs = in_data("p", of_another, true);
        assert_eq!(
            told(vec![theirs]),
            [Reason::NotFound],
            "kept in {of_another}"
        );
    }
    let optional = "- {subchart: postgresql, namespace: data, optional: true}";
    let consents = Cluster::of(vec![namespace_data(true)]);
    assert_eq!(
        reasons(&dependent(optional), &consents),
        [Reason::OptionalNotFound]
    );
}

#[test]
fn a_sub_chart_elsewhere_has_a_member_of_the_name_of_its_dependent() {
    let job = in_data("web", "shop", false);
    let mut web = of_release(
        owned("Job", "web", None, list("data/subchart/postgresql")),
        None,
        -60,
    );
    web["metadata"]["uid"] = json!("own");
    let pod = {
        let mut pod = owned("Pod", "web-1", Some(("Job", "web")), json!({}));
        pod["metadata"]["ownerReferences"][0]["uid"] = json!("own");
        pod
    };
    let cluster = Cluster::of(vec![namespace_data(true), job, web]);
    assert_eq!(reasons(&pod, &cluster), [Reason::JobNotComplete]);
}

#[test]
fn another_namespace_has_to_consent_to_its_part_of_the_release() {
    let list = dependent("data/subchart/postgresql");
    for objects in [vec![], vec![in_data("a", "shop", true)]] {
        let refuses = [vec![namespace_data(false)], objects].concat();
        assert_eq!(
            reasons(&list, &Cluster::of(refuses)),
            [Reason::NotPermitted]
        );
    }
}

/// In a plan the name of a sub-chart means the objects of the chart of that name. Only where there are none, the objects of the
/// application of that name count.
#[test]
fn what_is_called_by_the_application_of_a_chart_is_not_ordered_as_that() {
    let labelled_as = |name: &str, chart: &str| {
        let labels = json!({"helm.sh/chart": chart, "app.kubernetes.io/name": "postgresql"});
        let object = owned("Deployment", name, None, json!({}));
        labelled(of_release(object, None, -60), labels)
    };
    let plan = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": "shop", "annotations": {"meta.helm.sh/release-name": "r"}},
        "data": {"order": "postgresql: [exporter]"},
    });
    let one = labelled_as("one", "exporter-1.0.0");
    let kind = Kind::Builtin(kinds::DEPLOYMENT);
    let listed = |objects: Vec<Value>| {
        let cluster = Cluster::of(objects.into_iter().chain([plan.clone()]).collect());
        let edges = Dependent::of_workload(kind.clone(), &one, "shop").edges(true, &cluster);
        edges
            .unwrap()
            .iter()
            .filter(|edge| edge.entry().is_some())
            .count()
    };
    let both = || vec![one.clone(), labelled_as("two", "exporter-1.0.0")];
    assert_eq!(listed(both()), 1);
    let mut all = both();
    all.push(labelled_as("db", "postgresql-15.0.0"));
    assert_eq!(listed(all), 0);
}

/// An object of the chart `redis` that is not ready, with these labels, as `helm template` renders it.
fn redis(labels: Value) -> Value {
    let mut set = owned("StatefulSet", "shop-redis", None, json!({}));
    set["spec"] = json!({"replicas": 1});
    labelled(set, labels)
}

/// The reason and the message of a dependent of release `shop`, made long ago, about its sub-chart `redis`.
fn told_of_redis(objects: Vec<Value>) -> (Reason, String) {
    let labels = json!({"app.kubernetes.io/instance": "shop"});
    let dependent = labelled(pod("subchart/redis"), labels);
    let [edge] = edges_of(&dependent, &Cluster::of(objects), &Policy::of_the_chart())
        .try_into()
        .expect("one edge");
    (edge.judged.reason, edge.judged.message)
}

#[test]
fn older_charts_say_their_release_beside_their_chart() {
    let ours = redis(json!({"chart": "redis-10.5.7", "release": "shop"}));
    let (reason, message) = told_of_redis(vec![ours]);
    assert_eq!(reason, Reason::InProgress, "{message}");
    let other = redis(json!({"chart": "redis-10.5.7", "release": "other"}));
    assert_eq!(told_of_redis(vec![other]).0, Reason::OptionalNotFound);
}

#[test]
fn a_sub_chart_does_not_count_as_absent_while_an_object_of_it_may_be_of_the_release() {
    for labels in [
        json!({"chart": "redis-10.5.7"}),
        json!({"helm.sh/chart": "redis-10.5.7"}),
        json!({"app.kubernetes.io/name": "redis"}),
        json!({"app.kubernetes.io/name": "redis", "release": "shop"}),
        json!({"chart": "redis-1", "release": "shop", "app.kubernetes.io/instance": "shop-redis"}),
    ] {
        let (reason, message) = told_of_redis(vec![redis(labels.clone())]);
        assert_eq!(reason, Reason::NotFound, "{labels}");
        assert!(
            message.ends_with(
                "StatefulSet/shop-redis is of that chart and may be: give it sluice.dev/scope: shop, or name it in the list"
            ),
            "{message}"
        );
    }
    for labels in [
        json!({"app.kubernetes.io/name": "redis", "app.kubernetes.io/instance": "other"}),
        json!({"chart": "redisinsight-1.0.0"}),
        json!({"release": "shop"}),
    ] {
        let (reason, message) = told_of_redis(vec![redis(labels.clone())]);
        assert_eq!(reason, Reason::OptionalNotFound, "{labels}");
        assert_eq!(message, "no object of it is in release shop");
    }
    let mut made = redis(json!({"chart": "redis-10.5.7"}));
    made["metadata"]["ownerReferences"] =
        json!([{"kind": "Redis", "name": "x", "controller": true}]);
    assert_eq!(told_of_redis(vec![made]).0, Reason::OptionalNotFound);
}

#[test]
fn a_kind_that_cannot_be_read_is_not_taken_for_a_sub_chart_that_is_absent() {
    let cluster = Cluster {
        unavailable: vec![("StatefulSet", Unavailable::Syncing)],
        ..Cluster::of(Vec::new())
    };
    let dependent = dependent("subchart/redis");
    assert_eq!(reasons(&dependent, &cluster)[0], Reason::Syncing);
}
