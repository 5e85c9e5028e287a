//! Checks that the DaemonSets that the administrator's node rules name exist.

use super::Checked;
use crate::installation::{Settings, get};
use anyhow::Result;
use kube::Client;
use rules::dependency::Reference;
use rules::lookup::Lookup;
use serde_json::Value;

const CHECK: &str = "node rules";

/// A DaemonSet that a node rule names, as the rule writes it, and the answer of the API server.
pub(super) type Agent = (String, Lookup<Value>);

/// Reads the DaemonSet that each node rule of an installation names. One that does not exist, or that the caller may not read, is no error.
pub(super) async fn read(client: &Client, settings: &Settings) -> Result<Vec<Agent>> {
    let mut agents = Vec::new();
    for rule in &settings.policy.node_rules.0 {
        let Reference::Object(agent) = &rule.entry.reference else {
            continue;
        };
        let namespace = agent.namespace.as_deref().unwrap_or_default();
        let path = format!("/apis/apps/v1/namespaces/{namespace}/daemonsets");
        agents.push((agent.to_string(), get(client, &path, &agent.name).await?));
    }
    Ok(agents)
}

/// A line for each DaemonSet of a node rule that is missing or cannot be read, else one good line. No line where there are no node rules.
pub(super) fn agents(agents: &[Agent]) -> Vec<Checked> {
    let mut findings = Vec::new();
    for (name, found) in agents {
        match found {
            Lookup::Found(_) => {}
            Lookup::NotFound => {
                let told = format!(
                    "{name} does not exist, and pods in namespaces with sluice.dev/inject: enabled wait for it; create it, or correct the chart's \
                     value nodeRules"
                );
                findings.push(Checked::problem(CHECK, told));
            }
            Lookup::Unavailable(why) => findings.push(Checked::unseen(CHECK, name, *why)),
        }
    }
    if findings.is_empty() && !agents.is_empty() {
        let names: Vec<_> = agents.iter().map(|(name, _)| name.as_str()).collect();
        let told = format!(
            "pods in namespaces with sluice.dev/inject: enabled wait for the pod on their node of {}",
            names.join(", ")
        );
        findings.push(Checked::ok(CHECK, told));
    }
    findings
}
