mod creations;
mod entries;
mod fit;
mod jobs;
mod kinds;
mod order;
mod targets;

use super::*;
use crate::manifest::Entries;
use crate::objects::Alias;

/// The findings for a manifest: level, document, object and message. `tests/it/cli/lint_folder.rs` looks at places.
fn lint(manifest: &str) -> Vec<String> {
    lint_of(manifest, &[])
}

/// The findings for a manifest but for the notes on rights, which every custom kind gets.
fn lint_with_rights(manifest: &str) -> Vec<String> {
    let mut lines = lint(manifest);
    lines.retain(|it| !it.contains(", and sluice may read "));
    lines
}

/// The findings for a manifest of a chart that gives its sub-charts these aliases: level, document, object and message.
fn lint_of(manifest: &str, aliases: &[Alias]) -> Vec<String> {
    let entries = Entries::new(manifest.as_bytes()).map(Result::unwrap);
    let objects: Vec<_> = entries
        .map(|entry| Object {
            aliases: aliases.into(),
            ..objects::place("a.yaml", entry.document, entry.object)
        })
        .collect();
    let line = |it: &Finding| {
        let (level, document) = (it.level.word(), it.place.document);
        format!("{level}: {document}: {}", it.what())
    };
    check(&objects).iter().map(line).collect()
}

/// A YAML document with a Deployment that has this list.
fn deployment(name: &str, list: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, annotations: {{sluice.dev/depends-on: '{list}'}}}}\nspec: {{template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: []}}}}}}\n"
    )
}

fn job(name: &str, metadata: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}{metadata}}}\nspec: {{{spec}}}\n"
    )
}

fn service(name: &str, spec: &str) -> String {
    format!("---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n")
}

const NOTHING: [&str; 0] = [];

#[test]
fn the_grammars_own_errors_are_told_with_their_place() {
    let lines = lint(&format!(
        "a: b\n{}",
        deployment("api", "job/migrate, Deploymnt/x")
    ));
    let expected = "error: 2: Deployment api: sluice.dev/depends-on: \
                    unknown kind \"Deploymnt\"; did you mean \"Deployment\"?";
    let values = "warning: 1: it has no kind, so it is no object; the values of a chart are given with --values";
    assert_eq!(lines, [expected, values]);
}

#[test]
fn every_key_is_read_wherever_it_stands() {
    let manifest = "
apiVersion: batch/v1
kind: CronJob
metadata:
  name: c
  annotations: {config.kubernetes.io/depends-on: '/x/y', sluice.dev/dependson: job/a}
spec:
  jobTemplate:
    metadata: {annotations: {sluice.dev/depends-on: deploy/a}}
    spec:
      template:
        metadata: {annotations: {sluice.dev/health: '/status/x >', helm.sh/readiness-success: '[1]'}}
        spec: {containers: []}
";
    let lines = lint(manifest);
    let starts = [
        "error: 1: CronJob c: config.kubernetes.io/depends-on: ",
        "error: 1: CronJob c: sluice.dev/dependson: unknown annotation; did you mean \"sluice.dev/depends-on\"?",
        "warning: 1: CronJob c, spec.jobTemplate: sluice.dev/depends-on: it has no effect here; ",
        "error: 1: CronJob c, spec.jobTemplate.spec.template: sluice.dev/health: ",
        "error: 1: CronJob c, spec.jobTemplate.spec.template: helm.sh/readiness-success: ",
    ];
    assert_eq!(lines.len(), starts.len(), "{lines:#?}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
}

#[test]
fn a_key_without_effect_is_a_warning() {
    let on = |kind: &str, key: &str, value: &str| {
        lint(&format!(
            "apiVersion: v1\nkind: {kind}\nmetadata: {{name: x, annotations: {{{key}: '{value}'}}}}\n"
        ))
    };
    let service = on("Service", "sluice.dev/depends-on", "job/a");
    assert!(
        service[0].ends_with("it has no effect on a Service; only workloads and pods wait, unless sluice.dev/hold: create holds its own creation"),
        "{service:?}"
    );
    let near = on("ConfigMap", "sluice.dev/helth", "a");
    assert!(
        near[0].starts_with("warning: ")
            && near[0].ends_with("did you mean \"sluice.dev/health\"?"),
        "{near:?}"
    );
    let allow = on("Service", "sluice.dev/allow-dependents-from", "a");
    assert!(allow[0].ends_with("write it on the Namespace"), "{allow:?}");
    assert_eq!(
        on("Namespace", "sluice.dev/allow-dependents-from", "a"),
        NOTHING
    );
    let typo = on("Namespace", "sluice.dev/allow-dependents-from", "a, b c");
    assert!(
        typo[0].contains("no namespace is called \"b c\"; name namespaces"),
        "{typo:?}"
    );
    for (kind, key, value) in [
        ("Namespace", "sluice.dev/inject", "enabled"),
        ("Namespace", "sluice.dev/hold", "enabled"),
        ("ConfigMap", "sluice.dev/plan", "true"),
    ] {
        let label = on(kind, key, value);
        assert!(label[0].starts_with("warning: "), "{label:?}");
        assert!(label[0].contains("write it as a label there"), "{label:?}");
    }
    let half = on("ConfigMap", "helm.sh/readiness-success", "[]");
    assert!(
        half[0].ends_with("it has no effect without helm.sh/readiness-failure"),
        "{half:?}"
    );
    assert_eq!(
        on(
            "ConfigMap",
            "config.kubernetes.io/depends-on",
            "apps/namespaces/a/Deployment/b"
        ),
        NOTHING
    );
}

#[test]
fn what_stands_twice_is_told() {
    let twice = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, annotations: {sluice.dev/depends-on: configmap/a:present}}
spec: {template: {metadata: {annotations: {sluice.dev/depends-on: 'node/a'}}, spec: {containers: []}}}
";
    let expected = "warning: 1: Deployment api: sluice.dev/depends-on: it stands on spec.template \
                    too, and that one counts; keep one of them";
    assert_eq!(lint(twice), [expected]);
}

#[test]
fn what_is_not_in_the_input_is_a_note() {
    let expected =
        "note: 1: Deployment api: it depends on Job/migrate, which is not among these objects";
    assert_eq!(lint(&deployment("api", "job/migrate")), [expected]);
    for list in [
        "node/a",
        "serviceaccount/default",
        "svc/kubernetes",
        "kube-system/deploy/coredns",
        "[{kind: Job, name: a, optional: true}]",
    ] {
        assert_eq!(lint(&deployment("api", list)), NOTHING, "{list}");
    }
    let expected =
        "note: 1: Deployment api: it depends on Job[app=typo], which selects none of these objects";
    let selector = "[{kind: Job, selector: app=typo}]";
    assert_eq!(lint(&deployment("api", selector)), [expected]);
    let custom = "---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: tls}\n";
    for list in [
        "Certificate.cert-manager.io/tls",
        "certificates.cert-manager.io/tls",
    ] {
        assert_eq!(
            lint_with_rights(&[deployment("api", list), custom.to_owned()].concat()),
            NOTHING
        );
    }
}

#[test]
fn cycles_are_told_with_their_whole_path() {
    let cycle = [
        deployment("a", "deploy/b"),
        deployment("b", "svc/c"),
        service("c", "selector: {app: c}"),
        deployment("c", "deploy/a"),
    ]
    .concat();
    let expected = "error: 1: Deployment a: these wait for each other and never start: Deployment a -> \
                    Deployment b -> Service c -> Deployment c -> Deployment a; take one entry out";
    assert_eq!(lint(&cycle), [expected]);
    let before = [
        deployment("z", "deploy/a"),
        deployment("a", "deploy/b"),
        deployment("b", "deploy/a"),
    ]
    .concat();
    let told = "start: Deployment a -> Deployment b -> Deployment a; take one entry out";
    let lines = lint(&before);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].ends_with(told), "{lines:?}");
    let shared = [
        deployment("api", "deploy/migrate, svc/db"),
        deployment("migrate", "deploy/db"),
        deployment("db", "deploy/api"),
        service("db", "selector: {app: db}"),
    ];
    let lines = lint(&shared.concat());
    assert_eq!(lines.len(), 2, "{lines:?}");
    for way in ["api -> Deployment migrate -> ", "api -> Service db -> "] {
        let told =
            format!("start: Deployment {way}Deployment db -> Deployment api; take one entry out");
        assert!(lines.iter().any(|it| it.ends_with(&told)), "{lines:?}");
    }
    let itself = "error: 1: Deployment a: it waits for itself and never starts; take the entry out of its list";
    assert_eq!(lint(&deployment("a", "deploy/a")), [itself]);
    let behind = [deployment("a", "svc/a"), service("a", "selector: {app: a}")].concat();
    let expected = "error: 1: Deployment a: Service/a selects its own pods, and nobody else is behind it: it \
                    has no endpoint before they start, and they wait for it; take it out of the list";
    assert_eq!(lint(&behind), [expected]);
}

#[test]
fn a_way_out_is_no_cycle() {
    let other = deployment("b", "deploy/a");
    for list in [
        "deploy/b:present",
        "[{kind: Deployment, name: b, optional: true}]",
        "[{any: [deploy/b, node/x]}]",
        "[{kind: Deployment, selector: app=b, min: 1}]",
    ] {
        let mut lines = lint(&[deployment("a", list), other.clone()].concat());
        lines.retain(|line| !line.starts_with("note: ") && !line.contains("selects none"));
        assert_eq!(lines, NOTHING, "{list}");
    }
    let long: String = (0..3_000)
        .map(|at| deployment(&format!("d{at}"), &format!("deploy/d{}", at + 1)))
        .collect();
    assert_eq!(lint(&long).len(), 1, "only the last is not there");
}

#[test]
fn dependencies_that_are_likely_not_meant_are_warnings() {
    let of =
        |target: &str, list: &str| lint(&[deployment("api", list), target.to_owned()].concat());
    let told = |lines: Vec<String>, part: &str| {
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].starts_with("warning: 1: Deployment api: "),
            "{lines:?}"
        );
        assert!(lines[0].contains(part), "{lines:?}");
    };
    told(
        of(&job("m", "", "ttlSecondsAfterFinished: 60"), "job/m"),
        "Job/m is removed 60 s after its end (ttlSecondsAfterFinished)",
    );
    let hook = |hook: &str, policy: &str| {
        job(
            "m",
            &format!(
                ", annotations: {{helm.sh/hook: '{hook}', helm.sh/hook-delete-policy: {policy}}}"
            ),
            "",
        )
    };
    told(
        of(&hook("pre-install", "hook-succeeded"), "job/m"),
        "Job/m is removed when it succeeds (helm.sh/hook-delete-policy)",
    );
    told(
        of(
            &hook("post-install,post-upgrade", "before-hook-creation"),
            "job/m",
        ),
        "a post-install hook",
    );
    assert_eq!(
        of(
            &hook("pre-install,post-upgrade", "before-hook-creation"),
            "job/m"
        ),
        NOTHING
    );
    told(
        of(&service("s", "clusterIP: None"), "svc/s"),
        "has no selector",
    );
    told(
        of(&service("s", "selector: {app: none}"), "svc/s"),
        "selects no pod of these objects",
    );
    assert_eq!(
        of(&service("s", "selector: {app: none}"), "svc/s:present"),
        NOTHING
    );
}

#[test]
fn a_hook_that_waits_for_what_comes_after_it_is_an_error() {
    let seed = |hook: &str| {
        let annotations =
            format!(", annotations: {{helm.sh/hook: '{hook}', sluice.dev/depends-on: deploy/db}}");
        job("seed", &annotations, "template: {spec: {containers: []}}")
    };
    let lint = |hook: &str| lint(&[seed(hook), deployment("db", "node/a")].concat());
    assert_eq!(
        lint("pre-upgrade, pre-install"),
        [
            "error: 1: Job seed: it is a pre-install hook, and Helm creates nothing else of a release before \
             its end: if Deployment/db is of the same release, neither comes; make it a plain object"
        ]
    );
    assert_eq!(lint("pre-upgrade"), NOTHING);
    assert_eq!(lint("post-install"), NOTHING);
}

#[test]
fn a_finding_is_data_too() {
    let entry = Entries::new(deployment("api", "jbo/a").as_bytes())
        .next()
        .unwrap()
        .unwrap()
        .object
        .clone();
    let objects = [objects::place("a.yaml", 1, entry)];
    let json = serde_json::to_value(&check(&objects)[0]).unwrap();
    let expected = serde_json::json!({
        "level": "error", "rule": "Grammar", "file": "a.yaml", "document": 1, "kind": "Deployment", "namespace": "",
        "name": "api", "path": "metadata", "key": "sluice.dev/depends-on",
        "message": "unknown kind \"jbo\"; did you mean \"job\"?",
    });
    assert_eq!(json, expected);
}

#[test]
fn variables_of_addresses_are_looked_for_in_the_pod_template() {
    let workload = |own: &str, template: &str| {
        let env = "env: [{name: DATABASE_URL, value: a}]";
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: api, annotations: {{{own}}}}}\nspec: {{template: {{metadata: \
             {{annotations: {{{template}}}}}, spec: {{containers: [{{name: app, {env}}}]}}}}}}\n"
        )
    };
    let list = |name: &str| format!("sluice.dev/depends-on: '- tcp: $({name})'");
    assert_eq!(lint(&workload("", &list("DATABASE_URL"))), NOTHING);
    for (manifest, expected) in [
        (
            workload("", &list("NOWHERE")),
            "no container of the pod has NOWHERE in its env",
        ),
        (
            workload(&list("DATABASE_URL"), ""),
            "write the list on the pod template",
        ),
    ] {
        let lines = lint(&manifest);
        let [line] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert!(
            line.starts_with("error: ") && line.contains(expected),
            "{line}"
        );
    }
    assert_eq!(
        lint(&deployment("api", "tcp://db.example.com:5432")),
        NOTHING
    );
}
