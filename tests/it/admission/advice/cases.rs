//! The cases of the advice: dependents on which there is advice, and dependents on which there is none.

mod at_once;

pub(super) use at_once::of_what_counts_at_once;

use super::Case;
use serde_json::{Value, json};

fn object(api_version: &str, kind: &str, name: &str, annotations: Value, spec: Value) -> Value {
    let labels = json!({"app.kubernetes.io/instance": "r"});
    let metadata =
        json!({"name": name, "namespace": "shop", "labels": labels, "annotations": annotations});
    json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec})
}

fn template() -> Value {
    json!({"metadata": {"labels": {"app": "api"}}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}})
}

/// Returns a Deployment that depends on `job/m`; `annotations` add to its annotations or replace them.
fn api(annotations: Value) -> Value {
    waits("apps/v1", "Deployment", annotations)
}

fn waits(api_version: &str, kind: &str, annotations: Value) -> Value {
    let mut own = json!({"sluice.dev/depends-on": "job/m"});
    let object_of = |value: &Value| value.as_object().cloned().unwrap_or_default();
    if let Some(own) = own.as_object_mut() {
        own.extend(object_of(&annotations));
    }
    object(
        api_version,
        kind,
        "api",
        own,
        json!({"template": template()}),
    )
}

fn on(list: &str) -> Value {
    api(json!({"sluice.dev/depends-on": list}))
}

fn job(annotations: Value, spec: Value) -> Value {
    object("batch/v1", "Job", "m", annotations, spec)
}

fn hook(hook: &str, weight: &str) -> Value {
    json!({"helm.sh/hook": hook, "helm.sh/hook-weight": weight})
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[key.replace("~1", "/")] = value;
    object
}

fn service(selector: Value) -> Value {
    let spec = json!({"selector": selector});
    object("v1", "Service", "front", json!({}), spec)
}

/// Returns a case in which the dependency is in the cluster when the dependent is applied.
fn case(
    name: &'static str,
    dependent: Value,
    beside: Value,
    expected: &'static [&'static str],
) -> Case {
    Case {
        name,
        dependent,
        beside,
        is_there: true,
        expected,
    }
}

/// Returns a case in which the dependency is not in the cluster yet when the dependent is applied.
fn before(
    name: &'static str,
    dependent: Value,
    beside: Value,
    expected: &'static [&'static str],
) -> Case {
    Case {
        is_there: false,
        ..case(name, dependent, beside, expected)
    }
}

pub(super) fn of_jobs_that_go_away() -> Vec<Case> {
    let ttl = |seconds: i64| job(json!({}), json!({"ttlSecondsAfterFinished": seconds}));
    let policy = "helm.sh/hook-delete-policy";
    let deleted = json!({"helm.sh/hook": "pre-install", policy: "hook-succeeded"});
    let no_hook = json!({policy: "hook-succeeded"});
    let optional = "[{kind: Job, name: m, optional: true}]";
    vec![
        case("plain", on("job/m"), job(json!({}), json!({})), &[]),
        case("removed at once", on("job/m"), ttl(0), &["Removed"]),
        case(
            "removed before a day",
            on("job/m"),
            ttl(86_399),
            &["Removed"],
        ),
        case("removed after a day", on("job/m"), ttl(86_400), &[]),
        case(
            "removed and present",
            on("job/m:present"),
            ttl(60),
            &["Removed"],
        ),
        case("removed and optional", on(optional), ttl(60), &[]),
        case(
            "hook-succeeded",
            on("job/m"),
            job(deleted, json!({})),
            &["Removed"],
        ),
        case(
            "hook-succeeded, no hook",
            on("job/m"),
            job(no_hook, json!({})),
            &[],
        ),
    ]
}

pub(super) fn of_installers() -> Vec<Case> {
    let target = |hooks: &str| job(hook(hooks, "0"), json!({}));
    let api = || on("job/m");
    let hook_job = |hooks: &str, weight: &str| waits("batch/v1", "Job", hook(hooks, weight));
    let plain = || job(json!({}), json!({}));
    let argo = |key: &str, value: &str| {
        let key = format!("argocd.argoproj.io/{key}");
        job(json!({key: value}), json!({}))
    };
    let other = |target: Value| {
        let instance = "/metadata/labels/app.kubernetes.io~1instance";
        with(target, instance, json!("other"))
    };
    let selected = || on("[{kind: Job, selector: app.kubernetes.io/instance=r}]");
    let any = || on("[{any: [job/m, job/n]}]");
    vec![
        case("pre-install", api(), target("pre-install"), &[]),
        case("both ends", api(), target("pre-install,post-upgrade"), &[]),
        case(
            "post-install",
            api(),
            target("post-install"),
            &["RunsAfterwards"],
        ),
        case(
            "selected",
            selected(),
            target("post-install"),
            &["RunsAfterwards"],
        ),
        case("one of several", any(), target("post-install"), &[]),
        case("another release", api(), other(target("post-install")), &[]),
        case(
            "post-upgrade",
            api(),
            target("post-upgrade"),
            &["NeverMade"],
        ),
        case("pre-upgrade", api(), target("pre-upgrade"), &["NeverMade"]),
        case("post-delete", api(), target("post-delete"), &["NeverMade"]),
        case("pre-delete", api(), target("pre-delete"), &["NeverMade"]),
        case(
            "pre-rollback",
            api(),
            target("pre-rollback"),
            &["NeverMade"],
        ),
        case("test", api(), target("test"), &["NeverMade"]),
        case(
            "an earlier hook",
            hook_job("post-install", "1"),
            target("post-install"),
            &[],
        ),
        case(
            "a later hook",
            hook_job("post-install", "-1"),
            target("post-install"),
            &["LaterHook"],
        ),
        case(
            "an upgrade's hook",
            hook_job("pre-upgrade", "0"),
            plain(),
            &[],
        ),
        before(
            "the first hook",
            hook_job("pre-install", "0"),
            plain(),
            &["RunsBefore"],
        ),
        case(
            "a later wave",
            api(),
            argo("sync-wave", "5"),
            &["LaterWave"],
        ),
        case("an earlier wave", api(), argo("sync-wave", "-5"), &[]),
        case(
            "another application",
            api(),
            other(argo("sync-wave", "5")),
            &[],
        ),
        case(
            "PostSync",
            api(),
            argo("hook", "PostSync"),
            &["RunsAfterwards"],
        ),
        case("SyncFail", api(), argo("hook", "SyncFail"), &["NeverMade"]),
    ]
}

pub(super) fn of_workloads() -> Vec<Case> {
    let plain = || job(json!({}), json!({}));
    let progress = "/spec/progressDeadlineSeconds";
    let patient = api(json!({"sluice.dev/timeout": "30m"}));
    let seed = waits("batch/v1", "Job", json!({}));
    let misplaced = api(json!({"sluice.dev/gate-position": "last"}));
    let missing = json!({"sluice.dev/gate-position": "after=gone"});
    let missing = with(on("job/m"), "/spec/template/metadata/annotations", missing);
    let front = |selector: Value| service(selector);
    let named = |name: &str| {
        with(
            on("job/m"),
            "/spec/template/spec/containers/0/name",
            json!(name),
        )
    };
    vec![
        case("itself", on("deployment/api"), plain(), &["SelfReference"]),
        case(
            "its own Service",
            on("svc/front"),
            front(json!({"app": "api"})),
            &["OwnService"],
        ),
        case(
            "its own Service exists",
            on("svc/front:present"),
            front(json!({"app": "api"})),
            &[],
        ),
        case(
            "no selector",
            on("svc/front"),
            front(Value::Null),
            &["NoSelector"],
        ),
        case(
            "a short deadline",
            with(on("job/m"), progress, json!(60)),
            plain(),
            &["ProgressDeadline"],
        ),
        case(
            "the default deadline",
            with(on("job/m"), progress, json!(600)),
            plain(),
            &[],
        ),
        case("a longer timeout", patient, plain(), &["ProgressDeadline"]),
        case(
            "a Job's deadline",
            with(seed, "/spec/activeDeadlineSeconds", json!(900)),
            plain(),
            &["ActiveDeadline"],
        ),
        case(
            "the gate's place",
            misplaced,
            plain(),
            &["PositionOnWorkload"],
        ),
        case("after nothing", missing, plain(), &["NoSuchInitContainer"]),
        case(
            "a name of ours",
            named("sluice-gate"),
            plain(),
            &["NameTaken"],
        ),
        case("another name", named("gate"), plain(), &[]),
        case(
            "a proposal's key",
            api(json!({"helm.sh/weight": "1"})),
            plain(),
            &["ForeignKey"],
        ),
        case(
            "a label",
            with(
                on("job/m"),
                "/metadata/labels/sluice.dev~1weight",
                json!("1"),
            ),
            plain(),
            &["LabelOnly"],
        ),
        case(
            "a suspended Job",
            on("job/m"),
            job(json!({}), json!({"suspend": true})),
            &["Suspended"],
        ),
    ]
}

pub(super) fn of_timeouts() -> Vec<Case> {
    let plain = || job(json!({}), json!({}));
    let entry = |then: &str| {
        let list = "[{kind: Job, name: m, timeout: 9m}]";
        let terms = json!({"sluice.dev/timeout": "5m", "sluice.dev/on-timeout": then});
        with(
            api(terms),
            "/metadata/annotations/sluice.dev~1depends-on",
            json!(list),
        )
    };
    vec![
        case(
            "no timeout",
            api(json!({"sluice.dev/on-timeout": "fail"})),
            plain(),
            &["NoTimeout"],
        ),
        case(
            "an entry beyond the whole",
            entry("fail"),
            plain(),
            &["EntryTimeout"],
        ),
        case("an entry that counts", entry("wait"), plain(), &[]),
    ]
}

pub(super) fn of_holds() -> Vec<Case> {
    let plain = || job(json!({}), json!({}));
    let hold = |word: &str| api(json!({"sluice.dev/hold": word}));
    let both = json!({"sluice.dev/hold": "false"});
    let both = with(hold("true"), "/spec/template/metadata/annotations", both);
    vec![
        case("a hold", hold("true"), plain(), &["HoldOnWorkload"]),
        case("no hold", hold("false"), plain(), &["HoldOnWorkload"]),
        case("a hold of its pods", both, plain(), &[]),
    ]
}

pub(super) fn of_prefetch() -> Vec<Case> {
    let plain = || job(json!({}), json!({}));
    let says = || json!({"sluice.dev/prefetch": "true"});
    let of_pods = with(api(says()), "/spec/template/metadata/annotations", says());
    vec![
        case("pulls", api(says()), plain(), &["PrefetchOnWorkload"]),
        case("pulls of its pods", of_pods, plain(), &[]),
    ]
}

pub(super) fn of_parts() -> Vec<Case> {
    let of_release = |object: Value| {
        let annotations = json!({
            "meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "shop",
            "sluice.dev/depends-on": object["metadata"]["annotations"]["sluice.dev/depends-on"],
        });
        with(object, "/metadata/annotations", annotations)
    };
    let part = |namespace: &str| {
        let job = of_release(job(json!({"sluice.dev/depends-on": ""}), json!({})));
        let job = with(job, "/metadata/labels/helm.sh~1chart", json!("db-1.0.0"));
        with(job, "/metadata/namespace", json!(namespace))
    };
    let api = |list: &str| of_release(on(list));
    vec![
        case("here", api("subchart/db"), part("shop"), &[]),
        case("there", api("data/subchart/db"), part("data"), &[]),
        case(
            "elsewhere",
            api("subchart/db"),
            part("data"),
            &["PartElsewhere"],
        ),
    ]
}
