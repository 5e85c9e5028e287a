//! The kinds that the controller may follow: it waits for a kind that it may not read, even where the caller may read it.

use super::{NAME, Settings, get, list};
use anyhow::Result;
use futures::future::{try_join, try_join_all};
use kube::Client;
use kube::api::ListParams;
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::rights;
use serde_json::Value;

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

/// The kinds that the controller may follow, as far as the caller may know.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rights {
    /// The rights that the rules of the controller's ClusterRoles give.
    Seen(rights::Rights),
    /// The ClusterRoles cannot be seen, or sluice is not installed: the controller is taken to follow every kind, Secrets only with `secrets`.
    /// `workloads`: the custom kinds in its settings that make pods.
    Assumed { secrets: bool, workloads: Vec<Kind> },
}

/// The service account of the controller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

/// The chart's ClusterRole, and the bindings of all ClusterRoles.
pub(super) struct Granted {
    role: Lookup<Value>,
    bindings: Lookup<Vec<Value>>,
}

/// Reads the chart's ClusterRole and all ClusterRoleBindings, from which [`roles`] finds the controller's ClusterRoles. This needs no settings.
pub(super) async fn granted(client: &Client) -> Result<Granted> {
    let every = ListParams::default();
    let (role, bindings) =
        try_join(get(client, ROLES, NAME), list(client, BINDINGS, &every)).await?;
    Ok(Granted { role, bindings })
}

/// Reads the chart's ClusterRole, the role `watch_role`, and every other ClusterRole that is bound to the controller's account. `NotFound` or
/// `Unavailable` where the chart's is; any other that cannot be found or read is left out.
pub(super) async fn roles(
    client: &Client,
    granted: Granted,
    account: Option<Account<'_>>,
    watch_role: Option<&str>,
) -> Result<Lookup<Vec<Value>>> {
    let mut roles = match granted.role {
        Lookup::Found(role) => vec![role],
        Lookup::NotFound => return Ok(Lookup::NotFound),
        Lookup::Unavailable(why) => return Ok(Lookup::Unavailable(why)),
    };
    let mut names: Vec<&str> = watch_role.into_iter().collect();
    if let (Some(account), Lookup::Found(bindings)) = (account, &granted.bindings) {
        names.extend(bindings.iter().filter_map(|it| bound(it, account)));
    }
    names.sort_unstable();
    names.dedup();
    let others = names.into_iter().filter(|name| *name != NAME);
    let found = try_join_all(others.map(|name| get(client, ROLES, name))).await?;
    roles.extend(found.into_iter().filter_map(|role| match role {
        Lookup::Found(role) => Some(role),
        Lookup::NotFound | Lookup::Unavailable(_) => None,
    }));
    Ok(Lookup::Found(roles))
}

impl Rights {
    /// The rights that are assumed for a controller with these settings, where its ClusterRoles cannot be seen or are not there.
    pub(super) fn by_settings(settings: &Settings) -> Self {
        let workload = |(group, word): (String, String)| Kind::Custom { group, word };
        Self::Assumed {
            secrets: settings.follows_releases,
            workloads: settings.workloads.iter().cloned().map(workload).collect(),
        }
    }

    /// Whether sluice may watch a kind; `plural` is the kind's resource.
    pub(crate) fn may_follow(&self, kind: &Kind, plural: &str) -> bool {
        match self {
            Self::Seen(rights) => rights.may_follow(kind.group(), plural),
            Self::Assumed { secrets, .. } => *secrets || *kind != Kind::Builtin(kinds::SECRET),
        }
    }

    /// The custom kinds that may belong to a wave, a group or a release: those that the rights name, or where these are assumed, those that make
    /// pods by the settings.
    pub(crate) fn custom(&self) -> Vec<Kind> {
        match self {
            Self::Seen(rights) => rights.custom().collect(),
            Self::Assumed { workloads, .. } => workloads.clone(),
        }
    }
}

/// The name of the ClusterRole that a binding gives to a service account; `None` where it gives none to it.
fn bound<'a>(binding: &'a Value, account: Account<'_>) -> Option<&'a str> {
    let subjects = binding["subjects"].as_array()?;
    let ours = |it: &Value| {
        it["kind"] == "ServiceAccount"
            && it["name"] == account.name
            && it["namespace"] == account.namespace
    };
    let role = &binding["roleRef"];
    let ours = role["kind"] == "ClusterRole" && subjects.iter().any(ours);
    role["name"].as_str().filter(|_| ours)
}
