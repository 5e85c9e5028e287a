//! Tests weights: the edge that is a wave.

use super::selection::{failed_job, job, told};
use super::*;

/// An object of release `r` with this weight, made at this second before or after the epoch.
pub(super) fn of_release(mut object: Value, weight: Option<&str>, made: i64) -> Value {
    object["metadata"]["annotations"]["meta.helm.sh/release-name"] = json!("r");
    if let Some(weight) = weight {
        object["metadata"]["annotations"]["sluice.dev/weight"] = json!(weight);
    }
    let made = Timestamp::from_second(made).unwrap();
    object["metadata"]["creationTimestamp"] = json!(made.to_string());
    object
}

fn seed(name: &str, weight: Option<&str>, complete: bool) -> Value {
    of_release(job("shop", name, "x", complete), weight, -60)
}

fn waiting(weight: Option<&str>) -> Value {
    of_release(owned("Pod", "p", None, json!({})), weight, -60)
}

/// A pod without an owner counts for a wave where it has a gate; without a gate it is in no wave, since sluice does not watch it.
#[test]
fn a_pod_of_its_own_counts_where_it_has_a_gate() {
    let first = |gated: bool| {
        let mut pod = of_release(owned("Pod", "first", None, json!({})), Some("1"), -60);
        pod["metadata"]["labels"]["sluice.dev/gated"] = json!(gated.to_string());
        told(&waiting(Some("2")), &Cluster::of(vec![pod]))
    };
    let told = first(true);
    assert!(
        told.starts_with("wait InProgress LowerWeight: Pod/first of weight 1"),
        "{told}"
    );
    let told = first(false);
    assert!(told.starts_with("open"), "{told}");
}

#[test]
fn everything_that_weighs_less_comes_first() {
    let jobs = || {
        vec![
            seed("b", Some("1"), true),
            seed("c", Some("2"), false),
            seed("d", Some("1"), false),
        ]
    };
    let cluster = Cluster::of(jobs());
    assert_eq!(
        told(&waiting(Some("2")), &cluster),
        "wait InProgress LowerWeight: Job/d of weight 1: Job in progress. success:0, active: 1, failed: 0"
    );
    assert!(told(&waiting(Some("1")), &cluster).starts_with("open Current Satisfied: everything"));
    let mut more = jobs();
    more.push(seed("z", None, false));
    let told = told(&waiting(Some("1")), &Cluster::of(more));
    assert!(
        told.contains("Job/z of weight 0"),
        "without the annotation it weighs 0: {told}"
    );
}

/// A StatefulSet does not replace an unready pod when its template changes, so the pod's weight and the StatefulSet's may differ.
#[test]
fn a_pod_of_a_heavier_template_does_not_wait_for_its_own_workload() {
    let mut set = of_release(owned("ReplicaSet", "db", None, json!({})), None, -60);
    set["spec"] = json!({"replicas": 1, "template": {"metadata": {"annotations": {"sluice.dev/weight": "1"}}}});
    let mut pod = owned("Pod", "db-0", Some(("ReplicaSet", "db")), json!({}));
    pod["metadata"]["annotations"]["sluice.dev/weight"] = json!("5");
    let told = |others: Vec<Value>| told(&pod, &Cluster::of([vec![set.clone()], others].concat()));
    let alone = told(vec![seed("a", Some("1"), false)]);
    assert!(alone.starts_with("open"), "{alone}");
    let lighter = told(vec![seed("a", Some("0"), false)]);
    assert!(lighter.contains("Job/a of weight 0"), "{lighter}");
}

#[test]
fn a_service_counts_where_it_says_a_weight() {
    let service = |weight| {
        let service = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": "shop", "name": "front", "annotations": {}},
            "spec": {"selector": {"app": "front"}},
        });
        of_release(service, weight, -60)
    };
    let first = |weight| told(&waiting(Some("1")), &Cluster::of(vec![service(weight)]));
    let says = first(Some("0"));
    assert!(says.contains("Service/front of weight 0"), "{says}");
    assert!(first(None).starts_with("open"), "as most Services");
    assert!(first(Some("1")).starts_with("open"), "its own wave");
}

#[test]
fn who_says_no_weight_waits_for_what_weighs_less_than_nothing() {
    let cluster = Cluster::of(vec![
        seed("a", Some("-1"), false),
        seed("b", Some("0"), false),
    ]);
    assert!(told(&waiting(None), &cluster).contains("Job/a of weight -1"));
    let cluster = Cluster::of(vec![
        seed("a", Some("-1"), true),
        seed("b", Some("0"), false),
    ]);
    assert_eq!(
        reasons(&waiting(None), &cluster),
        [],
        "and hears nothing of waves otherwise"
    );
}

#[test]
fn other_scopes_hooks_and_pods_of_controllers_are_in_no_wave() {
    let mut other = seed("a", None, false);
    other["metadata"]["annotations"]["meta.helm.sh/release-name"] = json!("other");
    let mut hook = seed("b", None, false);
    hook["metadata"]["annotations"]["helm.sh/hook"] = json!("post-install");
    let mut test = seed("c", Some("0"), false);
    test["metadata"]["annotations"]["helm.sh/hook"] = json!("test");
    let owned = owned("ReplicaSet", "d", Some(("Deployment", "d")), json!({}));
    let cluster = Cluster::of(vec![other, hook, test, of_release(owned, None, -60)]);
    assert_eq!(reasons(&waiting(Some("1")), &cluster), [Reason::Satisfied]);
}

#[test]
fn a_test_of_helm_waits_for_its_lists_alone() {
    let cluster = Cluster::of(vec![seed("a", Some("0"), false)]);
    let hook = |hook: &str, list: Option<&str>| {
        let mut pod = waiting(Some("1"));
        let annotations = &mut pod["metadata"]["annotations"];
        annotations["helm.sh/hook"] = json!(hook);
        annotations["sluice.dev/parallelism"] = json!("1");
        if let Some(list) = list {
            annotations["sluice.dev/depends-on"] = json!(list);
        }
        reasons(&pod, &cluster)
    };
    for test in ["test", "test-success", "test, test-failure"] {
        assert_eq!(hook(test, None), [], "{test}");
        assert_eq!(hook(test, Some("job/x")), [Reason::NotFound], "{test}");
    }
    assert_eq!(
        hook("test,post-install", None)[0],
        Reason::LowerWeight,
        "it is a part of the installation too"
    );
}

#[test]
fn a_wave_is_not_passed_because_it_is_empty_so_far() {
    let mut pod = waiting(Some("1"));
    pod["metadata"]["creationTimestamp"] = json!("1969-12-31T23:59:58Z");
    let cluster = Cluster::of(Vec::new());
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
        panic!("resolved")
    };
    let judged = |second: i64| {
        let dependencies = dependent.edges(true, &cluster).unwrap();
        let now = Timestamp::from_second(second).unwrap();
        judge(
            &dependent,
            dependencies,
            &Policy::of_the_chart(),
            &cluster,
            now,
        )
    };
    let early = judged(0);
    assert_eq!(early.edges[0].judged.reason, Reason::Settling);
    assert_eq!(early.again, Some(Timestamp::from_second(2).unwrap()));
    assert_eq!(judged(2).edges[0].judged.reason, Reason::Satisfied);
}

#[test]
fn a_failed_job_of_a_lower_weight_is_said_to_have_failed() {
    let failed = of_release(failed_job("a", "x"), Some("0"), -60);
    assert_eq!(
        reasons(&waiting(Some("1")), &Cluster::of(vec![failed])),
        [Reason::JobFailed]
    );
}

#[test]
fn a_wave_is_not_passed_while_the_revision_is_not_known() {
    let mut set = of_release(owned("StatefulSet", "db", None, json!({})), Some("1"), -60);
    set["status"] = json!({"updateRevision": "db-1"});
    let mut pod = owned("Pod", "db-0", Some(("StatefulSet", "db")), json!({}));
    pod["metadata"]["labels"] = json!({"controller-revision-hash": "db-1"});
    let mut undated = owned("ControllerRevision", "db-1", None, json!({}));
    undated["metadata"]["creationTimestamp"] = json!(null);
    let unknown = Cluster::of(vec![set.clone(), undated]);
    assert_eq!(reasons(&pod, &unknown), [Reason::Syncing]);
    let mut hidden = Cluster::of(vec![set]);
    hidden.unavailable = vec![("ControllerRevision", Unavailable::Forbidden)];
    assert_eq!(reasons(&pod, &hidden), [Reason::KindForbidden]);
}
