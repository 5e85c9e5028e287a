//! What the controller may follow: what it may not read is waited for, whoever else may read it.

use super::{NAME, Settings, get, list};
use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use rules::kinds;
use rules::lookup::Lookup;
use serde_json::{Value, json};

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

/// The rules of ClusterRoles that let somebody get, list and watch.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Rights(Vec<Value>);

/// The chart's ClusterRole, and whatever else is bound to the controller's account, as far as that can be seen.
pub(super) async fn roles(client: &Client, account: Option<&str>) -> Result<Lookup<Vec<Value>>> {
    let mut roles = match get(client, ROLES, NAME).await? {
        Lookup::Found(role) => vec![role],
        Lookup::NotFound => return Ok(Lookup::NotFound),
        Lookup::Unavailable(why) => return Ok(Lookup::Unavailable(why)),
    };
    let bindings = list(client, BINDINGS, &ListParams::default()).await?;
    if let (Some(account), Lookup::Found(bindings)) = (account, bindings) {
        for name in bindings.iter().filter_map(|it| bound(it, account)) {
            if let Lookup::Found(role) = get(client, ROLES, name).await? {
                roles.push(role);
            }
        }
    }
    Ok(Lookup::Found(roles))
}

impl Rights {
    /// What these ClusterRoles let somebody follow.
    pub(crate) fn of(roles: &[Value]) -> Self {
        let granted = roles.iter().filter_map(|role| role["rules"].as_array());
        let follows = |rule: &&Value| {
            let verbs = ["get", "list", "watch"];
            // A right to some names is none to follow a kind.
            verbs.iter().all(|verb| has(rule, "verbs", verb)) && rule["resourceNames"].is_null()
        };
        Self(granted.flatten().filter(follows).cloned().collect())
    }

    /// What the chart grants beside these settings: every built-in kind is taken for granted but the Secret.
    pub(super) fn by_settings(settings: &Settings) -> Self {
        let rule =
            |group: &str, resource: &str| json!({"apiGroups": [group], "resources": [resource]});
        let builtin = kinds::all()
            .iter()
            .filter(|it| it.kind != "Secret" || settings.follows_releases);
        let builtin = builtin.map(|it| rule(it.group, it.plural));
        let custom = settings.custom_kinds.iter().chain(&settings.workloads);
        // A workload is named by its kind; its resource is what is left of the group.
        let custom = custom.map(|(group, _)| rule(group, "*"));
        Self(builtin.chain(custom).collect())
    }

    /// Whether the resource may be followed.
    pub(crate) fn may_follow(&self, group: &str, resource: &str) -> bool {
        let fits = |rule: &Value| has(rule, "apiGroups", group) && has(rule, "resources", resource);
        self.0.iter().any(fits)
    }

    /// The API groups of which something may be followed; `*` for all.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        let groups = self
            .0
            .iter()
            .filter_map(|rule| rule["apiGroups"].as_array());
        groups.flatten().filter_map(Value::as_str)
    }
}

/// The ClusterRole that a binding gives to the account `sluice` of a namespace, if it is another than the chart's.
fn bound<'a>(binding: &'a Value, namespace: &str) -> Option<&'a str> {
    let subjects = binding["subjects"].as_array()?;
    let ours = |it: &Value| {
        it["kind"] == "ServiceAccount" && it["name"] == NAME && it["namespace"] == namespace
    };
    let role = &binding["roleRef"];
    let name = role["name"].as_str().filter(|name| *name != NAME)?;
    (role["kind"] == "ClusterRole" && subjects.iter().any(ours)).then_some(name)
}

/// Whether a list of a rule names the word, or all.
fn has(rule: &Value, list: &str, word: &str) -> bool {
    let words = rule[list].as_array();
    let words = words.into_iter().flatten();
    words
        .filter_map(Value::as_str)
        .any(|it| it == word || it == "*")
}
