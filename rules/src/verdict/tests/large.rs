//! Tests that an object that is too large to be read exists, and holds back every dependent that waits for it.

use super::selection::job;
use super::wave::of_release;
use super::*;
use crate::kept::mark_too_large;

/// A complete Job of release `r`, in a group and in a sub-chart.
fn seed(name: &str) -> Value {
    let mut seed = of_release(job("shop", name, "x", true), Some("0"), -60);
    seed["metadata"]["annotations"]["sluice.dev/group"] = json!("data");
    seed["metadata"]["labels"]["helm.sh/chart"] = json!("db-1.0.0");
    seed
}

/// The Job of [`seed`], of which only the metadata was read because it is too large.
fn large(name: &str) -> Value {
    let mut seed = seed(name);
    seed.as_object_mut().unwrap().remove("status");
    mark_too_large(&mut seed);
    seed
}

/// The findings about the edges that hold the pod back.
fn unmet(pod: &Value, cluster: &Cluster) -> Vec<Judged> {
    let edges = edges_of(pod, cluster, &Policy::of_the_chart()).into_iter();
    let judged = edges.map(|edge| edge.judged);
    judged.filter(|judged| !judged.satisfied).collect()
}

#[test]
fn whatever_rests_on_an_object_that_is_too_large_waits_and_names_it() {
    let wave = of_release(owned("Pod", "p", None, json!({})), Some("1"), -60);
    let lists = [
        "subchart/db",
        "group/data",
        "release/r",
        "- {kind: Job, selector: app=x}",
        "- {kind: Job, selector: app=x, state: complete}",
    ];
    let pods = lists.map(|list| of_release(pod(list), None, -60));
    for pod in pods.iter().chain([&wave]) {
        let readable = Cluster::of(vec![seed("early"), seed("late")]);
        assert_eq!(unmet(pod, &readable), [], "{pod}");
        let cluster = Cluster::of(vec![seed("early"), large("late")]);
        let told = unmet(pod, &cluster);
        assert!(!told.is_empty(), "{pod}");
        for Judged { message, .. } in told {
            let names = message.contains("late") && !message.contains("early");
            assert!(names && message.contains("longer than 8 MiB"), "{message}");
        }
    }
}

#[test]
fn it_exists_and_whoever_names_it_is_told_why_it_waits() {
    let there = pod("- {kind: Job, selector: app=x, state: present}");
    assert_eq!(unmet(&there, &Cluster::of(vec![large("late")])), []);
    let named = Cluster {
        unavailable: vec![("Job", Unavailable::TooLarge)],
        ..Cluster::of(vec![])
    };
    for list in ["job/late", "- {kind: Job, name: late, optional: true}"] {
        let told = unmet(&pod(list), &named);
        assert_eq!(told[0].reason, Reason::TooLarge, "{list}");
    }
}

#[test]
fn a_release_waits_for_its_plan_that_is_too_large_and_no_other_does() {
    let plan = |release: &str| {
        let mut plan = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"namespace": "shop", "name": "plan", "annotations": {"meta.helm.sh/release-name": release}},
        });
        mark_too_large(&mut plan);
        plan
    };
    let pod = of_release(pod("job/seed"), None, -60);
    let edges = |release: &str| {
        let cluster = Cluster::of(vec![plan(release)]);
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
            panic!("resolved")
        };
        dependent.edges(true, &cluster)
    };
    let too_large = crate::dependent::Unknown::Plans(Unavailable::TooLarge);
    assert_eq!(edges("r"), Err(too_large));
    assert!(edges("other").is_ok());
}
