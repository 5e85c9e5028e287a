//! Advice on a workload and its list, beside a few objects.

mod cluster;
mod expressions;
mod installer;
mod limits;
mod spelling;
mod target;
mod template;

use super::*;
use crate::annotation;
use crate::dependency::{ObjectRef, Part, Selection};
use crate::lookup::{Lookup, Unavailable};
use cluster::Cluster;
use serde_json::json;

/// A Deployment in namespace `shop`, with these annotations.
fn deployment(annotations: &Value) -> Value {
    json!({
        "metadata": {"name": "api", "namespace": "shop", "annotations": annotations},
        "spec": {"template": {
            "metadata": {"labels": {"app": "api", "tier": "back"}},
            "spec": {"containers": [{"name": "app"}]},
        }},
    })
}

/// The sentences of all advice on an object of this kind with this list. Each has to fit into a header behind the object's name.
fn said(kind: &str, object: &Value, list: &str, known: &dyn Seen) -> Vec<String> {
    let group = match kind {
        "Deployment" => "apps",
        "Pod" => "",
        "Rollout" => "argoproj.io",
        _ => "batch",
    };
    let templates = ["/spec/jobTemplate/spec/template", "/spec/template", ""];
    let template = templates.iter().find_map(|it| object.pointer(it)).unwrap();
    let workload = Workload {
        group,
        kind,
        namespace: "shop",
        name: "api",
        object,
        template,
    };
    let list = annotation::parse_depends_on(list).expect(list);
    let advice = of(&workload, &list, Windows::Refused, known);
    let sentences: Vec<_> = advice.iter().map(ToString::to_string).collect();
    for sentence in &sentences {
        assert!(
            sentence.len() <= 220,
            "{} bytes: {sentence}",
            sentence.len()
        );
    }
    sentences
}

fn told(list: &str, known: &dyn Seen) -> String {
    said("Deployment", &deployment(&json!({})), list, known).join("\n")
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    object.pointer_mut(parent).expect("is there")[key] = value;
    object
}

fn job(annotations: &Value, spec: &Value) -> Cluster {
    let metadata = json!({"name": "migrate", "annotations": annotations});
    Cluster {
        objects: vec![("Job/migrate", json!({"metadata": metadata, "spec": spec}))],
        ..Cluster::default()
    }
}
