//! Groups, sub-charts and releases.

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
