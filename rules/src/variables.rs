//! The environment variables that a list names, `tcp: $(DATABASE_URL)`, and the places in which a pod defines them. The
//! definition goes into the pod's gate; only the gate reads the value.

use crate::dependency::{Dependency, variables};
use crate::gate;
use crate::text::Quoted;
use serde_json::Value;
use std::collections::BTreeSet;
use wire::env;

/// The reason why a gate cannot be given a variable of its pod.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum VariableFault {
    #[error(
        "no container of the pod has {name} in its env, with a value or a valueFrom; write it there (what comes by envFrom cannot be \
         looked at)"
    )]
    Missing { name: String },
    #[error(
        "container {} has no {name} in its env, with a value or a valueFrom; write it there, or name another container (what comes by \
         envFrom cannot be looked at)",
        Quoted(.container)
    )]
    MissingIn { name: String, container: String },
    #[error(
        "no container has {name} in its env, and what comes by envFrom ({kind}/{object}) cannot be looked at; write it into env too: \
         {{name: {name}, valueFrom: {{{field}: {{name: {object}, key: {key}}}}}}}"
    )]
    OnlyFrom {
        name: String,
        /// The kind of the object that may hold the variable: `Secret`.
        kind: &'static str,
        /// The field of `valueFrom` for that kind: `secretKeyRef`.
        field: &'static str,
        object: String,
        /// The key in the object, which is the variable's name without the prefix of the `envFrom`.
        key: String,
    },
    #[error(
        "{0} cannot be copied into the gate, which has settings of its own under names that begin with {prefix}; give the variable \
         another name",
        prefix = env::PREFIX
    )]
    OfTheGate(String),
    #[error(
        "$({0}) is a variable of one pod's containers, and a plan is about many pods; write the address out, or write the entry into the \
         list on the pod template (spec.template.metadata.annotations)"
    )]
    InPlan(String),
    #[error("the pod has no container {}; correct \"container\"", Quoted(.0))]
    NoContainer(String),
    #[error(
        "two entries take $({name}) from containers that define it otherwise; a gate has one of each name, so give one of them another name"
    )]
    Twice { name: String },
    #[error(
        "$({0}) can be copied into the gate of a pod only where the pod carries the list; write the list on the pod template \
         (spec.template.metadata.annotations)"
    )]
    NotOnTemplate(String),
}

/// Returns the definitions of the variables that these entries name, as the pod's containers have them, and of the variables that their values are
/// made of (`value: "$(USER)@$(HOST)"`): in the order of the containers and of their environments, which is the order in which one may be made of
/// another. `pod` is a pod or a pod template.
///
/// # Errors
///
/// A variable that no container has, or not the container that the entry names; a variable with the name of one of the gate's own; or two variables
/// of one name with different definitions.
pub fn definitions(entries: &[Dependency], pod: &Value) -> Result<Vec<Value>, VariableFault> {
    let containers = containers(pod);
    let mut places = BTreeSet::new();
    for address in entries.iter().flat_map(Dependency::addresses) {
        for name in address.variables() {
            let at = owner(&containers, name, address.container.as_deref())?;
            let env = variables_of(containers[at]);
            collect(env, name, env.len(), &mut |place| {
                places.insert((at, place))
            });
        }
    }
    let mut found: Vec<&Value> = Vec::new();
    for (container, place) in places {
        let definition = &variables_of(containers[container])[place];
        let name = definition["name"].as_str().unwrap_or_default();
        // It would take the place of the gate's own.
        if name.starts_with(env::PREFIX) {
            return Err(VariableFault::OfTheGate(name.to_owned()));
        }
        match found.iter().find(|it| it["name"] == definition["name"]) {
            None => found.push(definition),
            Some(other) if *other == definition => {}
            Some(_) => {
                let name = name.to_owned();
                return Err(VariableFault::Twice { name });
            }
        }
    }
    Ok(found.into_iter().cloned().collect())
}

/// The first variable that the addresses of these entries name; `None` where they name none.
pub fn first(entries: &[Dependency]) -> Option<&str> {
    let mut addresses = entries.iter().flat_map(Dependency::addresses);
    addresses.find_map(|address| address.variables().next())
}

/// The containers of a pod but for its gate: those of the application, then the init containers.
fn containers(pod: &Value) -> Vec<&Value> {
    let lists = ["containers", "initContainers"].map(|key| pod["spec"][key].as_array());
    let all = lists.into_iter().flatten().flatten();
    all.filter(|it| !gate::is_gate(it)).collect()
}

fn variables_of(container: &Value) -> &[Value] {
    container["env"].as_array().map_or(&[], Vec::as_slice)
}

/// The index of the container whose variable of this name goes into the gate: the `wanted` container, or else the first that has the variable. An
/// error where it has no such variable.
fn owner(containers: &[&Value], name: &str, wanted: Option<&str>) -> Result<usize, VariableFault> {
    let has = |it: &Value| variables_of(it).iter().any(|it| it["name"] == name);
    let Some(wanted) = wanted else {
        let found = containers.iter().position(|it| has(it));
        let missing = || VariableFault::Missing {
            name: name.to_owned(),
        };
        return found.ok_or_else(|| only_from(containers, name).unwrap_or_else(missing));
    };
    let found = containers.iter().position(|it| it["name"] == wanted);
    let found = found.ok_or_else(|| VariableFault::NoContainer(wanted.to_owned()))?;
    if has(containers[found]) {
        return Ok(found);
    }
    let missing = || VariableFault::MissingIn {
        name: name.to_owned(),
        container: wanted.to_owned(),
    };
    Err(only_from(&containers[found..=found], name).unwrap_or_else(missing))
}

/// The fault that tells of the first `envFrom` of these containers by which the variable may come; `None` where no `envFrom` may have it.
fn only_from(containers: &[&Value], name: &str) -> Option<VariableFault> {
    let sources = containers.iter().filter_map(|it| it["envFrom"].as_array());
    sources.flatten().find_map(|source| {
        let prefix = source["prefix"].as_str().unwrap_or_default();
        let key = name.strip_prefix(prefix).filter(|key| !key.is_empty())?;
        let of = |from: &str| source[from]["name"].as_str();
        let (kind, field, object) = of("secretRef")
            .map(|object| ("Secret", "secretKeyRef", object))
            .or_else(|| Some(("ConfigMap", "configMapKeyRef", of("configMapRef")?)))?;
        Some(VariableFault::OnlyFrom {
            name: name.to_owned(),
            kind,
            field,
            object: object.to_owned(),
            key: key.to_owned(),
        })
    })
}

/// Adds the place of a variable's definition, and the places of the definitions that its value refers to. Kubernetes lets the last
/// definition of the name `before` a place count. `add` says whether a place is new.
fn collect(env: &[Value], name: &str, before: usize, add: &mut impl FnMut(usize) -> bool) {
    let Some(at) = env[..before].iter().rposition(|it| it["name"] == name) else {
        return;
    };
    // A place is walked once, however many lead to it.
    if !add(at) {
        return;
    }
    for part in variables(env[at]["value"].as_str().unwrap_or_default()) {
        collect(env, part, at, add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::parse_depends_on;
    use serde_json::json;

    fn pod() -> Value {
        let secret = json!({"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password", "new": 1}}});
        json!({"spec": {
            "initContainers": [
                {"name": "sluice-gate", "volumeMounts": [{"name": "sluice-token"}], "env": [{"name": "SLUICE_ADDRESSES", "value": "a"}, {"name": "OF_GATE", "value": "x"}]},
                {"name": "wait", "env": [{"name": "ONLY_INIT", "value": "i:1"}, {"name": "DB_HOST", "value": "init"}]},
            ],
            "containers": [
                {"name": "app", "env": [
                    {"name": "DB_HOST", "value": "old"},
                    {"name": "DB_HOST", "value": "db"},
                    secret,
                    {"name": "DATABASE_URL", "value": "postgres://u:$(DB_PASSWORD)@$(DB_HOST)/app"},
                    {"name": "LOOP", "value": "$(LOOP)"},
                ]},
                {"name": "web", "env": [{"name": "DB_HOST", "value": "elsewhere"}, {"name": "WEB", "value": "w:1"}]},
                {"name": "bare"},
                {"name": "taken", "env": [
                    {"name": "SLUICE_ADDRESSES", "value": "evil:1"}, {"name": "BY_WAY", "value": "$(SLUICE_ADDRESSES)"},
                ]},
                {"name": "from", "envFrom": [
                    {"prefix": "DB_", "secretRef": {"name": "login"}}, {"prefix": "APP_", "configMapRef": {"name": "settings"}},
                ]},
            ],
        }})
    }

    fn of(list: &str) -> Result<Vec<String>, VariableFault> {
        let entries = parse_depends_on(list).expect(list);
        let found = definitions(&entries, &pod())?;
        let told = |it: &Value| {
            let value = it["value"].as_str().unwrap_or("(a source)");
            format!("{}={value}", it["name"].as_str().unwrap())
        };
        Ok(found.iter().map(told).collect())
    }

    #[test]
    fn the_first_container_that_has_it_gives_it() {
        for (list, expected) in [
            ("tcp://db:1", vec![]),
            ("- tcp: $(DB_HOST):5432", vec!["DB_HOST=db"]),
            (
                "tcp://$(DB_HOST):5432, dns://$(DB_HOST)",
                vec!["DB_HOST=db"],
            ),
            (
                "- {tcp: $(DB_HOST):1, container: web}",
                vec!["DB_HOST=elsewhere"],
            ),
            (
                "- {tcp: $(DB_HOST):1, container: wait}",
                vec!["DB_HOST=init"],
            ),
            ("- tcp: $(ONLY_INIT)", vec!["ONLY_INIT=i:1"]),
            (
                "- tcp: $(WEB)\n- any: [{http: $(WEB)}, tcp://$(DB_HOST):1]",
                vec!["DB_HOST=db", "WEB=w:1"],
            ),
            (
                "- tcp: $(DATABASE_URL)",
                vec![
                    "DB_HOST=db",
                    "DB_PASSWORD=(a source)",
                    "DATABASE_URL=postgres://u:$(DB_PASSWORD)@$(DB_HOST)/app",
                ],
            ),
            ("- tcp: $(LOOP)", vec!["LOOP=$(LOOP)"]),
        ] {
            assert_eq!(
                of(list).as_deref(),
                Ok(&expected
                    .iter()
                    .map(|it| (*it).to_owned())
                    .collect::<Vec<_>>()[..]),
                "{list}"
            );
        }
        let entries = parse_depends_on("- tcp: $(DB_PASSWORD)").unwrap();
        let found = definitions(&entries, &pod()).unwrap();
        assert_eq!(
            found[0]["valueFrom"]["secretKeyRef"]["new"], 1,
            "it is copied as it is"
        );
    }

    #[test]
    fn what_no_container_has_is_refused() {
        for (list, expected) in [
            ("- tcp: $(NOPE)", "no container of the pod has NOPE"),
            ("- tcp: $(OF_GATE)", "no container of the pod has OF_GATE"),
            (
                "- {tcp: $(WEB), container: app}",
                "container \"app\" has no WEB",
            ),
            (
                "- {tcp: $(WEB), container: bare}",
                "container \"bare\" has no WEB",
            ),
            (
                "- {tcp: $(WEB), container: api}",
                "the pod has no container \"api\"",
            ),
            (
                "- tcp: $(BY_WAY)",
                "SLUICE_ADDRESSES cannot be copied into the gate, which has settings of its own under names that begin with SLUICE_; give",
            ),
            (
                "- tcp: $(DB_ADDRESS)",
                "no container has DB_ADDRESS in its env, and what comes by envFrom (Secret/login) cannot be looked at; write it into env too: \
                 {name: DB_ADDRESS, valueFrom: {secretKeyRef: {name: login, key: ADDRESS}}}",
            ),
            (
                "- {tcp: $(APP_DB), container: from}",
                "no container has APP_DB in its env, and what comes by envFrom (ConfigMap/settings) cannot be looked at; write it into env too: \
                 {name: APP_DB, valueFrom: {configMapKeyRef: {name: settings, key: DB}}}",
            ),
            (
                "- {tcp: $(APP_DB), container: bare}",
                "container \"bare\" has no APP_DB in its env",
            ),
            (
                "- {tcp: $(DB_HOST):1, container: app}\n- {tcp: $(DB_HOST):2, container: web}",
                "two entries take $(DB_HOST)",
            ),
        ] {
            let told = of(list).unwrap_err().to_string();
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
