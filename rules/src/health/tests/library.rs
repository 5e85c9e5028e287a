//! The rules that sluice brings along: the files of `rules/library`.

use super::*;
use crate::health::library::{LIBRARY, file};
use file::{Entry, group};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The words by which a file of the library sorts its example objects.
const OUTCOMES: [&str; 4] = ["ready", "progressing", "failed", "paused"];

/// Every file of the library: its API group, the place at which its author read the rules, and the rules.
fn files() -> Vec<(String, Value, Vec<Entry>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let read = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let (read, entries) = file::read(&text).unwrap();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        (group(stem), read, entries)
    };
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|it| read(&it.unwrap().path())).collect();
    files.sort_by(|one, other| one.0.cmp(&other.0));
    files
}

#[test]
fn every_rule_of_the_library_compiles() {
    for ((group, kind), entry) in &LIBRARY.entries {
        let Ok(rule) = entry else {
            panic!("{group} {kind:?}")
        };
        assert_eq!(rule.check(), Ok(()), "{group} {kind:?}");
    }
    let files = files();
    let rules = files.iter().flat_map(|(_, _, entries)| entries);
    let written: usize = rules.map(|entry| entry.kinds.len()).sum();
    assert_eq!(LIBRARY.len(), written, "two rules for one kind");
}

#[test]
fn every_file_says_where_its_rules_were_read() {
    for (group, read, _) in files() {
        let places = read.as_array().cloned().unwrap_or_else(|| vec![read]);
        assert!(!places.is_empty(), "{group}");
        for place in &places {
            let words: Vec<&str> = place.as_str().unwrap().split(' ').collect();
            let is_project = |word: &str| word.split('/').count() == 2 && !word.contains(',');
            assert!(
                matches!(words[..], [project, _version, _file] if is_project(project)),
                "{group}: read: {place} is no \"OWNER/NAME VERSION FILE\""
            );
        }
    }
}

/// A file that is not understood stops the build, with a sentence that says what to write.
#[test]
fn what_a_file_may_say() {
    let texts = |rule: &str| {
        let text = format!("read: x\nkinds:\n  Widget: {{{rule}, cases: {{}}}}\n");
        file::read(&text).map(|(_, mut entries)| {
            let entry = entries.remove(0);
            (entry.current, entry.in_progress, entry.failed)
        })
    };
    let one = |rule: &str| texts(rule).unwrap().0;
    assert_eq!(one("exists: true"), "true");
    let condition = |test: &str, status: &str| {
        format!("status.?conditions.orValue([]).exists(c, c.type {test} && c.status == '{status}')")
    };
    assert_eq!(one("ready: Ready"), condition("== 'Ready'", "True"));
    assert_eq!(one("ready: [A, B]"), condition("in ['A', 'B']", "True"));
    assert_eq!(
        one("field: spec.a.b, is: Bound"),
        "spec.?a.?b.orValue('') == 'Bound'"
    );
    assert_eq!(
        one("field: status.valid, is: true"),
        "status.?valid.orValue(false) == true"
    );
    assert_eq!(one("current: 'size(status) > 1'"), "size(status) > 1");
    let all = "field: status.phase, is: [Bound, Done], inProgress: {condition: A, is: false}, failed: [Lost]";
    assert_eq!(
        texts(all).unwrap(),
        (
            "status.?phase.orValue('') in ['Bound', 'Done']".to_owned(),
            Some(condition("== 'A'", "False")),
            Some("status.?phase.orValue('') == 'Lost'".to_owned()),
        )
    );
    let failed = |test: &str| texts(&format!("exists: true, failed: {test}")).map(|it| it.2);
    assert_eq!(
        failed("{field: status.error, isNot: ''}").unwrap().unwrap(),
        "status.?error.orValue('') != ''"
    );
    assert_eq!(
        failed("{field: status.ok, is: false}").unwrap().unwrap(),
        "status.?ok.orValue(true) == false"
    );
    for (rule, why) in [
        ("failed: x", "in no form or in two"),
        ("exists: true, ready: Ready", "in no form or in two"),
        ("exists: false", "in no form or in two"),
        ("field: status.phase", "in no form or in two"),
        ("field: phase, is: Bound", "is no path such as status.phase"),
        (
            "field: status., is: Bound",
            "is no path such as status.phase",
        ),
        ("ready: 1", "is no text"),
        ("ready: [1, 2]", "put it in quotes"),
        ("ready: []", "nor a list of texts"),
        ("ready: \"it's\"", "write the test in CEL"),
        (
            "ready: Ready, failed: [Lost]",
            "needs the `field` of the rule",
        ),
        ("ready: Ready, failed: {is: Lost}", "failed: is no test"),
        ("ready: Ready, unknown: 1", "unknown"),
    ] {
        let told = texts(rule).unwrap_err();
        assert!(told.contains(why), "{rule}: {told}");
    }
    for text in [
        "",
        "[]",
        "kinds: {}",
        "read: x",
        "read: x\nkinds: {A: {exists: true}}",
    ] {
        assert!(file::read(text).is_err(), "{text}");
    }
}

#[test]
fn the_library_waits_for_a_status_and_its_generation() {
    let reason = |object: &Value| builtin(object, false).map(|judged| judged.reason);
    let certificate = |status: Value| thing("cert-manager.io", "Certificate", &status);
    assert_eq!(reason(&certificate(json!(null))), Some(Reason::NoStatusYet));
    let ready = |observed: i64| json!({ "conditions": [{ "type": "Ready", "status": "True", "observedGeneration": observed }] });
    let mut latest = certificate(ready(2));
    latest["metadata"]["generation"] = json!(2);
    assert_eq!(reason(&latest), Some(Reason::Satisfied));
    latest["status"] = ready(1);
    assert_eq!(reason(&latest), Some(Reason::NotObserved));
    let not = json!({ "conditions": [{ "type": "Ready", "status": "False", "message": "soon" }] });
    assert_eq!(
        builtin(&certificate(not), false).unwrap().message,
        "by the health rule of its kind it is in progress: condition Ready is False: soon"
    );
    let mut paused = thing(
        "cluster.x-k8s.io",
        "Cluster",
        &json!({ "phase": "Provisioning" }),
    );
    paused["spec"] = json!({ "paused": true });
    assert_eq!(
        builtin(&paused, false).unwrap().message,
        "by the health rule of its kind it is in progress: status.phase is Provisioning; it is paused: spec.paused is true"
    );
    assert_eq!(reason(&thing("example.com", "Thing", &json!({}))), None);
    for (group, kind) in [
        ("aws.upbound.io", "ProviderConfig"),
        ("argoproj.io", "CronWorkflow"),
    ] {
        assert_eq!(
            reason(&thing(group, kind, &json!(null))),
            Some(Reason::Satisfied),
            "{kind}"
        );
    }
}

/// An example object of the library, and the outcome that its rule has to give.
pub(crate) struct Case {
    /// Group and kind of the rule.
    pub rule: (String, Option<String>),
    /// The outcome that the rule has to give: one of [`OUTCOMES`].
    pub word: String,
    /// The object.
    pub object: Value,
}

/// The cases of all rules.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (group, _, entries) in files() {
        for entry in entries {
            for (kinds, subject, cases) in of_kinds(&group, &entry) {
                let cases = cases.as_object().expect("cases are a mapping");
                for (word, objects) in cases {
                    assert!(
                        OUTCOMES.contains(&word.as_str()),
                        "{group}: {word} is no outcome"
                    );
                    for case in objects.as_array().expect("objects are a list") {
                        all.push(Case {
                            rule: (group.clone(), kinds.clone()),
                            word: word.clone(),
                            object: object_of(&subject, case.clone()),
                        });
                    }
                }
            }
        }
    }
    all
}

/// The examples of a rule: the kind that the rule names, the kind of the example objects as `KIND.GROUP`, and the examples. Examples
/// count for each kind of their rule, unless they stand under one kind.
fn of_kinds(group: &str, entry: &Entry) -> Vec<(Option<String>, String, Value)> {
    let cases = entry.cases.as_object().expect("cases are a mapping");
    let below = group.replace('*', "any");
    if cases.keys().all(|word| OUTCOMES.contains(&word.as_str())) {
        let subject = |kind: &Option<String>| {
            let name = kind.as_deref().unwrap_or("Thing");
            (kind.clone(), format!("{name}.{below}"), entry.cases.clone())
        };
        return entry.kinds.iter().map(subject).collect();
    }
    let subject = |(name, cases): (&String, &Value)| {
        let (kind, subject) = match name.split_once('.') {
            Some((kind, _)) => (kind, name.clone()),
            None => (name.as_str(), format!("{name}.{below}")),
        };
        let own = Some(kind.to_owned());
        let kind = own.filter(|kind| entry.kinds.contains(&Some(kind.clone())));
        (kind, subject, cases.clone())
    };
    cases.iter().map(subject).collect()
}

/// Makes the object of an example, which a file writes as the object's status alone, as its `spec`, `status` and `metadata`, or as the
/// whole `object`.
fn object_of(subject: &str, case: Value) -> Value {
    if let Some(object) = case.get("object") {
        return object.clone();
    }
    let (kind, group) = subject.split_once('.').unwrap();
    let is_whole = ["spec", "status", "metadata"]
        .iter()
        .any(|field| case.get(field).is_some());
    // A status may have a field of that name too, which is then a word or a list.
    let is_whole = is_whole && case.as_object().unwrap().values().all(Value::is_object);
    let mut object = json!({ "apiVersion": format!("{group}/v1"), "kind": kind, "metadata": { "name": "x", "generation": 2 } });
    let fields = if is_whole {
        case
    } else {
        json!({ "status": case })
    };
    for (field, mut value) in fields.as_object().unwrap().clone() {
        spell_out(&mut value);
        object[field] = value;
    }
    object
}

/// Writes each `{Ready: true}` in an example as the list of conditions that it stands for.
fn spell_out(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(spell_out),
        Value::Object(fields) => {
            for (field, value) in fields {
                // A mapping of conditions that a kind itself has is left as it is.
                if let ("conditions", Value::Object(short)) = (field.as_str(), &*value)
                    && !short.values().any(Value::is_object)
                {
                    *value = short
                        .iter()
                        .map(|(kind, said)| condition(kind, said))
                        .collect();
                }
                spell_out(value);
            }
        }
        _ => {}
    }
}

fn condition(kind: &str, said: &Value) -> Value {
    let status = said.get(0).unwrap_or(said);
    let status = match status {
        Value::Bool(true) => "True",
        Value::Bool(false) => "False",
        other => other.as_str().unwrap(),
    };
    let reason = said.get(1).and_then(Value::as_str).unwrap_or_default();
    json!({ "type": kind, "status": status, "reason": reason })
}

#[test]
fn every_case_is_judged_by_the_rule_beside_it() {
    for case in cases() {
        let (found, _) = LIBRARY.found(&case.object).expect("a rule");
        assert_eq!(*found, case.rule, "{}", case.object);
    }
}

#[test]
fn every_rule_has_a_case_for_each_outcome() {
    let tried: BTreeSet<_> = cases().into_iter().map(|it| (it.rule, it.word)).collect();
    let mut missing = Vec::new();
    for (subject, entry) in &LIBRARY.entries {
        let Ok(rule) = entry else {
            continue;
        };
        let (current, in_progress, failed) = rule.texts();
        let waits = current != "true" || in_progress.is_some();
        let outcomes = [
            (true, &["ready"][..]),
            (waits, &["progressing", "paused"]),
            (failed.is_some(), &["failed"]),
        ];
        for (_, words) in outcomes.into_iter().filter(|(can, _)| *can) {
            let has = |word: &&str| tried.contains(&(subject.clone(), (*word).to_owned()));
            if !words.iter().any(has) {
                let (group, kind) = subject;
                missing.push(format!(
                    "{kind:?} of {group} has no case that is {}",
                    words[0]
                ));
            }
        }
    }
    missing.sort_unstable();
    assert_eq!(missing, [""; 0]);
}
