//! The objects without which a pod does not start: those that its volumes, its environment and its account name.

use crate::kinds::{self, Builtin};
use serde_json::Value;

/// An object that a pod cannot start without.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The kind of the object: `ConfigMap`.
    pub kind: &'static Builtin,
    /// `metadata.name` of the object, which is in the pod's namespace.
    pub name: String,
    /// The field of the pod that names the object: `envFrom`, `serviceAccountName`.
    pub field: &'static str,
}

/// The objects that a pod, or the pods of a template, cannot start without, each once. An object that the pod marks as optional is left out.
pub fn of(template: &Value) -> Vec<Use> {
    let spec = &template["spec"];
    let mut found = Vec::new();
    let mut add = |kind, field, source: &Value, key: &str| {
        let name = source[key].as_str().filter(|name| !name.is_empty());
        let name = name.filter(|_| source["optional"] != true);
        found.extend(name.map(|name| Use {
            kind,
            name: name.to_owned(),
            field,
        }));
    };
    add(
        kinds::SERVICE_ACCOUNT,
        "serviceAccountName",
        spec,
        "serviceAccountName",
    );
    for volume in items(&spec["volumes"]) {
        let projected = items(&volume["projected"]["sources"]);
        for source in std::iter::once(volume).chain(projected) {
            let (config, secret) = (&source["configMap"], &source["secret"]);
            add(kinds::CONFIG_MAP, "volumes", config, "name");
            // A volume calls it otherwise than a projected source.
            for key in ["secretName", "name"] {
                add(kinds::SECRET, "volumes", secret, key);
            }
        }
        let claim = &volume["persistentVolumeClaim"];
        add(
            kinds::PERSISTENT_VOLUME_CLAIM,
            "volumes",
            claim,
            "claimName",
        );
    }
    for container in ["initContainers", "containers"]
        .iter()
        .flat_map(|list| items(&spec[*list]))
    {
        for source in items(&container["envFrom"]) {
            add(
                kinds::CONFIG_MAP,
                "envFrom",
                &source["configMapRef"],
                "name",
            );
            add(kinds::SECRET, "envFrom", &source["secretRef"], "name");
        }
        for variable in items(&container["env"]) {
            let from = &variable["valueFrom"];
            add(kinds::CONFIG_MAP, "env", &from["configMapKeyRef"], "name");
            add(kinds::SECRET, "env", &from["secretKeyRef"], "name");
        }
    }
    for secret in items(&spec["imagePullSecrets"]) {
        add(kinds::SECRET, "imagePullSecrets", secret, "name");
    }
    let mut seen: Vec<Use> = Vec::new();
    for next in found {
        let is_known = |it: &Use| (it.kind.kind, &it.name) == (next.kind.kind, &next.name);
        if !seen.iter().any(is_known) {
            seen.push(next);
        }
    }
    seen
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_field_that_names_an_object_is_read() {
        let pod = json!({"spec": {
            "serviceAccountName": "robot",
            "imagePullSecrets": [{"name": "registry"}],
            "volumes": [
                {"configMap": {"name": "files"}}, {"secret": {"secretName": "tls"}},
                {"configMap": {"name": "maybe", "optional": true}}, {"emptyDir": {}},
                {"persistentVolumeClaim": {"claimName": "data"}},
                {"projected": {"sources": [{"configMap": {"name": "part"}}, {"secret": {"name": "half"}}, {"serviceAccountToken": {}}]}},
            ],
            "initContainers": [{"envFrom": [{"configMapRef": {"name": "first"}}]}],
            "containers": [{
                "envFrom": [{"secretRef": {"name": "login"}}, {"configMapRef": {"name": "files"}}],
                "env": [
                    {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "one", "key": "a"}}},
                    {"name": "B", "valueFrom": {"secretKeyRef": {"name": "two", "key": "b", "optional": true}}},
                    {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "a"}}}, {"name": "D", "value": "x"},
                ],
            }],
        }});
        let found: Vec<_> = of(&pod)
            .into_iter()
            .map(|it| format!("{} {}/{}", it.field, it.kind.kind, it.name))
            .collect();
        assert_eq!(
            found,
            [
                "serviceAccountName ServiceAccount/robot",
                "volumes ConfigMap/files",
                "volumes Secret/tls",
                "volumes PersistentVolumeClaim/data",
                "volumes ConfigMap/part",
                "volumes Secret/half",
                "envFrom ConfigMap/first",
                "envFrom Secret/login",
                "env ConfigMap/one",
                "imagePullSecrets Secret/registry",
            ]
        );
    }
}
