//! Tests the causes why a custom object is not ready: found behind it by owners, or told by the object itself.

#![expect(clippy::needless_pass_by_value, reason = "a test hands over a literal")]

use super::*;

fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

/// A custom object with these conditions, and without a selector.
fn custom(version: &str, kind: &str, name: &str, conditions: Value) -> Value {
    json!({
        "apiVersion": version, "kind": kind,
        "metadata": {"namespace": "shop", "name": name, "uid": format!("uid-{name}"), "creationTimestamp": "1969-12-31T00:00:00Z"},
        "spec": {"size": 1}, "status": {"conditions": conditions},
    })
}

fn train() -> Value {
    let ready = condition("Ready", "False", "Running", "workers run");
    custom(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "train",
        json!([ready]),
    )
}

fn owned_by(mut thing: Value, version: &str, kind: &str, name: &str, controller: bool) -> Value {
    thing["metadata"]["ownerReferences"] = json!([{
        "apiVersion": version, "kind": kind, "name": name, "uid": format!("uid-{name}"), "controller": controller,
    }]);
    thing["metadata"]["uid"] = json!(format!(
        "uid-{}",
        thing["metadata"]["name"].as_str().unwrap()
    ));
    thing
}

fn job(name: &str) -> Value {
    let mut job = owned("Job", name, None, json!({}));
    job["metadata"]["uid"] = json!(format!("uid-{name}"));
    job["metadata"]["labels"] = json!({"jobset.sigs.k8s.io/jobset-name": "train"});
    job["spec"] = json!({"suspend": false, "template": {}});
    job
}

fn pod_of_job(job: &str, depends_on: &str, gate: &str) -> Value {
    let mut pod = owned("Pod", &format!("{job}-0"), None, list(depends_on));
    pod["metadata"]["labels"] =
        json!({"sluice.dev/gated": "true", "jobset.sigs.k8s.io/jobset-name": "train"});
    pod["spec"] = json!({"nodeName": "one"});
    let statuses = json!([{"name": "sluice-gate", "state": {gate: {"exitCode": 0}}}]);
    pod["status"] = json!({"phase": "Pending", "initContainerStatuses": statuses});
    owned_by(pod, "batch/v1", "Job", job, true)
}

/// The message about the only entry of a pod whose list is `depends_on`.
fn told(depends_on: &str, objects: Vec<Value>) -> String {
    let cluster = Cluster::of(objects);
    let edges = edges_of(&pod(depends_on), &cluster, &Policy::of_the_chart());
    edges[0].judged.message.clone()
}

#[test]
fn a_kind_without_a_selector_is_followed_by_owners_through_a_gate_to_its_end() {
    let workers = owned_by(
        job("train-workers-0"),
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "train",
        true,
    );
    let seed = job("seed");
    let waiting = pod_of_job("train-workers-0", "job/seed", "running");
    let objects = vec![train(), workers.clone(), seed.clone(), waiting];
    let said = told("jobset.jobset.x-k8s.io/train", objects.clone());
    assert!(
        said.starts_with("its pod train-workers-0-0 waits at its gate for Job/seed (JobNotComplete: Job not started); "),
        "{said}"
    );
    // A pod of another object has nothing to do with it.
    let mut others = objects;
    others[1]["metadata"]["ownerReferences"][0]["uid"] = json!("another");
    let said = told("jobset.jobset.x-k8s.io/train", others);
    assert!(!said.contains("its pod"), "{said}");
    // Where no pod was made, a Job tells.
    let said = told("jobset.jobset.x-k8s.io/train", vec![train(), workers, seed]);
    assert!(
        said.starts_with("its Job train-workers-0 is not ready: Job not started; "),
        "{said}"
    );
}

/// A custom object between the searched one and its pods is read only where the administrator lets sluice read it. Kafka's operator owns objects
/// without being their controller.
#[test]
fn what_stands_between_is_read_where_the_administrator_lets_sluice() {
    let kafka = custom(
        "kafka.strimzi.io/v1beta2",
        "Kafka",
        "bus",
        json!([condition("Ready", "False", "Creating", "")]),
    );
    let set = custom(
        "core.strimzi.io/v1beta2",
        "StrimziPodSet",
        "bus-kafka",
        json!([]),
    );
    let set = owned_by(set, "kafka.strimzi.io/v1beta2", "Kafka", "bus", false);
    let mut pod = owned("Pod", "bus-kafka-0", None, json!({}));
    pod["metadata"]["labels"] = json!({"strimzi.io/cluster": "bus"});
    pod["spec"] = json!({"nodeName": "one"});
    let waiting =
        json!({"reason": "CreateContainerConfigError", "message": "secret \"bus\" not found"});
    let container = json!({"name": "kafka", "state": {"waiting": waiting}});
    pod["status"] = json!({"phase": "Pending", "containerStatuses": [container]});
    let pod = owned_by(
        pod,
        "core.strimzi.io/v1beta2",
        "StrimziPodSet",
        "bus-kafka",
        true,
    );
    for granted in [true, false] {
        let mut cluster = Cluster::of(vec![kafka.clone(), set.clone(), pod.clone()]);
        let between = Kind::Custom {
            group: "core.strimzi.io".to_owned(),
            word: "StrimziPodSet".to_owned(),
        };
        cluster.custom.push((between, granted));
        let edges = edges_of(
            &super::pod("kafka.kafka.strimzi.io/bus"),
            &cluster,
            &Policy::of_the_chart(),
        );
        let said = &edges[0].judged.message;
        let expected =
            "its pod bus-kafka-0 cannot start container \"kafka\": secret \"bus\" not found; ";
        assert_eq!(said.starts_with(expected), granted, "{said}");
    }
}

#[test]
fn a_certificate_tells_of_its_request_and_what_that_has_made() {
    let pending = |message: &str| json!([condition("Ready", "False", "Pending", message)]);
    let certificate = custom(
        "cert-manager.io/v1",
        "Certificate",
        "tls",
        pending("Issuing certificate as Secret does not exist"),
    );
    let request = |name: &str, made: &str, message: &str| {
        let mut it = custom(
            "cert-manager.io/v1",
            "CertificateRequest",
            name,
            pending(message),
        );
        it["metadata"]["creationTimestamp"] = json!(made);
        owned_by(it, "cert-manager.io/v1", "Certificate", "tls", true)
    };
    let old = request("tls-1", "1969-12-30T00:00:00Z", "of another time");
    let new = request(
        "tls-2",
        "1969-12-31T00:00:00Z",
        "Referenced \"Issuer\" not found",
    );
    let said = told(
        "certificate.cert-manager.io/tls",
        vec![certificate.clone(), old, new.clone()],
    );
    let of_request = "its CertificateRequest tls-2 is not ready: condition Ready is False: Pending: Referenced \"Issuer\" not found; ";
    assert!(said.starts_with(of_request), "{said}");
    let order = owned_by(
        custom("acme.cert-manager.io/v1", "Order", "tls-2-7", json!([])),
        "cert-manager.io/v1",
        "CertificateRequest",
        "tls-2",
        true,
    );
    let mut challenge = owned_by(
        custom(
            "acme.cert-manager.io/v1",
            "Challenge",
            "tls-2-7-1",
            json!([]),
        ),
        "acme.cert-manager.io/v1",
        "Order",
        "tls-2-7",
        true,
    );
    challenge["status"] =
        json!({"state": "pending", "reason": "Waiting for HTTP-01 challenge propagation: 404"});
    let said = told(
        "certificate.cert-manager.io/tls",
        vec![certificate, new, order, challenge],
    );
    assert!(
        said.starts_with("its Challenge tls-2-7-1 is not ready: status.state is pending; status.reason: Waiting for HTTP-01 challenge propagation: 404; "),
        "{said}"
    );
}

fn service(selector: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "shop", "name": "db", "creationTimestamp": "1969-12-31T00:00:00Z"},
        "spec": {"selector": selector},
    })
}

fn deployment(name: &str, labels: Value) -> Value {
    let mut it = owned("Deployment", name, None, json!({}));
    it["metadata"]["uid"] = json!(format!("uid-{name}"));
    it["spec"] = json!({"replicas": 0, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}});
    it
}

#[test]
fn a_service_whose_selector_finds_no_pod_says_so_and_what_is_near() {
    for (selector, workloads, expected) in [
        (
            json!({"app": "db1"}),
            vec![],
            "no pod has the labels that it selects (app=db1)",
        ),
        (
            json!({"app": "db1"}),
            vec![
                deployment("db", json!({"app": "db"})),
                deployment("web", json!({"app": "web"})),
            ],
            "no pod has the labels that it selects (app=db1); those of Deployment/db have app=db",
        ),
        (
            json!({"app": "orders"}),
            vec![deployment("web", json!({"app": "web"}))],
            "no pod has the labels that it selects (app=orders)",
        ),
        (
            json!({"app": "shop", "tier": "data"}),
            vec![deployment("db", json!({"app": "shop", "tier": "backend"}))],
            "no pod has the labels that it selects (app=shop,tier=data); those of Deployment/db have tier=backend",
        ),
        (
            json!({"app": "shop", "tier": "data"}),
            vec![deployment("db", json!({"app": "shop"}))],
            "no pod has the labels that it selects (app=shop,tier=data); those of Deployment/db lack tier=data",
        ),
        (
            json!({"app": "crashpp"}),
            vec![
                deployment("crashapi", json!({"app": "crashapi"})),
                deployment("crashp", json!({"app": "crashp"})),
            ],
            "no pod has the labels that it selects (app=crashpp); those of Deployment/crashp have app=crashp",
        ),
        (
            json!({"app": "shop", "tier": "data"}),
            vec![
                deployment("bare", json!({"app": "shop"})),
                deployment("cache", json!({"app": "shop", "tier": "cache"})),
                deployment("db", json!({"app": "shop", "tier": "date"})),
            ],
            "no pod has the labels that it selects (app=shop,tier=data); those of Deployment/db have tier=date",
        ),
        (
            json!({"app": "db"}),
            vec![deployment("db", json!({"app": "db"}))],
            "Deployment/db, whose pods it selects, has none",
        ),
    ] {
        let objects = workloads.into_iter().chain([service(selector)]).collect();
        assert_eq!(
            told("svc/db", objects),
            format!("{expected}; Service has no endpoints")
        );
    }
}

#[test]
fn a_job_whose_sidecar_runs_on_says_which() {
    let migrate = {
        let mut it = job("migrate");
        it["spec"]["selector"] = json!({"matchLabels": {"job-name": "migrate"}});
        it["status"] = json!({"startTime": "1969-12-31T00:00:00Z", "active": 1});
        it
    };
    let pod = |done_at: &str, code: i64| {
        let mut pod = owned("Pod", "migrate-0", None, json!({}));
        pod["metadata"]["labels"] = json!({"job-name": "migrate"});
        pod["spec"] = json!({"nodeName": "one", "restartPolicy": "Never"});
        pod["status"] = json!({"phase": "Running", "containerStatuses": [
            {"name": "migrate", "state": {"terminated": {"exitCode": code, "finishedAt": done_at}}},
            {"name": "istio-proxy", "ready": true, "state": {"running": {"startedAt": "1969-12-31T00:00:00Z"}}},
        ]});
        owned_by(pod, "batch/v1", "Job", "migrate", true)
    };
    let said = told(
        "job/migrate",
        vec![migrate.clone(), pod("1969-12-31T00:00:00Z", 0)],
    );
    assert!(
        said.contains(
            "its pod migrate-0 does not end: its container \"migrate\" has ended, and \"istio-proxy\" still runs; make that an init container"
        ),
        "{said}"
    );
    // It has only just ended.
    let said = told("job/migrate", vec![migrate, pod("1970-01-01T00:00:00Z", 0)]);
    assert!(!said.contains("still runs"), "{said}");
    let mut alone = pod("1969-12-31T00:00:00Z", 0);
    alone["metadata"]["name"] = json!("migrate-0");
    let said = told("pod/migrate-0:complete", vec![alone]);
    assert!(
        said.contains(
            "it does not end: its container \"migrate\" has ended, and \"istio-proxy\" still runs"
        ),
        "{said}"
    );
}
