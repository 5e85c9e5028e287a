//! Flux's meaning of a rule, the refused rules, and that nothing escapes the bounds.

mod expression;
pub(crate) mod library;
mod properties;
mod rules;

use super::*;
use crate::kstatus::Status;
use serde_json::json;

fn holds(text: &str, object: &Value) -> Result<bool, String> {
    CelExpression::compile(text)
        .map_err(|broken| broken.to_string())?
        .holds(object)
}

fn read(text: &str) -> (Rules, Vec<String>) {
    let (rules, problems) = Rules::read([("rules.yaml", text)]);
    (rules, problems.iter().map(ToString::to_string).collect())
}

fn thing(group: &str, kind: &str, status: &Value) -> Value {
    json!({ "apiVersion": format!("{group}/v1"), "kind": kind, "metadata": { "name": "x" }, "status": status })
}
