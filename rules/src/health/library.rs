//! The rules that are built in: `rules/library/health.yaml`.

use super::read;
use super::{Rule, RuleEntry, Rules};
use crate::judged::{Judged, Reason, unmet};
use crate::kstatus::Status;
use crate::profile;
use serde_json::Value;
use std::sync::LazyLock;

/// One YAML list of Flux's entries; anchors keep the expressions that many kinds share in one place.
pub(super) const TEXT: &str = include_str!("../../library/health.yaml");

/// Read once; an expression is compiled when its kind is first met. A test compiles all of them.
static LIBRARY: LazyLock<Rules> = LazyLock::new(|| {
    let entries: Vec<Value> = serde_saphyr::from_str(TEXT).unwrap_or_default();
    let mut rules = Rules::default();
    for entry in &entries {
        let Ok(key) = read::subject(entry) else {
            continue;
        };
        let text = |field: &str| entry.get(field).and_then(Value::as_str);
        let rule = Rule::new(
            text("current").unwrap_or_default(),
            text("inProgress"),
            text("failed"),
        );
        rules.entries.insert(key, RuleEntry::Rule(Box::new(rule)));
    }
    rules
});

/// What the library says of an object, where it has a rule for its kind.
///
/// Its rules may take two things for granted, so that each can be about its kind alone: there is a status (unless the
/// rule is the constant `true`), and no condition is of an older generation.
pub fn builtin(object: &Value) -> Option<Judged> {
    let Some(RuleEntry::Rule(rule)) = LIBRARY.entry(object) else {
        return None;
    };
    if !profile::has_no_status(object) {
        return Some(profile::outdated(object).unwrap_or_else(|| rule.judge(object)));
    }
    Some(if rule.is_constant() {
        Rule::told(object, Status::Current)
    } else {
        let sentence = Reason::NoStatusYet.sentence().to_owned();
        unmet(Status::InProgress, Reason::NoStatusYet, sentence)
    })
}

/// Whether the library has a rule for the object's kind.
pub fn is_builtin(object: &Value) -> bool {
    LIBRARY.entry(object).is_some()
}
