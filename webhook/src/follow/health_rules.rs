//! The administrator's health rules: read from a ConfigMap of our own namespace, followed, and swapped as a whole.
//!
//! What is wrong with them is told in the log, in a metric and in an Event on the ConfigMap. It never opens a gate: a
//! broken rule holds its kind back, and while the rules cannot be had at all, every custom resource waits that no
//! readable rule is for.

use super::config_map::{self, News};
use crate::event::{self, Note, Target, Telling};
use crate::known::Known;
use crate::tasks::Spawner;
use futures::TryStreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Api;
use kube::{Client, Error};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use rules::health::{Problem, Rules};
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tracing::{debug, info, warn};

/// After a failed read or a broken watch.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// While there is no such ConfigMap.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Where the rules are, and who tells of them.
#[derive(Debug, Clone)]
pub struct Config {
    /// Our own namespace.
    pub namespace: String,
    /// The ConfigMap's name; without one there are no rules of an administrator.
    pub name: Option<String>,
    /// Whether the library counts.
    pub builtin: bool,
    /// The name of our own pod.
    pub instance: String,
}

/// The gauge of what is wrong with the rules.
pub fn register(registry: &mut Registry) -> Gauge {
    let errors = Gauge::default();
    registry.register(
        "health_rule_errors",
        "What is wrong with the administrator's health rules",
        errors.clone(),
    );
    errors
}

/// Sets the rules that need no reading, and starts to follow those that do.
pub fn start(client: &Client, config: Config, known: &Arc<Known>, errors: Gauge, tasks: &Spawner) {
    let Some(name) = config.name.clone().filter(|name| !name.is_empty()) else {
        let rules = Some(Rules::default());
        return known.health_rules().set(rules, config.builtin);
    };
    known.health_rules().set(None, config.builtin);
    let follower = Follower {
        client: client.clone(),
        name,
        config,
        known: Arc::clone(known),
        errors,
        told: Vec::new(),
    };
    tasks.keep("health rules", follower.run());
}

struct Follower {
    client: Client,
    name: String,
    config: Config,
    known: Arc<Known>,
    errors: Gauge,
    /// What was told last, so that a list that is read again tells nothing again.
    told: Vec<Problem>,
}

impl Follower {
    async fn run(mut self) {
        let api = Api::<ConfigMap>::namespaced(self.client.clone(), &self.config.namespace);
        loop {
            let found = api.get_opt(&self.name).await;
            // A refusal is a sign too: it says nothing against the rules that are known here.
            if matches!(found, Ok(_) | Err(Error::Api(_))) {
                self.heard();
            }
            match found {
                Ok(Some(found)) => {
                    let version = found.metadata.resource_version.clone().unwrap_or_default();
                    self.take(Some(&found)).await;
                    if let Err(error) = self.watch(&api, version).await {
                        debug!(%error, "The watch of the health rules ended");
                        tokio::time::sleep(TRY_AGAIN).await;
                    }
                }
                Ok(None) => {
                    self.take(None).await;
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                // What was read before goes on to count; before the first reading everything waits.
                Err(error) => {
                    warn!(%error, name = self.name, "Cannot read the health rules");
                    tokio::time::sleep(TRY_AGAIN).await;
                }
            }
        }
    }

    async fn watch(&mut self, api: &Api<ConfigMap>, version: String) -> Result<(), Error> {
        let changes = config_map::follow(api.clone(), self.name.clone(), version);
        let mut changes = pin!(changes);
        while let Some(news) = changes.try_next().await? {
            if let News::Written(found) = news {
                self.take(Some(&found)).await;
            }
            self.heard();
        }
        Ok(())
    }

    fn heard(&self) {
        if self.known.health_rules().heard() {
            self.known.wake_all();
        }
    }

    async fn take(&mut self, found: Option<&ConfigMap>) {
        let texts = found.map(|found| found.data.clone().unwrap_or_default());
        let problems = apply(&self.known, texts.as_ref(), &self.config);
        self.errors
            .set(i64::try_from(problems.len()).unwrap_or(i64::MAX));
        if problems == self.told {
            return;
        }
        if problems.is_empty() {
            info!(name = self.name, "The health rules are in order");
        }
        for problem in &problems {
            warn!(name = self.name, %problem, "A health rule is broken: what it is for waits");
        }
        if let (Some(found), Some(first)) = (found, problems.first()) {
            self.record(found, first, problems.len()).await;
        }
        self.told = problems;
    }

    async fn record(&self, found: &ConfigMap, first: &Problem, count: usize) {
        let Config {
            namespace,
            instance,
            ..
        } = &self.config;
        let target = Target {
            api_version: Some("v1".to_owned()),
            kind: "ConfigMap".to_owned(),
            namespace: namespace.clone(),
            name: found.metadata.name.clone().unwrap_or_default(),
            uid: found.metadata.uid.clone(),
        };
        let note = Note {
            severity: "Warning",
            action: "ReadHealthRules",
            reason: "BrokenHealthRule",
            text: text(first, count),
            telling: Telling::Anew,
        };
        event::write(&self.client, target, note, instance).await;
    }
}

/// Takes over the texts of the ConfigMap, or its absence, and wakes everybody who waits. What is wrong is handed back.
fn apply(known: &Known, texts: Option<&BTreeMap<String, String>>, config: &Config) -> Vec<Problem> {
    let (rules, problems) = match texts {
        Some(texts) => Rules::read(
            texts
                .iter()
                .map(|(name, text)| (name.as_str(), text.as_str())),
        ),
        None => absent(config),
    };
    known.health_rules().set(Some(rules), config.builtin);
    known.wake_all();
    problems
}

fn absent(config: &Config) -> (Rules, Vec<Problem>) {
    let text = format!(
        "ConfigMap {}/{}",
        config.namespace,
        config.name.as_deref().unwrap_or_default()
    );
    let message = "does not exist; create it, or empty the chart's value healthRules.configMap";
    let rules = Rules::unreadable(format!("{text} {message}"));
    let problem = Problem {
        text,
        rule: None,
        message: message.to_owned(),
    };
    (rules, vec![problem])
}

fn text(first: &Problem, count: usize) -> String {
    match count {
        1 => first.to_string(),
        more => format!("{first} (and {} more)", more - 1),
    }
}

#[cfg(test)]
mod tests;
