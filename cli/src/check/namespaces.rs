//! Checks the label `sluice.dev/inject` of namespaces, which has every pod of a namespace gated.

use super::Checked;
use super::controller::text;
use rules::lookup::Lookup;
use serde_json::Value;

const CHECK: &str = "namespaces";

/// The namespaces in which sluice never gates a pod: the API server does not ask the webhook about their objects.
pub(super) const EXCLUDED: [&str; 3] = ["kube-system", "kube-public", "kube-node-lease"];

pub(super) fn labelled(found: &Lookup<Vec<Value>>) -> Vec<Checked> {
    let namespaces = match found {
        Lookup::Found(namespaces) => namespaces.as_slice(),
        Lookup::NotFound => &[],
        Lookup::Unavailable(why) => return vec![Checked::unseen(CHECK, "their labels", *why)],
    };
    let mut findings = Vec::new();
    let mut gated = Vec::new();
    for namespace in namespaces {
        let name = text(namespace, "/metadata/name");
        match text(namespace, "/metadata/labels/sluice.dev~1inject") {
            "enabled" if EXCLUDED.contains(&name) => {
                let told = format!(
                    "{name} carries sluice.dev/inject, and sluice leaves it alone; remove the label"
                );
                findings.push(Checked::warning(CHECK, told));
            }
            "enabled" => gated.push(name),
            other => {
                let told = format!(
                    "{name} carries sluice.dev/inject: {other:?}, which means nothing; write enabled"
                );
                findings.push(Checked::warning(CHECK, told));
            }
        }
    }
    let told = match gated.as_slice() {
        [] => "none carries sluice.dev/inject: enabled, so what carries an annotation is gated"
            .to_owned(),
        gated => format!("every pod is gated in {}", gated.join(", ")),
    };
    findings.push(Checked::ok(CHECK, told));
    findings
}
