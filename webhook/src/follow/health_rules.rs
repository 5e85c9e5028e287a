//! Follows the administrator's health rules: a ConfigMap of our own namespace, which is replaced as a whole.
//!
//! The problems of the rules are told in the log, in a metric and in an Event on the ConfigMap. A problem never opens a gate: a
//! broken rule holds its kind back; and while the ConfigMap cannot be read, every custom resource waits for which no rule was read.

use super::one_object::{self, ConfigMapRef, Notice};
use crate::event::{Note, Regarding, Telling, Writer};
use crate::known::Known;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Api;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use rules::health::{RuleProblem, Rules};
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use tracing::{info, warn};

/// Registers the gauge of the problems in the administrator's health rules.
pub(crate) fn register(registry: &mut Registry) -> Gauge {
    let errors = Gauge::default();
    registry.register(
        "health_rule_errors",
        "What is wrong with the administrator's health rules",
        errors.clone(),
    );
    errors
}

/// Follows the ConfigMap of the administrator's health rules for as long as the process runs: puts its rules in force, and tells their problems
/// in the log, by `errors` and by an Event on the ConfigMap.
pub(crate) async fn follow(events: Writer, stored: ConfigMapRef, known: Arc<Known>, errors: Gauge) {
    let follower = Follower {
        events,
        stored,
        known,
        errors,
        told: Vec::new(),
    };
    follower.run().await;
}

struct Follower {
    events: Writer,
    stored: ConfigMapRef,
    known: Arc<Known>,
    errors: Gauge,
    /// The problems that the log and an Event have told last. A ConfigMap that is read again is not told of again.
    told: Vec<RuleProblem>,
}

impl Follower {
    async fn run(mut self) {
        let ConfigMapRef { namespace, name } = self.stored.clone();
        let api = Api::<ConfigMap>::namespaced(self.events.client.clone(), &namespace);
        let mut changes = pin!(one_object::follow(api, name));
        while let Some(news) = changes.next().await {
            match news {
                Notice::Read(found) | Notice::Written(found) => self.take(Some(&found)).await,
                Notice::Absent => self.take(None).await,
                // A refusal is a sign, too: the rules that were read before stay in force. Before the first reading every custom
                // resource waits.
                Notice::Refused | Notice::Sign => {}
            }
            if self.known.health_rules().heard() {
                self.known.wake_all();
            }
        }
    }

    async fn take(&mut self, found: Option<&ConfigMap>) {
        let texts = found.map(|found| found.data.clone().unwrap_or_default());
        let problems = apply(&self.known, texts.as_ref(), &self.stored);
        self.errors
            .set(i64::try_from(problems.len()).unwrap_or(i64::MAX));
        if problems == self.told {
            return;
        }
        if problems.is_empty() {
            info!(name = self.stored.name, "The health rules are in order");
        }
        for problem in &problems {
            warn!(name = self.stored.name, %problem, "A health rule is broken: what it is for waits");
        }
        if let (Some(found), Some(first)) = (found, problems.first()) {
            self.record(found, first, problems.len()).await;
        }
        self.told = problems;
    }

    async fn record(&self, found: &ConfigMap, first: &RuleProblem, count: usize) {
        let target = Regarding {
            api_version: Some("v1".to_owned()),
            kind: "ConfigMap".to_owned(),
            namespace: self.stored.namespace.clone(),
            name: found.metadata.name.clone().unwrap_or_default(),
            uid: found.metadata.uid.clone(),
        };
        let note = Note {
            severity: "Warning",
            action: "ReadHealthRules",
            reason: "BrokenHealthRule",
            text: text(first, count),
            wait: None,
            telling: Telling::Anew,
        };
        self.events.write(target, note).await;
    }
}

/// Replaces the administrator's health rules by those in `texts`, the data of the ConfigMap (`None`: it does not exist), and wakes every
/// view. Returns the problems of the new rules.
fn apply(
    known: &Known,
    texts: Option<&BTreeMap<String, String>>,
    stored: &ConfigMapRef,
) -> Vec<RuleProblem> {
    let (rules, problems) = match texts {
        Some(texts) => Rules::read(
            texts
                .iter()
                .map(|(name, text)| (name.as_str(), text.as_str())),
        ),
        None => absent(stored),
    };
    known.health_rules().replace(rules);
    known.wake_all();
    problems
}

fn absent(ConfigMapRef { namespace, name }: &ConfigMapRef) -> (Rules, Vec<RuleProblem>) {
    let text = format!("ConfigMap {namespace}/{name}");
    let message = "does not exist; create it, or empty the chart's value healthRules.configMap";
    let rules = Rules::unreadable(format!("{text} {message}"));
    let problem = RuleProblem {
        text,
        rule: None,
        message: message.to_owned(),
    };
    (rules, vec![problem])
}

fn text(first: &RuleProblem, count: usize) -> String {
    match count {
        1 => first.to_string(),
        more => format!("{first} (and {} more)", more - 1),
    }
}

#[cfg(test)]
mod tests;
