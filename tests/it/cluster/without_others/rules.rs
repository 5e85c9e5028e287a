//! Tests of the administrator's health rules, in CEL.

use crate::cluster::command_line::judged::assert_told;
use harness::cluster::{Defined, Namespace, Program, alone, deployment, finally, sluice};
use serde_json::json;

const CONFIG_MAP: &str = "health-of-a-test";

/// Writes the ConfigMap that the value `healthRules.configMap` names, with one rule for the test's kind Widget: `current` is the expression of
/// readiness.
async fn rules(ns: &Namespace, current: &str) {
    let api_version = format!("{}/v1", Defined::widget(ns).group);
    let rules = json!([{"apiVersion": api_version, "kind": "Widget", "current": current}]);
    let metadata = json!({"name": CONFIG_MAP, "namespace": sluice::NAMESPACE});
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
        "data": {"rules.yaml": rules.to_string()},
    });
    let kubectl = Program::new("kubectl").args(["apply", "-f", "-"]);
    kubectl.input(object.to_string()).run().await.ok();
}

async fn no_rules() {
    let config_map = format!("configmap/{CONFIG_MAP}");
    let delete = ["delete", "--ignore-not-found", &config_map];
    let namespace = ["--namespace", sluice::NAMESPACE];
    let kubectl = Program::new("kubectl").args(delete).args(namespace);
    kubectl.run().await.ok();
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_rule_decides_when_its_kind_counts_and_may_be_mended() {
    alone("rules", async |ns| {
        let set = format!("healthRules.configMap={CONFIG_MAP}");
        let mended = || is_mended(ns);
        let test = async || sluice::with_values(&["--set", &set], mended).await;
        finally(test, async |_| no_rules().await).await;
    })
    .await;
}

async fn is_mended(ns: &Namespace) {
    let widget = Defined::widget(ns);
    let (one, reference) = (widget.dependency("one"), widget.reference("one"));
    widget.grant(ns).await;
    widget.define(ns).await;
    let api = deployment("api").depends_on(&one);
    ns.apply([widget.one("one"), api]).await.ok();
    ns.set_status(&reference, &json!({"word": "Moving"})).await;
    let api = ns.pod_of("api").await;
    let line = api.waits_for(&one, "RuleError").await;
    assert!(line.contains("does not exist; create it"), "{line}");

    rules(ns, "status.word ==").await;
    api.waits_for(&one, "RuleError").await;
    rules(ns, "status.word == 'Settled'").await;
    api.waits_for(&one, "InProgress").await;
    assert_told(ns, &api, "InProgress", 3).await;
    ns.set_status(&reference, &json!({"word": "Settled"})).await;
    api.starts().await;
    assert_told(ns, &api, "Satisfied", 0).await;
}
