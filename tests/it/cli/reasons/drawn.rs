//! The drawing of `graph` and `ui` for the pod of a reason: the line to its dependency says the same as its gate.

use super::cases::namespace;
use crate::cli::api::Api;
use crate::cli::run;
use crate::cli::ui::Ui;
use rules::judged::Reason;
use serde_json::{Value, json};
use wire::Answer;

/// Returns the cause why no line of the graph shows this reason, although the pod's gate has it; `None` for a reason that a line shows.
fn is_of_no_line(reason: Reason) -> Option<&'static str> {
    match reason {
        Reason::NoSlot => Some("a slot is no object, so no line leads to it"),
        _ => None,
    }
}

/// Compares `graph` and `ui` for the pod of a reason with `told`, the JSON of `status`, which equals the gate's answer. An error describes the
/// difference.
pub(super) fn compare(api: &Api, reason: Reason, told: &str) -> Result<(), String> {
    let answer: Answer =
        serde_json::from_str(told).map_err(|error| format!("{reason}: {error}"))?;
    let kubeconfig = api.kubeconfig(false);
    let path = kubeconfig.path().to_str().unwrap();
    let namespace = namespace(reason);
    let args = [
        "graph",
        "-n",
        &namespace,
        "-o",
        "json",
        "--kubeconfig",
        path,
    ];
    let ran = run(&args, "");
    let graph: Value = serde_json::from_str(&ran.out)
        .map_err(|_| format!("graph gives no answer: {}{}", ran.out, ran.error))?;
    let ui = Ui::of(path, &["-n", &namespace]).graph("");
    for (what, drawn) in [("graph", graph), ("ui", ui)] {
        let complain = |why: &str| Err(format!("{reason}: {what} {why}: {drawn}"));
        let all = |list: &str| drawn[list].as_array().into_iter().flatten();
        let gate = all("gates").find(|gate| gate["pod"] == "api");
        if gate.is_none_or(|gate| gate["dependencies"] != json!(answer.dependencies)) {
            return complain("has another gate");
        }
        if is_of_no_line(reason).is_some() {
            continue;
        }
        let ours = |edge: &&Value| edge["from"] == "Pod/api" && edge["reason"] == reason.label();
        let Some(edge) = all("edges").find(ours) else {
            return complain("has no line with the reason");
        };
        let mut told = answer.dependencies.iter();
        let satisfied = told.any(|it| it.reason == reason.label() && it.satisfied);
        let node = all("nodes").find(|node| node["id"] == edge["to"]).unwrap();
        if (&edge["holds"], &node["holdsUp"]) != (&json!(!satisfied), &json!(!satisfied)) {
            return complain("has another line");
        }
        if !satisfied && node["ready"] == true {
            return complain("takes what holds the pod back for ready");
        }
        // A dependency that holds nothing back is no trouble, even if it is missing.
        let remembered = reason == Reason::Remembered;
        if remembered && (node["missing"] == true || node["ready"] != true) {
            return complain("does not remember");
        }
        if matches!(reason, Reason::KindForbidden | Reason::NotPermitted) && node["missing"] == true
        {
            return complain("says that it is not there");
        }
    }
    Ok(())
}
