//! Tests remembered Jobs that a selector selects.

use super::selection::{failed_job, job, told};
use super::*;

/// A remembered Job: made at the epoch, complete a minute later, of revision 1, with these labels.
fn complete(labels: Option<&[(&str, &str)]>) -> CompletedJob {
    let text = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    CompletedJob {
        uid: "u1".to_owned(),
        created: 0,
        completed: 60,
        controller: None,
        revision: Some("1".to_owned()),
        scope: None,
        labels: labels.map(|labels| labels.iter().map(text).collect()),
    }
}

fn stored(name: &str, job: &CompletedJob) -> BTreeMap<String, String> {
    BTreeMap::from([(memory::job_key("shop", name), memory::text(job).unwrap())])
}

pub(super) fn one(name: &str, labels: Option<&[(&str, &str)]>) -> BTreeMap<String, String> {
    stored(name, &complete(labels))
}

const SEED: Option<&[(&str, &str)]> = Some(&[("app", "seed"), ("tier", "back")]);

/// A cluster with these objects that remembers the Job `seed-1`.
fn after(objects: Vec<Value>) -> Cluster {
    Cluster {
        memory: one("seed-1", SEED),
        ..Cluster::of(objects)
    }
}

fn seeds(more: &str) -> Value {
    pod(&format!("- {{kind: Job, selector: app=seed{more}}}"))
}

#[test]
fn a_job_that_a_selector_found_goes_on_counting() {
    assert_eq!(
        told(&seeds(""), &after(vec![])),
        "open Current Remembered: 1 of 1 ready, 1 of them remembered"
    );
    let next = |complete| after(vec![job("shop", "seed-2", "seed", complete)]);
    assert_eq!(
        told(&seeds(""), &next(true)),
        "open Current Satisfied: 2 of 2 ready, 1 of them remembered"
    );
    assert_eq!(
        told(&seeds(""), &next(false)),
        "wait InProgress JobNotComplete: 1 of 2 ready, 1 of them remembered; seed-2: Job in progress. success:0, active: 1, failed: 0"
    );
    for min in [", min: 1", ", min: 50%"] {
        assert_eq!(reasons(&seeds(min), &next(false)), [Reason::Satisfied]);
    }
    let failed = after(vec![failed_job("seed-2", "seed")]);
    assert_eq!(reasons(&seeds(""), &failed), [Reason::JobFailed]);
    for state in ["present", "started"] {
        let pod = seeds(&format!(", state: {state}"));
        assert_eq!(reasons(&pod, &after(vec![])), [Reason::NotFound]);
    }
}

#[test]
fn a_job_that_is_there_speaks_for_itself() {
    let running = after(vec![job("shop", "seed-1", "seed", false)]);
    assert_eq!(
        told(&seeds(", min: 1"), &running),
        "wait InProgress JobNotComplete: 0 of 1 ready; seed-1: Job in progress. success:0, active: 1, failed: 0"
    );
}

#[test]
fn what_is_remembered_is_selected_by_the_labels_that_it_had() {
    let ask = |selector: &str, memory: BTreeMap<String, String>| {
        let cluster = Cluster {
            memory,
            ..Cluster::of(vec![])
        };
        let pod = pod(&format!("- {{kind: Job, selector: '{selector}'}}"));
        reasons(&pod, &cluster)
    };
    for (selector, expected) in [
        ("app=seed,tier=back", Reason::Remembered),
        ("tier", Reason::Remembered),
        ("app in (seed,other)", Reason::Remembered),
        ("app=seed,!zone", Reason::Remembered),
        ("app=seed,zone notin (a)", Reason::Remembered),
        ("app=other", Reason::NotFound),
        ("app=seed,!tier", Reason::NotFound),
        ("app=seed,tier!=back", Reason::NotFound),
        ("app=seed,zone", Reason::NotFound),
    ] {
        assert_eq!(ask(selector, one("seed-1", SEED)), [expected], "{selector}");
        let unknown = ask(selector, one("seed-1", None));
        assert_eq!(unknown, [Reason::NotFound], "{selector}");
    }
    let elsewhere = BTreeMap::from([(
        memory::job_key("data", "seed-1"),
        one("seed-1", SEED).into_values().next().unwrap(),
    )]);
    assert_eq!(ask("app=seed", elsewhere), [Reason::NotFound]);
}

#[test]
fn what_is_remembered_is_held_to_revision_and_namespace() {
    let of = |mut pod: Value, revision: &str| {
        pod["metadata"]["annotations"]["sluice.dev/revision"] = json!(revision);
        pod
    };
    let reason = |pod: &Value| reasons(pod, &after(vec![]));
    assert_eq!(reason(&of(seeds(""), "1")), [Reason::Remembered]);
    assert_eq!(reason(&of(seeds(""), "2")), [Reason::NotFound]);
    let made = |at: &str| {
        let mut pod = seeds(", fresh: true");
        pod["metadata"]["creationTimestamp"] = json!(at);
        pod
    };
    assert_eq!(reason(&made("1970-01-01T00:00:00Z")), [Reason::Remembered]);
    assert_eq!(reason(&made("1970-01-01T00:00:01Z")), [Reason::NotFound]);

    // Another release's revisions are none of the dependent's.
    let theirs = CompletedJob {
        scope: Some(Scope {
            namespace: "shop".to_owned(),
            name: "theirs".to_owned(),
            kept_in: None,
        }),
        ..complete(SEED)
    };
    let cluster = Cluster {
        memory: stored("seed-1", &theirs),
        ..Cluster::of(vec![])
    };
    let mut ours = of(seeds(""), "2");
    ours["metadata"]["annotations"]["sluice.dev/scope"] = json!("ours");
    assert_eq!(reasons(&ours, &cluster), [Reason::Remembered]);
    ours["metadata"]["annotations"]["sluice.dev/scope"] = json!("theirs");
    assert_eq!(reasons(&ours, &cluster), [Reason::NotFound]);

    let mut anew = home();
    anew["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:01Z");
    assert_eq!(reasons(&seeds(""), &after(vec![anew])), [Reason::NotFound]);
}

#[test]
fn what_is_there_needs_no_memory_and_nothing_is_not_found_without_one() {
    let with = |objects: Vec<Value>, why: Unavailable| Cluster {
        forgotten: Some(why),
        ..after(objects)
    };
    for (why, expected) in [
        (Unavailable::Syncing, Reason::Syncing),
        (Unavailable::Stale, Reason::Stale),
        (Unavailable::Hidden, Reason::NotFound),
    ] {
        for more in ["", ", optional: true"] {
            assert_eq!(reasons(&seeds(more), &with(vec![], why)), [expected]);
        }
        let done = vec![job("shop", "seed-2", "seed", true)];
        assert_eq!(reasons(&seeds(""), &with(done, why)), [Reason::Satisfied]);
    }
    let deployments = pod("- {kind: Deployment, selector: app=seed, optional: true}");
    let syncing = with(vec![], Unavailable::Syncing);
    assert_eq!(reasons(&deployments, &syncing), [Reason::OptionalNotFound]);
}

/// The flaw of a plan of the release `shop` with this order, in a namespace where pods without annotations have a gate too.
fn flaw(order: &str, mut cluster: Cluster) -> Option<String> {
    let plan = json!({
        "metadata": {"namespace": "shop", "name": "plan", "annotations": {"sluice.dev/scope": "shop"}},
        "data": {"order": order},
    });
    let labels = json!({"sluice.dev/inject": "enabled"});
    let namespace = json!({"kind": "Namespace", "metadata": {"name": "shop", "labels": labels}});
    cluster.objects.push(namespace);
    cluster.active = Ok(Some(Timestamp::UNIX_EPOCH));
    crate::plan::flaw_in(&plan, &cluster, |_| true).map(|it| it.to_string())
}

/// A Service counts as an object of a scope only where it names a group or a weight, and a group may hold such Services alone.
#[test]
fn no_plan_is_said_to_misspell_a_group_of_services() {
    let told = |group: &str| {
        let annotations = json!({"sluice.dev/scope": "shop", "sluice.dev/group": "front"});
        let service = owned("Service", "web", None, annotations);
        flaw(&format!("group/{group}: []"), Cluster::of(vec![service]))
    };
    assert_eq!(told("front"), None);
    let misspelt = told("frnt").unwrap_or_default();
    assert!(misspelt.contains("shop has no group/frnt"), "{misspelt}");
}

/// A plan that names a Job by its name is no mistake once the Job is gone.
#[test]
fn no_plan_is_said_to_misspell_a_job_that_is_remembered() {
    let flaw = |job: &str, forgotten| {
        let cluster = Cluster {
            forgotten,
            ..after(vec![owned("Deployment", "api", None, json!({}))])
        };
        flaw(&format!("deployment/api: [{job}]"), cluster)
    };
    assert_eq!(flaw("job/seed-1", None), None);
    let told = flaw("job/seed-2", None).unwrap();
    assert!(told.contains("shop has no Job/seed-2"), "{told}");
    assert_eq!(flaw("job/seed-2", Some(Unavailable::Syncing)), None);
}
