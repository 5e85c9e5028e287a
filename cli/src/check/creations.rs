//! Checks the MutatingWebhookConfiguration that holds creations. The chart makes it only where held creations are on.

use super::Checked;
use super::controller::text;
use crate::installation::{CONFIGURATIONS, argument, get, list};
use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use rules::lookup::Lookup;
use rules::object::name;
use serde_json::Value;

const CHECK: &str = "creations";

/// The name of the MutatingWebhookConfiguration of held creations.
pub(super) const NAME: &str = "0-sluice-creations";

/// The name of the only webhook in the MutatingWebhookConfiguration of held creations.
const ENTRY: &str = "creations.sluice.dev";

/// The MutatingWebhookConfiguration of held creations, and all such configurations of the cluster.
#[derive(Debug)]
pub(super) struct Creations {
    pub(super) own: Lookup<Value>,
    /// Every MutatingWebhookConfiguration of the cluster; `NotFound`, and not asked for, where `own` is not found or cannot be read.
    pub(super) all: Lookup<Vec<Value>>,
}

impl Creations {
    pub(super) async fn read(client: &Client) -> Result<Self> {
        let own = get(client, CONFIGURATIONS, NAME).await?;
        let all = match own {
            Lookup::Found(_) => list(client, CONFIGURATIONS, &ListParams::default()).await?,
            Lookup::NotFound | Lookup::Unavailable(_) => Lookup::NotFound,
        };
        Ok(Self { own, all })
    }
}

/// Checks the configuration of held creations against the controller's Deployment, `None` for one that the caller may not see. No line where
/// held creations are off and there is no such configuration.
pub(super) fn held(deployment: Option<&Value>, creations: &Creations) -> Vec<Checked> {
    let is_on = deployment.map(|it| argument(it, "--creations-configuration").is_some());
    match (&creations.own, is_on) {
        // The chart makes the configuration only where held creations are on.
        (Lookup::Found(own), Some(true) | None) => of_configuration(own, &creations.all),
        (Lookup::NotFound, Some(true)) => vec![Checked::problem(
            CHECK,
            format!(
                "there is no MutatingWebhookConfiguration {NAME}, so no creation is held; upgrade the release to make it again"
            ),
        )],
        (Lookup::Unavailable(why), Some(true)) => {
            vec![Checked::unseen(CHECK, "their configuration", *why)]
        }
        (Lookup::Found(_), Some(false)) => vec![no_keeper("held creations are off")],
        (Lookup::NotFound | Lookup::Unavailable(_), _) => Vec::new(),
    }
}

/// A problem where there is no controller any more and its configuration of held creations is still there; else `None`.
pub(super) fn left_behind(creations: &Creations) -> Option<Checked> {
    let is_there = matches!(creations.own, Lookup::Found(_));
    is_there.then(|| no_keeper("there is no controller"))
}

fn no_keeper(why: &str) -> Checked {
    Checked::problem(
        CHECK,
        format!(
            "MutatingWebhookConfiguration {NAME} is there and {why}: objects with sluice.dev/hold: create are refused; kubectl delete \
             mutatingwebhookconfiguration {NAME}"
        ),
    )
}

fn of_configuration(own: &Value, all: &Lookup<Vec<Value>>) -> Vec<Checked> {
    let mut entries = own["webhooks"].as_array().into_iter().flatten();
    let Some(entry) = entries.find(|it| it["name"] == ENTRY) else {
        let told = format!(
            "the entry {ENTRY} is missing, so no creation is held; upgrade the release to make it again"
        );
        return vec![Checked::problem(CHECK, told)];
    };
    if text(entry, "/clientConfig/caBundle").is_empty() {
        let told = format!(
            "{ENTRY} has no caBundle, so the API server refuses objects with sluice.dev/hold: create; the controller has to write it: look at \
             its log"
        );
        return vec![Checked::problem(CHECK, told)];
    }
    let mut findings = Vec::new();
    if entry["failurePolicy"] == "Ignore" {
        let told = format!(
            "{ENTRY} has failurePolicy Ignore: while no replica answers, no creation is held; upgrade the release to make it Fail again"
        );
        findings.push(Checked::warning(CHECK, told));
    }
    findings.extend(asked_before(all));
    if findings.is_empty() {
        let told = format!(
            "MutatingWebhookConfiguration {NAME} carries the CA's certificate, and the API server asks it before all others"
        );
        findings.push(Checked::ok(CHECK, told));
    }
    findings
}

/// Warns of webhook configurations that the API server asks before that of held creations, because their names sort before it, and where the
/// configurations cannot be read; `None` where there are none.
fn asked_before(all: &Lookup<Vec<Value>>) -> Option<Checked> {
    let all = match all {
        Lookup::Found(all) => all.as_slice(),
        Lookup::NotFound => &[],
        Lookup::Unavailable(why) => {
            return Some(Checked::unseen(
                CHECK,
                "the other webhook configurations",
                *why,
            ));
        }
    };
    let mut names: Vec<_> = all.iter().map(name).filter(|name| *name < NAME).collect();
    names.sort_unstable();
    (!names.is_empty()).then(|| {
        let told = format!(
            "the API server asks {} before {NAME}: while such a webhook does not answer, an object that it is asked about is refused and not held; \
             give that configuration a later name",
            names.join(", ")
        );
        Checked::warning(CHECK, told)
    })
}
