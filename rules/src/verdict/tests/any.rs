//! Edges with alternatives.

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
        "wait Failed JobFailed: Job/a: Job Failed: Deadline"
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
    let refused = "wait Unknown NotPermitted: data/Job/y: NotPermitted";
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
