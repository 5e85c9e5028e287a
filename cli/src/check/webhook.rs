//! Checks sluice's webhook configuration: whether the API server asks sluice, and trusts it.

use super::Checked;
use super::controller::text;
use crate::installation::NAME;
use rules::lookup::Lookup;
use serde_json::Value;

const CHECK: &str = "webhook";

/// The names of the webhooks in the MutatingWebhookConfiguration that the chart renders.
pub(super) const ENTRIES: [&str; 4] = [
    "workloads.sluice.dev",
    "cronjobs.sluice.dev",
    "pods.sluice.dev",
    "every-pod.sluice.dev",
];

/// The number of [`ENTRIES`], from the first, that only check a pod or workload where the API server's own policy injects gates. Their
/// failurePolicy is then Ignore, for any value of the chart.
const CHECKING: usize = 3;

/// Checks each entry of sluice's MutatingWebhookConfiguration: it exists, it has a caBundle, and its failurePolicy is not Ignore by the chart's
/// value. `is_silent`: no controller has run that could write a caBundle, so a missing one is no finding.
pub(super) fn configuration(found: &Lookup<Value>, is_silent: bool) -> Vec<Checked> {
    let configuration = match found {
        Lookup::Found(configuration) => configuration,
        Lookup::NotFound => {
            let told = format!(
                "there is no MutatingWebhookConfiguration {NAME}: nothing is gated; upgrade the release to make it again"
            );
            return vec![Checked::problem(CHECK, told)];
        }
        Lookup::Unavailable(why) => {
            return vec![Checked::unseen(CHECK, "its configuration", *why)];
        }
    };
    let webhooks = configuration["webhooks"].as_array();
    let webhooks = webhooks.map_or(&[][..], Vec::as_slice);
    let judged = ENTRIES
        .iter()
        .filter(|entry| !(is_silent && lacks_ca(entry, webhooks)));
    let judged: Vec<_> = judged.collect();
    let mut findings: Vec<_> = judged
        .iter()
        .filter_map(|entry| of_entry(entry, webhooks))
        .collect();
    if findings.is_empty() && judged.len() == ENTRIES.len() {
        let told = format!(
            "MutatingWebhookConfiguration {NAME}: every entry carries the CA's certificate"
        );
        findings.push(Checked::ok(CHECK, told));
    }
    findings
}

fn lacks_ca(name: &str, webhooks: &[Value]) -> bool {
    let mut entries = webhooks.iter().filter(|it| it["name"] == name);
    entries.any(|it| text(it, "/clientConfig/caBundle").is_empty())
}

fn of_entry(name: &str, webhooks: &[Value]) -> Option<Checked> {
    let Some(entry) = webhooks.iter().find(|it| it["name"] == name) else {
        let told = format!("the entry {name} is missing; upgrade the release to make it again");
        return Some(Checked::problem(CHECK, told));
    };
    if lacks_ca(name, webhooks) {
        return Some(Checked::problem(
            CHECK,
            format!(
                "{name} has no caBundle, so the API server does not trust the controller, which has to write it; look at its log"
            ),
        ));
    }
    (is_lenient(entry) && !a_policy_injects(webhooks)).then(|| {
        let told = format!(
            "{name} has failurePolicy Ignore: while no replica answers, pods start without waiting; the chart's value admission.failurePolicy says so"
        );
        Checked::warning(CHECK, told)
    })
}

fn is_lenient(entry: &Value) -> bool {
    entry["failurePolicy"] == "Ignore"
}

fn a_policy_injects(webhooks: &[Value]) -> bool {
    let is_lenient = |name: &&str| {
        let mut entries = webhooks.iter().filter(|it| it["name"] == **name);
        entries.any(is_lenient)
    };
    let (checking, others) = ENTRIES.split_at(CHECKING);
    checking.iter().all(is_lenient) && !others.iter().any(is_lenient)
}

/// A problem where sluice's webhook configuration is there without a controller, so that every object with an annotation of sluice is refused;
/// a good line where there is no configuration either, a warning where it cannot be read.
pub(super) fn left_behind(found: &Lookup<Value>) -> Checked {
    match found {
        Lookup::Found(_) => Checked::problem(
            CHECK,
            format!(
                "MutatingWebhookConfiguration {NAME} is there without a controller: annotated objects are refused; kubectl delete mutatingwebhookconfiguration {NAME}"
            ),
        ),
        Lookup::NotFound => Checked::ok(CHECK, "no configuration is left behind"),
        Lookup::Unavailable(why) => Checked::unseen(CHECK, "its configuration", *why),
    }
}
