//! For each reason a pod that waits for it, with the objects that cause it.

use rules::judged::Reason;
use serde_json::{Value, json};
use wire::env;

/// A pod that depends on something, in a namespace of its own.
pub(super) struct Case {
    /// The annotations of the pod.
    says: Value,
    /// The objects beside it; in the pod's namespace, where an object names none.
    pub(super) objects: Vec<Value>,
    /// The creation time of the pod.
    made: &'static str,
}

/// The source from which the command knows a reason.
pub(super) enum Shown {
    By(Case),
    /// The command cannot find the reason itself, for this cause, so it shows the word of the gate.
    ByTheGate(&'static str),
}

pub(super) fn on(list: &str, objects: impl IntoIterator<Item = Value>) -> Case {
    with(json!({"sluice.dev/depends-on": list}), objects)
}

fn with(says: Value, objects: impl IntoIterator<Item = Value>) -> Case {
    Case {
        says,
        objects: objects.into_iter().collect(),
        made: "2026-01-01T00:00:00Z",
    }
}

pub(super) fn object(version: &str, kind: &str, name: &str, rest: Value) -> Value {
    let mut object =
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "uid": name}});
    json_patch::merge(&mut object, &rest);
    object
}

pub(super) fn config_map(name: &str) -> Value {
    object("v1", "ConfigMap", name, json!({}))
}

/// Returns a Deployment of one replica with 0 or 1 ready pods, and with these further fields.
fn deployment(name: &str, ready: u8, rest: Value) -> Value {
    let status = json!({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": ready,
        "availableReplicas": ready, "conditions": [{"type": "Available", "status": if ready == 1 { "True" } else { "False" }}]});
    let spec = json!({"replicas": 1, "selector": {"matchLabels": {"app": name}}});
    let mut made = object(
        "apps/v1",
        "Deployment",
        name,
        json!({"metadata": {"generation": 1}, "spec": spec, "status": status}),
    );
    json_patch::merge(&mut made, &rest);
    made
}

fn job(name: &str, rest: Value) -> Value {
    let mut made = object(
        "batch/v1",
        "Job",
        name,
        json!({"spec": {}, "status": {"startTime": "2026-01-01T00:00:00Z", "active": 1}}),
    );
    json_patch::merge(&mut made, &rest);
    made
}

fn widget(kind: &str, name: &str) -> Value {
    object(
        "example.com/v1",
        kind,
        name,
        json!({"metadata": {"generation": 1}, "spec": {}}),
    )
}

/// Returns the Deployment `a`, which is not rolled out, with these annotations.
fn unready(annotations: Value) -> Value {
    deployment("a", 0, json!({"metadata": {"annotations": annotations}}))
}

/// Returns a StatefulSet and its pod, which fits on no node.
fn homeless() -> [Value; 2] {
    let labels = json!({"app": "a"});
    let status = json!({"observedGeneration": 1, "replicas": 1, "readyReplicas": 0});
    let spec = json!({"replicas": 1, "selector": {"matchLabels": labels}});
    let condition = json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient cpu."});
    let owner = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "a", "uid": "a", "controller": true});
    [
        object(
            "apps/v1",
            "StatefulSet",
            "a",
            json!({"metadata": {"generation": 1}, "spec": spec, "status": status}),
        ),
        object(
            "v1",
            "Pod",
            "a-0",
            json!({
                "metadata": {"labels": labels, "ownerReferences": [owner]}, "spec": {},
                "status": {"phase": "Pending", "conditions": [condition]},
            }),
        ),
    ]
}

/// Returns the case of a reason, or the cause why the command cannot find the reason. A reason without a case does not compile.
#[expect(clippy::too_many_lines, reason = "a line for each reason")]
pub(super) fn case(reason: Reason) -> Shown {
    let deployment_a = |rest| on("deployment/a", [deployment("a", 0, rest)]);
    let in_scope = |mut says: Value| {
        says["sluice.dev/scope"] = json!("r");
        says
    };
    Shown::By(match reason {
        Reason::Satisfied => on("configmap/go", [config_map("go")]),
        Reason::OptionalNotFound => on("- {kind: ConfigMap, name: go, optional: true}", []),
        Reason::Remembered => on("- job/remembered\n- {kind: Job, selector: app=seed}", []),
        Reason::NotFound => on("configmap/go", []),
        Reason::Terminating => {
            deployment_a(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}))
        }
        Reason::NotObserved => deployment_a(json!({"metadata": {"generation": 2}})),
        Reason::InProgress => deployment_a(json!({})),
        Reason::Failed => {
            let late = json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"});
            deployment_a(json!({"status": {"conditions": [late]}}))
        }
        Reason::JobNotComplete => on("job/a", [job("a", json!({}))]),
        Reason::JobSuspended => on(
            "job/a",
            [job("a", json!({"spec": {"suspend": true}, "status": null}))],
        ),
        Reason::JobHeld => {
            let note = json!({"annotations": {"sluice.dev/suspended": "true", "sluice.dev/depends-on": "configmap/go"}});
            let held = json!({"metadata": note, "spec": {"suspend": true}, "status": null});
            on("job/a", [job("a", held)])
        }
        Reason::JobFailed => {
            let failed =
                json!({"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"});
            on(
                "job/a",
                [job("a", json!({"status": {"conditions": [failed]}}))],
            )
        }
        Reason::FailedForGood => {
            let failed = json!({"type": "Failed", "status": "True", "reason": "FailedJobs", "message": "no worker is left"});
            let rest = json!({"spec": {}, "status": {"conditions": [failed]}});
            on(
                "JobSet.jobset.x-k8s.io/a:complete",
                [object("jobset.x-k8s.io/v1", "JobSet", "a", rest)],
            )
        }
        Reason::NoEndpoints => {
            let spec = json!({"selector": {"app": "a"}, "clusterIP": "10.0.0.1"});
            // It selects a pod whose endpoint is not written yet: without one, a look at the pods adds words once it has been made.
            let ready = json!({"metadata": {"labels": {"app": "a"}}, "spec": {"nodeName": "one"},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
            let service = object("v1", "Service", "a", json!({"spec": spec}));
            on("service/a", [service, object("v1", "Pod", "b", ready)])
        }
        Reason::ClaimNotBound => {
            let claim =
                json!({"spec": {"storageClassName": "fast"}, "status": {"phase": "Pending"}});
            on("pvc/a", [object("v1", "PersistentVolumeClaim", "a", claim)])
        }
        Reason::NoAddress => {
            let spec =
                json!({"type": "LoadBalancer", "selector": {"app": "a"}, "clusterIP": "10.0.0.1"});
            let service = object(
                "v1",
                "Service",
                "a",
                json!({"spec": spec, "status": {"loadBalancer": {}}}),
            );
            on("- {kind: Service, name: a, state: addressed}", [service])
        }
        Reason::HealthNotMet => on(
            "deployment/a",
            [unready(
                json!({"sluice.dev/health": "/status/replicas == 2"}),
            )],
        ),
        Reason::HealthFailed => {
            let expressions = json!({
                "helm.sh/readiness-success": r#"["{.readyReplicas} == 2"]"#,
                "helm.sh/readiness-failure": r#"["{.replicas} == 1"]"#,
            });
            on("deployment/a", [unready(expressions)])
        }
        Reason::NoStatusYet => on("Widget.example.com/a", [widget("Widget", "a")]),
        Reason::KindNotServed => on("Gadget.example.com/a", []),
        Reason::DiscoveryFailed => on("Thing.broken.example.com/a", []),
        Reason::KindForbidden => on("secret/db", [object("v1", "Secret", "db", json!({}))]),
        Reason::NotPermitted => on("elsewhere/configmap/go", []),
        Reason::OtherRevision => {
            let says = json!({"sluice.dev/depends-on": "deployment/a", "sluice.dev/revision": "2"});
            let old = json!({"metadata": {"annotations": {"sluice.dev/revision": "1"}}});
            with(says, [deployment("a", 1, old)])
        }
        Reason::NotFresh => {
            let done = json!({"type": "Complete", "status": "True"});
            let old = json!({"metadata": {"creationTimestamp": "2025-01-01T00:00:00Z"},
                "status": {"active": 0, "succeeded": 1, "conditions": [done]}});
            on("- {kind: Job, name: a, fresh: true}", [job("a", old)])
        }
        Reason::Settling => Case {
            made: "2126-01-01T00:00:00Z",
            ..on("configmap/go", [config_map("go")])
        },
        // The state would have to last beyond the end of this test.
        Reason::NotStable => {
            let late = json!({"metadata": {"creationTimestamp": "2126-01-01T00:00:00Z"}});
            on(
                "- {kind: ConfigMap, name: go, state: present, stable: 30s}",
                [object("v1", "ConfigMap", "go", late)],
            )
        }
        Reason::GivenUp => on(
            "- {kind: ConfigMap, name: go, timeout: 1s, on-timeout: proceed}",
            [],
        ),
        Reason::LowerWeight => {
            let says = json!({"sluice.dev/depends-on": "configmap/go", "sluice.dev/weight": "1"});
            let lower = unready(in_scope(json!({"sluice.dev/weight": "0"})));
            with(in_scope(says), [config_map("go"), lower])
        }
        Reason::NoSlot => {
            let says = in_scope(json!({"sluice.dev/parallelism": "1"}));
            with(says, [job("first", json!({}))])
        }
        Reason::Unschedulable => on("statefulset/a", homeless()),
        Reason::Cycle => on(
            "deployment/a",
            [unready(json!({"sluice.dev/depends-on": "pod/api"}))],
        ),
        Reason::SelfReference => on("pod/api", []),
        Reason::Unjudgeable => on(
            "deployment/a",
            [unready(json!({"sluice.dev/health": "((("}))],
        ),
        Reason::NotSupported => on(
            "- {kind: Widget.example.com, name: a, state: complete}",
            [object(
                "example.com/v1",
                "Widget",
                "a",
                json!({"status": {"ok": true}}),
            )],
        ),
        Reason::RuleError => on("Gauge.example.com/a", [widget("Gauge", "a")]),
        Reason::NotProbed
        | Reason::CannotProbe
        | Reason::ConnectionRefused
        | Reason::ConnectionTimedOut
        | Reason::ConnectionReset
        | Reason::Unreachable
        | Reason::NoSuchName
        | Reason::NoNameServer
        | Reason::NoTls
        | Reason::NoHttp
        | Reason::HttpStatus
        | Reason::NoVariable
        | Reason::BadVariable => {
            return Shown::ByTheGate(
                "the gate alone can try an address, from the network of its pod: the command takes it from the log of the gate",
            );
        }
        Reason::BeforeBoot => {
            return Shown::ByTheGate(
                "the gate alone can tell that its node was booted: the command takes it from the log of the gate",
            );
        }
        Reason::Syncing => {
            return Shown::ByTheGate(
                "it is of a replica that has just started: the command reads until it knows",
            );
        }
        Reason::Stale => {
            return Shown::ByTheGate(
                "it is of a replica that is cut off: the command asks the API server itself",
            );
        }
        Reason::AwaitsTurn => {
            return Shown::ByTheGate(
                "it is of a replica that reads many objects whole: the command reads each of them itself",
            );
        }
        Reason::TooLarge => {
            return Shown::ByTheGate(
                "it is of the room that a replica has for one object: the command reads objects of any length",
            );
        }
        Reason::OverBudget => {
            return Shown::ByTheGate(
                "it is of the memory of a replica: the command keeps nothing for those who wait",
            );
        }
    })
}

/// Returns the namespace of a reason's case: the reason in small letters.
pub(super) fn namespace(reason: Reason) -> String {
    reason.label().to_lowercase()
}

pub(super) fn pod(reason: Reason, case: &Case) -> Value {
    let namespace = namespace(reason);
    let gate = json!({"name": "sluice-gate", "env": [{"name": env::SERVER_NAME, "value": "sluice.sluice-system.svc"}]});
    let status =
        json!({"name": "sluice-gate", "state": {"running": {"startedAt": "2026-01-01T00:00:01Z"}}});
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": namespace, "name": "api", "uid": format!("api-of-{namespace}"), "labels": {"sluice.dev/gated": "true"},
            "annotations": case.says, "creationTimestamp": case.made},
        "spec": {"nodeName": "one", "initContainers": [gate]},
        "status": {"phase": "Pending", "initContainerStatuses": [status]},
    })
}

pub(super) fn cases() -> Vec<(Reason, Case)> {
    let shown = |&reason| match case(reason) {
        Shown::By(case) => Some((reason, case)),
        Shown::ByTheGate(_) => None,
    };
    Reason::ALL.iter().filter_map(shown).collect()
}
