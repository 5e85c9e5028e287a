//! Completes the variables of a container whose values are not in its own fields. A ConfigMap or a Secret of the rendered chart may have
//! the value. Any other value only the gate can know: admission copies into the gate the variable's definition from the first container of
//! the pod that has one.

use super::container::Container;
use super::object::{ChartObject, text};
use super::reason::Reason;
use super::shell::OWN_NAMESPACE;
use k8s_openapi::ByteString;
use serde_json::{Map, Value};

/// The container with the values of variables that the ConfigMaps and Secrets among `objects` have, and with its namespace, `home`, as the
/// variable `OWN_NAMESPACE`.
pub(super) fn completed(
    mut container: Container,
    pods: &Value,
    objects: &[ChartObject],
    home: &str,
) -> Container {
    let namespace = || home.to_owned();
    container.env.insert(OWN_NAMESPACE.to_owned(), namespace());
    let Some(own) = own(&container, pods) else {
        return container;
    };
    let source = |kind: &str, of: &Value| EnvSource::of(kind, of["name"].as_str()?, objects);
    for from in own["envFrom"].as_array().into_iter().flatten() {
        let found = source("ConfigMap", &from["configMapRef"])
            .or_else(|| source("Secret", &from["secretRef"]));
        let prefix = from["prefix"].as_str().unwrap_or_default();
        for (name, value) in found.iter().flat_map(EnvSource::all) {
            let name = format!("{prefix}{name}");
            if !container.elsewhere.contains(&name) {
                container.env.entry(name).or_insert(value);
            }
        }
    }
    for variable in own["env"].as_array().into_iter().flatten() {
        let name = variable["name"].as_str().unwrap_or_default();
        let from = &variable["valueFrom"];
        let is_namespace = from["fieldRef"]["fieldPath"] == "metadata.namespace";
        let found = [("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")]
            .into_iter()
            .find_map(|(kind, field)| {
                let key = from[field]["key"].as_str()?;
                source(kind, &from[field])?.value(name, key)
            });
        let found = found.or_else(|| is_namespace.then(namespace));
        if let Some(value) = found {
            container.elsewhere.remove(name);
            container.env.insert(name.to_owned(), value);
        }
    }
    container
}

/// A ConfigMap or a Secret of the rendered chart from which a container takes variables.
struct EnvSource<'o> {
    object: &'o Value,
    is_secret: bool,
}

impl<'o> EnvSource<'o> {
    fn of(kind: &str, name: &str, objects: &'o [ChartObject]) -> Option<Self> {
        let is_it = |it: &&ChartObject| {
            it.value["kind"] == kind && text(&it.value, "/metadata/name") == name
        };
        let object = &objects.iter().find(is_it)?.value;
        let is_secret = kind == "Secret";
        Some(Self { object, is_secret })
    }

    /// The variables that a container gets when it takes all keys of the object; of a Secret only those whose names tell an address.
    fn all(&self) -> Vec<(String, String)> {
        let maps = ["data", "stringData"].map(|it| self.object[it].as_object());
        let keys = maps.into_iter().flatten().flat_map(Map::keys);
        keys.filter_map(|key| Some((key.clone(), self.value(key, key)?)))
            .collect()
    }

    /// The value of a key, for the variable `name`. From a Secret only an address is read, which the name of the variable tells, without the
    /// credentials in it, because a message may show the value. `None` for any other value of a Secret.
    fn value(&self, name: &str, key: &str) -> Option<String> {
        let plain = self.object["stringData"][key].as_str();
        let data = &self.object["data"][key];
        if !self.is_secret {
            return data.as_str().map(str::to_owned);
        }
        let encoded = || {
            let bytes: ByteString = serde_json::from_value(data.clone()).ok()?;
            String::from_utf8(bytes.0).ok()
        };
        let value = plain.map(str::to_owned).or_else(encoded)?;
        let mut words = name.split('_').map(str::to_ascii_uppercase);
        let is_address = |it: String| {
            let words = [
                "URL", "URI", "DSN", "HOST", "HOSTNAME", "PORT", "SERVER", "ADDRESS",
            ];
            words.contains(&it.as_str())
        };
        words.any(is_address).then(|| without_credentials(&value))
    }
}

/// A URL without its user, its password and its query: `postgres://db:5432/shop` for `postgres://user:password@db:5432/shop?a=b`. Any other text
/// stays as it is.
fn without_credentials(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else {
        return value.to_owned();
    };
    let rest = rest.split('?').next().unwrap_or_default();
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}://{host}")
}

/// The part of the pods' spec that defines the container, found by its name among the init containers and then the containers; `None` where it is
/// not there.
fn own<'p>(container: &Container, pods: &'p Value) -> Option<&'p Value> {
    let lists = ["initContainers", "containers"].map(|it| pods["spec"][it].as_array());
    let mut all = lists.into_iter().flatten().flatten();
    all.find(|it| it["name"] == container.name.as_str())
}

/// A word of a command for use in an address. A variable stays in it only where the application's own containers define the variable as the
/// waiting container does. The list replaces the waiting container, so a definition of that container alone does not help.
///
/// # Errors
///
/// The word has a variable that no gate can have.
pub(super) fn taken_over(
    word: &str,
    container: &Container,
    pods: &Value,
) -> Result<String, Reason> {
    let known = container.known(word);
    let is_defined = || names(word).all(|it| is_shared(it, container, pods));
    match known {
        Err(Reason::Unsaid(_) | Reason::Elsewhere(_)) if is_defined() => Ok(word.to_owned()),
        known => known,
    }
}

/// The names of the variables in a word, which are written `$(NAME)`.
fn names(word: &str) -> impl Iterator<Item = &str> {
    let behind = word.split("$(").skip(1);
    behind.filter_map(|it| Some(it.split_once(')')?.0))
}

/// Whether the application's containers define a variable as the waiting container does. The first of them with the variable counts.
fn is_shared(name: &str, container: &Container, pods: &Value) -> bool {
    let definition = |it: &Value| {
        let mut env = it["env"].as_array()?.iter();
        env.find(|it| it["name"] == name).cloned()
    };
    let mut application = pods["spec"]["containers"].as_array().into_iter().flatten();
    let owner = application.find_map(definition);
    owner.is_some() && owner == own(container, pods).and_then(definition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_variable_is_taken_over_from_the_application_alone() {
        let of_secret = |name: &str, key: &str| json!({"name": name, "valueFrom": {"secretKeyRef": {"name": "db", "key": key}}});
        let env = json!([
            of_secret("URL", "url"),
            of_secret("HOST", "host"),
            of_secret("OWN", "own")
        ]);
        let pods = json!({"spec": {
            "initContainers": [{"name": "wait", "env": env}],
            "containers": [{"name": "web", "env": [of_secret("URL", "url"), of_secret("HOST", "other")]}],
        }});
        let container = Container::of(&pods["spec"]["initContainers"][0], true, &pods["spec"]);
        let container = container.unwrap();
        let taken = |word: &str| taken_over(word, &container, &pods);
        let elsewhere = |name: &str| Err(Reason::Elsewhere(name.to_owned()));
        assert_eq!(taken("$(URL)"), Ok("$(URL)".to_owned()));
        assert_eq!(taken("db"), Ok("db".to_owned()));
        // The application has another definition of the variable, or none.
        assert_eq!(taken("$(HOST):1"), elsewhere("HOST"));
        assert_eq!(taken("$(OWN)"), elsewhere("OWN"));
        assert_eq!(taken("$(x)"), Err(Reason::Unsaid("$x".to_owned())));
    }

    #[test]
    fn a_value_is_read_from_the_objects_of_the_render() {
        let object = |kind: &str, field: &str, data: Value| ChartObject {
            source: "templates/web.yaml".into(),
            value: json!({"kind": kind, "metadata": {"name": "web"}, field: data}),
        };
        let objects = [
            object("ConfigMap", "data", json!({"DB_HOST": "db"})),
            object(
                "Secret",
                "data",
                json!({"url": "cmVkaXM6Ly86c2VjcmV0QGNhY2hlOjYzNzk=", "password": "c2VjcmV0"}),
            ),
        ];
        let of_secret = |key: &str| json!({"secretKeyRef": {"name": "web", "key": key}});
        let pods = json!({"spec": {"initContainers": [{
            "name": "wait",
            "envFrom": [{"configMapRef": {"name": "web"}}, {"secretRef": {"name": "other"}}],
            "env": [
                {"name": "REDIS_URL", "valueFrom": of_secret("url")},
                {"name": "REDIS_PASSWORD", "valueFrom": of_secret("password")},
                {"name": "SPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
            ],
        }]}});
        let container = Container::of(&pods["spec"]["initContainers"][0], true, &pods["spec"]);
        let completed = completed(container.unwrap(), &pods, &objects, "shop");
        let env = [
            ("DB_HOST", "db"),
            ("OWN_NAMESPACE", "shop"),
            ("REDIS_URL", "redis://cache:6379"),
            ("SPACE", "shop"),
        ];
        let env = env.map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(completed.env, env.into());
        assert!(completed.elsewhere.contains("REDIS_PASSWORD"));
    }
}
