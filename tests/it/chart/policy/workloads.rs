//! The policies for workloads: the marker after each update of each kind.

use serde_json::{Value, json};

use super::super::cluster::{kubectl, object, pod_template};
use super::{NAMESPACE, applied, decided, in_namespace, would_create, would_replace};
use crate::admission::workloads::template_mut;
use webhook::Holds;

const KINDS: [(&str, &str); 3] = [
    ("apps", "Deployment"),
    ("batch", "Job"),
    ("batch", "CronJob"),
];

/// Returns eight updates of an object: every combination of a list, a marker on the template, and another change of the template.
fn updates(stored: &Value) -> Vec<Value> {
    let mut updates = Vec::new();
    for case in 0..8 {
        let mut new = stored.clone();
        let list = (case & 1 != 0).then_some("job/x");
        set(&mut new["metadata"], "sluice.dev/depends-on", list);
        let template = template_mut(&mut new);
        set(
            &mut template["metadata"],
            "sluice.dev/gated",
            (case & 2 != 0).then_some("true"),
        );
        if case & 4 != 0 {
            set(&mut template["metadata"], "example.com/rolled", Some("yes"));
        }
        updates.push(new);
    }
    updates
}

fn set(metadata: &mut Value, key: &str, value: Option<&str>) {
    if metadata["annotations"].is_null() {
        metadata["annotations"] = json!({});
    }
    let annotations = metadata["annotations"].as_object_mut().expect("a mapping");
    match value {
        Some(value) => annotations.insert(key.to_owned(), json!(value)),
        None => annotations.remove(key),
    };
}

/// The objects that exist before the policies: name, annotations, annotations of the pod template.
fn stored() -> [(&'static str, Value, Value); 5] {
    let list = || json!({"sluice.dev/depends-on": "job/x"});
    let marker = || json!({"sluice.dev/gated": "true"});
    [
        ("plain", json!({}), json!({})),
        ("listed", list(), json!({})),
        ("gated", list(), marker()),
        ("left", json!({}), marker()),
        ("inside", json!({}), list()),
    ]
}

/// Stores in the namespace an object of each kind for each case of `stored`, before there are policies.
pub(super) fn store() {
    for (_, kind) in KINDS {
        for (name, annotations, template) in stored() {
            let object = object(kind, name, &annotations, &pod_template(&template));
            kubectl(&["create", "-f", "-"], &in_namespace(NAMESPACE, object))
                .expect("no policy yet");
        }
    }
}

pub(super) fn compare() {
    for (group, kind) in KINDS {
        for (name, ..) in stored() {
            let reference = format!("{}/{name}", kind.to_lowercase());
            let get = ["-n", NAMESPACE, "get", "-o", "json", &reference];
            let old = kubectl(&get, &Value::Null).expect(name);
            let old: Value = serde_json::from_str(&old).expect("kubectl prints JSON");
            for new in updates(&old) {
                let expected = applied(&new, &decided((group, kind), &new, &old, Holds::Off));
                match would_replace(&new) {
                    Ok(made) => {
                        assert_eq!(marker(made), marker(expected), "{kind} {name}: {new:#}");
                    }
                    // The template of a Job cannot change, with or without us.
                    Err(complaint) => {
                        let rolled = new.to_string().contains("example.com/rolled");
                        assert!(
                            kind == "Job" && rolled,
                            "{kind} {name}: {complaint}\n{new:#}"
                        );
                    }
                }
            }
        }
    }
}

/// Fails unless the policies and the webhook make the same of Jobs that ask to be created suspended, and of Jobs that do not.
pub(super) fn compare_suspended() {
    let list = json!({"sluice.dev/depends-on": "job/x"});
    let asks = |word: &str| json!({"sluice.dev/depends-on": "job/x", "sluice.dev/hold": word});
    let noted = json!({"sluice.dev/depends-on": "job/x", "sluice.dev/hold": "suspend", "sluice.dev/suspended": "true"});
    let idle = json!({"sluice.dev/hold": "suspend"});
    let any = json!({});
    let windows = json!({"os": {"name": "windows"}});
    let selected = json!({"nodeSelector": {"kubernetes.io/os": "windows"}});
    for (annotations, suspend, pod) in [
        (&asks("suspend"), false, &any),
        (&asks("suspend"), true, &any),
        (&asks("true"), false, &any),
        (&noted, true, &any),
        (&noted, false, &any),
        (&asks("suspend"), false, &windows),
        (&asks("suspend"), false, &selected),
        (&list, false, &any),
        (&idle, false, &any),
    ] {
        let mut job = object("Job", "made", annotations, &pod_template(&json!({})));
        job["spec"]["suspend"] = json!(suspend);
        json_patch::merge(&mut job["spec"]["template"]["spec"], pod);
        let plain = in_namespace(NAMESPACE, job);
        let action = decided(("batch", "Job"), &plain, &Value::Null, Holds::Asked);
        let expected = applied(&plain, &action);
        let made = would_create(&plain).expect("a Job");
        let essence = |job: &Value| {
            let own = job["metadata"]["annotations"].clone();
            (own, job["spec"]["suspend"].clone(), marker(job.clone()))
        };
        assert_eq!(essence(&made), essence(&expected), "{plain:#}");
    }
}

fn marker(mut object: Value) -> Value {
    template_mut(&mut object)["metadata"]["annotations"]["sluice.dev/gated"].take()
}
