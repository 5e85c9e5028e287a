//! `check --pre`: whether sluice can be installed, and what would hinder its gates.

use super::Checked;
use super::{controller, webhook};
use crate::access;
use crate::installation::{CONFIGURATIONS, Installation, NAME, get, list};
use anyhow::Result;
use kube::Client;
use kube::api::{ListParams, PostParams};
use kube::core::request::Request;
use rules::kinds::{self, Builtin};
use rules::lookup::Lookup;
use rules::version;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const VERSION: &str = "version";
const RIGHTS: &str = "rights";
const INSTALLED: &str = "installed";
const NETWORK: &str = "network";

/// The oldest Kubernetes that the chart installs on, as its minor version.
const OLDEST: u32 = 30;

/// The kinds of the objects that the chart makes with its default values.
const MADE: [&str; 13] = [
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "Deployment",
    "MutatingWebhookConfiguration",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "Role",
    "RoleBinding",
    "Service",
    "ServiceAccount",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
];

/// The facts of a cluster in which sluice is to be installed.
#[derive(Debug)]
pub(super) struct Before {
    /// The namespace in which sluice is to be installed.
    pub(super) namespace: String,
    /// The version of the API server.
    pub(super) version: Lookup<Value>,
    /// The kinds of the chart's objects that the caller may not create.
    pub(super) refused: Vec<&'static Builtin>,
    /// The Deployments of sluice controllers that the cluster has already.
    pub(super) deployments: Lookup<Vec<Value>>,
    pub(super) configuration: Lookup<Value>,
    pub(super) policies: Lookup<Vec<Value>>,
}

impl Before {
    pub(super) async fn read(client: &Client, namespace: &str) -> Result<Self> {
        let mut refused = Vec::new();
        for kind in made() {
            if !may_create(client, kind, namespace).await? {
                refused.push(kind);
            }
        }
        let policies = "/apis/networking.k8s.io/v1/networkpolicies";
        Ok(Self {
            namespace: namespace.to_owned(),
            version: get(client, "", "version").await?,
            refused,
            deployments: Installation::read(client, None).await?.deployments,
            configuration: get(client, CONFIGURATIONS, NAME).await?,
            policies: list(client, policies, &ListParams::default()).await?,
        })
    }
}

fn made() -> impl Iterator<Item = &'static Builtin> {
    kinds::all().iter().filter(|it| MADE.contains(&it.kind))
}

/// Asks the API server whether the caller may create objects of a kind, in this namespace where the kind has one. Every user may ask about
/// the user's own rights.
async fn may_create(client: &Client, kind: &Builtin, namespace: &str) -> Result<bool> {
    let namespace = kind.namespaced.then_some(namespace);
    let wanted = json!({"verb": "create", "group": kind.group, "resource": kind.plural, "namespace": namespace});
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": wanted},
    });
    let request = Request::new("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    let request = request.create(&PostParams::default(), serde_json::to_vec(&review)?)?;
    let answer = client.request::<Value>(request).await;
    let answer = answer.map_err(access::failed)?;
    Ok(answer["status"]["allowed"] == true)
}

pub(super) fn judge(before: &Before) -> Vec<Checked> {
    vec![
        version(&before.version),
        rights(&before.refused, &before.namespace),
        installed(before),
        network(&before.policies),
    ]
}

fn version(found: &Lookup<Value>) -> Checked {
    let version = match found {
        Lookup::Found(version) => version,
        Lookup::NotFound => &Value::Null,
        Lookup::Unavailable(why) => return Checked::unseen(VERSION, "the version", *why),
    };
    let name = version["gitVersion"].as_str().unwrap_or("unknown");
    let told = format!("Kubernetes {name}");
    let minor = version["minor"].as_str().unwrap_or_default();
    match version::minor(minor) {
        Some(minor) if minor >= OLDEST => Checked::ok(VERSION, told),
        _ => Checked::problem(
            VERSION,
            format!("{told}: the chart needs 1.{OLDEST} or newer; upgrade the cluster first"),
        ),
    }
}

fn rights(refused: &[&Builtin], namespace: &str) -> Checked {
    if refused.is_empty() {
        let told = format!("you may create what the chart makes, in namespace {namespace}");
        return Checked::ok(RIGHTS, told);
    }
    let names: Vec<_> = refused.iter().map(|it| access::of_builtin(it)).collect();
    let names = names.join(", ");
    Checked::problem(
        RIGHTS,
        format!(
            "you may not create {names}, which the chart makes in namespace {namespace} and beside it; have it installed by an administrator, such as one with ClusterRole cluster-admin"
        ),
    )
}

fn installed(before: &Before) -> Checked {
    match &before.deployments {
        Lookup::Found(found) if !found.is_empty() => match controller::find(&before.deployments) {
            Ok(deployment) => {
                let namespace = controller::text(deployment, "/metadata/namespace");
                Checked::problem(
                    INSTALLED,
                    format!(
                        "sluice is in namespace {namespace} already, and a cluster has one; upgrade that one, or remove it first: helm uninstall {NAME} -n {namespace}"
                    ),
                )
            }
            Err(finding) => finding,
        },
        Lookup::Unavailable(why) => Checked::unseen(INSTALLED, "other installations", *why),
        Lookup::Found(_) | Lookup::NotFound => webhook::left_behind(&before.configuration),
    }
}

/// Warns of the namespaces with a NetworkPolicy that lets no traffic out of any pod: a gate there cannot reach port 9764 of sluice's
/// namespace, and waits until another policy lets it. A good line where there are none, a warning where policies cannot be read.
fn network(policies: &Lookup<Vec<Value>>) -> Checked {
    let policies = match policies {
        Lookup::Found(policies) => policies.as_slice(),
        Lookup::NotFound => &[],
        Lookup::Unavailable(why) => return Checked::unseen(NETWORK, "NetworkPolicies", *why),
    };
    let closed = policies.iter().filter(|it| lets_nothing_out(&it["spec"]));
    let closed: BTreeSet<&str> = closed
        .map(|it| controller::text(it, "/metadata/namespace"))
        .collect();
    if closed.is_empty() {
        return Checked::ok(NETWORK, "no NetworkPolicy keeps all pods of a namespace in");
    }
    let closed = Vec::from_iter(closed).join(", ");
    Checked::warning(
        NETWORK,
        format!(
            "NetworkPolicies let no pod out of {closed}; a gate there waits until another policy lets it reach TCP port 9764 of sluice's namespace"
        ),
    )
}

fn lets_nothing_out(spec: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(|it| match it {
            Value::Object(inner) => inner.is_empty(),
            Value::Array(inner) => inner.is_empty(),
            _ => false,
        }),
        _ => false,
    };
    let types = spec["policyTypes"].as_array();
    let mut types = types.into_iter().flatten();
    types.any(|it| it == "Egress") && is_empty(&spec["podSelector"]) && is_empty(&spec["egress"])
}

#[cfg(test)]
mod tests;
