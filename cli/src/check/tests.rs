//! Tests the lines that `check` prints about an installed sluice.

mod admission;
mod controller;
mod creations;
mod gates;
mod health;
mod holds;
mod namespaces;
mod node_rules;
mod prefetch;
mod rights;
mod webhook;

use super::admission::Tried;
use super::creations::Creations;
use super::prefetch::PullTrial;
use super::trial::TrialOutcome;
use super::*;
use crate::held::Held;
use crate::home::Home;
use serde_json::{Value, json};

fn deployment() -> Value {
    json!({
        "metadata": {"namespace": "sluice-system", "name": "sluice",
            "labels": {"app.kubernetes.io/version": env!("CARGO_PKG_VERSION")}},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [{
            "image": "localhost:5000/sluice-webhook:dev",
            "args": ["--gate-image=localhost:5000/sluice-gate:dev", "--health-rules-configmap=health"]}]}}},
        "status": {"readyReplicas": 2, "updatedReplicas": 2},
    })
}

fn pending(name: &str) -> Value {
    let gate = json!({"name": "sluice-gate", "state": {"running": {}}});
    json!({
        "metadata": {"namespace": "shop", "name": name, "uid": name},
        "status": {"phase": "Pending", "initContainerStatuses": [gate]},
    })
}

fn healthy() -> Seen {
    let entry = |name: &str| json!({"name": name, "clientConfig": {"caBundle": "LS0t"}, "failurePolicy": "Fail"});
    let entries =
        ["workloads", "cronjobs", "pods", "every-pod"].map(|it| entry(&format!("{it}.sluice.dev")));
    let follow = |groups: &[&str], resources: &[&str]| json!({"apiGroups": groups, "resources": resources, "verbs": ["get", "list", "watch"]});
    let role = json!({"rules": [
        follow(&[""], &["namespaces", "persistentvolumeclaims", "pods", "services"]),
        follow(&["apps", "batch"], &["cronjobs", "daemonsets", "deployments", "jobs", "replicasets", "statefulsets"]),
        follow(&["discovery.k8s.io", "storage.k8s.io"], &["endpointslices", "storageclasses"]),
        follow(&["apiextensions.k8s.io"], &["customresourcedefinitions"]),
        follow(&["example.com"], &["widgets"]),
        {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["mutatingwebhookconfigurations"],
            "resourceNames": ["sluice"], "verbs": ["get", "list", "watch", "patch"]},
    ]});
    let text = "- {apiVersion: example.com/v1, kind: Widget, current: status.ok}";
    Seen {
        installation: Installation {
            deployments: Lookup::Found(vec![deployment()]),
            published: None,
            health_rules: Lookup::Found(json!({"kind": "ConfigMap", "data": {"rules.yaml": text}})),
            roles: Lookup::Found(vec![role]),
        },
        own: Lookup::NotFound,
        configuration: Lookup::Found(json!({"webhooks": entries})),
        creations: Creations {
            own: Lookup::NotFound,
            all: Lookup::NotFound,
        },
        namespaces: Lookup::Found(vec![
            json!({"metadata": {"name": "shop", "labels": {"sluice.dev/inject": "enabled"}}}),
        ]),
        agents: Vec::new(),
        pending: Lookup::Found(vec![pending("api")]),
        stranded: Lookup::Found(Vec::new()),
        held: Held {
            pods: Lookup::Found(Vec::new()),
            jobs: Lookup::Found(Vec::new()),
        },
        tried: Tried {
            namespace: "default".to_owned(),
            answer: TrialOutcome::Gated {
                pulls: false,
                home: None,
            },
            pulls: PullTrial::Taken,
        },
    }
}

/// The lines of `check` that are not `ok`, for the healthy installation with this change.
fn wrong(change: impl FnOnce(&mut Seen)) -> Vec<String> {
    let mut seen = healthy();
    change(&mut seen);
    let findings = judge(&seen, Timestamp::UNIX_EPOCH);
    let wrong = findings.iter().filter(|it| it.result != Outcome::Ok);
    wrong.map(ToString::to_string).collect()
}

fn in_deployment(pointer: &str, value: Value) -> Vec<String> {
    wrong(|seen| {
        let mut deployment = deployment();
        *deployment.pointer_mut(pointer).unwrap() = value;
        seen.installation.deployments = Lookup::Found(vec![deployment]);
    })
}

/// Asserts that there is one line, with this begin and this end.
fn assert_line(lines: &[String], begin: &str, end: &str) {
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with(begin), "{lines:?}");
    assert!(lines[0].ends_with(end), "{lines:?}");
}

#[test]
fn what_is_in_order_has_a_line_for_each_check() {
    let findings = judge(&healthy(), Timestamp::UNIX_EPOCH);
    let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
    let version = env!("CARGO_PKG_VERSION");
    let expected = [
        "ok       controller: Deployment sluice-system/sluice: 2 of 2 replicas are ready".to_owned(),
        format!(
            "ok       versions: chart {version}, controller localhost:5000/sluice-webhook:dev, gate \
             localhost:5000/sluice-gate:dev, kubectl sluice {version}"
        ),
        "ok       webhook: MutatingWebhookConfiguration sluice: every entry carries the CA's certificate".to_owned(),
        "ok       admission: the API server gives a pod in namespace default its gate (a dry run)".to_owned(),
        "ok       prefetch: the API server takes a pod in namespace default whose images are pulled while its gate waits (a dry run)"
            .to_owned(),
        "ok       health rules: ConfigMap sluice-system/health: 1 rule in order".to_owned(),
        "ok       rights: the controller may follow the built-in kinds, and kinds of example.com".to_owned(),
        "ok       namespaces: every pod is gated in shop".to_owned(),
        "ok       gates: every gate that waits trusts the controller".to_owned(),
        "ok       holds: they are off, and nothing is held".to_owned(),
    ];
    assert_eq!(lines, expected);
    let json = serde_json::to_value(&findings[0]).unwrap();
    assert_eq!(
        (&json["result"], &json["check"]),
        (&json!("ok"), &json!("controller"))
    );
}

#[test]
fn what_may_not_be_read_is_a_warning() {
    let forbidden = || Lookup::Unavailable(Unavailable::Forbidden);
    let lines = wrong(|seen| {
        seen.configuration = Lookup::Unavailable(Unavailable::Forbidden);
        seen.installation.roles = Lookup::Unavailable(Unavailable::Forbidden);
        seen.installation.health_rules = Lookup::Unavailable(Unavailable::Forbidden);
        seen.namespaces = Lookup::Unavailable(Unavailable::Forbidden);
    });
    assert_eq!(lines.len(), 4);
    for line in &lines {
        assert!(line.starts_with("warning  "), "{line}");
        assert!(
            line.ends_with("ask with the rights of an administrator"),
            "{line}"
        );
    }
    let hidden = |configuration: Lookup<Value>| {
        let lines = wrong(|seen| {
            seen.installation.deployments = Lookup::Unavailable(Unavailable::Forbidden);
            seen.configuration = configuration;
        });
        lines.len()
    };
    assert_eq!(hidden(forbidden()), 2);
    // There may be a controller, so the configuration may be no left one.
    assert_eq!(
        [healthy().configuration, Lookup::NotFound].map(hidden),
        [1, 1]
    );
}

/// A caller that may not list Deployments has the settings that the chart publishes.
#[test]
fn the_published_settings_count_where_the_deployment_may_not_be_read() {
    let published = |seen: &mut Seen, withheld: &str, arguments: &str| {
        let data = json!({"version": env!("CARGO_PKG_VERSION"), "withheld": withheld, "arguments": arguments});
        let map = json!({"metadata": {"namespace": "own"}, "data": data});
        seen.installation.deployments = Lookup::Unavailable(Unavailable::Forbidden);
        seen.installation.published = Published::of(&map);
    };
    let not_seen = |begin: &str| {
        let told =
            "could not be looked at: you may not read it; ask with the rights of an administrator";
        format!("warning  {begin} {told}")
    };
    let deployment = not_seen("controller: the Deployment");
    let lines = wrong(|seen| published(seen, "", "--health-rules-configmap=health"));
    assert_eq!(lines, std::slice::from_ref(&deployment));

    let lines = wrong(|seen| {
        published(
            seen,
            "crossNamespace.allow, nodeRules, extraArgs",
            "--health-rules-configmap=health\n--watch-cluster-role=w",
        );
        seen.installation.health_rules = Lookup::NotFound;
        seen.held.jobs = Lookup::Found(vec![json!({})]);
        seen.configuration = Lookup::NotFound;
    });
    let [first, settings, webhook, rules, role, holds] = lines.as_slice() else {
        panic!("{lines:?}")
    };
    assert_eq!(*first, deployment);
    assert_eq!(
        *settings,
        not_seen("settings: the chart's values nodeRules, extraArgs")
    );
    for (line, begin) in [
        (webhook, "problem  webhook: there is no Mutating"),
        (
            rules,
            "problem  health rules: ConfigMap own/health does not exist",
        ),
        (role, "problem  rights: there is no ClusterRole w, "),
    ] {
        assert!(line.starts_with(begin), "{line}");
    }
    let controller = "holds: held now: 1 Job; the controller that lets these go";
    assert_eq!(*holds, not_seen(controller));
}

#[test]
fn a_command_of_another_version_than_the_published_one_says_so() {
    let lines = wrong(|seen| {
        let data = json!({"version": "9.9.9", "arguments": "--health-rules-configmap=health"});
        seen.installation.deployments = Lookup::Unavailable(Unavailable::Forbidden);
        seen.installation.published =
            Published::of(&json!({"metadata": {"namespace": "own"}, "data": data}));
    });
    assert_line(
        &lines[1..],
        "warning  versions: chart 9.9.9, kubectl sluice ",
        "install the one of 9.9.9",
    );
}
