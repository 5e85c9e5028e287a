use super::admission::{Answer, Tried};
use super::*;
use crate::held::Held;
use rules::lookup::{Lookup, Unavailable};
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
            health_rules: Lookup::Found(json!({"kind": "ConfigMap", "data": {"rules.yaml": text}})),
            roles: Lookup::Found(vec![role]),
        },
        configuration: Lookup::Found(json!({"webhooks": entries})),
        namespaces: Lookup::Found(vec![
            json!({"metadata": {"name": "shop", "labels": {"sluice.dev/inject": "enabled"}}}),
        ]),
        pending: Lookup::Found(vec![pending("api")]),
        stranded: Lookup::Found(Vec::new()),
        held: Held {
            pods: Lookup::Found(Vec::new()),
            jobs: Lookup::Found(Vec::new()),
        },
        tried: Tried {
            namespace: "default".to_owned(),
            answer: Answer::Gated,
        },
    }
}

/// The lines of everything that is not in order.
fn wrong(change: impl FnOnce(&mut Seen)) -> Vec<String> {
    let mut seen = healthy();
    change(&mut seen);
    let findings = judge(&seen);
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

/// That there is one line, and it begins and ends so.
fn assert_line(lines: &[String], begin: &str, end: &str) {
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with(begin), "{lines:?}");
    assert!(lines[0].ends_with(end), "{lines:?}");
}

#[test]
fn what_is_in_order_has_a_line_for_each_check() {
    let findings = judge(&healthy());
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
fn the_entries_are_those_of_the_chart() {
    let chart = include_str!("../../../charts/sluice/templates/webhook.yaml");
    let names = chart.lines().filter_map(|it| it.strip_prefix("  - name: "));
    // Only where holds are on, and nothing rests on it: without it a pod waits at its gate.
    let names = names.filter(|name| *name != "held-pods.sluice.dev");
    assert_eq!(names.collect::<Vec<_>>(), webhook::ENTRIES);
}

#[test]
fn replicas_are_counted() {
    let none = in_deployment("/status/readyReplicas", json!(0));
    assert_line(
        &none,
        "problem  controller: Deployment sluice-system/sluice: 0 of 2 replicas are ready: annotated objects are refused",
        "logs deployment/sluice",
    );
    let some = in_deployment("/status/readyReplicas", json!(1));
    assert_line(
        &some,
        "warning  controller: Deployment sluice-system/sluice: 1 of 2",
        "describe pods",
    );
    let old = in_deployment("/status/updatedReplicas", json!(1));
    assert_line(&old, "warning  controller: ", "wait for the rollout");
    let none = in_deployment("/spec/replicas", json!(0));
    assert_line(
        &none,
        "problem  controller: Deployment sluice-system/sluice is scaled to 0",
        "kubectl -n sluice-system scale deployment/sluice --replicas 2",
    );
    let single = in_deployment("/spec/replicas", json!(1));
    assert_line(
        &single,
        "warning  controller: ",
        "set the chart's value replicas to 2",
    );
}

#[test]
fn versions_that_differ_are_told() {
    let image = in_deployment(
        "/spec/template/spec/containers/0/image",
        json!("r/sluice-webhook:v2"),
    );
    assert_line(
        &image,
        "warning  versions: ",
        "image.tag and gate.image.tag alike",
    );
    let digest = in_deployment(
        "/spec/template/spec/containers/0/image",
        json!("r/sluice-webhook@sha256:1"),
    );
    assert_eq!(digest, Vec::<String>::new());
    let chart = in_deployment(
        "/metadata/labels/app.kubernetes.io~1version",
        json!("9.9.9"),
    );
    assert_line(
        &chart,
        "warning  versions: chart 9.9.9, ",
        "install the one of 9.9.9",
    );
}

#[test]
fn without_an_installation_only_that_is_told() {
    let lines = wrong(|seen| seen.installation.deployments = Lookup::Found(vec![]));
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].starts_with("problem  controller: sluice is not installed; "),
        "{lines:?}"
    );
    assert!(
        lines[1].ends_with("kubectl delete mutatingwebhookconfiguration sluice"),
        "{lines:?}"
    );
    let gone = wrong(|seen| {
        seen.installation.deployments = Lookup::Found(vec![]);
        seen.configuration = Lookup::NotFound;
    });
    assert_eq!(gone.len(), 1);
    let twice = wrong(|seen| {
        seen.installation.deployments = Lookup::Found(vec![deployment(), deployment()]);
        seen.configuration = Lookup::NotFound;
    });
    assert_line(
        &twice,
        "problem  controller: sluice is installed more than once",
        "uninstall all but one",
    );
}

#[test]
fn a_webhook_that_is_not_asked_or_not_trusted_is_told() {
    let none = wrong(|seen| seen.configuration = Lookup::NotFound);
    assert_line(
        &none,
        "problem  webhook: there is no Mutating",
        "make it again",
    );
    let changed = |pointer: &str, value: Value| {
        wrong(|seen| {
            if let Lookup::Found(configuration) = &mut seen.configuration {
                *configuration.pointer_mut(pointer).unwrap() = value;
            }
        })
    };
    let untrusted = changed("/webhooks/2/clientConfig/caBundle", Value::Null);
    assert_line(
        &untrusted,
        "problem  webhook: pods.sluice.dev has no caBundle",
        "look at its log",
    );
    let missing = changed("/webhooks/1/name", json!("x"));
    assert_line(
        &missing,
        "problem  webhook: the entry cronjobs.sluice.dev is missing",
        "make it again",
    );
    let ignored = changed("/webhooks/0/failurePolicy", json!("Ignore"));
    assert_line(
        &ignored,
        "warning  webhook: workloads.sluice.dev has failurePolicy Ignore",
        "says so",
    );
}

#[test]
fn a_pod_that_is_tried_and_has_no_gate_in_the_end_is_told() {
    let tried = |answer: Answer| wrong(|seen| seen.tried.answer = answer);
    assert_line(
        &tried(Answer::Ungated),
        "problem  admission: the API server admits a pod in namespace default ",
        "and at the controller's log",
    );
    let refused = |why: &str| tried(Answer::Refused(why.to_owned()));
    assert_line(
        &refused("failed calling webhook \"pods.sluice.dev\": connection refused"),
        "problem  admission: the API server does not get an answer ",
        "whether the control plane reaches port 10250 of them",
    );
    assert_line(
        &refused("exceeded quota"),
        "warning  admission: another rule of the cluster refuses ",
        ": exceeded quota; name another namespace with -n",
    );
    assert_line(
        &tried(Answer::Forbidden),
        "warning  admission: not tried: you may not create pods in namespace default; ",
        "or name another namespace with -n",
    );
    assert_line(
        &tried(Answer::Excluded),
        "warning  admission: nothing is gated",
        "to try it",
    );
    assert_line(
        &tried(Answer::NoNamespace),
        "warning  admission: not tried: namespace default does not exist",
        "with -n",
    );
}

#[test]
fn broken_rules_are_named() {
    let rules = |text: &str| {
        wrong(|seen| {
            seen.installation.health_rules = Lookup::Found(json!({"data": {"a.yaml": text}}));
        })
    };
    let broken = rules("- {apiVersion: example.com/v1, kind: Widget}");
    assert_line(
        &broken,
        "problem  health rules: ConfigMap sluice-system/health, a.yaml: rule 1: lacks current",
        "waits until it is mended",
    );
    let absent = wrong(|seen| seen.installation.health_rules = Lookup::NotFound);
    assert_line(
        &absent,
        "problem  health rules: ConfigMap sluice-system/health does not exist",
        "healthRules.configMap",
    );
    let unread = rules(
        "- {apiVersion: other.example.org/v1, current: status.ok}\n- {apiVersion: '*.com/v1', current: status.ok}",
    );
    assert_line(
        &unread,
        "warning  rights: there is a health rule for other.example.org, ",
        "rbac.kinds",
    );
}

#[test]
fn rights_that_are_missing_are_named() {
    let lines = wrong(|seen| {
        seen.installation.roles = Lookup::Found(vec![json!({"rules": [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]},
            {"apiGroups": ["apps", "example.com"], "resources": ["*"], "verbs": ["*"]},
        ]})]);
    });
    let missing = "Namespace, PersistentVolumeClaim, Pod, Service, CustomResourceDefinition, CronJob, Job, \
                   EndpointSlice, StorageClass";
    let begin = format!(
        "problem  rights: ClusterRole sluice does not let the controller follow {missing}: "
    );
    assert_line(&lines, &begin, "upgrade the release to mend it");
    let named = wrong(|seen| {
        if let Lookup::Found(role) = &mut seen.installation.roles {
            role[0]["rules"][2]["resourceNames"] = json!(["one"]);
        }
    });
    let begin = "problem  rights: ClusterRole sluice does not let the controller follow EndpointSlice, StorageClass: ";
    assert_line(&named, begin, "upgrade the release to mend it");
    let none = wrong(|seen| seen.installation.roles = Lookup::NotFound);
    assert_line(
        &none,
        "problem  rights: there is no ClusterRole sluice",
        "make it again",
    );
}

#[test]
fn a_label_without_effect_is_told() {
    let label = |name: &str, value: &str| {
        let namespace = json!({"metadata": {"name": name, "labels": {"sluice.dev/inject": value}}});
        wrong(|seen| seen.namespaces = Lookup::Found(vec![namespace]))
    };
    assert_line(
        &label("shop", "true"),
        "warning  namespaces: shop carries sluice.dev/inject: \"true\"",
        "write enabled",
    );
    assert_line(
        &label("kube-system", "enabled"),
        "warning  namespaces: kube-system ",
        "remove the label",
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
    let lines = wrong(|seen| {
        seen.installation.deployments = Lookup::Unavailable(Unavailable::Forbidden);
        seen.configuration = forbidden();
    });
    assert_eq!(lines.len(), 2);
}

#[test]
fn pods_that_cannot_be_told_anything_are_named() {
    let told = |uid: &str| json!({"involvedObject": {"kind": "Pod", "uid": uid}});
    let named = wrong(|seen| {
        let mut opened = pending("opened");
        opened["status"]["initContainerStatuses"][0]["state"] =
            json!({"terminated": {"exitCode": 0}});
        seen.pending = Lookup::Found(vec![pending("web"), pending("api"), pending("new"), opened]);
        let events = ["web", "api", "opened", "gone"].map(told);
        seen.stranded = Lookup::Found(events.to_vec());
    });
    assert_line(
        &named,
        "problem  gates: trusting no certificate of sluice any more, these pods wait for ever: shop/api, shop/web; delete them",
        "made again by hand)",
    );
    let unseen = wrong(|seen| seen.stranded = Lookup::Unavailable(Unavailable::Forbidden));
    assert_line(
        &unseen,
        "warning  gates: events could not be looked at",
        "administrator",
    );
}

fn held(seen: &mut Seen) {
    let named = |name: &str| json!({"metadata": {"namespace": "shop", "name": name}});
    seen.held = Held {
        pods: Lookup::Found(vec![named("web"), named("api")]),
        jobs: Lookup::Found(vec![named("seed")]),
    };
}

#[test]
fn what_is_held_is_named_where_nobody_lets_it_go() {
    let names = "Job shop/seed, Pod shop/api, Pod shop/web; ";
    let off = wrong(held);
    let begin = format!(
        "problem  holds: holds are off in this installation, so nobody lets these go: {names}delete the pods, and their owners make \
         others, which wait at their gates (a pod that nobody owns has to be made again by hand); kubectl sluice release \
         --all-holds has all of them start without waiting; "
    );
    assert_line(&off, &begin, "holds.enabled turns holds on again");

    let gone = wrong(|seen| {
        held(seen);
        seen.installation.deployments = Lookup::Found(Vec::new());
        seen.configuration = Lookup::NotFound;
    });
    let begin =
        format!("problem  holds: without sluice nobody lets these go: {names}delete the pods, ");
    assert!(
        gone[0].starts_with("problem  controller: sluice is not installed; "),
        "{gone:?}"
    );
    assert_line(
        &gone[1..],
        &begin,
        "kubectl sluice release --all-holds resumes the Jobs; or install sluice again, with holds.enabled",
    );

    let hidden = wrong(|seen| seen.held.jobs = Lookup::Unavailable(Unavailable::Forbidden));
    assert_line(
        &hidden,
        "warning  holds: Jobs that are held could not be looked at: ",
        "an administrator",
    );
}

#[test]
fn what_is_held_and_let_go_is_counted_with_what_an_uninstall_needs() {
    let line = |ready: u64, change: fn(&mut Seen)| {
        let mut seen = healthy();
        let mut deployment = deployment();
        deployment["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["--holds=asked"]);
        deployment["status"]["readyReplicas"] = json!(ready);
        seen.installation.deployments = Lookup::Found(vec![deployment]);
        change(&mut seen);
        judge(&seen).last().map(ToString::to_string).unwrap()
    };
    let before = "before an uninstall: kubectl sluice release --all-holds";
    assert_eq!(
        line(2, held),
        format!("ok       holds: held now: 2 pods, 1 Job; {before}")
    );
    assert_eq!(
        line(2, |_| {}),
        format!("ok       holds: nothing is held now; {before}")
    );
    let down = line(0, held);
    assert!(
        down.starts_with("problem  holds: no replica is ready to let these go: Job shop/seed"),
        "{down}"
    );
}
