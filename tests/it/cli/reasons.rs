//! One answer to one question: for each reason the word of a gate, which asks the controller, and that of the command, on
//! the same objects of the same API server. Controller, gate and command are the real processes.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a value that is written in its place reads better"
)]

use super::api::Api;
use super::{Ran, run};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harness::process::{Process, binary};
use harness::token::of_gate;
use rules::judged::Reason;
use rules::{kinds, sheets};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::net::TcpListener;
use std::process::Command;
use tempfile::{NamedTempFile, TempDir};
use wire::said;
use wire::{Answer, Decision, env};

/// A pod that depends on something, in a namespace of its own.
struct Case {
    /// The annotations of the pod.
    says: Value,
    /// What is there beside it; in the pod's namespace, where an object names none.
    objects: Vec<Value>,
    /// When the pod was made.
    made: &'static str,
}

/// How a reason is shown.
enum Shown {
    By(Case),
    /// The command cannot find it out, and why; there it shows the word of the gate.
    ByTheGate(&'static str),
}

fn on(list: &str, objects: impl IntoIterator<Item = Value>) -> Case {
    with(json!({"sluice.dev/depends-on": list}), objects)
}

fn with(says: Value, objects: impl IntoIterator<Item = Value>) -> Case {
    Case {
        says,
        objects: objects.into_iter().collect(),
        made: "2026-01-01T00:00:00Z",
    }
}

fn object(version: &str, kind: &str, name: &str, rest: Value) -> Value {
    let mut object =
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "uid": name}});
    json_patch::merge(&mut object, &rest);
    object
}

fn config_map(name: &str) -> Value {
    object("v1", "ConfigMap", name, json!({}))
}

/// A Deployment that is rolled out, or not yet.
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

/// What the object of an annotation says, beside that it is not rolled out.
fn unready(annotations: Value) -> Value {
    deployment("a", 0, json!({"metadata": {"annotations": annotations}}))
}

/// A StatefulSet whose pod no node takes.
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

/// The case of each reason: a reason without one does not compile.
#[expect(clippy::too_many_lines, reason = "a line for each reason")]
fn case(reason: Reason) -> Shown {
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
        Reason::NoEndpoints => {
            let spec = json!({"selector": {"app": "a"}, "clusterIP": "10.0.0.1"});
            on(
                "service/a",
                [object("v1", "Service", "a", json!({"spec": spec}))],
            )
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
        // It would have to last beyond the end of this test, whatever that is.
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
    })
}

/// Lower case, so that it may name a namespace.
fn namespace(reason: Reason) -> String {
    reason.label().to_lowercase()
}

fn pod(reason: Reason, case: &Case) -> Value {
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

fn cases() -> Vec<(Reason, Case)> {
    let shown = |reason| match case(reason) {
        Shown::By(case) => Some((reason, case)),
        Shown::ByTheGate(_) => None,
    };
    Reason::ALL.into_iter().filter_map(shown).collect()
}

/// The arguments that decide on verdicts, as the chart writes them.
const SETTINGS: [&str; 6] = [
    "--memory-config-map=sluice-memory",
    "--slots-config-map=sluice-slots",
    "--health-rules-configmap=health",
    "--builtin-health-rules=true",
    "--allow-cross-namespace=nobody->elsewhere",
    "--watch-cluster-role=sluice-watch",
];

/// Everything that is in the cluster.
fn cluster(cases: &[(Reason, Case)]) -> Vec<Value> {
    let mut all = installation();
    for (reason, case) in cases {
        let name = namespace(*reason);
        all.push(object(
            "v1",
            "Namespace",
            &name,
            json!({"metadata": {"creationTimestamp": "1969-01-01T00:00:00Z"}}),
        ));
        all.push(pod(*reason, case));
        for it in &case.objects {
            let mut it = it.clone();
            it["metadata"]["namespace"] = json!(name);
            all.push(it);
        }
    }
    all
}

fn installation() -> Vec<Value> {
    let home = |kind: &str, name: &str, rest: Value| {
        let mut made = object(
            "v1",
            kind,
            name,
            json!({"metadata": {"namespace": "sluice-system", "resourceVersion": "1"}}),
        );
        json_patch::merge(&mut made, &rest);
        made
    };
    let labels =
        json!({"app.kubernetes.io/name": "sluice", "app.kubernetes.io/component": "controller"});
    let containers = json!([{"name": "webhook", "args": SETTINGS}]);
    let controller = json!({"metadata": {"labels": labels}, "spec": {"template": {"spec": {"containers": containers}}}});
    let follow = |group: &str, resource: &str| json!({"apiGroups": [group], "resources": [resource], "verbs": ["get", "list", "watch"]});
    let builtin = kinds::all().iter().filter(|it| it.kind != "Secret");
    let mut rules: Vec<Value> = builtin.map(|it| follow(it.group, it.plural)).collect();
    let custom = ["widgets", "gauges"].map(|it| follow("example.com", it));
    rules.push(follow("authentication.k8s.io", "tokenreviews"));
    rules.push(follow("events.k8s.io", "events"));
    let remembered = json!({"uid": "u", "created": 0, "completed": 60, "labels": {"app": "seed"}});
    let holder = json!({"group": "batch", "kind": "Job", "name": "first", "uid": "first", "revision": "first", "pods_of": "first", "most": 1});
    let capped = namespace(Reason::NoSlot);
    let wave = format!(r#"{{"scope":{{"namespace":"{capped}","name":"r"}},"weight":0}}"#);
    let mut held: Value = serde_json::from_str(&wave).unwrap();
    held["holders"] = json!([holder]);
    let hash = Sha256::digest(wave)[..16]
        .iter()
        .fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    let held = json!({"whole-since": "2026-01-01T00:00:00Z", format!("{capped}.{hash}"): held.to_string()});
    let slots = &sheets::names("sluice-slots")[sheets::of(&capped)];
    let defined = |kind: &str, plural: &str| {
        let names = json!({"kind": kind, "plural": plural, "singular": kind.to_lowercase()});
        let version =
            json!({"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}});
        let spec = json!({"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]});
        let status = json!({"conditions": [{"type": "Established", "status": "True"}]});
        let name = format!("{plural}.example.com");
        object(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            &name,
            json!({"spec": spec, "status": status}),
        )
    };
    let mut deployment = home("Deployment", "sluice", controller);
    deployment["apiVersion"] = json!("apps/v1");
    vec![
        deployment,
        home(
            "Service",
            "sluice",
            json!({"spec": {"clusterIP": "127.0.0.1", "clusterIPs": ["127.0.0.1"]}}),
        ),
        home(
            "ConfigMap",
            "sluice-memory",
            json!({"data": {format!("job.{}.remembered", namespace(Reason::Remembered)): remembered.to_string()}}),
        ),
        home("ConfigMap", slots, json!({"data": held})),
        home(
            "ConfigMap",
            "health",
            json!({"data": {"rules.yaml": "- {apiVersion: example.com/v1, kind: Gauge, current: 'status.('}"}}),
        ),
        object(
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            "sluice",
            json!({"webhooks": []}),
        ),
        object(
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            "sluice",
            json!({"rules": rules}),
        ),
        object(
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            "sluice-watch",
            json!({"metadata": {"resourceVersion": "1"}, "rules": custom}),
        ),
        object(
            "storage.k8s.io/v1",
            "StorageClass",
            "fast",
            json!({"provisioner": "p", "volumeBindingMode": "Immediate"}),
        ),
        object("v1", "Namespace", "elsewhere", json!({})),
        defined("Widget", "widgets"),
        defined("Gauge", "gauges"),
    ]
}

/// The controller, for as long as it is kept.
struct Controller {
    _process: Process,
    _kubeconfig: NamedTempFile,
    status: u16,
    bundle: String,
}

impl Controller {
    fn start(api: &Api) -> Self {
        let kubeconfig = api.kubeconfig(true);
        // Nobody else takes them in the moment until they are opened again.
        let ports = [0; 3].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
        let [admission, status, admin] = ports.each_ref().map(|it| it.local_addr().unwrap().port());
        drop(ports);
        let process = Process::start(
            Command::new(binary("sluice-webhook"))
                .env_clear()
                .env("KUBECONFIG", kubeconfig.path())
                .args(SETTINGS)
                .args([
                    "--service-namespace=sluice-system",
                    "--gate-image=gate",
                    "--shutdown-delay=0s",
                    "--log-level=warn",
                ])
                .arg(format!("--admission-port={admission}"))
                .arg(format!("--status-port={status}"))
                .arg(format!("--admin-port={admin}")),
        );
        let bundle = api.wait("/api/v1/namespaces/sluice-system/secrets/sluice-ca");
        let bundle = bundle["data"]["ca.crt"].as_str().unwrap();
        let bundle = STANDARD.decode(bundle).unwrap();
        Self {
            _process: process,
            _kubeconfig: kubeconfig,
            status,
            bundle: String::from_utf8(bundle).unwrap(),
        }
    }

    /// A gate of the pod `api` in a namespace.
    fn gate(&self, namespace: &str) -> (Process, TempDir) {
        let folder = TempDir::new().unwrap();
        let token = folder.path().join("token");
        std::fs::write(
            &token,
            of_gate(namespace, "api", &format!("api-of-{namespace}")),
        )
        .unwrap();
        let process = Process::start(
            Command::new(binary("sluice-gate"))
                .env_clear()
                .env(env::ADDRESSES, format!("127.0.0.1:{}", self.status))
                .env(env::SERVER_NAME, "sluice.sluice-system.svc")
                .env(env::CA_BUNDLE, &self.bundle)
                .env(env::TOKEN_FILE, &token)
                .env(env::STATE_DIR, folder.path())
                .env("SLUICE_TERMINATION_LOG", folder.path().join("termination")),
        );
        (process, folder)
    }
}

fn status(api: &Api, namespace: &str) -> Ran {
    let kubeconfig = api.kubeconfig(false);
    let path = kubeconfig.path().to_str().unwrap();
    run(
        &[
            "status",
            "api",
            "-n",
            namespace,
            "-o",
            "json",
            "--kubeconfig",
            path,
        ],
        "",
    )
}

/// What holds for a reason of which the gate has said `line`.
fn compare(api: &Api, reason: Reason, case: &Case, line: &str) -> Result<(), String> {
    api.log(&pod(reason, case), &format!("{line}\n"));
    let ran = status(api, &namespace(reason));
    let complain = |what: &str| {
        Err(format!(
            "{reason}: {what}\n  gate: {line}\n  command: {:?} {}{}",
            ran.code, ran.out, ran.error
        ))
    };
    let Ok(told) = serde_json::from_str::<Value>(&ran.out) else {
        return complain("no answer");
    };
    let answer: Answer = serde_json::from_value(told.clone()).unwrap();
    let open = line.contains(": open");
    if (answer.verdict == Decision::Open) != open || ran.code != Some(if open { 0 } else { 3 }) {
        return complain("another decision");
    }
    if !answer
        .dependencies
        .iter()
        .any(|it| it.reason == reason.label())
    {
        return complain("another reason");
    }
    // The whole text: dependency, status, reason and message.
    if said::unsatisfied(&answer).is_some_and(|text| !line.ends_with(&text)) {
        return complain("another text");
    }
    if told["differs"] == true || told["unseen"].is_array() {
        return complain("it should see the same");
    }
    Ok(())
}

/// What does not hold for a reason, once a gate has said its word.
fn complaint(
    api: &Api,
    (mut gate, _folder): (Process, TempDir),
    reason: Reason,
    case: &Case,
) -> Option<String> {
    let opens = matches!(
        reason,
        Reason::Satisfied | Reason::OptionalNotFound | Reason::Remembered | Reason::GivenUp
    );
    let line = gate.line(&if opens {
        "open after".to_owned()
    } else {
        format!("({reason}")
    });
    compare(api, reason, case, &line).err()
}

#[test]
fn the_command_says_what_the_gate_says_for_every_reason() {
    let cases = cases();
    let api = Api::start(&cluster(&cases));
    let controller = Controller::start(&api);
    // Whoever looks for pods without a node has them watched; those who ask after that see them at once.
    let (early, late): (Vec<_>, Vec<_>) = cases
        .iter()
        .partition(|(reason, _)| *reason != Reason::Unschedulable);
    let mut complaints = Vec::new();
    for group in [early, late] {
        complaints.extend(std::thread::scope(|scope| {
            let api = &api;
            let asked: Vec<_> = group
                .into_iter()
                .map(|(reason, case)| {
                    let gate = controller.gate(&namespace(*reason));
                    scope.spawn(move || complaint(api, gate, *reason, case))
                })
                .collect();
            let told = asked.into_iter().map(|it| it.join().unwrap());
            told.flatten().collect::<Vec<_>>()
        }));
    }
    crate::settle(cases.len(), &complaints);
}

/// What only a replica can say is shown from the gate's log, beside what is judged from here.
#[test]
fn what_the_command_cannot_find_out_is_shown_from_the_gate() {
    for reason in Reason::ALL {
        let Shown::ByTheGate(why) = case(reason) else {
            continue;
        };
        assert!(!why.is_empty());
        let there = on("configmap/go", [config_map("go")]);
        let api = Api::start(&cluster(&[(Reason::Satisfied, there)]));
        let pod = pod(Reason::Satisfied, &on("configmap/go", []));
        let word = format!("waiting 3s for ConfigMap/go: Unknown ({reason}: so it is)");
        api.log(&pod, &format!("sluice-gate: {word}\n"));
        let ran = status(&api, &namespace(Reason::Satisfied));
        let told: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(
            (&told["gate"], &told["differs"]),
            (&json!(word), &json!(true))
        );
        assert_eq!(
            (&told["verdict"], ran.code),
            (&json!("open"), Some(3)),
            "{}",
            ran.out
        );
    }
}

/// A caller with fewer rights than sluice is told what is missing, and nothing is guessed for it in silence.
#[test]
fn what_the_caller_may_not_see_is_said() {
    let reason = Reason::Remembered;
    let Shown::By(remembered) = case(reason) else {
        panic!("it has a case")
    };
    let api = Api::start(&cluster(&[(reason, remembered)]));
    for path in [
        "/apis/apps/v1/namespaces/sluice-system/deployments",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "/api/v1/namespaces/sluice-system/configmaps",
        "/api/v1/namespaces/remembered/pods/api/log",
    ] {
        api.hide(path);
    }
    let ran = status(&api, &namespace(reason));
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    let unseen = told["unseen"].to_string();
    for part in [
        "cannot see sluice's settings: judged by the chart's defaults",
        "cannot see what sluice may read",
        "cannot see what sluice remembers",
    ] {
        assert!(unseen.contains(part), "{unseen}");
    }
    assert!(
        told["unheard"].to_string().contains("pods/log"),
        "{}",
        ran.out
    );
    let job = &told["dependencies"][0];
    assert_eq!(
        (&job["status"], &job["satisfied"]),
        (&json!("Unknown"), &json!(false))
    );
    let right = "the right to get ConfigMap sluice-memory, sluice-memory-1, sluice-memory-2, sluice-memory-3 in namespace sluice-system";
    assert!(job["message"].to_string().contains(right), "{}", ran.out);
    assert_eq!(ran.code, Some(3));

    api.hide("/apis/batch/v1/namespaces/remembered/jobs");
    let ran = status(&api, &namespace(reason));
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    let job = &told["dependencies"][0];
    assert_eq!(job["reason"], "Unjudgeable", "{}", ran.out);
    assert!(
        job["message"]
            .to_string()
            .contains("you may not read Job objects"),
        "{}",
        ran.out
    );
}
