//! Custom kinds of a test. The group is named after the test's namespace, so tests do not meet.

use super::manifest::{Manifest, other};
use super::namespace::Namespace;
use serde_json::{Value, json};

/// A custom kind and its definition.
#[derive(Debug, Clone)]
pub struct Defined {
    /// The API group.
    pub group: String,
    kind: String,
    plural: String,
    version: String,
    schema: Value,
}

impl Defined {
    /// Returns `Widget` in a group that only this namespace has, below a reserved domain.
    pub fn widget(ns: &Namespace) -> Self {
        Self::new(&format!("{}.example", ns.name), "v1", "Widget")
    }

    /// Returns a kind as another project names it. Its plural is the kind in small letters and an "s"; its schema accepts every field.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
            version: version.to_owned(),
            schema: json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        }
    }

    /// Replaces the schema of the kind, an OpenAPI schema, in place of the one that accepts every field.
    #[must_use]
    pub fn with_schema(self, schema: Value) -> Self {
        Self { schema, ..self }
    }

    fn resource(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// Returns the reference of the definition for kubectl: `customresourcedefinition/widgets.GROUP`.
    pub fn definition(&self) -> String {
        format!("customresourcedefinition/{}", self.resource())
    }

    /// Returns the reference of an object of the kind for kubectl: `widgets.GROUP/NAME`.
    pub fn reference(&self, name: &str) -> String {
        format!("{}/{name}", self.resource())
    }

    /// Returns the reference of an object of the kind for a list of dependencies, as a gate prints it: `Widget.GROUP/NAME`.
    pub fn dependency(&self, name: &str) -> String {
        format!("{}.{}/{name}", self.kind, self.group)
    }

    /// Creates the definition of the kind, with a status subresource, and waits until it is established. It is deleted with the namespace.
    pub async fn define(&self, ns: &Namespace) {
        let version = json!({
            "name": self.version, "served": true, "storage": true,
            "schema": {"openAPIV3Schema": self.schema}, "subresources": {"status": {}},
        });
        let singular = self.kind.to_lowercase();
        let names = json!({"plural": self.plural, "singular": singular, "kind": self.kind});
        let spec = json!({"group": self.group, "scope": "Namespaced", "names": names, "versions": [version]});
        let (kind, name) = ("CustomResourceDefinition", self.resource());
        let object = object("apiextensions.k8s.io/v1", kind, &name).with("/spec", spec);
        let definition = self.definition();
        ns.takes_along(&definition);
        ns.apply([object]).await.ok();
        ns.kubectl(["wait", "--for=condition=Established", &definition])
            .await
            .ok();
    }

    /// Lets sluice read the kind, as the chart of an operator does: by a ClusterRole with the label `sluice.dev/aggregate-to-watch`. It is deleted
    /// with the namespace.
    pub async fn grant(&self, ns: &Namespace) {
        let verbs = ["get", "list", "watch"];
        let reads = json!({"apiGroups": [self.group], "resources": [self.plural], "verbs": verbs});
        let role = object("rbac.authorization.k8s.io/v1", "ClusterRole", &ns.name)
            .with("/metadata/labels/sluice.dev~1aggregate-to-watch", "true")
            .with("/rules", json!([reads]));
        ns.takes_along(&format!("clusterrole/{}", ns.name));
        ns.apply([role]).await.ok();
    }

    /// Returns an object of the kind that has no more than a name.
    pub fn one(&self, name: &str) -> Manifest {
        object(
            &format!("{}/{}", self.group, self.version),
            &self.kind,
            name,
        )
    }
}

fn object(api_version: &str, kind: &str, name: &str) -> Manifest {
    let metadata = json!({"name": name});
    other(json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}))
}
