//! Tests the findings on lists that wait for pods by their ordinals, for one object twice, or in the words of another product.

use super::{NOTHING, deployment, lint, service};

fn stateful_set(name: &str, list: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: {name}, annotations: {{sluice.dev/depends-on: '{list}'}}}}\n\
         spec: {{{spec}template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: []}}}}}}\n"
    )
}

#[test]
fn a_pod_of_a_stateful_set_is_among_the_objects() {
    for (pod, spec) in [
        ("minio-0", ""),
        ("minio-2", "replicas: 3, "),
        ("minio-6", "replicas: 2, ordinals: {start: 5}, "),
    ] {
        let objects = [
            deployment("api", &format!("pod/{pod}")),
            stateful_set("minio", "", spec),
        ];
        assert_eq!(lint(&objects.concat()), NOTHING, "{pod} {spec}");
    }
    let cycle = [
        deployment("api", "pod/minio-1"),
        stateful_set("minio", "deploy/api", "replicas: 2, "),
    ];
    let told = "these wait for each other and never start: Deployment api -> StatefulSet minio -> Deployment api; take one entry out";
    assert_eq!(
        lint(&cycle.concat()),
        [format!("error: 1: Deployment api: {told}")]
    );
}

#[test]
fn a_pod_that_its_stateful_set_does_not_make_is_told() {
    for (pod, spec, told) in [
        (
            "minio-3",
            "replicas: 3, ",
            "StatefulSet/minio makes minio-0 to minio-2, so it waits; name another, or raise its spec.replicas",
        ),
        (
            "minio-1",
            "",
            "StatefulSet/minio makes minio-0 alone, so it waits; name another, or raise its spec.replicas",
        ),
        (
            "minio-0",
            "ordinals: {start: 1}, replicas: 2, ",
            "StatefulSet/minio makes minio-1 to minio-2, so it waits; name one of those",
        ),
        (
            "minio-0",
            "replicas: 0, ",
            "StatefulSet/minio makes no pod (its spec.replicas is 0), so it waits; name another, or raise its spec.replicas",
        ),
    ] {
        let objects = [
            deployment("api", &format!("pod/{pod}")),
            stateful_set("minio", "", spec),
        ];
        let expected = format!("warning: 1: Deployment api: it depends on Pod/{pod}, and {told}");
        assert_eq!(lint(&objects.concat()), [expected], "{pod} {spec}");
    }
    let typo = [
        deployment("typo", "pod/mino-1"),
        stateful_set("minio", "", "replicas: 2, "),
    ];
    let expected = "warning: 1: Deployment typo: it depends on Pod/mino-1, which is not among these objects; did you mean \"Pod/minio-1\"?";
    assert_eq!(lint(&typo.concat()), [expected]);
}

/// An entry that names a ReplicaSet is told to name the Deployment: the names of ReplicaSets change with each rollout.
#[test]
fn a_replica_set_is_named_by_its_deployment() {
    let of = |set: &str, others: &str| lint(&[deployment("api", set), others.to_owned()].concat());
    for set in ["replicaset/store", "rs/store-6d5f8b7c9d"] {
        let [line] = of(set, &deployment("store", ""))
            .try_into()
            .expect("one line");
        let expected = "which is not among these objects; did you mean \"Deployment/store\"?";
        assert!(
            line.starts_with("warning: ") && line.ends_with(expected),
            "{line}"
        );
        let [line] = of(set, "").try_into().expect("one line");
        assert!(
            line.starts_with("note: ") && line.ends_with(": name the Deployment"),
            "{line}"
        );
    }
}

#[test]
fn ordinals_may_wait_for_the_first_of_their_own_set() {
    let of = |list: &str| lint(&stateful_set("ring", list, "replicas: 3, "));
    assert_eq!(of("pod/ring-0"), NOTHING);
    assert_eq!(of("[{any: [pod/ring-0, node/x]}]"), NOTHING);
    let expected = "error: 1: StatefulSet ring: it waits for itself and never starts; take the entry out of its list";
    assert_eq!(of("pod/ring-1"), [expected]);
}

#[test]
fn one_thing_that_is_missing_is_one_note() {
    for list in [
        "[{any: [{kind: Deployment, name: db}, {kind: Deployment, name: db, health: /status/replicas >= 1}]}]",
        "deploy/db, deploy/db:available",
        "[deploy/db, {any: [deploy/db:present, node/x]}]",
    ] {
        let expected = "note: 1: Deployment api: it depends on Deployment/db, which is not among these objects";
        assert_eq!(lint(&deployment("api", list)), [expected], "{list}");
    }
    let twice = [
        deployment("api", "svc/db, svc/db:available"),
        service("db", "clusterIP: None"),
    ];
    assert_eq!(lint(&twice.concat()).len(), 1);
}

#[test]
fn a_list_of_another_product_is_a_warning() {
    let of = |kind: &str, value: &str| {
        lint(&format!(
            "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: x, annotations: {{config.kubernetes.io/depends-on: '{value}'}}}}\n\
             spec: {{template: {{spec: {{containers: []}}}}}}\n"
        ))
    };
    let [line] = of("Deployment", "db, cache").try_into().expect("one line");
    let start =
        "warning: 1: Deployment x: config.kubernetes.io/depends-on: \"db\" is not in its grammar";
    assert!(line.starts_with(start), "{line}");
    let [line] = of("Deployment", "apps/Deploymnt/db")
        .try_into()
        .expect("one line");
    assert!(line.starts_with("error: "), "{line}");
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: x, annotations: {config.kubernetes.io/depends-on: db}}\n";
    assert_eq!(lint(service), NOTHING, "only workloads and pods wait");
}

#[test]
fn labels_that_are_on_the_pods_alone_are_told() {
    let objects = [
        deployment("api", "[{kind: Deployment, selector: app=web}]"),
        deployment("web", ""),
    ];
    let expected = "warning: 1: Deployment api: it depends on Deployment[app=web], which selects none of these objects: the pods of \
                    Deployment/web have the labels, and a selector looks at those of the Deployment itself; label that too, or write kind: Pod";
    assert_eq!(lint(&objects.concat()), [expected]);
}
