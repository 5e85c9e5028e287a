use super::*;
use crate::inject::Subject;
use serde_json::json;

/// A cluster of a few objects, each under `Kind/name`.
#[derive(Debug, Default)]
struct Cluster {
    objects: Vec<(&'static str, Value)>,
    endpoints: Option<bool>,
    forbidden: Option<&'static str>,
}

impl Known for Cluster {
    fn object(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Value> {
        assert_eq!(namespace, "shop", "another namespace is not looked into");
        let found = self
            .objects
            .iter()
            .find(|(key, _)| *key == format!("{kind}/{name}"));
        found.map(|(_, object)| object.clone())
    }

    fn has_endpoints(&self, _: &str, _: &str) -> Option<bool> {
        self.endpoints
    }

    fn is_forbidden(&self, kind: &Kind) -> bool {
        self.forbidden == Some(&kind.to_string())
    }
}

fn deployment(list: &str) -> Value {
    json!({
        "metadata": {"name": "api", "namespace": "shop", "annotations": {"sluice.dev/depends-on": list}},
        "spec": {"template": {
            "metadata": {"labels": {"app": "api", "tier": "back"}},
            "spec": {"containers": [{"name": "app"}]},
        }},
    })
}

/// The sentences for an object of this kind, each of which has to fit into a header.
fn said(kind: &str, object: &Value, old: &Value, known: &dyn Known) -> Vec<String> {
    let group = match kind {
        "Deployment" => "apps",
        "Pod" => "",
        _ => "batch",
    };
    let subject = Subject {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: "shop".to_owned(),
        name: "api".to_owned(),
    };
    let request = Request {
        operation: if old.is_null() {
            Operation::Create
        } else {
            Operation::Update
        },
        subject: &subject,
        object,
        old,
    };
    let warnings = hints(&request, Keys::default(), known);
    let sentences: Vec<_> = warnings.iter().map(|it| it.sentence(&subject)).collect();
    for sentence in &sentences {
        assert!(
            sentence.len() <= 240,
            "{} bytes: {sentence}",
            sentence.len()
        );
        assert!(sentence.starts_with(&subject.to_string()), "{sentence}");
    }
    sentences
}

fn created(object: &Value, known: &dyn Known) -> String {
    said("Deployment", object, &Value::Null, known).join("\n")
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    object.pointer_mut(parent).expect("is there")[key.replace("~1", "/")] = value;
    object
}

#[test]
fn a_deadline_that_may_be_the_default_is_told_of() {
    let with_deadline = |seconds: i64| {
        with(
            deployment("job/migrate"),
            "/spec/progressDeadlineSeconds",
            json!(seconds),
        )
    };
    assert_eq!(
        created(&with_deadline(600), &()),
        "shop/Deployment/api: the wait counts against its progressDeadlineSeconds (600), after which it is reported as \
         failed until it recovers; raise it where a dependency may take longer"
    );
    assert_eq!(created(&with_deadline(3600), &()), "");
    assert_eq!(created(&deployment("job/migrate"), &()), "");
    let plain = with(with_deadline(600), "/metadata/annotations", json!({}));
    assert_eq!(created(&plain, &()), "");
}

#[test]
fn an_active_deadline_is_told_of_wherever_it_stands() {
    let sentence = |kind: &str| {
        format!(
            "shop/{kind}/api: the wait counts against activeDeadlineSeconds (30), after which its pods are ended as \
             failed; raise it by what the dependencies may take"
        )
    };
    let job = deployment("job/migrate");
    for pointer in [
        "/spec/activeDeadlineSeconds",
        "/spec/template/spec/activeDeadlineSeconds",
    ] {
        let job = with(job.clone(), pointer, json!(30));
        assert_eq!(said("Job", &job, &Value::Null, &()), [sentence("Job")]);
    }
    let cron =
        json!({"jobTemplate": {"spec": {"activeDeadlineSeconds": 30, "template": {"spec": {}}}}});
    let cron = with(job.clone(), "/spec", cron);
    assert_eq!(
        said("CronJob", &cron, &Value::Null, &()),
        [sentence("CronJob")]
    );
    let pod = with(job, "/spec", json!({"activeDeadlineSeconds": 30}));
    assert_eq!(said("Pod", &pod, &Value::Null, &()), [sentence("Pod")]);
}

fn job(annotations: &Value, spec: &Value) -> Cluster {
    Cluster {
        objects: vec![(
            "Job/migrate",
            json!({"metadata": {"annotations": annotations}, "spec": spec}),
        )],
        ..Cluster::default()
    }
}

#[test]
fn a_job_that_is_taken_away_is_told_of() {
    let told = |annotations: Value, spec: Value| {
        created(&deployment("job/migrate"), &job(&annotations, &spec))
    };
    assert_eq!(
        told(json!({}), json!({"ttlSecondsAfterFinished": 60})),
        "shop/Deployment/api: Job/migrate is removed 60 s after its end (ttlSecondsAfterFinished); if sluice misses its end, \
         later pods wait for a Job that is gone; keep it for a day"
    );
    assert_eq!(
        told(json!({}), json!({"ttlSecondsAfterFinished": 86400})),
        ""
    );
    assert_eq!(
        told(
            json!({"helm.sh/hook-delete-policy": "before-hook-creation, hook-succeeded"}),
            json!({})
        ),
        "shop/Deployment/api: Job/migrate is removed when it succeeds (helm.sh/hook-delete-policy); if sluice misses its end, \
         later pods wait for a Job that is gone; take hook-succeeded away"
    );
    assert_eq!(
        told(
            json!({"helm.sh/hook-delete-policy": "before-hook-creation"}),
            json!({})
        ),
        ""
    );
}

#[test]
fn a_hook_that_runs_after_the_wait_is_told_of() {
    let known = |hook: &str| job(&json!({"helm.sh/hook": hook}), &json!({}));
    assert_eq!(
        created(
            &deployment("job/migrate"),
            &known("pre-upgrade, post-install")
        ),
        "shop/Deployment/api: Job/migrate is a post-install hook, which runs only once everything else is ready, so with \
         --wait neither comes; make it a plain object"
    );
    assert_eq!(
        created(&deployment("job/migrate"), &known("pre-install")),
        ""
    );
    let optional = "- {kind: Job, name: migrate, optional: true}";
    assert_eq!(created(&deployment(optional), &known("post-install")), "");
    let own = with(
        deployment("job/migrate"),
        "/metadata/annotations/helm.sh~1hook",
        json!("post-install"),
    );
    assert_eq!(
        created(&own, &known("post-install")),
        "",
        "hooks have an order of their own"
    );
    let sync = job(&json!({"argocd.argoproj.io/hook": "PostSync"}), &json!({}));
    assert!(created(&deployment("job/migrate"), &sync).contains("is a PostSync hook"));
}

#[test]
fn a_hook_that_runs_before_its_release_is_told_what_may_never_come() {
    let hook = |hook: &str, list: &str| {
        with(
            deployment(list),
            "/metadata/annotations/helm.sh~1hook",
            json!(hook),
        )
    };
    let seed = hook("pre-upgrade, pre-install", "job/migrate");
    assert_eq!(
        created(&seed, &()),
        "shop/Deployment/api is a pre-install hook, and Helm creates nothing else of a release before its end: if Job/migrate \
         is of the same release, neither comes; make it a plain object"
    );
    let there = job(&json!({}), &json!({}));
    assert_eq!(created(&seed, &there), "", "it is there");
    let upgrade = hook("pre-upgrade", "job/migrate");
    assert_eq!(created(&upgrade, &()), "", "the release is there");
    let optional = hook(
        "pre-install",
        "- {kind: Job, name: migrate, optional: true}",
    );
    assert_eq!(created(&optional, &()), "");
}

#[test]
fn a_later_sync_wave_is_told_of() {
    let known = |wave: &str| job(&json!({"argocd.argoproj.io/sync-wave": wave}), &json!({}));
    assert_eq!(
        created(&deployment("job/migrate"), &known("5")),
        "shop/Deployment/api: Job/migrate is in sync wave 5 of Argo CD, which comes only once wave 0, where this one is, is \
         healthy: neither comes; put it into an earlier wave"
    );
    assert_eq!(created(&deployment("job/migrate"), &known("0")), "");
    assert_eq!(created(&deployment("job/migrate"), &known("-1")), "");
    assert_eq!(created(&deployment("job/migrate"), &known("soon")), "");
    let mut another = known("5");
    another.objects[0].1["metadata"]["labels"] = json!({"app.kubernetes.io/instance": "other"});
    assert_eq!(
        created(&deployment("job/migrate"), &another),
        "",
        "another application"
    );
}

#[test]
fn a_service_of_its_own_pods_is_told_of() {
    let known = |selector: Value, endpoints| Cluster {
        objects: vec![("Service/front", json!({"spec": {"selector": selector}}))],
        endpoints,
        ..Cluster::default()
    };
    let own = json!({"app": "api"});
    assert_eq!(
        created(&deployment("svc/front"), &known(own.clone(), Some(false))),
        "shop/Deployment/api: Service/front selects its own pods, and nobody else is behind it: it has no endpoint before \
         they start, and they wait for it; remove it from the list"
    );
    for known in [
        known(own.clone(), Some(true)),
        known(own, None),
        known(json!({"app": "web"}), Some(false)),
        known(json!({}), Some(false)),
        known(Value::Null, Some(false)),
    ] {
        assert_eq!(created(&deployment("svc/front"), &known), "");
    }
}

#[test]
fn a_kind_that_may_not_be_watched_is_told_of() {
    let known = Cluster {
        forbidden: Some("certificate.cert-manager.io"),
        ..Cluster::default()
    };
    assert_eq!(
        created(&deployment("certificate.cert-manager.io/tls"), &known),
        "shop/Deployment/api: sluice may not watch certificate.cert-manager.io, so its pods would wait for ever; have it \
         added to rbac.kinds of sluice's chart"
    );
    assert_eq!(created(&deployment("job/migrate"), &known), "");
}

#[test]
fn only_what_is_new_and_only_to_somebody_who_reads_it() {
    let known = job(&json!({}), &json!({"ttlSecondsAfterFinished": 60}));
    let old = deployment("job/migrate");
    let changed = with(old.clone(), "/spec/template/spec/containers", json!([]));
    assert!(said("Deployment", &changed, &old, &known).is_empty());
    let first = deployment("svc/redis");
    assert_eq!(said("Deployment", &old, &first, &known).len(), 1);
    let owned = with(
        old,
        "/metadata/ownerReferences",
        json!([{"controller": true}]),
    );
    assert_eq!(created(&owned, &known), "");
}

#[test]
fn of_another_namespace_nothing_is_told() {
    let known = job(&json!({"helm.sh/hook": "post-install"}), &json!({}));
    assert_eq!(created(&deployment("data/job/migrate"), &known), "");
    assert_ne!(created(&deployment("shop/job/migrate"), &known), "");
}
