//! The rules that sluice brings along.

use super::*;
use crate::health::library::TEXT;
use crate::health::rule::Texts;
use serde_json::Map;

fn library() -> (Rules, Vec<RuleProblem>) {
    let (mut rules, mut problems) = (Rules::default(), Vec::new());
    let text = ("library", TEXT);
    read::text(&mut rules, usize::MAX, text, &mut problems);
    (rules, problems)
}

#[test]
fn every_rule_of_the_library_compiles() {
    let (rules, problems) = library();
    assert_eq!(problems, []);
    assert!(rules.len() > 200, "{}", rules.len());
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

/// Objects by what the library makes of them, for the kinds that stand for the rules.
pub(crate) fn cases() -> impl Iterator<Item = (String, String, Value)> {
    let text = include_str!("../../../library/cases.yaml");
    let kinds: Map<String, Value> = serde_saphyr::from_str(text).unwrap();
    kinds.into_iter().flat_map(|(name, kinds)| {
        let words = kinds.as_object().unwrap().clone();
        words.into_iter().flat_map(move |(word, cases)| {
            let (name, cases) = (name.clone(), cases.as_array().unwrap().clone());
            let case = move |case| (name.clone(), word.clone(), case_of(&name, case));
            cases.into_iter().map(case)
        })
    })
}

fn case_of(name: &str, case: Value) -> Value {
    let (kind, group) = name.split_once('.').unwrap();
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

/// Writes `{Ready: true}` as a list of conditions, wherever they are.
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

/// Kinds that share their expressions share their cases.
#[test]
fn every_rule_of_the_library_has_its_cases() {
    let (rules, _) = library();
    let mut tried: HashMap<Texts, Vec<String>> = HashMap::new();
    for (_, word, object) in cases() {
        if let Some(RuleEntry::Rule(rule)) = rules.entry(&object) {
            tried.entry(rule.texts()).or_default().push(word);
        }
    }
    let mut missing = Vec::new();
    for ((group, kind), entry) in &rules.entries {
        let RuleEntry::Rule(rule) = entry else {
            continue;
        };
        let texts @ (current, _, failed) = rule.texts();
        let waits = (current != "true").then_some("progressing");
        let fails = failed.map(|_| "failed");
        for word in [Some("ready"), waits, fails].into_iter().flatten() {
            if !tried
                .get(&texts)
                .is_some_and(|words| words.iter().any(|it| it == word))
            {
                missing.push(format!("{kind:?} of {group} has no case that is {word}"));
            }
        }
    }
    missing.sort_unstable();
    assert_eq!(missing, [""; 0]);
}
