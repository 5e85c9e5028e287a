//! Each row of the contract's table of what `ready` means, and of the states.

use super::*;
use crate::kinds::{Builtin, builtin};
use crate::kstatus::arbitrary::{json as any_json, manifest};
use crate::world::{Lookup, Unavailable};
use proptest::prelude::*;
use serde_json::json;

/// A cluster that answers every question with what the test says.
struct Cluster {
    object: Lookup<Value>,
    list: Lookup<Vec<Value>>,
    declares_status: Option<bool>,
}

impl Cluster {
    fn empty() -> Self {
        Self {
            object: Lookup::NotFound,
            list: Lookup::Found(Vec::new()),
            declares_status: None,
        }
    }

    fn listing(list: Value) -> Self {
        let Value::Array(list) = list else {
            panic!("a list")
        };
        Self {
            list: Lookup::Found(list),
            ..Self::empty()
        }
    }

    fn unavailable(why: Unavailable) -> Self {
        Self {
            object: Lookup::Unavailable(why),
            list: Lookup::Unavailable(why),
            declares_status: None,
        }
    }

    fn declaring(declares_status: bool) -> Self {
        Self {
            declares_status: Some(declares_status),
            ..Self::empty()
        }
    }
}

impl World for Cluster {
    fn object(&self, _: &Kind, _: Option<&str>, _: &str) -> Lookup<Value> {
        self.object.clone()
    }

    fn list(&self, _: &Kind, _: Option<&str>, _: Option<(&str, &str)>) -> Lookup<Vec<Value>> {
        self.list.clone()
    }

    fn namespaced(&self, _: &Kind) -> Lookup<bool> {
        Lookup::Found(true)
    }

    fn declares_status(&self, _: &Kind) -> Option<bool> {
        self.declares_status
    }
}

fn noon() -> Timestamp {
    "2024-01-01T12:00:00Z".parse().unwrap()
}

/// The kind of the object itself: custom where the group has a dot that is not Kubernetes' own.
fn kind_of(object: &Value) -> Kind {
    static ANY: Builtin = Builtin {
        group: "",
        version: "v1",
        kind: "ConfigMap",
        plural: "configmaps",
        short: &[],
        namespaced: true,
    };
    let (group, word) = kstatus::group_and_kind(object);
    let own = !group.contains('.') || group.ends_with(".k8s.io");
    if own {
        return Kind::Builtin(&ANY);
    }
    Kind::Custom {
        group: group.to_owned(),
        word: word.to_owned(),
    }
}

fn ask(object: &Value, state: State, world: &Cluster) -> Judged {
    judge(&kind_of(object), object, state, world, noon())
}

/// `Current Satisfied: message`, of state `ready`, in a cluster without anything.
fn told(object: &Value) -> String {
    told_as(object, State::Ready, &Cluster::empty())
}

fn told_as(object: &Value, state: State, world: &Cluster) -> String {
    let judged = ask(object, state, world);
    if state != State::Present {
        assert_eq!(
            judged.satisfied,
            judged.status == Status::Current,
            "{judged:?}"
        );
    }
    assert_eq!(
        judged.satisfied,
        judged.reason == Reason::Satisfied,
        "{judged:?}"
    );
    format!("{} {}: {}", judged.status, judged.reason, judged.message)
}

fn object(version: &str, kind: &str, spec: Value, status: Value) -> Value {
    json!({
        "apiVersion": version, "kind": kind,
        "metadata": { "name": "x", "namespace": "shop", "generation": 2, "creationTimestamp": "2024-01-01T00:00:00Z" },
        "spec": spec, "status": status,
    })
}

/// The same with other metadata, merged over.
fn with_metadata(mut object: Value, metadata: Value) -> Value {
    let Value::Object(metadata) = metadata else {
        panic!("a map")
    };
    for (key, value) in metadata {
        object["metadata"][key] = value;
    }
    object
}

fn conditions(list: &[(&str, &str)]) -> Value {
    list.iter()
        .map(|(kind, status)| json!({ "type": kind, "status": status }))
        .collect()
}

mod any {
    use super::*;

    #[test]
    fn what_is_being_deleted_is_not_ready() {
        let gone = json!({ "deletionTimestamp": "2024-01-01T00:00:00Z" });
        for (version, kind, status) in [
            (
                "batch/v1",
                "Job",
                json!({ "conditions": conditions(&[("Complete", "True")]) }),
            ),
            ("v1", "ConfigMap", json!(null)),
            ("v1", "Namespace", json!({ "phase": "Active" })),
            ("example.com/v1", "Thing", json!({})),
        ] {
            let object = with_metadata(object(version, kind, json!({}), status), gone.clone());
            for state in [
                State::Started,
                State::Ready,
                State::Available,
                State::Complete,
                State::Addressed,
            ] {
                let told = told_as(&object, state, &Cluster::empty());
                assert_eq!(
                    told,
                    "Terminating Terminating: Resource scheduled for deletion"
                );
            }
            assert!(ask(&object, State::Present, &Cluster::empty()).satisfied);
        }
    }

    #[test]
    fn the_observed_generation_may_be_numeric_text() {
        let rollout = |observed: Value| {
            let status = json!({ "observedGeneration": observed, "conditions": conditions(&[("Ready", "True")]) });
            told(&object(
                "argoproj.io/v1alpha1",
                "Rollout",
                json!({}),
                status,
            ))
        };
        for fine in [
            json!(2),
            json!("2"),
            json!(2.0),
            json!("86947585"),
            json!("7d7f8c9f"),
            json!(null),
            json!(true),
        ] {
            assert_eq!(rollout(fine), "Current Satisfied: Resource is Ready");
        }
        for behind in [json!(1), json!("1"), json!(" 1 "), json!(1.0)] {
            assert_eq!(
                rollout(behind),
                "InProgress NotObserved: Rollout generation is 2, but latest observed generation is 1"
            );
        }
    }

    #[test]
    fn odd_conditions_are_read_as_far_as_they_go() {
        let thing = |conditions: Value| {
            told(&object(
                "example.com/v1",
                "Thing",
                json!({}),
                json!({ "conditions": conditions }),
            ))
        };
        assert_eq!(
            thing(json!([{ "type": "Ready", "status": true }])),
            "Current Satisfied: Resource is Ready"
        );
        assert_eq!(
            thing(
                json!(["odd", { "type": "Ready", "status": false, "reason": 7, "message": "soon" }])
            ),
            "InProgress InProgress: soon"
        );
        assert_eq!(
            thing(json!("odd")),
            "Current Satisfied: Resource is current"
        );
    }

    #[test]
    fn custom_health_is_never_passed_over() {
        for key in ["sluice.dev/health", "sluice.dev/health.status.phase"] {
            let annotated = with_metadata(
                object("v1", "ConfigMap", json!({}), json!({})),
                json!({ "annotations": { key: "x" } }),
            );
            assert_eq!(
                ask(&annotated, State::Ready, &Cluster::empty()).reason,
                Reason::NotSupported
            );
            assert!(ask(&annotated, State::Present, &Cluster::empty()).satisfied);
        }
        let hip = |annotations: Value| {
            let thing = object("v1", "ConfigMap", json!({}), json!({}));
            ask(
                &with_metadata(thing, json!({ "annotations": annotations })),
                State::Ready,
                &Cluster::empty(),
            )
            .reason
        };
        let (success, failure) = ("helm.sh/readiness-success", "helm.sh/readiness-failure");
        assert_eq!(
            hip(json!({ success: "[]", failure: "[]" })),
            Reason::NotSupported
        );
        assert_eq!(hip(json!({ success: "[]" })), Reason::Satisfied);
    }

    #[test]
    fn an_entry_of_a_list_is_known_by_the_kind_that_was_asked_for() {
        static DEPLOYMENT: Builtin = Builtin {
            group: "apps",
            version: "v1",
            kind: "Deployment",
            plural: "deployments",
            short: &["deploy"],
            namespaced: true,
        };
        let entry = json!({ "metadata": { "name": "x", "generation": 1 } });
        let judged = judge(
            &Kind::Builtin(&DEPLOYMENT),
            &entry,
            State::Ready,
            &Cluster::empty(),
            noon(),
        );
        assert_eq!(judged.message, "Replicas: 0/1");
    }

    #[test]
    fn what_cannot_be_judged_waits() {
        let pod = object("v1", "Pod", json!({}), json!({ "phase": "Odd" }));
        assert_eq!(told(&pod), "Unknown Unjudgeable: unknown phase Odd");
        let odd = judge(
            &kind_of(&pod),
            &json!("odd"),
            State::Ready,
            &Cluster::empty(),
            noon(),
        );
        assert_eq!(odd.reason, Reason::Unjudgeable);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn judge_takes_any_manifest(
            object in manifest(),
            world in prop::collection::vec(any_json(), 0..2),
            state in prop::sample::select(State::ALL.to_vec()),
        ) {
            let world = Cluster {
                object: world.first().cloned().map_or(Lookup::NotFound, Lookup::Found),
                list: Lookup::Found(world),
                declares_status: None,
            };
            let judged = judge(&kind_of(&object), &object, state, &world, noon());
            prop_assert_eq!(judged.satisfied, judged.reason == Reason::Satisfied);
            prop_assert!(!judged.message.is_empty());
            if state != State::Present {
                prop_assert_eq!(judged.satisfied, judged.status == Status::Current);
            }
        }

        #[test]
        fn judge_takes_any_json(object in any_json()) {
            let judged = judge(&kind_of(&object), &object, State::Ready, &Cluster::empty(), noon());
            prop_assert!(object.is_object() || !judged.satisfied);
        }
    }
}

mod workload {
    use super::*;

    #[test]
    fn a_paused_deployment_says_so() {
        let deployment = object(
            "apps/v1",
            "Deployment",
            json!({ "paused": true }),
            json!({ "observedGeneration": 2 }),
        );
        assert_eq!(
            told(&deployment),
            "InProgress InProgress: Replicas: 0/1, and the Deployment is paused"
        );
    }

    #[test]
    fn an_exceeded_deadline_quotes_the_controller() {
        let status = json!({ "conditions": [
            { "type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out" },
        ] });
        let deployment = object("apps/v1", "Deployment", json!({}), status);
        assert_eq!(
            told(&deployment),
            "Failed Failed: Progress deadline exceeded: timed out"
        );
    }

    #[test]
    fn available_does_not_wait_for_the_rollout() {
        let with = |available: &str| {
            let status = json!({ "replicas": 2, "updatedReplicas": 1, "conditions": conditions(&[("Available", available)]) });
            object("apps/v1", "Deployment", json!({}), status)
        };
        let ask = |available| told_as(&with(available), State::Available, &Cluster::empty());
        assert_eq!(ask("True"), "Current Satisfied: Deployment is available");
        assert_eq!(
            ask("False"),
            "InProgress InProgress: Pending termination: 1"
        );
        assert_eq!(
            told(&with("True")),
            "InProgress InProgress: Pending termination: 1"
        );
        let config = object("v1", "ConfigMap", json!({}), json!({}));
        assert_eq!(
            told_as(&config, State::Available, &Cluster::empty()),
            "Current Satisfied: Resource is always ready"
        );
    }

    #[test]
    fn an_on_delete_stateful_set_needs_its_replicas() {
        let set = |status: Value| {
            let spec = json!({ "replicas": 2, "updateStrategy": { "type": "OnDelete" } });
            told(&object("apps/v1", "StatefulSet", spec, status))
        };
        assert_eq!(set(json!({})), "InProgress InProgress: Replicas: 0/2");
        assert_eq!(
            set(json!({ "replicas": 2, "readyReplicas": 1 })),
            "InProgress InProgress: Ready: 1/2"
        );
        assert_eq!(
            set(json!({ "replicas": 3, "readyReplicas": 3 })),
            "InProgress InProgress: Pending termination: 1"
        );
        let status = json!({ "replicas": 2, "readyReplicas": 2, "currentRevision": "a", "updateRevision": "b" });
        assert_eq!(
            set(status),
            "Current Satisfied: All replicas are ready. Replicas: 2"
        );
    }

    #[test]
    fn a_partitioned_stateful_set_is_as_kstatus_says() {
        let set = |partition: i64| {
            let spec = json!({ "replicas": 3, "updateStrategy": { "rollingUpdate": { "partition": partition } } });
            let status = json!({ "replicas": 3, "readyReplicas": 3, "updatedReplicas": 1 });
            told(&object("apps/v1", "StatefulSet", spec, status))
        };
        assert_eq!(set(1), "InProgress InProgress: updated: 1/2");
        assert_eq!(
            set(2),
            "Current Satisfied: Partition rollout complete. updated: 1"
        );
        assert_eq!(
            set(9),
            "Current Satisfied: Partition rollout complete. updated: 1"
        );
    }

    #[test]
    fn an_on_delete_daemon_set_may_run_the_old_revision() {
        let set = |strategy: &str, available: i64, ready: i64| {
            let spec = json!({ "updateStrategy": { "type": strategy } });
            let status = json!({
                "observedGeneration": 2, "desiredNumberScheduled": 3, "currentNumberScheduled": 3,
                "updatedNumberScheduled": 0, "numberAvailable": available, "numberReady": ready,
            });
            told(&object("apps/v1", "DaemonSet", spec, status))
        };
        assert_eq!(
            set("OnDelete", 3, 3),
            "Current Satisfied: All replicas are ready. Replicas: 3"
        );
        assert_eq!(
            set("OnDelete", 2, 3),
            "InProgress InProgress: Available: 2/3"
        );
        assert_eq!(set("OnDelete", 3, 2), "InProgress InProgress: Ready: 2/3");
        assert_eq!(
            set("RollingUpdate", 3, 3),
            "InProgress InProgress: Updated: 0/3"
        );
    }

    #[test]
    fn a_daemon_set_without_nodes_says_so() {
        let status = json!({ "observedGeneration": 2, "desiredNumberScheduled": 0 });
        let set = object("apps/v1", "DaemonSet", json!({}), status);
        assert_eq!(told(&set), "Current Satisfied: 0 nodes match");
    }

    #[test]
    fn a_replication_controller_needs_its_replicas() {
        let controller = |status: Value| {
            told(&object(
                "v1",
                "ReplicationController",
                json!({ "replicas": 2 }),
                status,
            ))
        };
        assert_eq!(ask_reason(json!({})), Reason::NotObserved);
        assert_eq!(
            controller(json!({ "observedGeneration": 2, "readyReplicas": 1 })),
            "InProgress InProgress: Ready: 1/2"
        );
        assert_eq!(
            controller(json!({ "observedGeneration": 2, "readyReplicas": 2, "replicas": 3 })),
            "InProgress InProgress: Pending termination: 1"
        );
        assert_eq!(
            controller(json!({ "observedGeneration": 2, "readyReplicas": 2, "replicas": 2 })),
            "Current Satisfied: All replicas are ready. Replicas: 2"
        );
    }

    fn ask_reason(status: Value) -> Reason {
        let controller = object("v1", "ReplicationController", json!({}), status);
        ask(&controller, State::Ready, &Cluster::empty()).reason
    }
}

mod job {
    use super::*;

    fn job(spec: Value, status: Value) -> Value {
        object("batch/v1", "Job", spec, status)
    }

    #[test]
    fn only_a_completed_job_is_ready() {
        let running = json!({ "startTime": "2024-01-01T00:00:00Z", "active": 1 });
        let counted = json!({ "startTime": "2024-01-01T00:00:00Z", "succeeded": 1 });
        let met = json!({ "startTime": "2024-01-01T00:00:00Z", "conditions": conditions(&[("SuccessCriteriaMet", "True")]) });
        let complete = json!({ "conditions": conditions(&[("SuccessCriteriaMet", "True"), ("Complete", "True")]) });
        for state in [State::Ready, State::Complete, State::Available] {
            let ask =
                |status: &Value| told_as(&job(json!({}), status.clone()), state, &Cluster::empty());
            assert_eq!(
                ask(&json!({})),
                "InProgress JobNotComplete: Job not started"
            );
            assert_eq!(
                ask(&running),
                "InProgress JobNotComplete: Job in progress. success:0, active: 1, failed: 0"
            );
            assert_eq!(
                ask(&counted),
                "InProgress JobNotComplete: Job in progress. success:1, active: 0, failed: 0"
            );
            assert_eq!(
                ask(&met),
                "InProgress JobNotComplete: job has succeeded, and its last pods are still ending"
            );
            assert_eq!(ask(&complete), "Current Satisfied: Job Completed");
        }
        assert!(ask(&job(json!({}), running), State::Started, &Cluster::empty()).satisfied);
        assert!(
            !ask(
                &job(json!({}), json!({})),
                State::Started,
                &Cluster::empty()
            )
            .satisfied
        );
    }

    #[test]
    fn a_suspended_job_says_so() {
        let suspended = json!({ "conditions": conditions(&[("Suspended", "True")]) });
        assert_eq!(
            told(&job(json!({ "suspend": true }), suspended)),
            "InProgress JobSuspended: job is suspended"
        );
    }

    #[test]
    fn a_failed_job_failed_for_good() {
        let status = json!({ "conditions": [
            { "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often" },
        ] });
        assert_eq!(
            told(&job(json!({}), status)),
            "Failed JobFailed: Job Failed: BackoffLimitExceeded: too often"
        );
    }
}

mod pod {
    use super::*;

    fn pod(status: Value) -> Value {
        object("v1", "Pod", json!({}), status)
    }

    #[test]
    fn ready_or_succeeded() {
        let ready = json!({ "phase": "Running", "conditions": conditions(&[("Ready", "True")]) });
        let running =
            json!({ "phase": "Running", "conditions": conditions(&[("Ready", "False")]) });
        assert_eq!(told(&pod(ready.clone())), "Current Satisfied: Pod is Ready");
        assert_eq!(
            told(&pod(running)),
            "InProgress InProgress: Pod is running but is not Ready"
        );
        assert_eq!(
            told(&pod(json!({ "phase": "Succeeded" }))),
            "Current Satisfied: Pod has completed successfully"
        );
        assert_eq!(
            told(&pod(json!({ "phase": "Failed", "reason": "Evicted" }))),
            "Failed Failed: Pod has completed, but not successfully: Evicted"
        );
        let complete = |status: Value| told_as(&pod(status), State::Complete, &Cluster::empty());
        assert_eq!(
            complete(ready),
            "InProgress InProgress: Pod runs and has not completed yet"
        );
        assert_eq!(
            complete(json!({ "phase": "Succeeded" })),
            "Current Satisfied: Pod has completed successfully"
        );
    }

    #[test]
    fn the_message_says_what_a_container_waits_for() {
        let waiting = |name: &str, reason: &str| json!({ "name": name, "state": { "waiting": { "reason": reason } } });
        let status = json!({
            "phase": "Pending",
            "initContainerStatuses": [waiting("setup", "ImagePullBackOff")],
            "containerStatuses": [waiting("web", "PodInitializing")],
        });
        assert_eq!(
            told(&pod(status)),
            "InProgress InProgress: Pod is in the Pending phase, container \"setup\": ImagePullBackOff"
        );
    }

    #[test]
    fn nothing_else_completes() {
        let config = object("v1", "ConfigMap", json!({}), json!({}));
        assert_eq!(
            told_as(&config, State::Complete, &Cluster::empty()),
            "InProgress NotSupported: ConfigMap never completes; only a Job or a Pod does"
        );
    }
}

mod service {
    use super::*;

    fn service(spec: Value) -> Value {
        object("v1", "Service", spec, json!({}))
    }

    fn behind(endpoints: Value) -> String {
        let slices = Cluster::listing(json!([{}, { "endpoints": endpoints }]));
        told_as(
            &service(json!({ "selector": { "app": "x" } })),
            State::Ready,
            &slices,
        )
    }

    #[test]
    fn somebody_must_serve_behind_a_selector() {
        let no = "InProgress NoEndpoints: Serving endpoints: 0/1";
        let yes = "Current Satisfied: Serving endpoints: 1/1";
        assert_eq!(
            behind(json!([])),
            "InProgress NoEndpoints: Service has no endpoints"
        );
        assert_eq!(
            behind(json!(null)),
            "InProgress NoEndpoints: Service has no endpoints"
        );
        assert_eq!(
            behind(json!([{ "conditions": { "serving": false, "ready": true } }])),
            no
        );
        assert_eq!(behind(json!([{ "conditions": { "ready": false } }])), no);
        assert_eq!(
            behind(json!([{ "conditions": { "serving": true, "terminating": true } }])),
            no
        );
        assert_eq!(
            behind(json!([{ "conditions": { "serving": true, "ready": false } }])),
            yes
        );
        assert_eq!(behind(json!([{ "conditions": { "ready": true } }])), yes);
        assert_eq!(behind(json!([{ "conditions": { "serving": null } }])), yes);
        assert_eq!(behind(json!([{}])), yes);
        assert_eq!(
            behind(json!([{}, { "conditions": { "serving": false } }])),
            "Current Satisfied: Serving endpoints: 1/2"
        );
    }

    #[test]
    fn without_a_selector_existence_is_enough() {
        for spec in [
            json!({}),
            json!({ "selector": {} }),
            json!({ "type": "ExternalName", "selector": { "a": "b" } }),
        ] {
            assert!(ask(&service(spec), State::Ready, &Cluster::empty()).satisfied);
        }
    }

    #[test]
    fn what_nobody_can_see_does_not_serve() {
        let selecting = service(json!({ "selector": { "app": "x" } }));
        for (why, reason) in [
            (Unavailable::Syncing, Reason::Syncing),
            (Unavailable::Forbidden, Reason::KindForbidden),
            (Unavailable::Stale, Reason::Stale),
            (Unavailable::NotServed, Reason::KindNotServed),
        ] {
            let judged = ask(&selecting, State::Ready, &Cluster::unavailable(why));
            assert_eq!(
                (judged.satisfied, judged.reason, judged.status),
                (false, reason, Status::Unknown)
            );
        }
    }

    #[test]
    fn an_address_is_asked_for_by_name() {
        let with = |version: &str, kind: &str, service_type: &str, status: Value| {
            let spec = json!({ "type": service_type, "clusterIP": "10.0.0.1" });
            told_as(
                &object(version, kind, spec, status),
                State::Addressed,
                &Cluster::empty(),
            )
        };
        let balancer = |entry: Value| json!({ "loadBalancer": { "ingress": [entry] } });
        assert_eq!(
            with(
                "v1",
                "Service",
                "LoadBalancer",
                balancer(json!({ "ip": "192.0.2.1" }))
            ),
            "Current Satisfied: Address: 192.0.2.1"
        );
        assert_eq!(
            with(
                "networking.k8s.io/v1",
                "Ingress",
                "",
                balancer(json!({ "hostname": "lb.example.com" }))
            ),
            "Current Satisfied: Address: lb.example.com"
        );
        assert_eq!(
            with(
                "gateway.networking.k8s.io/v1",
                "Gateway",
                "",
                json!({ "addresses": [{ "value": "192.0.2.2" }] })
            ),
            "Current Satisfied: Address: 192.0.2.2"
        );
        assert_eq!(
            with("networking.k8s.io/v1", "Ingress", "", balancer(json!({}))),
            "InProgress NoAddress: Ingress has no address yet"
        );
        assert_eq!(
            with("v1", "Service", "ClusterIP", json!({})),
            "InProgress NoAddress: Service of type ClusterIP gets no address; ask for state ready"
        );
        let ingress = object("networking.k8s.io/v1", "Ingress", json!({}), json!({}));
        assert!(ask(&ingress, State::Ready, &Cluster::empty()).satisfied);
        let balancer = service(json!({ "type": "LoadBalancer", "selector": { "app": "x" } }));
        assert_eq!(
            told(&balancer),
            "InProgress NoAddress: ClusterIP not set. Service type: LoadBalancer"
        );
    }
}

mod claim {
    use super::*;

    fn claim(class: Option<&str>, phase: &str) -> Value {
        let spec = class.map_or(json!({}), |class| json!({ "storageClassName": class }));
        object(
            "v1",
            "PersistentVolumeClaim",
            spec,
            json!({ "phase": phase }),
        )
    }

    fn class(mode: &str, annotations: Value) -> Value {
        json!({ "metadata": { "name": "c", "annotations": annotations }, "volumeBindingMode": mode })
    }

    fn with_class(mode: &str) -> Cluster {
        Cluster {
            object: Lookup::Found(class(mode, json!({}))),
            ..Cluster::empty()
        }
    }

    const BOUND: &str = "Current Satisfied: PVC is Bound";
    const FIRST: &str = "Current Satisfied: PVC waits for its first consumer";
    const PENDING: &str = "InProgress ClaimNotBound: PVC is not Bound. phase: Pending";

    fn ask_claim(claim: &Value, world: &Cluster) -> String {
        told_as(claim, State::Ready, world)
    }

    #[test]
    fn bound_or_waiting_for_its_first_consumer() {
        let fast = claim(Some("fast"), "Pending");
        assert_eq!(
            ask_claim(&claim(Some("fast"), "Bound"), &Cluster::empty()),
            BOUND
        );
        assert_eq!(ask_claim(&fast, &with_class("WaitForFirstConsumer")), FIRST);
        assert_eq!(ask_claim(&fast, &with_class("Immediate")), PENDING);
        assert_eq!(
            ask_claim(&fast, &Cluster::empty()),
            format!("{PENDING}, StorageClass \"fast\" does not exist")
        );
        assert_eq!(
            ask_claim(
                &claim(Some(""), "Pending"),
                &with_class("WaitForFirstConsumer")
            ),
            PENDING
        );
        assert_eq!(
            ask_claim(
                &claim(Some("fast"), "Lost"),
                &with_class("WaitForFirstConsumer")
            ),
            "Failed Failed: PVC is Lost: its PersistentVolume no longer exists"
        );
        let selected = json!({ "annotations": { "volume.kubernetes.io/selected-node": "n1" } });
        assert_eq!(
            ask_claim(
                &with_metadata(fast, selected),
                &with_class("WaitForFirstConsumer")
            ),
            PENDING
        );
    }

    #[test]
    fn without_a_class_the_newest_default_decides() {
        let default = |mode: &str, created: &str| {
            let mut class = class(
                mode,
                json!({ "storageclass.kubernetes.io/is-default-class": "true" }),
            );
            class["metadata"]["creationTimestamp"] = json!(created);
            class
        };
        let (old, new) = ("2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z");
        let pending = claim(None, "Pending");
        let other = class("Immediate", json!({}));
        let late = json!([
            default("Immediate", old),
            default("WaitForFirstConsumer", new),
            other
        ]);
        assert_eq!(ask_claim(&pending, &Cluster::listing(late)), FIRST);
        let early = json!([
            default("Immediate", new),
            default("WaitForFirstConsumer", old)
        ]);
        assert_eq!(ask_claim(&pending, &Cluster::listing(early)), PENDING);
        assert_eq!(
            ask_claim(&pending, &Cluster::listing(json!([other]))),
            format!("{PENDING}, there is no default StorageClass")
        );
    }

    #[test]
    fn without_rights_the_annotations_decide() {
        let forbidden = Cluster::unavailable(Unavailable::Forbidden);
        let pending = claim(Some("fast"), "Pending");
        assert_eq!(ask_claim(&pending, &forbidden), FIRST);
        let key = "volume.kubernetes.io/storage-provisioner";
        let provisioned = with_metadata(pending.clone(), json!({ "annotations": { key: "x" } }));
        assert_eq!(ask_claim(&provisioned, &forbidden), PENDING);
        let stale = ask(
            &pending,
            State::Ready,
            &Cluster::unavailable(Unavailable::Stale),
        );
        assert_eq!(stale.reason, Reason::Stale);
    }

    #[test]
    fn the_kinds_that_are_looked_up_are_known() {
        assert!(builtin("storage.k8s.io", "StorageClass").is_some());
        assert!(builtin("discovery.k8s.io", "EndpointSlice").is_some());
    }
}

mod existence {
    use super::*;

    #[test]
    fn kinds_without_a_state_of_their_own() {
        for (version, kind) in [
            ("v1", "ConfigMap"),
            ("v1", "Secret"),
            ("v1", "ServiceAccount"),
            ("rbac.authorization.k8s.io/v1", "ClusterRole"),
            ("networking.k8s.io/v1", "NetworkPolicy"),
            ("batch/v1", "CronJob"),
        ] {
            assert!(
                ask(
                    &json!({ "apiVersion": version, "kind": kind }),
                    State::Ready,
                    &Cluster::empty()
                )
                .satisfied
            );
        }
    }

    #[test]
    fn a_namespace_is_active() {
        let namespace = |phase: Value| {
            told(&object(
                "v1",
                "Namespace",
                json!({}),
                json!({ "phase": phase }),
            ))
        };
        assert_eq!(
            namespace(json!("Active")),
            "Current Satisfied: Namespace is Active"
        );
        assert_eq!(
            namespace(json!("Terminating")),
            "InProgress InProgress: Namespace is Terminating"
        );
        assert_eq!(
            namespace(json!(null)),
            "InProgress InProgress: Namespace has no phase yet"
        );
    }

    #[test]
    fn a_definition_is_established_under_its_names() {
        let definition = |list: &[(&str, &str)]| {
            let status = json!({ "conditions": conditions(list) });
            told(&object(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                json!({}),
                status,
            ))
        };
        assert_eq!(
            definition(&[("NamesAccepted", "True"), ("Established", "True")]),
            "Current Satisfied: CRD is established"
        );
        assert_eq!(
            definition(&[("Established", "True"), ("NamesAccepted", "False")]),
            "InProgress InProgress: CRD is established, but its names are not accepted"
        );
        assert_eq!(
            definition(&[]),
            "InProgress InProgress: Install in progress"
        );
    }

    #[test]
    fn an_api_service_is_available() {
        let service = |conditions: Value| {
            let status = json!({ "conditions": conditions });
            told(&object(
                "apiregistration.k8s.io/v1",
                "APIService",
                json!({}),
                status,
            ))
        };
        assert_eq!(
            service(json!([{ "type": "Available", "status": "True" }])),
            "Current Satisfied: APIService is available"
        );
        assert_eq!(
            service(
                json!([{ "type": "Available", "status": "False", "reason": "MissingEndpoints", "message": "none" }])
            ),
            "InProgress InProgress: APIService is not available: MissingEndpoints none"
        );
        assert_eq!(
            service(json!([])),
            "InProgress InProgress: APIService is not available yet"
        );
    }
}

mod custom {
    use super::*;

    #[test]
    fn an_application_is_healthy_synced_and_idle() {
        let application = |health: &str, sync: &str, operation: &str| {
            let status = json!({
                "health": { "status": health }, "sync": { "status": sync }, "operationState": { "phase": operation },
            });
            told(&object(
                "argoproj.io/v1alpha1",
                "Application",
                json!({}),
                status,
            ))
        };
        assert_eq!(
            application("Healthy", "Synced", "Succeeded"),
            "Current Satisfied: Application is Healthy and Synced"
        );
        assert_eq!(
            application("Healthy", "Synced", "Running"),
            "InProgress InProgress: Application has an operation running"
        );
        assert_eq!(
            application("Progressing", "Synced", ""),
            "InProgress InProgress: Application health: Progressing, sync: Synced"
        );
        assert_eq!(
            application("Healthy", "OutOfSync", ""),
            "InProgress InProgress: Application health: Healthy, sync: OutOfSync"
        );
        assert_eq!(
            application("Degraded", "Synced", ""),
            "Failed Failed: Application is Degraded"
        );
        let fresh = object("argoproj.io/v1alpha1", "Application", json!({}), json!({}));
        assert_eq!(
            ask(&fresh, State::Ready, &Cluster::empty()).reason,
            Reason::NoStatusYet
        );
    }

    #[test]
    fn an_object_that_should_have_a_status_waits_for_it() {
        let reason = |object: &Value, world: &Cluster| ask(object, State::Ready, world).reason;
        for status in [json!(null), json!({})] {
            let thing = object("example.com/v1", "Thing", json!({}), status);
            assert_eq!(
                reason(&thing, &Cluster::declaring(true)),
                Reason::NoStatusYet
            );
            assert_eq!(
                reason(&thing, &Cluster::declaring(false)),
                Reason::Satisfied
            );
        }
        let written = object(
            "example.com/v1",
            "Thing",
            json!({}),
            json!({ "phase": "x" }),
        );
        assert_eq!(
            reason(&written, &Cluster::declaring(true)),
            Reason::Satisfied
        );
        let config = object("v1", "ConfigMap", json!({}), json!({}));
        assert_eq!(
            reason(&config, &Cluster::declaring(true)),
            Reason::Satisfied
        );
    }

    #[test]
    fn where_nobody_knows_a_new_object_is_given_a_moment() {
        let made = |at: &str| {
            let thing = object("example.com/v1", "Thing", json!({}), json!({}));
            let thing = with_metadata(thing, json!({ "creationTimestamp": at }));
            ask(&thing, State::Ready, &Cluster::empty()).reason
        };
        assert_eq!(made("2024-01-01T11:59:55Z"), Reason::NoStatusYet);
        assert_eq!(made("2024-01-01T11:59:45Z"), Reason::Satisfied);
    }

    #[test]
    fn conditions_speak_as_in_kstatus() {
        let thing = |kind: &str, status: &str| {
            let status = json!({ "conditions": conditions(&[(kind, status)]) });
            told(&object("example.com/v1", "Thing", json!({}), status))
        };
        assert_eq!(
            thing("Ready", "True"),
            "Current Satisfied: Resource is Ready"
        );
        assert_eq!(
            thing("Ready", "False"),
            format!("InProgress InProgress: {}", Reason::InProgress.sentence())
        );
        assert_eq!(
            thing("Stalled", "True"),
            format!("Failed Failed: {}", Reason::Failed.sentence())
        );
    }
}

#[test]
fn every_reason_has_a_word_and_a_sentence() {
    let mut labels: Vec<_> = Reason::ALL.iter().map(|reason| reason.label()).collect();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), Reason::ALL.len());
    for reason in Reason::ALL {
        assert_eq!(reason.label(), format!("{reason:?}"));
        assert!(!reason.sentence().contains("mmutable"));
    }
}
