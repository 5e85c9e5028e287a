//! Tests the findings on the objects that lists name, and on the objects that pods need before they start.

use super::{NOTHING, deployment, lint, service};

const PROBED: &str = "{name: c, readinessProbe: {exec: {command: ['true']}}}";

/// A YAML document with a Deployment `db`, with this begin of its spec and this container.
fn db(spec: &str, container: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: db}}\n\
         spec: {{{spec}template: {{metadata: {{labels: {{app: db}}}}, spec: {{containers: [{container}]}}}}}}\n"
    )
}

#[test]
fn available_that_needs_no_pod_is_a_warning() {
    let all = "strategy: {rollingUpdate: {maxUnavailable: 1}}, ";
    let of = |list: &str, spec: &str| lint(&[deployment("api", list), db(spec, PROBED)].concat());
    let expected = "warning: 1: Deployment api: it depends on Deployment/db:available, and its spec.strategy lets all replicas be unavailable: \
                    Kubernetes calls it available without a pod, so nothing is waited for; write deployment/db, or lower its maxUnavailable";
    assert_eq!(of("deploy/db:available", all), [expected]);
    assert_eq!(
        of("[{any: [deploy/db:available, node/x]}]", all),
        [expected]
    );
    assert_eq!(
        of(
            "[{kind: Deployment, name: db, state: available, timeout: 1m}]",
            "strategy: {rollingUpdate: {maxUnavailable: 100%}}, replicas: 3, "
        ),
        [expected]
    );
    for (list, spec) in [
        ("deploy/db", all),
        ("deploy/db:present", all),
        ("deploy/db:available", ""),
        (
            "deploy/db:available",
            "replicas: 2, strategy: {rollingUpdate: {maxUnavailable: 1}}, ",
        ),
    ] {
        assert_eq!(of(list, spec), NOTHING, "{list} {spec}");
    }
}

#[test]
fn a_target_without_a_readiness_probe_is_one_note() {
    let bare = "{name: c}";
    let told = |document: usize, others: &str| {
        format!(
            "note: {document}: Deployment db: Deployment api waits for it{others}, and none of its containers has a readiness probe: it counts as \
             ready as soon as they run; add a readinessProbe that asks what the wait is for"
        )
    };
    let svc = service("db", "selector: {app: db}");
    let api = |list: &str| deployment("api", list);
    for list in ["deploy/db", "svc/db", "svc/db, deploy/db:available"] {
        let lines = lint(&[api(list), svc.clone(), db("", bare)].concat());
        assert_eq!(lines, [told(3, "")], "{list}");
    }
    let two = [
        api("svc/db"),
        deployment("web", "deploy/db"),
        svc.clone(),
        db("", bare),
    ];
    assert_eq!(lint(&two.concat()), [told(4, " (and 1 more)")]);
    for (list, container) in [
        ("deploy/db", PROBED),
        ("deploy/db:present", bare),
        ("svc/db:connects", bare),
        (
            "[{kind: Deployment, name: db, health: /status/replicas >= 1}]",
            bare,
        ),
        ("node/x", bare),
    ] {
        let lines = lint(&[api(list), svc.clone(), db("", container)].concat());
        assert_eq!(lines, NOTHING, "{list}");
    }
    let job = super::job(
        "m",
        "",
        "template: {spec: {restartPolicy: Never, containers: [{name: c}]}}",
    );
    assert_eq!(lint(&[api("job/m"), job].concat()), NOTHING);
}

#[test]
fn an_expression_on_a_text_is_an_error() {
    let flags = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: flags}\ndata: {migrated: \"false\"}\n";
    let of = |entry: &str| lint(&[deployment("api", entry), flags.to_owned()].concat());
    for (entry, told) in [
        (
            "[{kind: ConfigMap, name: flags, health: [\"/data/migrated == true\"]}]",
            "ConfigMap/flags: /data/migrated == true never holds, since that field is a text; write == \"true\"",
        ),
        (
            "[{kind: ConfigMap, name: flags, health: [\"/metadata/labels/version >= 3\"]}]",
            "ConfigMap/flags: /metadata/labels/version >= 3 never holds, since that field is a text and texts have no order; compare it \
             with == or !=",
        ),
        (
            "[{any: [node/x, {kind: ConfigMap, name: flags, health: [\"/data/count != 0\"]}]}]",
            "ConfigMap/flags: /data/count != 0 never holds, since that field is a text; write != \"0\"",
        ),
    ] {
        let expected = format!("error: 1: Deployment api: it waits for {told}");
        assert_eq!(of(entry), [expected], "{entry}");
    }
    let entry = r#"[{kind: ConfigMap, name: flags, health: ["/data/migrated == \"true\""]}]"#;
    assert_eq!(of(entry), NOTHING);
    let own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: f, annotations: {sluice.dev/health.data.migrated: '== true'}}\n";
    let told = "/data.migrated == true never holds";
    let [line] = lint(own).try_into().expect("one line");
    let told = told.replace('.', "/");
    assert!(
        line.starts_with("error: 1: ConfigMap f: sluice.dev/health.data.migrated: ")
            && line.contains(&told),
        "{line}"
    );
}

/// A YAML document with a Job `setup` that is a hook by these annotations; `pod` and `container` are fields of its pod and its container.
fn hook(annotations: &str, pod: &str, container: &str) -> String {
    super::job(
        "setup",
        &format!(", annotations: {{{annotations}}}"),
        &format!(
            "template: {{spec: {{restartPolicy: Never, {pod}containers: [{{name: c, {container}}}]}}}}"
        ),
    )
}

fn plain(kind: &str, name: &str, annotations: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\n"
    )
}

#[test]
fn what_a_hook_uses_is_an_earlier_hook() {
    let pre = "helm.sh/hook: pre-install";
    let env = "envFrom: [{configMapRef: {name: app}}]";
    for (job, object, told) in [
        (
            hook(pre, "", env),
            plain("ConfigMap", "app", ""),
            "ConfigMap/app (envFrom), and Helm makes it only once this hook is done: they never start; make it a hook of the same phase with a \
             lower helm.sh/hook-weight",
        ),
        (
            hook(pre, "serviceAccountName: robot, ", ""),
            plain("ServiceAccount", "robot", ""),
            "ServiceAccount/robot (serviceAccountName), and Helm makes it only once this hook is done: they never start; make it a hook of the \
             same phase with a lower helm.sh/hook-weight",
        ),
        (
            hook(pre, "volumes: [{name: v, secret: {secretName: tls}}], ", ""),
            plain(
                "Secret",
                "tls",
                "helm.sh/hook: pre-install, helm.sh/hook-weight: \"5\"",
            ),
            "Secret/tls (volumes), and Helm makes it after this hook, by weight (5, and 0 here), then by name: they never start; give it a lower \
             helm.sh/hook-weight",
        ),
        (
            hook(pre, "", env),
            plain("ConfigMap", "app", "helm.sh/hook: post-install"),
            "ConfigMap/app (envFrom), and as a post-install hook it comes only once this is ready: they never start; make it an earlier hook, or \
             a plain object",
        ),
        (
            hook(
                "argocd.argoproj.io/hook: PreSync",
                "imagePullSecrets: [{name: r}], ",
                "",
            ),
            plain("Secret", "r", ""),
            "Secret/r (imagePullSecrets), and Argo CD makes it only once this hook is done: they never start; make it a PreSync hook of an \
             earlier sync wave",
        ),
        (
            hook(
                "argocd.argoproj.io/sync-wave: \"1\"",
                "",
                "env: [{name: A, valueFrom: {configMapKeyRef: {name: app, key: a}}}]",
            ),
            plain("ConfigMap", "app", "argocd.argoproj.io/sync-wave: \"2\""),
            "ConfigMap/app (env), and Argo CD makes it in wave 2, which comes only once wave 1 is healthy: they never start; put it into this \
             wave, or into an earlier one",
        ),
    ] {
        let expected = format!("error: 1: Job setup: its pods need {told}");
        assert_eq!(lint(&[job, object].concat()), [expected]);
    }
    for (job, object) in [
        (
            hook(pre, "", env),
            plain(
                "ConfigMap",
                "app",
                "helm.sh/hook: pre-install, helm.sh/hook-weight: \"-5\"",
            ),
        ),
        (
            hook(
                pre,
                "",
                "envFrom: [{configMapRef: {name: app, optional: true}}]",
            ),
            plain("ConfigMap", "app", ""),
        ),
        (
            hook("helm.sh/hook: post-install", "", env),
            plain("ConfigMap", "app", ""),
        ),
        (
            hook("helm.sh/hook: pre-upgrade", "", env),
            plain("ConfigMap", "app", ""),
        ),
        (hook(pre, "", env), plain("ConfigMap", "other", "")),
        (
            hook("argocd.argoproj.io/hook: Sync", "", env),
            plain("ConfigMap", "app", ""),
        ),
    ] {
        assert_eq!(lint(&[job, object].concat()), NOTHING);
    }
}

#[test]
fn a_service_whose_workloads_are_scaled_to_zero_is_a_warning() {
    let svc = service("db", "selector: {app: db}");
    let api = deployment("api", "svc/db");
    let stopped = db("replicas: 0, ", PROBED);
    let lines = lint(&[&api, &svc, &stopped].map(String::as_str).concat());
    let expected = "warning: 1: Deployment api: Service/db has no endpoint while the workloads behind it are scaled to zero, so the wait does \
                    not end; raise their spec.replicas";
    assert_eq!(lines, [expected]);
    // One that runs is enough.
    let other = db("", PROBED).replacen("name: db", "name: db-blue", 1);
    let lines = lint(&[&api, &svc, &stopped, &other].map(String::as_str).concat());
    assert_eq!(lines, NOTHING);
}

#[test]
fn a_kind_that_needs_rights_is_one_note_with_the_value() {
    let told = |list: &str, kind: &str, value: &str| {
        format!(
            "note: 1: Deployment api: it depends on {list}, and sluice may read {kind} only where the values of its chart have {value}; without \
             that the wait does not end"
        )
    };
    let of = |list: &str| lint(&deployment("api", list));
    let rights = |lines: Vec<String>| -> Vec<String> {
        let is_it = |it: &String| it.contains("may read");
        lines.into_iter().filter(is_it).collect()
    };
    for (list, kind, value) in [
        ("Secret/db", "Secret", "rbac.secrets: true"),
        (
            "Certificate.cert-manager.io/web",
            "Certificate.cert-manager.io",
            "rbac.presets: [cert-manager]",
        ),
        (
            "policies.kyverno.io/p",
            "policies.kyverno.io",
            "rbac.presets: [kyverno]",
        ),
        (
            "Widget.example.com/w",
            "Widget.example.com",
            "rbac.kinds with the group example.com",
        ),
    ] {
        assert_eq!(rights(of(list)), [told(list, kind, value)], "{list}");
        let any = format!("[{{any: [{list}, job/m]}}]");
        assert_eq!(rights(of(&any)).len(), 1, "{any}");
    }
    for list in ["configmap/c", "Rollout.argoproj.io/r", "svc/db"] {
        assert_eq!(rights(of(list)), NOTHING, "{list}");
    }
    let two = [
        deployment("api", "secret/a"),
        deployment("web", "secret/a, secret/b"),
    ];
    assert_eq!(rights(lint(&two.concat())).len(), 1, "once for a kind");
    let role = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: w, labels: {sluice.dev/aggregate-to-watch: \
                'true'}}\nrules: [{apiGroups: [example.com], resources: [widgets], verbs: [get, list, watch]}]\n";
    let granted = [deployment("api", "Widget.example.com/w"), role.to_owned()];
    assert_eq!(rights(lint(&granted.concat())), NOTHING);
    let other = role.replace("widgets", "gears");
    let other = [deployment("api", "Widget.example.com/w"), other];
    assert_eq!(rights(lint(&other.concat())).len(), 1, "another resource");
    let every = role.replace("example.com", "'*'").replace("widgets", "'*'");
    let every = [deployment("api", "Widget.example.com/w"), every];
    assert_eq!(rights(lint(&every.concat())), NOTHING, "every resource");
}

#[test]
fn a_loop_beside_a_list_is_a_note() {
    let of = |list: &str, command: &str| {
        let annotations = if list.is_empty() {
            String::new()
        } else {
            format!(", annotations: {{sluice.dev/depends-on: '{list}'}}")
        };
        lint(&format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: api{annotations}}}\nspec: {{template: {{metadata: {{labels: {{app: \
             api}}}}, spec: {{initContainers: [{{name: prepare, command: [sh, -c, '{command}']}}], containers: [{PROBED}]}}}}}}\n"
        ))
    };
    let waits = "until nc -z db 5432; do sleep 1; done";
    let expected = "note: 1: Deployment api: its init container \"prepare\" waits by itself (nc -z db 5432), beside the list; take it away once the \
                    list says the same";
    assert_eq!(of("node/x", waits), [expected]);
    assert_eq!(of("", waits), NOTHING, "no list");
    assert_eq!(of("node/x", "cp -r /seed /data"), NOTHING, "no loop");
    assert_eq!(
        of("node/x", "until [ -f /shared/done ]; do sleep 1; done"),
        NOTHING,
        "a file of its own pod"
    );
}
