//! Checks the administrator's health rules in the ConfigMap from which the controller reads them.

use super::Checked;
use crate::health_rules;
use crate::installation::Settings;
use crate::output::counted;
use rules::health::Rules;
use rules::lookup::Lookup;
use serde_json::Value;

const CHECK: &str = "health rules";

/// Reads the administrator's health rules out of the ConfigMap that the settings name, and makes the lines of `check` about them. There are
/// no rules where the settings name none, or where the ConfigMap is missing or cannot be read.
pub(super) fn rules(settings: &Settings, found: &Lookup<Value>) -> (Rules, Vec<Checked>) {
    let Some((namespace, name)) = settings.health_rules() else {
        let told = "none but the library's; the chart's value healthRules.configMap names others";
        return (Rules::default(), vec![Checked::ok(CHECK, told)]);
    };
    let place = format!("ConfigMap {namespace}/{name}");
    let one = |finding| (Rules::default(), vec![finding]);
    let map = match found {
        Lookup::Found(map) => map,
        Lookup::NotFound => {
            let told = format!(
                "{place} does not exist, so every custom resource waits; create it, or empty the chart's value healthRules.configMap"
            );
            return one(Checked::problem(CHECK, told));
        }
        Lookup::Unavailable(why) => return one(Checked::unseen(CHECK, &place, *why)),
    };
    let (rules, problems) = health_rules::of_config_map(&place, map);
    if problems.is_empty() {
        let told = format!("{place}: {} in order", counted(rules.len(), "rule"));
        return (rules, vec![Checked::ok(CHECK, told)]);
    }
    let broken = problems.into_iter().map(|problem| {
        let told = format!(
            "{problem}; kubectl sluice check --health-rules FILE tries a file before it is applied; what it is for waits until it is mended"
        );
        Checked::problem(CHECK, told)
    });
    (rules, broken.collect())
}
