//! Tests of `kubectl sluice check`, which examines an installation.

use super::server::{Server, list};
use serde_json::{Value, json};

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

/// `check` counts the rights of the account that the Deployment names: the chart's value `serviceAccount.name` may give it another name.
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

/// `check --pre` on a server that allows the caller nothing: it tells the missing rights, and whether an earlier installation has left objects.
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
