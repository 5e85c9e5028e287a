//! The commands that ask a cluster, against an API server that knows a few objects by their path.

use super::{Ran, run};
use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use harness::process::binary;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex};

type Written = Arc<Mutex<Vec<(String, Value)>>>;

/// A server on loopback for as long as the runtime in it lives.
pub(super) struct Server {
    kubeconfig: tempfile::NamedTempFile,
    written: Written,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    pub(super) fn start(objects: &[(&str, Value)]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let objects: BTreeMap<String, Value> = objects
            .iter()
            .map(|(path, object)| ((*path).to_owned(), object.clone()))
            .collect();
        let (objects, written) = (Arc::new(objects), Written::default());
        let router = {
            let written = Arc::clone(&written);
            Router::new().fallback(move |request: Request| {
                answer(Arc::clone(&objects), Arc::clone(&written), request)
            })
        };
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move { axum::serve(listener, router).await });
        let mut kubeconfig = tempfile::NamedTempFile::new().unwrap();
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "a",
            "clusters": [{"name": "a", "cluster": {"server": format!("http://{address}")}}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a", "namespace": "shop"}}],
            "users": [{"name": "a", "user": {}}],
        });
        write!(kubeconfig, "{config}").unwrap();
        Self {
            kubeconfig,
            written,
            _runtime: runtime,
        }
    }

    pub(super) fn run(&self, args: &[&str]) -> Ran {
        run(&[args, &["--kubeconfig", self.kubeconfig()]].concat(), "")
    }

    /// The path of the file that names it.
    pub(super) fn kubeconfig(&self) -> &str {
        self.kubeconfig.path().to_str().unwrap()
    }
}

async fn answer(
    objects: Arc<BTreeMap<String, Value>>,
    written: Written,
    request: Request,
) -> Response {
    let path = request.uri().path().to_owned();
    // A list has the objects right below its path.
    let listed = path.rsplit('/').nth(2) == Some("namespaces");
    let is_below = |it: &str| {
        let name = it.strip_prefix(&path).and_then(|it| it.strip_prefix('/'));
        name.is_some_and(|it| !it.contains('/'))
    };
    let items = objects.iter().filter(|(it, _)| is_below(it));
    let items: Vec<Value> = items.map(|(_, object)| object.clone()).collect();
    let items = listed.then(|| list(&items));
    let Some(object) = objects.get(&path).cloned().or(items) else {
        let status =
            json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404});
        return (StatusCode::NOT_FOUND, axum::Json(status)).into_response();
    };
    if request.method() == Method::PATCH {
        let body: Bytes = request.into_body().collect().await.unwrap().to_bytes();
        let change = serde_json::from_slice(&body).unwrap();
        written.lock().unwrap().push((path, change));
    }
    let code = object["code"]
        .as_u64()
        .and_then(|it| u16::try_from(it).ok());
    let code = code.and_then(|it| StatusCode::from_u16(it).ok());
    (code.unwrap_or_default(), axum::Json(object)).into_response()
}

pub(super) fn list(items: &[Value]) -> Value {
    json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items})
}

#[test]
fn an_installation_is_checked() {
    let deployment = json!({
        "metadata": {"namespace": "sluice-system", "name": "sluice",
            "labels": {"app.kubernetes.io/version": env!("CARGO_PKG_VERSION")}},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [{"image": "sluice-webhook:dev",
            "args": ["--gate-image=sluice-gate:dev", "--health-rules-configmap=health"]}]}}},
        "status": {"readyReplicas": 2, "updatedReplicas": 2},
    });
    let everything = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    let entry = |name: &str| json!({"name": name, "clientConfig": {"caBundle": "LS0t"}});
    let webhooks = [
        "workloads.sluice.dev",
        "cronjobs.sluice.dev",
        "pods.sluice.dev",
        "every-pod.sluice.dev",
    ]
    .map(entry);
    let rule = "- {apiVersion: example.com/v1, kind: Widget, current: 'status.('}";
    let stranded = json!({"metadata": {"namespace": "shop", "name": "web", "uid": "u1"}});
    let server = Server::start(&[
        ("/apis/apps/v1/deployments", list(&[deployment])),
        (
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/sluice",
            json!({"webhooks": webhooks}),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/sluice",
            json!({"rules": everything}),
        ),
        ("/api/v1/namespaces", list(&[])),
        ("/api/v1/pods", list(&[stranded])),
        (
            "/api/v1/events",
            list(&[json!({"involvedObject": {"uid": "u1"}})]),
        ),
        (
            "/api/v1/namespaces/sluice-system/configmaps/health",
            json!({"data": {"rules.yaml": rule}}),
        ),
        // The answer for the pod of the dry run.
        (
            "/api/v1/namespaces/shop/pods",
            json!({"spec": {"initContainers": [{"name": "sluice-gate"}]}}),
        ),
    ]);
    let ran = server.run(&["check"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.error);
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(lines.len(), 10, "{}", ran.out);
    for (line, start) in lines.iter().zip([
        "ok       controller: Deployment sluice-system/sluice: 2 of 2 replicas are ready",
        "ok       versions: chart ",
        "ok       webhook: ",
        "ok       admission: the API server gives a pod in namespace shop its gate",
        "ok       prefetch: no images are pulled while a gate waits: this Kubernetes has no image volumes",
        "problem  health rules: ConfigMap sluice-system/health, rules.yaml: rule 1: current: failed to parse",
        "ok       rights: ",
        "ok       namespaces: ",
        "problem  gates: trusting no certificate of sluice any more, these pods wait for ever: shop/web; ",
        "ok       holds: they are off, and nothing is held",
    ]) {
        assert!(line.starts_with(start), "{line}");
    }
    let own = server.run(&["check", "--namespace", "sluice-system"]).out;
    let none = "warning  admission: nothing is gated in namespace sluice-system; name another";
    assert!(own.contains(none), "{own}");
    let json = server.run(&["check", "-o", "json"]).lines();
    assert_eq!((json.len(), &json[5]["result"]), (10, &json!("problem")));
    let version = server.run(&["version"]);
    let ours = env!("CARGO_PKG_VERSION");
    let expected = format!("kubectl sluice {ours}\nchart {ours}\ncontroller ");
    assert!(version.out.starts_with(&expected), "{}", version.out);
    assert_eq!(version.code, Some(0));
}

/// A caller that may not list the Deployments judges by the published settings of the namespace that the API server or a gate asks.
#[test]
fn the_published_settings_are_found_in_any_namespace() {
    let refusal =
        json!({"kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403});
    let version = env!("CARGO_PKG_VERSION");
    let published = json!({"metadata": {"namespace": "own"}, "data": {
        "version": version, "withheld": "", "arguments": "--watch-cluster-role=w"}});
    let configurations =
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/sluice";
    let service = json!({"name": "sluice", "namespace": "own"});
    let configuration =
        json!({"webhooks": [{"name": "pods.sluice.dev", "clientConfig": {"service": service}}]});
    let gate = |address: &str| {
        let address = json!({"name": "SLUICE_SERVER_NAME", "value": address});
        json!({"spec": {"initContainers": [{"name": "sluice-gate", "env": [address]}]}})
    };
    let told = |configuration: &Value, tried: Value| {
        let server = Server::start(&[
            ("/apis/apps/v1/deployments", refusal.clone()),
            ("/apis/apps/v1/namespaces/own/deployments", refusal.clone()),
            (configurations, configuration.clone()),
            (
                "/api/v1/namespaces/own/configmaps/sluice-installation",
                published.clone(),
            ),
            ("/api/v1/namespaces/shop/pods", tried),
        ]);
        let ran = server.run(&["check"]);
        ran.out + &ran.error
    };
    let versions = format!("versions: chart {version}, kubectl sluice {version}");
    for (configuration, tried) in [
        (&configuration, refusal.clone()),
        (&refusal, gate("sluice.own.svc")),
    ] {
        let out = told(configuration, tried);
        assert!(out.contains(&versions), "{out}");
    }
    let out = told(&refusal, refusal.clone());
    assert!(!out.contains("versions: "), "{out}");
    let out = told(&refusal, gate("sluice.elsewhere.svc"));
    assert!(!out.contains("versions: "), "{out}");
}

/// The chart's value `serviceAccount.name` gives the controller's account another name.
#[test]
fn rights_that_are_bound_to_an_account_of_another_name_count() {
    let grants = |groups: &[&str]| json!({"rules": [{"apiGroups": groups, "resources": ["*"], "verbs": ["*"]}]});
    let bound_to = |account: &str| {
        let subject =
            json!({"kind": "ServiceAccount", "name": account, "namespace": "sluice-system"});
        json!({"subjects": [subject], "roleRef": {"kind": "ClusterRole", "name": "widgets"}})
    };
    let deployment = json!({
        "metadata": {"namespace": "sluice-system", "name": "sluice"},
        "spec": {"template": {"spec": {"serviceAccountName": "ordering", "containers": [{}]}}},
    });
    let built_in = [
        "",
        "apps",
        "batch",
        "discovery.k8s.io",
        "storage.k8s.io",
        "apiextensions.k8s.io",
    ];
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let told = |account: &str| {
        let server = Server::start(&[
            (
                "/apis/apps/v1/deployments",
                list(std::slice::from_ref(&deployment)),
            ),
            (&format!("{roles}/sluice"), grants(&built_in)),
            (&format!("{roles}/widgets"), grants(&["example.com"])),
            (
                "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                list(&[bound_to(account)]),
            ),
        ]);
        let out = server.run(&["check"]).out;
        let rights = out.lines().find(|line| line.contains(" rights: "));
        rights.unwrap_or(&out).to_owned()
    };
    let ours = told("ordering");
    assert!(ours.contains("and kinds of example.com"), "{ours}");
    let of_others = told("sluice");
    assert!(of_others.contains("of custom ones none"), "{of_others}");
}

/// The server allows no caller anything.
#[test]
fn before_an_installation_rights_and_leftovers_are_told() {
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let server = Server::start(&[
        ("/version", json!({"gitVersion": "v1.36.3", "minor": "36"})),
        (reviews, json!({"status": {"allowed": false}})),
        ("/apis/apps/v1/deployments", list(&[])),
        ("/apis/networking.k8s.io/v1/networkpolicies", list(&[])),
    ]);
    let ran = server.run(&["check", "--pre"]);
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(
        (lines.len(), ran.code),
        (4, Some(1)),
        "{}{}",
        ran.out,
        ran.error
    );
    for (line, start) in lines.iter().zip([
        "ok       version: Kubernetes v1.36.3",
        "problem  rights: you may not create configmaps, services, serviceaccounts, ",
        "ok       webhook: no configuration is left behind",
        "ok       network: ",
    ]) {
        assert!(line.starts_with(start), "{line}");
    }
}

#[test]
fn without_an_installation_check_says_so() {
    let server = Server::start(&[
        ("/apis/apps/v1/deployments", list(&[])),
        ("/api/v1/namespaces", list(&[])),
    ]);
    let ran = server.run(&["check"]);
    assert!(
        ran.out
            .starts_with("problem  controller: sluice is not installed; "),
        "{}",
        ran.out
    );
    assert_eq!(ran.code, Some(1));
}

/// A pod that waits, its ReplicaSet and its Deployment.
fn shop() -> Server {
    let object = |kind: &str, name: &str, owner: Option<(&str, &str)>| {
        let owners = owner.map(|(kind, name)| json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "controller": true}]));
        json!({"kind": kind, "metadata": {"namespace": "shop", "name": name, "ownerReferences": owners,
            "labels": {"sluice.dev/gated": "true"}}})
    };
    Server::start(&[
        (
            "/api/v1/namespaces/shop",
            json!({"kind": "Namespace", "metadata": {"name": "shop"}}),
        ),
        (
            "/api/v1/namespaces/shop/pods/api-1",
            object("Pod", "api-1", Some(("ReplicaSet", "api-6c"))),
        ),
        (
            "/apis/apps/v1/namespaces/shop/replicasets/api-6c",
            object("ReplicaSet", "api-6c", Some(("Deployment", "api"))),
        ),
        (
            "/apis/apps/v1/namespaces/shop/deployments/api",
            object("Deployment", "api", None),
        ),
    ])
}

#[test]
fn a_pod_is_released_by_one_annotation() {
    let server = shop();
    let ran = server.run(&["release", "api-1"]);
    assert_eq!((ran.code, ran.error.as_str()), (Some(0), ""));
    assert!(
        ran.out.ends_with(
            "To undo it: kubectl annotate pods/api-1 --namespace shop sluice.dev/skip-\n"
        ),
        "{}",
        ran.out
    );
    let ran = server.run(&["release", "pod/api-1", "--owner"]);
    assert_eq!((ran.code, ran.error.as_str()), (Some(0), ""));
    let ran = server.run(&["release", "api-1", "--reason", "drained by hand"]);
    assert!(
        ran.out
            .ends_with(" sluice.dev/skip- sluice.dev/skip-reason-\n"),
        "{}",
        ran.out
    );
    let patch = json!({"metadata": {"annotations": {"sluice.dev/skip": "true"}}});
    let mut because = patch.clone();
    because["metadata"]["annotations"]["sluice.dev/skip-reason"] = json!("drained by hand");
    let expected = [
        (
            "/api/v1/namespaces/shop/pods/api-1".to_owned(),
            patch.clone(),
        ),
        (
            "/apis/apps/v1/namespaces/shop/deployments/api".to_owned(),
            patch,
        ),
        ("/api/v1/namespaces/shop/pods/api-1".to_owned(), because),
    ];
    assert_eq!(*server.written.lock().unwrap(), expected);
}

#[test]
fn a_pod_that_is_not_there_is_not_released() {
    let ran = shop().run(&["release", "api-2"]);
    assert_eq!(
        ran.error,
        "error: pod \"api-2\" not found in namespace \"shop\"\n"
    );
    assert_eq!(ran.code, Some(1));
}

/// The rules are kubectl's: of several files that KUBECONFIG names one may be missing, and a proxy counts where NO_PROXY does not
/// exclude the server.
#[test]
fn the_environment_says_which_cluster_and_by_which_way() {
    let shop = json!({"metadata": {"name": "shop"}});
    let server = Server::start(&[
        ("/api/v1/namespaces/shop", shop),
        ("/api/v1/namespaces/shop/pods", list(&[])),
    ]);
    let by = |no_proxy: &str| {
        let mut command = Command::new(binary("kubectl-sluice"));
        command
            .arg("status")
            .env_clear()
            .env("HOME", "/nonexistent");
        let several = format!("/nonexistent:{}", server.kubeconfig());
        command.env("KUBECONFIG", several).env("NO_PROXY", no_proxy);
        Ran::of(command.env("HTTPS_PROXY", "http://127.0.0.1:1"), "")
    };
    let ran = by("127.0.0.1");
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    let ran = by("");
    assert_eq!(ran.code, Some(1), "nobody is behind it");
}
