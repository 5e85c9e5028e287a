//! An upgrade of sluice must not change the patch of the workload half, not by one byte.
//!
//! A pod template that the next version marked in another way would be another template, and its controller would roll the pods: those of every user,
//! at the first write after the upgrade. `fixtures/workload-patches.txt` holds the answers of the first version to every combination of a small set
//! of requests.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use webhook::{Action, Operation, Options, Request, Subject, workload};

const KINDS: [(&str, &str); 8] = [
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("apps", "ReplicaSet"),
    ("", "ReplicationController"),
    ("argoproj.io", "Rollout"),
    ("batch", "Job"),
    ("batch", "CronJob"),
];

/// Returns the pod templates that the requests combine, as the old one and the new one.
fn templates() -> Vec<Value> {
    let metadata = [
        None,
        Some(json!(null)),
        Some(json!({})),
        Some(json!({"annotations": null})),
        Some(json!({"labels": {"app": "api"}, "annotations": {}})),
        Some(json!({"annotations": {"a/b~c": "d"}})),
        Some(json!({"annotations": {"sluice.dev/gated": "true"}})),
        Some(json!({"annotations": {"sluice.dev/gated": "false", "a": "b"}})),
    ];
    let template = |metadata: Option<Value>| {
        let mut template = json!({"spec": {"containers": [{"name": "app", "image": "app:1"}]}});
        if let Some(metadata) = metadata {
            template["metadata"] = metadata;
        }
        template
    };
    metadata.map(template).into()
}

/// Annotations that ask for a gate, each with its key, its value, and whether it is on the template. `None` asks for none; the last list cannot be
/// read.
const ASKS: [Option<(&str, &str, bool)>; 7] = [
    None,
    Some(("sluice.dev/depends-on", "job/migrate", false)),
    Some(("sluice.dev/depends-on", "job/migrate", true)),
    Some(("config.kubernetes.io/depends-on", "batch/Job/a", false)),
    Some(("sluice.dev/weight", "1", false)),
    Some(("sluice.dev/parallelism", "2", true)),
    Some(("sluice.dev/depends-on", "job/Migrate", false)),
];

/// Returns the metadata of an object of a user, of an object that a controller owns, and of an object that is being deleted.
fn metadata() -> [Value; 3] {
    let owner =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "api", "controller": true});
    [
        json!({"name": "api"}),
        json!({"name": "api", "ownerReferences": [owner]}),
        json!({"name": "api", "deletionTimestamp": "2024-01-01T00:00:00Z"}),
    ]
}

fn object(
    kind: &str,
    metadata: &Value,
    template: &Value,
    ask: Option<(&str, &str, bool)>,
) -> Value {
    let mut object = json!({"kind": kind, "metadata": metadata, "spec": {}});
    let mut template = template.clone();
    if let Some((key, text, on_template)) = ask {
        let asking = if on_template {
            &mut template
        } else {
            &mut object
        };
        asking["metadata"]["annotations"][key] = json!(text);
    }
    let spec = &mut object["spec"];
    match kind {
        "CronJob" => spec["jobTemplate"]["spec"]["template"] = template,
        _ => spec["template"] = template,
    }
    object
}

/// Returns the operation of a request and the text of its patch, or the name of the decision where there is no patch.
fn answer((group, kind): (&str, &str), object: &Value, old: &Value) -> (&'static str, String) {
    let (operation, word) = match old {
        Value::Null => (Operation::Create, "CREATE"),
        _ => (Operation::Update, "UPDATE"),
    };
    let subject = Subject {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: "shop".to_owned(),
        name: "api".to_owned(),
    };
    let request = Request {
        operation,
        subject: &subject,
        object,
        old,
    };
    let answer = match workload::decide(&request, Options::default()).action {
        Action::Patch(_, edits) => serde_json::to_string(&edits).unwrap(),
        Action::Skip(_) => "as it is".to_owned(),
        Action::Deny(_) => "refused".to_owned(),
    };
    (word, answer)
}

/// Asks about every combination of templates, annotations and metadata for a kind. Returns the number of times of each answer, and a digest of all
/// answers in order.
fn answers(kind: (&str, &str)) -> String {
    let mut counts = BTreeMap::<(&str, String), usize>::new();
    let mut digest = Sha256::new();
    let mut ask = |object: &Value, old: &Value| {
        let (operation, answer) = answer(kind, object, old);
        digest.update(&answer);
        digest.update("\n");
        *counts.entry((operation, answer)).or_default() += 1;
    };
    let templates = templates();
    for (template, wanted, metadata) in templates
        .iter()
        .flat_map(|template| ASKS.map(|wanted| (template, wanted)))
        .flat_map(|(template, wanted)| metadata().map(|metadata| (template, wanted, metadata)))
    {
        let new = object(kind.1, &metadata, template, wanted);
        ask(&new, &Value::Null);
        for (before, image) in templates
            .iter()
            .flat_map(|before| ["app:1", "app:0"].map(|image| (before, image)))
        {
            let mut before = before.clone();
            before["spec"]["containers"][0]["image"] = json!(image);
            for asked in [None, wanted] {
                ask(&new, &object(kind.1, &metadata, &before, asked));
            }
        }
    }
    let mut text = String::new();
    for ((operation, answer), count) in counts {
        writeln!(text, "  {operation} {count:>4} {answer}").unwrap();
    }
    writeln!(text, "  {:x}", digest.finalize()).unwrap();
    text
}

#[test]
fn no_version_patches_a_workload_in_another_way() {
    let mut kinds = Vec::<(String, Vec<&str>)>::new();
    for kind in KINDS {
        let answers = answers(kind);
        match kinds.iter_mut().find(|(known, _)| *known == answers) {
            Some((_, alike)) => alike.push(kind.1),
            None => kinds.push((answers, vec![kind.1])),
        }
    }
    let sections = kinds
        .iter()
        .map(|(answers, kinds)| format!("{}\n{answers}", kinds.join(", ")));
    let actual = sections.collect::<Vec<_>>().join("\n");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/workload-patches.txt");
    if !golden.exists() {
        fs::write(&golden, &actual).unwrap();
        panic!("written anew; read {} like code", golden.display());
    }
    let expected = fs::read_to_string(&golden).unwrap();
    let only_in = |text: &str, other: &str| {
        let lines = text.lines().filter(|line| !other.contains(line));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert!(
        actual == expected,
        "A workload gets another patch than from the versions before:\n{}\nrather than\n{}\nEvery user's pods would be \
         rolled by an upgrade, so this may change only with a new major version. Then remove {} and run the test again: \
         it is written anew.",
        only_in(&actual, &expected),
        only_in(&expected, &actual),
        golden.display()
    );
}
