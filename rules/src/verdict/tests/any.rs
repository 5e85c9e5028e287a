//! Tests entries with alternatives (`any`).

use super::selection::{failed_job, job, told};
use super::*;

#[test]
fn one_alternative_is_enough_and_says_so() {
    let cluster = Cluster::of(vec![job("shop", "b", "x", true)]);
    assert_eq!(
        told(&pod("- any: [job/a, job/b]"), &cluster),
        "open Current Satisfied: Job/b: Job Completed"
    );
}

#[test]
fn the_best_of_the_others_speaks_for_all() {
    let cluster = Cluster::of(vec![
        failed_job("a", "x"),
        job("shop", "b", "x", false),
        config_map("shop", "c"),
    ]);
    assert_eq!(
        told(&pod("- any: [job/missing, job/a, job/b]"), &cluster),
        "wait InProgress JobNotComplete: Job/b: Job in progress. success:0, active: 1, failed: 0"
    );
    assert_eq!(
        told(&pod("- any: [job/missing, job/a]"), &cluster),
        "wait NotFound NotFound: Job/missing: not created yet, or misspelt"
    );
    assert_eq!(
        told(&pod("- any: [job/a]"), &cluster),
        "wait Failed JobFailed: Job/a: Job Failed: Deadline; delete the Job and create it again"
    );
    assert_eq!(
        told(&pod("- any: [cm/c, cm/d, job/b]\n  min: 2"), &cluster),
        "wait InProgress JobNotComplete: 1 of 3 satisfied, 2 needed; Job/b: Job in progress. success:0, active: 1, failed: 0"
    );
    assert_eq!(
        reasons(&pod("- any: [cm/c, cm/d, job/b]\n  min: 33%"), &cluster),
        [Reason::Satisfied]
    );
    assert_eq!(
        reasons(&pod("- any: [cm/c, cm/d, job/b]\n  min: 34%"), &cluster),
        [Reason::JobNotComplete]
    );
}

#[test]
fn alternatives_nest() {
    let list = "- any:\n  - cm/missing\n  - any: [job/a, {kind: Job, selector: app=x, min: 1}]";
    let cluster = Cluster::of(vec![failed_job("a", "x"), job("shop", "b", "x", true)]);
    assert_eq!(
        told(&pod(list), &cluster),
        "open Current Satisfied: any of (Job/a, Job[app=x]): Job[app=x]: 1 of 2 ready"
    );
}

#[test]
fn while_one_is_still_being_read_nothing_is_final() {
    let mut cluster = Cluster::of(vec![job("shop", "b", "x", false)]);
    cluster.unavailable = vec![("ConfigMap", Unavailable::Syncing)];
    let reasons = |text: &str| reasons(&pod(text), &cluster);
    assert_eq!(reasons("- any: [job/b, cm/a]"), [Reason::Syncing]);
    assert_eq!(
        reasons("- any: [job/a, cm/a]\n  optional: true"),
        [Reason::Syncing]
    );
}

#[test]
fn optional_is_satisfied_when_none_of_them_exists() {
    let cluster = Cluster::of(vec![job("shop", "b", "x", false)]);
    let reasons = |text: &str| reasons(&pod(text), &cluster);
    assert_eq!(
        reasons("- any: [job/a, cm/a]\n  optional: true"),
        [Reason::OptionalNotFound]
    );
    assert_eq!(
        reasons("- any: [job/a, job/b]\n  optional: true"),
        [Reason::JobNotComplete]
    );
    assert_eq!(reasons("- any: [job/a, cm/a]"), [Reason::NotFound]);
}

#[test]
fn a_foreign_alternative_keeps_its_texts_and_its_existence_to_itself() {
    let list = "- any: [data/job/y, job/a]";
    let told = |consent: &str, exists: bool| {
        let mut objects = vec![
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "data", "annotations": {"sluice.dev/allow-dependents-from": consent}}}),
        ];
        objects.extend(exists.then(|| job("data", "y", "x", false)));
        told(&pod(list), &Cluster::of(objects))
    };
    let refused = "wait Unknown NotPermitted: data/Job/y: Namespace data has not agreed; add shop to its annotation \
                   sluice.dev/allow-dependents-from";
    assert_eq!(told("other", true), refused);
    assert_eq!(told("other", false), refused);
    assert_eq!(
        told("shop", true),
        "wait InProgress JobNotComplete: data/Job/y: JobNotComplete"
    );
}

#[test]
fn an_alternative_that_is_the_dependent_itself_leaves_the_others() {
    let cluster = Cluster::of(vec![config_map("shop", "a")]);
    let reasons = |text: &str| reasons(&pod(text), &cluster);
    assert_eq!(reasons("- any: [pod/p]"), [Reason::SelfReference]);
    assert_eq!(reasons("- any: [pod/p, cm/a]"), [Reason::Satisfied]);
}

/// The answer to a full list with the longest messages is one that a gate reads: it reads none above 1 MiB, and every entry may have many
/// alternatives.
#[test]
fn the_longest_answer_is_one_that_a_gate_reads() {
    let condition = json!({"type": "Ready", "status": "False", "message": "\"".repeat(20_000)});
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "widget", "metadata": {"namespace": "shop", "name": "a"},
        "status": {"conditions": [condition]},
    });
    let entry = |at: usize| {
        format!("- {{kind: widget.example.com, name: a, timeout: {at}s, on-timeout: proceed}}\n")
    };
    let list: String = (1..=MAX_ENTRIES).map(entry).collect();
    let mut pod = pod(&list);
    pod["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:00Z");
    let cluster = Cluster::of(vec![widget]);
    let edges = edges_of(&pod, &cluster, &Policy::of_the_chart());
    let kept: usize = edges.iter().map(|it| it.judged.message.len()).sum();
    assert!(
        edges.len() == MAX_ENTRIES && kept < MAX_ENTRIES * 1200,
        "{kept}"
    );
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
        panic!("resolved")
    };
    let policy = Policy::of_the_chart();
    for (after, verdict) in [(0, wire::Decision::Wait), (64, wire::Decision::Open)] {
        let now = Timestamp::from_second(after).unwrap();
        let answer = decide(&dependent, &policy, &cluster, now, false).answer;
        let sent = serde_json::to_string(&answer).unwrap();
        assert_eq!(answer.verdict, verdict);
        let fits = (100_000..wire::LONGEST_ANSWER).contains(&sent.len());
        assert!(fits, "{}", sent.len());
    }
}

#[test]
fn what_is_reported_of_an_edge_is_short_whatever_it_is_put_together_of() {
    let mut edges = edges_of(
        &pod("job/gone"),
        &Cluster::of(vec![]),
        &Policy::of_the_chart(),
    );
    edges[0].judged.message = "\u{fc}".repeat(100_000);
    let reports = answer(&edges).dependencies;
    let message = reports[0].message.as_deref().unwrap();
    assert!(
        message.len() <= LONGEST_REPORT && message.ends_with('…'),
        "{}",
        message.len()
    );
}
