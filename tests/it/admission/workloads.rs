use super::{annotated, answer, answer_to_api_server, applied, review, running, workload};
use prometheus_client::registry::Registry;
use rules::advice::{Seen, Served, Target, Workload};
use rules::dependency::{ObjectRef, Part, Selection};
use rules::kinds::Kind;
use rules::lookup::Lookup;
use serde_json::{Value, json};
use std::sync::Arc;
use webhook::{Admission, AdmissionLimits as Limits, AdmissionMetrics as Metrics};
use webhook::{MemoryAlarm, Options};

const OURS: &str = "sluice.dev/depends-on";
const MARKER: &str = "sluice.dev/gated";

fn template(object: &Value) -> &Value {
    object
        .pointer("/spec/jobTemplate/spec/template")
        .unwrap_or(&object["spec"]["template"])
}

pub(crate) fn template_mut(object: &mut Value) -> &mut Value {
    let cron = object["kind"] == "CronJob";
    let spec = if cron {
        &mut object["spec"]["jobTemplate"]["spec"]
    } else {
        &mut object["spec"]
    };
    &mut spec["template"]
}

fn marker(object: &Value) -> Option<&Value> {
    template(object)["metadata"]["annotations"].get(MARKER)
}

fn marked(mut object: Value) -> Value {
    template_mut(&mut object)["metadata"]["annotations"] = json!({MARKER: "true"});
    object
}

fn listed(object: Value) -> Value {
    annotated(object, OURS, "job/migrate")
}

fn rolled(mut object: Value) -> Value {
    template_mut(&mut object)["spec"]["containers"][0]["image"] = json!("app:2");
    object
}

/// Returns a workload of every kind that is gated, without a list and without a marker.
pub(super) fn kinds() -> Vec<Value> {
    let usual = [
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("apps/v1", "DaemonSet"),
        ("apps/v1", "ReplicaSet"),
        ("v1", "ReplicationController"),
        ("batch/v1", "Job"),
        ("argoproj.io/v1alpha1", "Rollout"),
        ("apps.kruise.io/v1alpha1", "CloneSet"),
    ];
    let mut cron = workload("batch/v1", "CronJob");
    let spec = cron["spec"].take();
    cron["spec"] = json!({"schedule": "@daily", "jobTemplate": {"spec": spec}});
    usual
        .into_iter()
        .map(|(api_version, kind)| workload(api_version, kind))
        .chain([cron])
        .collect()
}

/// Sends a review that must be allowed. Returns the object as it would be stored, and the warnings.
async fn stored(operation: &str, object: &Value, old: &Value) -> (Value, Vec<String>) {
    let response = answer(&running(), &review(operation, object, old)).await;
    assert_eq!(response["allowed"], true, "{response}");
    let warnings = response["warnings"].as_array().cloned().unwrap_or_default();
    let warnings = warnings
        .iter()
        .map(|warning| warning.as_str().unwrap().to_owned())
        .collect();
    (applied(object, &response), warnings)
}

#[tokio::test]
async fn a_new_workload_with_a_list_is_marked_and_nothing_else() {
    for plain in kinds() {
        let (kept, _) = stored("CREATE", &plain, &Value::Null).await;
        assert_eq!(kept, plain, "nobody asked");
        let (made, warnings) = stored("CREATE", &listed(plain.clone()), &Value::Null).await;
        assert_eq!(made, marked(listed(plain)));
        assert!(warnings.is_empty());
    }
}

#[tokio::test]
async fn a_put_that_drops_the_marker_gets_it_back() {
    for plain in kinds() {
        let old = marked(listed(plain.clone()));
        let (put, warnings) = stored("UPDATE", &listed(plain), &old).await;
        assert_eq!(put, old);
        assert!(warnings.is_empty());
    }
}

#[tokio::test]
async fn a_list_alone_rolls_nothing_and_says_when_it_counts() {
    for plain in kinds() {
        let (kept, warnings) = stored("UPDATE", &listed(plain.clone()), &plain).await;
        assert_eq!(kept, listed(plain.clone()));
        let [warning] = warnings.as_slice() else {
            panic!("one warning: {warnings:?}")
        };
        let kind = plain["kind"].as_str().unwrap();
        let expected = match kind {
            "Job" => "already started; not gated; delete it and make it anew".to_owned(),
            "Deployment" | "StatefulSet" | "DaemonSet" => {
                format!(
                    "takes effect at the next rollout; run kubectl rollout restart {}/api",
                    kind.to_lowercase()
                )
            }
            _ => {
                "takes effect at the next rollout; that is when its pod template changes".to_owned()
            }
        };
        assert!(
            warning.contains(&expected) && warning.contains(&format!("shop/{kind}/api")),
            "{warning}"
        );
        assert!(warning.len() <= 120, "{} bytes: {warning}", warning.len());
    }
}

#[tokio::test]
async fn the_next_rollout_brings_the_marker() {
    for plain in kinds() {
        let old = listed(plain);
        let job = old["kind"] == "Job";
        let (new, warnings) = stored("UPDATE", &rolled(old.clone()), &old).await;
        assert_eq!(marker(&new).is_some(), !job);
        assert!(warnings.is_empty(), "the list did not change: {warnings:?}");
    }
}

#[tokio::test]
async fn a_job_keeps_its_template_whatever_comes() {
    let plain = workload("batch/v1", "Job");
    let gated = marked(listed(plain.clone()));
    for (new, old) in [
        (plain.clone(), gated.clone()),
        (rolled(plain.clone()), gated.clone()),
        (gated.clone(), listed(plain.clone())),
        (marked(rolled(plain.clone())), plain.clone()),
    ] {
        let (new, _) = stored("UPDATE", &new, &old).await;
        assert_eq!(marker(&new), marker(&old));
    }
    let (_, warnings) = stored(
        "UPDATE",
        &annotated(gated.clone(), OURS, "job/other"),
        &gated,
    )
    .await;
    assert!(
        warnings.is_empty(),
        "it is gated, and its list is read live: {warnings:?}"
    );
}

#[tokio::test]
async fn a_list_that_goes_leaves_the_marker_until_the_next_rollout() {
    let plain = workload("apps/v1", "Deployment");
    let old = marked(listed(plain.clone()));
    let (kept, _) = stored("UPDATE", &marked(plain.clone()), &old).await;
    assert_eq!(kept, marked(plain.clone()));
    let (gone, _) = stored("UPDATE", &marked(rolled(plain)), &old).await;
    assert_eq!(marker(&gone), None);
}

#[tokio::test]
async fn a_marker_that_a_copy_brings_along_does_not_roll() {
    let plain = listed(workload("apps/v1", "Deployment"));
    let (new, _) = stored("UPDATE", &marked(plain.clone()), &plain).await;
    assert_eq!(marker(&new), None);
}

#[tokio::test]
async fn objects_of_others_are_left_alone() {
    let listed = listed(workload("apps/v1", "ReplicaSet"));
    let mut owned = listed.clone();
    owned["metadata"]["ownerReferences"] =
        json!([{"kind": "X"}, {"kind": "Deployment", "controller": true}]);
    let mut deleting = listed.clone();
    deleting["metadata"]["deletionTimestamp"] = json!("2026-11-20T00:00:00Z");
    let mut bare = listed.clone();
    bare["spec"] = json!({"workloadRef": {"name": "x"}});
    for object in [owned, deleting, bare] {
        for old in [Value::Null, object.clone()] {
            let operation = if old.is_null() { "CREATE" } else { "UPDATE" };
            let (kept, warnings) = stored(operation, &object, &old).await;
            assert_eq!(kept, object);
            assert!(warnings.is_empty());
        }
    }
    let mut merely_owned = listed;
    merely_owned["metadata"]["ownerReferences"] = json!([{"kind": "X", "controller": false}]);
    let (new, _) = stored("CREATE", &merely_owned, &Value::Null).await;
    assert!(marker(&new).is_some());
}

#[tokio::test]
async fn a_dependent_in_its_own_list_is_warned_of() {
    let own = annotated(workload("apps/v1", "Deployment"), OURS, "deployment/api");
    let (new, warnings) = stored("CREATE", &own, &Value::Null).await;
    assert!(marker(&new).is_some());
    // A parser that reads nothing finds nothing; one that reads the list finds the dependent in it.
    let read = !rules::annotation::parse_depends_on("deployment/api")
        .unwrap()
        .is_empty();
    assert_eq!(
        warnings
            .iter()
            .any(|warning| warning.contains("waits for itself")),
        read
    );
}

#[tokio::test]
async fn the_position_of_the_gate_belongs_to_the_pod_template() {
    const POSITION: &str = "sluice.dev/gate-position";
    let on_object = annotated(listed(workload("apps/v1", "Deployment")), POSITION, "last");
    let (made, warnings) = stored("CREATE", &on_object, &Value::Null).await;
    assert_eq!(made, marked(on_object.clone()));
    assert_eq!(
        warnings,
        [
            "shop/Deployment/api: sluice.dev/gate-position has no effect here; move it to the annotations of the pod template"
        ]
    );
    let (_, warnings) = stored("UPDATE", &rolled(made.clone()), &made).await;
    assert!(warnings.is_empty(), "said once: {warnings:?}");

    let mut on_template = listed(workload("apps/v1", "Deployment"));
    on_template["spec"]["template"]["metadata"]["annotations"] = json!({POSITION: "after=fetch"});
    let (_, warnings) = stored("CREATE", &on_template, &Value::Null).await;
    assert!(
        warnings[0].starts_with("shop/Deployment/api: it has no init container \"fetch\""),
        "{warnings:?}"
    );
    on_template["spec"]["template"]["spec"]["initContainers"] = json!([{"name": "fetch"}]);
    let (_, warnings) = stored("CREATE", &on_template, &Value::Null).await;
    assert!(warnings.is_empty(), "{warnings:?}");
}

/// Answers admission's look-ups: finds for every name a Job that is removed at once after its end.
#[derive(Debug)]
struct KnownJob;

impl Seen for KnownJob {
    fn object(&self, _: &Workload<'_>, _: &ObjectRef) -> Lookup<Target> {
        Lookup::Found(Target {
            object: json!({"spec": {"ttlSecondsAfterFinished": 0}}),
            same_release: None,
        })
    }

    fn selected(&self, _: &Workload<'_>, _: &Selection) -> Lookup<Vec<Target>> {
        Lookup::Found(Vec::new())
    }

    fn served_by_others(&self, _: &Workload<'_>, _: &ObjectRef) -> Served {
        Served::Unknown
    }

    fn elsewhere(&self, _: &Workload<'_>, _: &Part) -> Vec<String> {
        Vec::new()
    }

    fn is_forbidden(&self, _: &Kind) -> bool {
        false
    }

    fn tells_of_other_namespaces(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn what_is_known_is_told_to_the_api_server_alone_and_changes_no_patch() {
    let metrics = Metrics::register(&mut Registry::default());
    let (admission, _) = Admission::new(
        Options::default(),
        Limits::default(),
        MemoryAlarm::default(),
        metrics,
    );
    let knowing = Arc::new(admission.knowing(Arc::new(KnownJob)));
    let mut object = listed(workload("apps/v1", "Deployment"));
    object["spec"]["progressDeadlineSeconds"] = json!(60);
    let create = review("CREATE", &object, &Value::Null);
    let told = answer_to_api_server(&knowing, &create).await;
    let warnings = told["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    let to_anybody = answer(&knowing, &create).await;
    assert_eq!(to_anybody, answer(&running(), &create).await);
    assert_eq!(to_anybody["warnings"].as_array().unwrap().len(), 1);
    assert_eq!(told["patch"], answer(&running(), &create).await["patch"]);

    let jobs: Vec<String> = (0..60).map(|number| format!("job/j{number}")).collect();
    object["metadata"]["annotations"][OURS] = json!(jobs.join(","));
    let told = answer_to_api_server(&knowing, &review("CREATE", &object, &Value::Null)).await;
    assert_eq!(told["warnings"].as_array().unwrap().len(), 5, "a handful");

    object["metadata"]["annotations"][OURS] = json!("nonsense");
    let denied = answer_to_api_server(&knowing, &review("CREATE", &object, &Value::Null)).await;
    assert_eq!(denied["allowed"], false);
    assert!(denied.get("warnings").is_none());
}

#[tokio::test]
async fn a_weight_without_a_scope_is_told() {
    let told = " has no effect, because it is in no release or application, so there is no wave; ";
    let warnings = async |old: &Value, new: &Value| {
        let operation = if old.is_null() { "CREATE" } else { "UPDATE" };
        answer(&running(), &review(operation, new, old)).await["warnings"].to_string()
    };
    let weighs = |key: &str| annotated(workload("apps/v1", "Deployment"), key, "2");
    for key in ["sluice.dev/weight", "sluice.dev/parallelism"] {
        let object = weighs(key);
        let said = warnings(&Value::Null, &object).await;
        assert!(said.contains(&format!("{key}{told}")), "{said}");
        let again = warnings(&object, &object).await;
        assert!(!again.contains(told), "{again}");
        let mut inside = workload("apps/v1", "Deployment");
        inside["spec"]["template"]["metadata"]["annotations"] = json!({key: "2"});
        let said = warnings(&Value::Null, &inside).await;
        assert!(said.contains(told), "{said}");
        let mut installed = object.clone();
        installed["metadata"]["labels"] = json!({"app.kubernetes.io/instance": "shop"});
        let hook = annotated(object, "helm.sh/hook", "pre-install");
        for ordered in [installed, hook] {
            let said = warnings(&Value::Null, &ordered).await;
            assert!(!said.contains(told), "{said}");
        }
    }
}
