use super::*;
use serde_json::json;

fn deployment(list: &str) -> Value {
    json!({
        "metadata": {"name": "api", "namespace": "shop", "annotations": {"sluice.dev/depends-on": list}},
        "spec": {"progressDeadlineSeconds": 30, "template": {"spec": {"containers": [{"name": "app"}]}}},
    })
}

fn told(object: &Value, old: &Value, options: Options) -> Vec<&'static str> {
    let subject = Subject {
        group: "apps".to_owned(),
        kind: "Deployment".to_owned(),
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
    let advice = hints(&request, options, None, &());
    advice.iter().map(Advice::label).collect()
}

fn with(mut object: Value, key: &str, value: Value) -> Value {
    object["metadata"][key] = value;
    object
}

#[test]
fn only_what_is_new_and_only_to_somebody_who_reads_it() {
    let options = Options::default();
    let old = deployment("job/migrate");
    assert_eq!(told(&old, &Value::Null, options), ["ProgressDeadline"]);
    let mut changed = old.clone();
    changed["spec"]["template"]["spec"]["containers"] = json!([]);
    assert!(told(&changed, &old, options).is_empty());
    let first = deployment("svc/redis");
    assert_eq!(told(&old, &first, options), ["ProgressDeadline"]);
    let plain = with(old.clone(), "annotations", json!({}));
    assert!(told(&plain, &Value::Null, options).is_empty());
    let owned = with(old, "ownerReferences", json!([{"controller": true}]));
    assert!(told(&owned, &Value::Null, options).is_empty());
}

#[test]
fn what_becomes_of_windows_is_the_installations_choice() {
    let mut windows = deployment("deployment/api");
    windows["spec"]["template"]["spec"]["os"] = json!({"name": "windows"});
    for skip_windows in [true, false] {
        let options = Options {
            skip_windows,
            ..Options::default()
        };
        assert_eq!(told(&windows, &Value::Null, options), ["Windows"]);
    }
}

#[test]
fn what_its_pods_are_refused_for_is_told_of_the_workload() {
    let mut object = deployment("job/migrate:present");
    object["spec"]["progressDeadlineSeconds"] = json!(600);
    let told = |pod: Value| {
        let mut object = object.clone();
        object["spec"]["template"]["spec"] = pod;
        told(&object, &Value::Null, Options::default())
    };
    for pod in [
        json!({"containers": [{"name": "sluice-gate"}]}),
        json!({"containers": [], "volumes": [{"name": "sluice-token"}]}),
    ] {
        assert_eq!(told(pod), ["NameTaken"]);
    }
    let gate = json!({
        "name": "sluice-gate", "env": [{"name": "SLUICE_ADDRESSES"}], "volumeMounts": [{"name": "sluice-token"}],
    });
    let copy = json!({"initContainers": [gate], "volumes": [{"name": "sluice-token"}]});
    assert_eq!(told(copy), [""; 0], "a copy of a gated pod");
}

#[test]
fn keys_that_nobody_acts_on_are_told_with_our_spelling() {
    let mut object = deployment("job/migrate:present");
    object["spec"]["progressDeadlineSeconds"] = json!(600);
    object["metadata"]["annotations"]["helm.sh/weight"] = json!("2");
    let template = json!({"labels": {"sluice.dev/weight": "2", "sluice.dev/gated": "true"}});
    object["spec"]["template"]["metadata"] = template;
    let told = told(&object, &Value::Null, Options::default());
    assert_eq!(told, ["ForeignKey", "LabelOnly"]);
}
