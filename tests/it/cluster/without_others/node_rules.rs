//! Tests of the administrator's rules for nodes, the chart's value `nodeRules`: pods of every labelled namespace wait for an agent of their node.

use harness::cluster::{Manifest, Namespace, Program, alone, daemon_set, deployment, sluice};
use harness::process::binary;
use serde_json::{Value, json};

async fn asks_for_gates(ns: &Namespace) {
    let namespace = format!("namespace/{}", ns.name);
    ns.kubectl(["label", &namespace, "sluice.dev/inject=enabled"])
        .await
        .ok();
}

fn apart(name: &str) -> Manifest {
    deployment(name).in_pod("/metadata/labels/apart", "yes")
}

/// Fails unless the graph has exactly one edge: the rule, from the one Deployment that it holds to the agent.
async fn is_drawn(ns: &Namespace, home: &Namespace) {
    let ran = Program::new(binary("kubectl-sluice"))
        .args(["graph", "--namespace", &ns.name, "-o", "json"])
        .run()
        .await;
    let drawn: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let edges = drawn["edges"].as_array().into_iter().flatten();
    let edges: Vec<_> = edges
        .map(|it| json!([it["from"], it["to"], it["because"], it["holds"]]))
        .collect();
    let agent = format!("{}/DaemonSet/agent", home.name);
    let expected = json!(["Deployment/web", agent, "node rule", true]);
    assert_eq!(edges, [expected], "{ran}");
}

/// Checks that the pods of labelled namespaces that the rule means wait until the agent is ready, and that all other pods start. `more` are further
/// values of the chart.
async fn holds_until_the_agent_is_ready(ns: &Namespace, more: &[&str]) {
    let home = ns.another("agents").await;
    let shop = ns.another("shop").await;
    let other = ns.another("unlabelled").await;
    for labelled in [&home, &shop] {
        asks_for_gates(labelled).await;
    }
    let rule = json!([{
        "kind": "DaemonSet", "name": "agent", "namespace": home.name, "sameNode": true,
        "pods": {"selector": "apart notin (yes)"},
    }]);
    let rules = format!("nodeRules={rule}");
    let values: Vec<&str> = ["--set-json", rules.as_str()]
        .into_iter()
        .chain(more.iter().copied())
        .collect();
    let test = async || {
        let skipped = deployment("skipped").template_annotated("sluice.dev/skip", "true");
        shop.apply([deployment("web"), apart("lone"), skipped])
            .await
            .ok();
        other.apply([deployment("web")]).await.ok();
        let web = shop.pod_of("web").await;
        let agent = format!("{}/DaemonSet/agent (node rule)", home.name);
        web.waits_for(&agent, "NotFound").await;
        // A pod that the agent may need is beside the agent, and starts before it.
        home.apply([daemon_set("agent").ready_when_told(), deployment("beside")])
            .await
            .ok();
        home.pod_of("beside").await.starts().await;
        home.pod_of("agent").await.says("started").await;
        for name in ["lone", "skipped"] {
            shop.pod_of(name).await.starts().await;
        }
        other.pod_of("web").await.is_ready().await;
        web.waits_for(&agent, "InProgress").await;
        is_drawn(&shop, &home).await;
        web.stays_shut().await;
        home.tell_ready("daemonset/agent").await;
        web.starts().await;
    };
    sluice::with_values_alone(&values, test).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn every_labelled_namespace_waits_for_the_agent_of_its_node() {
    alone("node-rule", async |ns| {
        holds_until_the_agent_is_ready(ns, &[]).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_rule_holds_the_pods_that_the_api_server_injects() {
    if !crate::cluster::without_sluice::backend::is_served().await {
        return;
    }
    alone("node-rule", async |ns| {
        holds_until_the_agent_is_ready(ns, &["--set", "injection.backend=policy"]).await;
    })
    .await;
}
