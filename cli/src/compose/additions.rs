//! The additions to the services of a Compose file, as a second Compose file, which Compose merges over the first.

use super::probe::{self, Readiness};
use super::service::{Awaited, Condition, Made, Service};
use super::unlabelled::Unlabelled;
use rules::annotation;
use rules::keys;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The additions to the services of a Compose file: labels with lists and readiness probes, and `restart: "no"`.
#[derive(Debug, Default)]
pub(crate) struct Additions {
    /// The additions by the names of the services.
    services: BTreeMap<String, Addition>,
    /// The entries of `depends_on` that labels cannot say, by the names of the services.
    pub(crate) left: Vec<(String, Unlabelled)>,
    /// The services that others wait for until they are healthy, and that have no health check in the file.
    pub(crate) unchecked: Vec<String>,
    /// The number of entries in all lists that are added.
    pub(crate) proposed: usize,
}

/// The additions to one service.
#[derive(Debug, Default)]
struct Addition {
    /// Whether the service must not be started again once it has ended.
    ends: bool,
    labels: Vec<(String, String)>,
}

impl Additions {
    /// The additions that turn the `depends_on` of a Compose file into a list for each service.
    pub(crate) fn of(file: &Value) -> Self {
        let named = file["services"].as_object().into_iter().flatten();
        let services: BTreeMap<&str, Service<'_>> = named
            .map(|(name, says)| (name.as_str(), Service { name, says }))
            .collect();
        let mut found = Self::default();
        let ending = found.ending(&services);
        let mut checked = BTreeSet::new();
        for service in services.values() {
            let awaited = service.awaited();
            if awaited.is_empty() {
                continue;
            }
            if service.label(keys::DEPENDS_ON).is_some() {
                found.leave(service.name, Unlabelled::Listed);
                continue;
            }
            let mut list = Vec::new();
            for one in &awaited {
                match entry(one, &services, &ending) {
                    Ok(entry) => list.push(entry),
                    Err(why) => found.leave(service.name, why),
                }
                let target = services.get(one.service);
                let target = target.filter(|_| one.condition == Condition::Healthy);
                if let Some(target) = target.filter(|it| checked.insert(it.name)) {
                    found.check(target);
                }
            }
            found.list(service.name, &list);
        }
        found
    }

    /// Adds `restart: "no"` to each service that another one waits for until it has completed, that sets no restart policy, and of which kompose
    /// would make a Deployment, which is started again for ever. Returns the names of these services.
    fn ending<'f>(&mut self, services: &BTreeMap<&'f str, Service<'f>>) -> BTreeSet<&'f str> {
        let awaited = services.values().flat_map(Service::awaited);
        let awaited = awaited.filter(|it| it.condition == Condition::Completed);
        let awaited = awaited.filter_map(|it| services.get(it.service));
        let to_end = awaited.filter(|it| it.restart().is_none() && it.made() == Made::Deployment);
        let ending: BTreeSet<&str> = to_end.map(|it| it.name).collect();
        for name in &ending {
            self.services.entry((*name).to_owned()).or_default().ends = true;
        }
        ending
    }

    /// Adds labels for a readiness probe, made of the health check of this service, for which another one waits until it is healthy. Adds none
    /// to a service that has such labels; notes a service without a health check in `unchecked`.
    fn check(&mut self, service: &Service<'_>) {
        match probe::of(service) {
            Readiness::Said => {}
            Readiness::Labels(labels) => {
                let addition = self.services.entry(service.name.to_owned()).or_default();
                addition.labels.extend(labels);
            }
            Readiness::Unknown => self.unchecked.push(service.name.to_owned()),
        }
    }

    /// Adds the label with the list of a service. A list that admission would refuse goes to `left` instead; an empty list adds nothing.
    fn list(&mut self, service: &str, list: &[String]) {
        if list.is_empty() {
            return;
        }
        let is_long = list.iter().any(|it| it.starts_with('{'));
        let text = if is_long {
            let items = list.iter().map(|it| format!("- {it}\n"));
            items.collect()
        } else {
            list.join(", ")
        };
        let annotations = Map::from_iter([(keys::DEPENDS_ON.to_owned(), text.clone().into())]);
        if let Err(error) = annotation::declared(&annotations) {
            self.leave(service, Unlabelled::Refused(error.to_string()));
            return;
        }
        self.proposed += list.len();
        let addition = self.services.entry(service.to_owned()).or_default();
        addition
            .labels
            .insert(0, (keys::DEPENDS_ON.to_owned(), text));
    }

    fn leave(&mut self, service: &str, why: Unlabelled) {
        self.left.push((service.to_owned(), why));
    }
}

/// The entry of a list for a service that another one waits for, such as `deployment/db`; or the reason why no entry can say it. `ending`: the
/// services that get `restart: "no"`, of which kompose makes pods.
fn entry(
    awaited: &Awaited<'_>,
    services: &BTreeMap<&str, Service<'_>>,
    ending: &BTreeSet<&str>,
) -> Result<String, Unlabelled> {
    let name = awaited.service;
    let Some(service) = services.get(name) else {
        return Err(Unlabelled::NotHere(name.to_owned()));
    };
    let made = if ending.contains(name) {
        Made::Pod
    } else {
        service.made()
    };
    let state = match (&awaited.condition, made) {
        (_, Made::CronJob) => return Err(Unlabelled::CronJob(name.to_owned())),
        (Condition::Completed, Made::Pod) => Some("complete"),
        (Condition::Completed, _) => return Err(Unlabelled::Endless(name.to_owned())),
        // A pod that has ended has started.
        (Condition::Started, Made::Pod) => Some("started"),
        (Condition::Started | Condition::Healthy, _) => None,
        (Condition::Unknown(word), _) => {
            return Err(Unlabelled::Condition {
                service: name.to_owned(),
                word: word.clone(),
            });
        }
    };
    let (kind, object) = (made.word(), service.object());
    if awaited.required {
        let state = state.map(|it| format!(":{it}")).unwrap_or_default();
        return Ok(format!("{kind}/{object}{state}"));
    }
    let state = state.map(|it| format!(", state: {it}")).unwrap_or_default();
    Ok(format!(
        "{{kind: {kind}, name: {object}{state}, optional: true}}"
    ))
}

/// Writes a Compose file, or nothing where there is nothing to add.
impl fmt::Display for Additions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.services.is_empty() {
            return Ok(());
        }
        writeln!(out, "services:")?;
        for (name, Addition { ends, labels }) in &self.services {
            writeln!(out, "  {}:", Value::from(name.as_str()))?;
            if *ends {
                writeln!(out, "    restart: \"no\"")?;
            }
            if !labels.is_empty() {
                writeln!(out, "    labels:")?;
            }
            for (key, value) in labels {
                // A text in JSON is one in YAML.
                match value.strip_suffix('\n') {
                    Some(lines) => {
                        let lines = lines.replace('\n', "\n        ");
                        writeln!(out, "      {key}: |\n        {lines}")?;
                    }
                    None => writeln!(out, "      {key}: {}", Value::from(value.as_str()))?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose;

    fn additions(text: &str) -> Additions {
        Additions::of(&compose::of(text.as_bytes()).unwrap())
    }

    #[test]
    fn each_condition_becomes_an_entry() {
        let found = additions(
            "
services:
  api:
    image: shop/api
    depends_on:
      db: {condition: service_healthy}
      migrate: {condition: service_completed_successfully}
      search_index: {condition: service_started, required: false}
  web:
    depends_on: [api]
  db:
    image: postgres
    healthcheck:
      test: [CMD-SHELL, 'pg_isready -U $$USER']
      interval: 5s
      retries: 3
  migrate: {image: shop/migrate}
  search_index: {image: search, restart: on-failure}
",
        );
        let expected = r#"services:
  "api":
    labels:
      sluice.dev/depends-on: |
        - deployment/db
        - pod/migrate:complete
        - {kind: pod, name: search-index, state: started, optional: true}
  "db":
    labels:
      kompose.service.healthcheck.readiness.test: "sh -c 'pg_isready -U $$USER'"
      kompose.service.healthcheck.readiness.interval: "5s"
      kompose.service.healthcheck.readiness.retries: "3"
  "migrate":
    restart: "no"
  "web":
    labels:
      sluice.dev/depends-on: "deployment/api"
"#;
        assert_eq!(found.to_string(), expected);
        assert_eq!((found.proposed, found.left.as_slice()), (4, &[][..]));
    }

    #[test]
    fn what_labels_cannot_say_is_named() {
        let found = additions(
            "
services:
  a:
    depends_on: {gone: {}, cron: {}, always: {condition: service_completed_successfully}, b: {condition: service_healthy}, c: {condition: ready}}
  b: {depends_on: [a], labels: [sluice.dev/depends-on=deployment/a]}
  c: {}
  cron: {restart: 'no', labels: {kompose.cronjob.schedule: '* * * * *'}}
  always: {restart: always}
",
        );
        let left: Vec<_> = found
            .left
            .iter()
            .map(|(of, why)| format!("{of}: {why}"))
            .collect();
        let expected = [
            "a: it waits until always has completed, and kompose has that started again for ever; write restart: \"no\" there",
            "a: it depends on c with the condition \"ready\", which Compose does not have",
            "a: it depends on cron, of which kompose makes a CronJob, and that is never ready; wait for an object that it makes",
            "a: it depends on gone, which is not in this file; name the file that has both",
            "b: it has a list already",
        ];
        assert_eq!(left, expected);
        assert_eq!(found.unchecked, ["b"]);
        assert_eq!(found.proposed, 1);
    }

    #[test]
    fn another_file_is_no_compose_file() {
        for text in [
            "",
            "services: []\n",
            "services: {a: {}}\nkind: X\n",
            "- a\n",
        ] {
            assert_eq!(compose::of(text.as_bytes()), None, "{text}");
        }
    }
}
