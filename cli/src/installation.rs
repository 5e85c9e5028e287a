//! The installed sluice, read with the caller's own rights: its settings, and its rights.
//!
//! `check` tests whether the installation is in order; `status` and `graph` judge by its settings and rights.

mod published;
mod read;
mod rights;
mod settings;
mod unseen;

pub(crate) use published::Published;
pub(crate) use read::{get, list, list_where};
pub(crate) use rights::Rights;
pub(crate) use settings::{Settings, argument};
pub(crate) use unseen::{Unseen, warnings};

use crate::health_rules;
use anyhow::Result;
use futures::future::try_join;
use kube::Client;
use kube::api::ListParams;
use rights::Account;
use rules::health::Rules;
use rules::lookup::Lookup;
use serde_json::Value;

/// The name of every object that the chart installs.
pub(crate) const NAME: &str = "sluice";

/// The path of all MutatingWebhookConfigurations.
pub(crate) const CONFIGURATIONS: &str =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// The namespace of sluice where neither a pod nor the webhook configuration names another.
const HOME: &str = "sluice-system";

/// The chart's name for the ClusterRole that names custom kinds.
const WATCH_ROLE: &str = "sluice-watch";

/// The labels of the controller's Deployment.
const LABELS: &str = "app.kubernetes.io/name=sluice,app.kubernetes.io/component=controller";

/// The objects of the installed sluice that verdicts rest on.
#[derive(Debug)]
pub(crate) struct Installation {
    /// The Deployments of sluice's controller; there should be one.
    pub(crate) deployments: Lookup<Vec<Value>>,
    /// The published settings, for a caller that may not list the Deployments.
    pub(crate) published: Option<Published>,
    /// The ConfigMap of the administrator's health rules; not found where none is named.
    pub(crate) health_rules: Lookup<Value>,
    /// The ClusterRoles of the service account of sluice's controller.
    pub(crate) roles: Lookup<Vec<Value>>,
}

/// The settings, rights and rules by which the installed sluice judges.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) settings: Settings,
    pub(crate) rights: Rights,
    /// The administrator's health rules.
    pub(crate) rules: Rules,
    /// The parts that the caller may not see, with the assumption in their place.
    pub(crate) unseen: Vec<Unseen>,
    /// Whether the caller sees that there is no Deployment of sluice.
    pub(crate) is_absent: bool,
}

impl Installation {
    /// Reads the objects of the installed sluice. The controller's Deployments are looked for in this namespace, or without one in all; the
    /// published settings are read where the caller may not list Deployments. An object that the caller may not read is no error.
    pub(crate) async fn read(client: &Client, namespace: Option<&str>) -> Result<Self> {
        let place = namespace.map_or_else(String::new, |it| format!("/namespaces/{it}"));
        let path = format!("/apis/apps/v1{place}/deployments");
        let ours = ListParams::default().labels(LABELS);
        let (deployments, granted) =
            try_join(list(client, &path, &ours), rights::granted(client)).await?;
        let published = match &deployments {
            Lookup::Unavailable(_) => published(client, namespace).await?,
            Lookup::Found(_) | Lookup::NotFound => None,
        };
        let settings = settings(&deployments, published.as_ref());
        let home = settings.as_ref().and_then(|it| it.namespace.as_deref());
        let name = settings.as_ref().map_or(NAME, |it| it.account.as_str());
        let account = home.or(namespace);
        let account = account.map(|namespace| Account { namespace, name });
        let watch_role = settings.as_ref().and_then(|it| it.watch_role.as_deref());
        let health_rules = async {
            match settings.as_ref().and_then(Settings::health_rules) {
                Some((namespace, name)) => {
                    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
                    get(client, &path, name).await
                }
                None => Ok(Lookup::NotFound),
            }
        };
        let roles = rights::roles(client, granted, account, watch_role);
        let (health_rules, roles) = try_join(health_rules, roles).await?;
        Ok(Self {
            deployments,
            published,
            health_rules,
            roles,
        })
    }

    /// Reads the installation again, in the namespace `home`, where the caller may not list the Deployments of all namespaces and no published
    /// settings were found; else returns it unchanged.
    pub(crate) async fn sought_in(self, client: &Client, home: &str) -> Result<Self> {
        match (&self.deployments, &self.published) {
            (Lookup::Unavailable(_), None) => Self::read(client, Some(home)).await,
            _ => Ok(self),
        }
    }

    /// Whether sluice is known to be installed in a namespace, and so gates nothing there: by its Deployments, or where these cannot be listed by its
    /// published settings.
    pub(crate) fn is_in(&self, namespace: &str) -> bool {
        let Lookup::Found(deployments) = &self.deployments else {
            let published = self.published.as_ref();
            return published.is_some_and(|it| it.settings.namespace.as_deref() == Some(namespace));
        };
        let mut homes = deployments.iter().map(|it| &it["metadata"]["namespace"]);
        homes.any(|home| home == namespace)
    }

    /// Reads the settings, rights and health rules by which the installed sluice judges. Each part that cannot be seen has the chart's defaults,
    /// and `unseen` says so. `namespace`: that of sluice, where the caller has found it out; else all namespaces are searched.
    pub(crate) async fn basis(client: &Client, namespace: Option<&str>) -> Result<Basis> {
        let installation = Self::read(client, namespace).await?;
        Ok(installation.judged_by(namespace))
    }

    fn judged_by(self, namespace: Option<&str>) -> Basis {
        let mut unseen = Vec::new();
        let home = namespace.unwrap_or(HOME);
        let settings = settings(&self.deployments, self.published.as_ref());
        if let Some(it) = self.published.as_ref().filter(|it| !it.withheld.is_empty()) {
            unseen.push(Unseen {
                part: Some("withheld values"),
                told: format!(
                    "cannot see {}: judged as if these values of the chart were empty; that takes the right to list Deployments in namespace \
                     {home}",
                    it.withheld
                ),
            });
        }
        if settings.is_none() {
            let (part, why, way_out) = match self.deployments {
                Lookup::Unavailable(_) => (
                    Some("settings"),
                    "cannot see sluice's settings",
                    format!("; that takes the right to list Deployments in namespace {home}"),
                ),
                Lookup::Found(_) | Lookup::NotFound => (
                    None,
                    "there is no Deployment of sluice",
                    "; if sluice was uninstalled, gates that wait never open: delete their pods, and their owners make others without a gate"
                        .to_owned(),
                ),
            };
            unseen.push(Unseen {
                part,
                told: format!("{why}: judged by the chart's defaults{way_out}"),
            });
        }
        let is_there = settings.is_some();
        let is_absent = !is_there && !matches!(self.deployments, Lookup::Unavailable(_));
        let settings = settings.unwrap_or_else(|| Settings::of_the_chart(namespace));
        let rules = self.rules(&settings, &mut unseen);
        let rights = match &self.roles {
            Lookup::Found(granted) => Rights::Seen(rules::rights::Rights::of(granted)),
            Lookup::NotFound if is_there => Rights::Seen(rules::rights::Rights::default()),
            Lookup::NotFound => Rights::by_settings(&settings),
            Lookup::Unavailable(_) => {
                unseen.push(Unseen {
                    part: Some("rights"),
                    told: format!(
                        "cannot see what sluice may read: judged as if that were every kind but Secrets; that takes the right to get ClusterRoles {NAME} and {WATCH_ROLE}"
                    ),
                });
                Rights::by_settings(&settings)
            }
        };
        Basis {
            settings,
            rights,
            rules,
            unseen,
            is_absent,
        }
    }

    /// The administrator's health rules, as the controller reads them: none where the settings name no ConfigMap, or where the caller may not read
    /// it, which is noted in `unseen`. For a ConfigMap that does not exist the rules count as unreadable.
    fn rules(&self, settings: &Settings, unseen: &mut Vec<Unseen>) -> Rules {
        let Some((namespace, name)) = settings.health_rules() else {
            return Rules::default();
        };
        let place = format!("ConfigMap {namespace}/{name}");
        match &self.health_rules {
            Lookup::Found(map) => health_rules::of_config_map(&place, map).0,
            Lookup::NotFound => Rules::unreadable(format!("{place} does not exist")),
            Lookup::Unavailable(_) => {
                unseen.push(Unseen {
                    part: Some("health rules"),
                    told: format!(
                        "cannot see the administrator's health rules: judged by the library's; that takes the right to get {place}"
                    ),
                });
                Rules::default()
            }
        }
    }
}

/// The settings: of the first Deployment where the caller may see it, else as they are published; `None` where there are neither.
fn settings(deployments: &Lookup<Vec<Value>>, published: Option<&Published>) -> Option<Settings> {
    let own = first(deployments).map(Settings::of);
    own.or_else(|| published.map(|it| it.settings.clone()))
}

/// The published settings, from a ConfigMap in sluice's namespace; `None` where it is not there, as for a chart of an older version, or cannot
/// be read.
async fn published(client: &Client, namespace: Option<&str>) -> Result<Option<Published>> {
    let asked = match namespace {
        Some(_) => None,
        None => service_namespace(client).await?,
    };
    let home = namespace.or(asked.as_deref()).unwrap_or(HOME);
    let path = format!("/api/v1/namespaces/{home}/configmaps");
    Ok(match get(client, &path, published::MAP).await? {
        Lookup::Found(map) => Published::of(&map),
        Lookup::NotFound | Lookup::Unavailable(_) => None,
    })
}

/// The namespace of the Service that sluice's webhook configuration names; `None` where there is none, or the caller may not read it.
async fn service_namespace(client: &Client) -> Result<Option<String>> {
    let found = get(client, CONFIGURATIONS, NAME).await?;
    let namespace = found.map(|it| {
        let namespace = it.pointer("/webhooks/0/clientConfig/service/namespace");
        namespace.and_then(Value::as_str).map(str::to_owned)
    });
    Ok(match namespace {
        Lookup::Found(namespace) => namespace,
        Lookup::NotFound | Lookup::Unavailable(_) => None,
    })
}

fn first(deployments: &Lookup<Vec<Value>>) -> Option<&Value> {
    match deployments {
        Lookup::Found(found) => found.first(),
        Lookup::NotFound | Lookup::Unavailable(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_sluice_is_not_there_waiting_pods_have_a_way_out() {
        let installation = Installation {
            deployments: Lookup::Found(Vec::new()),
            published: None,
            health_rules: Lookup::NotFound,
            roles: Lookup::NotFound,
        };
        let told = warnings(&installation.judged_by(None).unseen);
        let expected = "there is no Deployment of sluice: judged by the chart's defaults; if sluice was uninstalled, gates that wait never open: \
                        delete their pods, and their owners make others without a gate";
        assert_eq!(told, [expected]);
    }
}
