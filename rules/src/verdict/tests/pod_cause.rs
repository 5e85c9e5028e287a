//! Tests the causes why a workload is not ready, from its pods.

use super::*;

/// A workload of this kind whose pods have its name as label, with this list.
fn workload(kind: &str, name: &str, depends_on: &str) -> Value {
    let mut it = owned(kind, name, None, list(depends_on));
    it["metadata"]["uid"] = json!(format!("uid-{name}"));
    it["spec"] = json!({"replicas": 1, "selector": {"matchLabels": {"app": name}}});
    it
}

fn service(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "shop", "name": name, "creationTimestamp": "1969-12-31T00:00:00Z"},
        "spec": {"selector": {"app": name}},
    })
}

/// A pod of the workload of this kind and name, with this status.
fn pod_of(kind: &str, workload: &str, status: Value) -> Value {
    let mut pod = owned(
        "Pod",
        &format!("{workload}-0"),
        Some((kind, workload)),
        json!({}),
    );
    pod["metadata"]["ownerReferences"][0]["uid"] = json!(format!("uid-{workload}"));
    pod["metadata"]["labels"] = json!({"app": workload, "sluice.dev/gated": "true"});
    pod["spec"] = json!({"nodeName": "one"});
    pod["status"] = status;
    pod
}

#[expect(clippy::needless_pass_by_value, reason = "a test hands over a literal")]
fn status(gate: &str, state: Value) -> Value {
    let statuses = json!([{"name": "sluice-gate", "state": {gate: {"exitCode": 0}}}]);
    let container = json!({"name": "app", "image": "docker.io/postgres:17.2", "state": state});
    json!({"phase": "Pending", "initContainerStatuses": statuses, "containerStatuses": [container]})
}

fn no_image() -> Value {
    let message = "Back-off pulling image \"docker.io/postgres:17.2\": docker.io/library/postgres:17.2: not found";
    status(
        "terminated",
        json!({"waiting": {"reason": "ImagePullBackOff", "message": message}}),
    )
}

fn at_its_gate() -> Value {
    status("running", json!({"waiting": {"reason": "PodInitializing"}}))
}

const NO_IMAGE: &str = "cannot pull image docker.io/postgres:17.2: not found";

/// The reason and the message of a pod's first entry, where `depends_on` is the pod's list.
fn told(depends_on: &str, objects: Vec<Value>) -> String {
    let cluster = Cluster::of(objects);
    let edges = edges_of(&pod(depends_on), &cluster, &Policy::of_the_chart());
    let Judged {
        reason, message, ..
    } = &edges[0].judged;
    format!("{reason}: {message}")
}

#[test]
fn a_service_tells_of_the_pods_that_it_selects_whoever_made_them() {
    let mut pod = pod_of("StatefulSet", "postgres", no_image());
    let service = service("postgres");
    let said = format!("NoEndpoints: its pod postgres-0 {NO_IMAGE}; Service has no endpoints");
    assert_eq!(
        told("svc/postgres", vec![service.clone(), pod.clone()]),
        said
    );
    pod["metadata"]["ownerReferences"][0]["kind"] = json!("Cluster");
    assert_eq!(
        told("svc/postgres", vec![service.clone(), pod.clone()]),
        said
    );
    pod["metadata"]["labels"]["app"] = json!("other");
    let nothing = "NoEndpoints: no pod has the labels that it selects (app=postgres); Service has no endpoints";
    assert_eq!(told("svc/postgres", vec![service, pod]), nothing);
}

#[test]
fn a_workload_tells_of_the_pods_that_it_has_made() {
    let set = workload("StatefulSet", "db", "");
    let pod = pod_of("StatefulSet", "db", no_image());
    let entry = "[{kind: StatefulSet, name: db, optional: true}]";
    for list in ["statefulset/db", entry] {
        let told = told(list, vec![set.clone(), pod.clone()]);
        assert!(
            told.contains(&format!(": its pod db-0 {NO_IMAGE}; ")),
            "{told}"
        );
    }
    let mut others = pod;
    others["metadata"]["ownerReferences"][0]["uid"] = json!("another");
    let told = told("statefulset/db", vec![set, others]);
    assert!(!told.contains("its pod"), "{told}");
}

#[test]
fn a_deployment_has_made_the_pods_of_its_replica_sets() {
    let mut set = owned(
        "ReplicaSet",
        "web-1",
        Some(("Deployment", "web")),
        json!({}),
    );
    set["metadata"]["ownerReferences"][0]["uid"] = json!("uid-web");
    let mut pod = pod_of("ReplicaSet", "web-1", no_image());
    pod["metadata"]["labels"]["app"] = json!("web");
    let told = told(
        "deployment/web",
        vec![workload("Deployment", "web", ""), set, pod],
    );
    assert!(
        told.contains(&format!(": its pod web-1-0 {NO_IMAGE}; ")),
        "{told}"
    );
}

#[test]
fn of_several_objects_the_one_is_named_that_is_held_up() {
    let mut objects = vec![
        workload("StatefulSet", "a", ""),
        workload("StatefulSet", "b", ""),
    ];
    for object in &mut objects {
        object["metadata"]["labels"] = json!({"tier": "data"});
    }
    objects.push(pod_of("StatefulSet", "b", no_image()));
    let told = told("[{kind: StatefulSet, selector: tier=data}]", objects);
    assert!(
        told.contains(&format!(": StatefulSet/b: its pod b-0 {NO_IMAGE}; ")),
        "{told}"
    );
}

#[test]
fn a_chain_of_gates_is_followed_to_its_end() {
    let objects = |at_the_end: Value| {
        vec![
            workload("StatefulSet", "web", "statefulset/api"),
            workload("StatefulSet", "api", "job/migrate"),
            workload("Job", "migrate", ""),
            pod_of("StatefulSet", "web", at_its_gate()),
            pod_of("StatefulSet", "api", at_its_gate()),
            at_the_end,
        ]
    };
    let told = |at_the_end| told("statefulset/web", objects(at_the_end));
    let way = "its pod web-0 waits at its gate for StatefulSet/api; its pod api-0 waits at its gate for Job/migrate";
    let end = pod_of("Job", "migrate", no_image());
    assert!(
        told(end.clone()).contains(&format!(": {way}; its pod migrate-0 {NO_IMAGE}; ")),
        "{}",
        told(end)
    );
    // Without a pod that says why, the object speaks for itself.
    let end = pod_of("Job", "other", no_image());
    assert!(
        told(end.clone()).contains(&format!(": {way} (JobNotComplete: Job not started); ")),
        "{}",
        told(end)
    );
}

/// The verdict is provisional while a dependency of the waiting dependency is still being read: the cause is known in a moment.
#[test]
fn a_cause_that_is_still_being_read_is_told_in_a_moment() {
    let objects = vec![
        workload("StatefulSet", "api", "job/migrate"),
        pod_of("StatefulSet", "api", at_its_gate()),
    ];
    let mut cluster = Cluster::of(objects);
    let provisional = |cluster: &Cluster| {
        let pod = pod("statefulset/api");
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], cluster) else {
            panic!("it is there");
        };
        let policy = Policy::of_the_chart();
        decide(&dependent, &policy, cluster, Timestamp::UNIX_EPOCH, true).provisional
    };
    assert!(!provisional(&cluster));
    cluster.unavailable = vec![("Job", Unavailable::Syncing)];
    assert!(provisional(&cluster));
    cluster.unavailable = vec![("Job", Unavailable::Forbidden)];
    assert!(!provisional(&cluster));
}

#[test]
fn a_gate_behind_a_service_is_followed_too() {
    let objects = vec![
        service("api"),
        workload("StatefulSet", "api", "job/migrate"),
        pod_of("StatefulSet", "api", at_its_gate()),
    ];
    assert_eq!(
        told("svc/api", objects),
        "NoEndpoints: its pod api-0 waits at its gate for Job/migrate (NotFound: not created yet, or misspelt); Service has no endpoints"
    );
}

#[test]
fn what_a_gate_waits_for_in_another_namespace_says_no_more_than_that() {
    let objects = vec![
        workload("StatefulSet", "api", "data/deployment/db"),
        pod_of("StatefulSet", "api", at_its_gate()),
    ];
    let told = told("statefulset/api", objects);
    let waits = "its pod api-0 waits at its gate for data/Deployment/db (NotPermitted: ";
    let (_, message) = told.split_once(waits).expect(&told);
    let whole = format!(
        "Namespace data has not agreed; add shop to its annotation {})",
        crate::keys::ALLOW_DEPENDENTS_FROM
    );
    // A message is cut where the prefix of the key is long.
    let (message, _) = message.split_once("; Replicas").unwrap_or((message, ""));
    let shown = message.trim_end_matches("...)");
    assert!(shown.starts_with("Namespace data has not agreed; add shop"));
    assert!(whole.starts_with(shown), "{told}");
}

#[test]
fn of_another_namespace_nothing_of_the_pods_is_told() {
    let allowed = Policy {
        cross_namespace: CrossNamespace(vec![("shop".to_owned(), "data".to_owned())]),
        ..Policy::of_the_chart()
    };
    let abroad = |mut it: Value| {
        it["metadata"]["namespace"] = json!("data");
        it
    };
    let set = abroad(workload("StatefulSet", "db", ""));
    let pod_there = abroad(pod_of("StatefulSet", "db", no_image()));
    let cluster = Cluster::of(vec![set, pod_there]);
    let edges = edges_of(&pod("data/statefulset/db"), &cluster, &allowed);
    assert!(!edges[0].judged.message.contains("pod"), "{edges:?}");
}

#[test]
fn a_claim_is_told_instead_of_the_scheduler_where_it_is_the_reason() {
    let api = pod("statefulset/db");
    let mut pod = pod_of(
        "StatefulSet",
        "db",
        json!({"phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: none.",
        }]}),
    );
    pod["spec"] =
        json!({"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]});
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"namespace": "shop", "name": "data-db-0"},
        "spec": {"storageClassName": "fast"}, "status": {"phase": "Pending"},
    });
    let set = workload("StatefulSet", "db", "");
    let root = |objects| {
        let cluster = Cluster::of(objects);
        let edges = edges_of(&api, &cluster, &Policy::of_the_chart());
        let root = edges[0].root.clone().unwrap();
        (root.pod.unwrap(), root.message)
    };
    let told = |objects| told("statefulset/db", objects);
    let scheduler = "Pod/db-0 finds no node (0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims)";
    let unbound = told(vec![set.clone(), pod.clone(), claim.clone()]);
    let says = "its pod db-0 waits for its claim data-db-0: ";
    assert!(
        unbound.contains(&format!("{scheduler}; {says}")),
        "{unbound}"
    );
    assert!(
        unbound.contains("StorageClass \"fast\" does not exist; "),
        "{unbound}"
    );
    let of_pod = root(vec![set.clone(), pod.clone(), claim.clone()]);
    assert!(
        of_pod.0 == "db-0" && of_pod.1.starts_with("waits for its claim data-db-0: "),
        "{of_pod:?}"
    );
    let missing = told(vec![set.clone(), pod.clone()]);
    assert!(
        missing.contains(&format!("{says}it does not exist; ")),
        "{missing}"
    );
    let mut bound = claim;
    bound["status"]["phase"] = json!("Bound");
    let of_pod = root(vec![set.clone(), pod.clone(), bound.clone()]);
    assert!(
        of_pod.0 == "db-0" && of_pod.1.starts_with("finds no node ("),
        "{of_pod:?}"
    );
    let told = told(vec![set, pod, bound]);
    assert!(told.contains(&format!(": {scheduler}; ")), "{told}");
}

#[test]
fn a_quota_that_refuses_the_pods_is_told_of_the_workload_and_of_its_service() {
    let mut web = workload("Deployment", "web", "");
    web["status"] = json!({"conditions": [{
        "type": "ReplicaFailure", "status": "True",
        "message": "pods \"web-1-x\" is forbidden: exceeded quota: small",
    }]});
    let deployment = told("deployment/web", vec![web.clone()]);
    assert!(
        deployment.contains(": its pods are refused: exceeded quota: small; "),
        "{deployment}"
    );
    let service = told("svc/web", vec![service("web"), web]);
    assert!(
        service.contains(": the pods of Deployment/web are refused: exceeded quota: small; "),
        "{service}"
    );
}

#[test]
fn a_pod_that_is_waited_for_speaks_for_itself() {
    let mut waited_for = pod_of("StatefulSet", "db", no_image());
    waited_for["metadata"]["ownerReferences"].take();
    let told = told("pod/db-0", vec![waited_for]);
    assert!(told.contains(&format!(": it {NO_IMAGE}; ")), "{told}");
}

#[test]
fn gates_that_wait_for_each_other_are_followed_no_further_than_a_few() {
    let objects = vec![
        workload("StatefulSet", "a", "statefulset/b"),
        workload("StatefulSet", "b", "statefulset/a"),
        pod_of("StatefulSet", "a", at_its_gate()),
        pod_of("StatefulSet", "b", at_its_gate()),
    ];
    let told = told("statefulset/a", objects);
    assert_eq!(told.matches("waits at its gate").count(), 4, "{told}");
}
