//! The demands of Kubernetes on the pods of a workload before it calls the workload ready, or a Deployment available.

use crate::path::get;
use serde_json::Value;

/// Whether something asks a pod, or the pods of a template, if it is ready: a readiness or a startup probe of a container that goes on
/// running, or a readiness gate. Otherwise a pod is ready as soon as its containers run.
pub fn is_asked(template: &Value) -> bool {
    let spec = &template["spec"];
    let of = |list: &str| spec[list].as_array().into_iter().flatten();
    let sidecars = of("initContainers").filter(|it| it["restartPolicy"] == "Always");
    let mut containers = of("containers").chain(sidecars);
    let probed = |it: &Value| {
        ["readinessProbe", "startupProbe"]
            .iter()
            .any(|probe| it[*probe].is_object())
    };
    of("readinessGates").next().is_some() || containers.any(probed)
}

/// The field of `metadata` that marks a workload whose pods have neither a readiness or startup probe nor a readiness gate, where its pod template is
/// not kept. The API server has no such field, so no user can set it.
pub const UNASKED: &str = "unasked";

/// Whether the pods of a workload go on running and have neither a readiness or startup probe nor a readiness gate: the workload then counts as ready
/// as soon as their containers run.
pub fn is_unasked(workload: &Value) -> bool {
    let template = get(workload, &["spec", "template"]).unwrap_or(&Value::Null);
    let pods = &template["spec"];
    let serves = matches!(pods["restartPolicy"].as_str(), None | Some("Always"));
    let made = pods["containers"]
        .as_array()
        .is_some_and(|it| !it.is_empty());
    workload["metadata"][UNASKED] == true || made && serves && !is_asked(template)
}

/// Whether a Deployment is available without a single available pod, since all of its replicas may be unavailable at once. The answer is no for one
/// that is scaled to zero, and for the strategy `Recreate`.
pub fn needs_no_pod(deployment: &Value) -> bool {
    let strategy = get(deployment, &["spec", "strategy"]).unwrap_or(&Value::Null);
    if strategy["type"] == "Recreate" {
        return false;
    }
    let replicas = get(deployment, &["spec", "replicas"])
        .and_then(Value::as_u64)
        .unwrap_or(1);
    let amount = |key: &str, up: bool| {
        let written = &strategy["rollingUpdate"][key];
        match written {
            Value::Number(number) => number.as_u64().unwrap_or(0),
            Value::String(text) => percent_of(text, replicas, up).unwrap_or(0),
            _ => percent_of("25%", replicas, up).unwrap_or(0),
        }
    };
    // The deployment controller lets one be unavailable where it could move none.
    let unavailable = match (amount("maxUnavailable", false), amount("maxSurge", true)) {
        (0, 0) => 1,
        (unavailable, _) => unavailable,
    };
    replicas > 0 && unavailable >= replicas
}

/// The number of replicas that a percentage such as `25%` means, rounded `up` or down as the deployment controller does; `None` for any other text.
fn percent_of(text: &str, replicas: u64, up: bool) -> Option<u64> {
    let share = text
        .strip_suffix('%')?
        .parse::<u64>()
        .ok()?
        .checked_mul(replicas)?;
    Some(if up { share.div_ceil(100) } else { share / 100 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_workload_is_unasked_by_its_template_or_by_its_mark() {
        let of = |pods: Value| is_unasked(&json!({"spec": {"template": {"spec": pods}}}));
        assert!(of(json!({"containers": [{}]})));
        assert!(!of(json!({"containers": [{"readinessProbe": {}}]})));
        assert!(!of(json!({"containers": [{}], "restartPolicy": "Never"})));
        assert!(!of(json!({"containers": []})), "not known");
        assert!(is_unasked(&json!({"metadata": {UNASKED: true}})));
    }

    #[test]
    fn a_probe_or_a_readiness_gate_asks_a_pod() {
        let probe = json!({"exec": {"command": ["true"]}});
        for (spec, expected) in [
            (json!({"containers": [{"name": "app"}]}), false),
            (json!({"containers": [{"livenessProbe": probe}]}), false),
            (json!({"containers": [{}, {"readinessProbe": probe}]}), true),
            (json!({"containers": [{"startupProbe": probe}]}), true),
            (
                json!({"containers": [{}], "readinessGates": [{"conditionType": "a/b"}]}),
                true,
            ),
            (
                json!({"containers": [{}], "initContainers": [{"restartPolicy": "Always", "readinessProbe": probe}]}),
                true,
            ),
            (
                json!({"containers": [{}], "initContainers": [{"startupProbe": probe}]}),
                false,
            ),
        ] {
            assert_eq!(is_asked(&json!({ "spec": spec })), expected, "{spec}");
        }
    }

    #[test]
    fn a_deployment_may_be_available_without_a_pod() {
        let rolling = |unavailable: Value, surge: Value| json!({"rollingUpdate": {"maxUnavailable": unavailable, "maxSurge": surge}});
        for (replicas, strategy, expected) in [
            (json!(1), json!({}), false),
            (Value::Null, json!({}), false),
            (json!(4), json!({}), false),
            (json!(1), rolling(json!(1), json!(1)), true),
            (Value::Null, rolling(json!(1), json!(1)), true),
            (json!(2), rolling(json!(1), json!(1)), false),
            (json!(2), rolling(json!(2), json!(0)), true),
            (json!(3), rolling(json!("100%"), json!(0)), true),
            (json!(3), rolling(json!("99%"), json!(0)), false),
            (json!(1), rolling(json!("25%"), json!(0)), true),
            (json!(1), rolling(Value::Null, json!(0)), true),
            (json!(1), rolling(json!("50%"), json!("10%")), false),
            (json!(0), rolling(json!(1), json!(1)), false),
            (json!(1), json!({"type": "Recreate"}), false),
        ] {
            let deployment = json!({"spec": {"replicas": replicas, "strategy": strategy}});
            assert_eq!(needs_no_pod(&deployment), expected, "{deployment}");
        }
    }
}
