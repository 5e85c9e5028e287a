//! The installed sluice, read with the caller's own rights: its settings, and its rights.
//!
//! `check` looks at whether that is in order; `status` and `graph` judge by it.

mod read;
mod rights;
mod settings;

pub(crate) use read::{get, list, list_where};
pub(crate) use rights::Rights;
pub(crate) use settings::{Settings, argument};

use crate::health_rules;
use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use rights::Account;
use rules::health::Rules;
use rules::lookup::Lookup;
use serde_json::Value;

/// The name of every object that the chart installs.
pub(crate) const NAME: &str = "sluice";

/// The chart's name for the ClusterRole that names custom kinds.
const WATCH_ROLE: &str = "sluice-watch";

/// The labels of the controller's Deployment.
const LABELS: &str = "app.kubernetes.io/name=sluice,app.kubernetes.io/component=controller";

/// The objects of the installed sluice that verdicts rest on.
#[derive(Debug)]
pub(crate) struct Installation {
    /// The Deployments of sluice's controller; there should be one.
    pub(crate) deployments: Lookup<Vec<Value>>,
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
    /// A line for each part that the caller may not see, with the assumption in its place.
    pub(crate) unseen: Vec<String>,
}

impl Installation {
    /// Looks in one namespace, where it is known, else in all of them.
    pub(crate) async fn read(client: &Client, namespace: Option<&str>) -> Result<Self> {
        let place = namespace.map_or_else(String::new, |it| format!("/namespaces/{it}"));
        let path = format!("/apis/apps/v1{place}/deployments");
        let deployments = list(client, &path, &ListParams::default().labels(LABELS)).await?;
        let settings = first(&deployments).map(Settings::of);
        let health_rules = match settings.as_ref().and_then(Settings::health_rules) {
            Some((namespace, name)) => {
                let path = format!("/api/v1/namespaces/{namespace}/configmaps");
                get(client, &path, name).await?
            }
            None => Lookup::NotFound,
        };
        let home = settings.as_ref().and_then(|it| it.namespace.as_deref());
        let name = settings.as_ref().map_or(NAME, |it| it.account.as_str());
        let account = home.or(namespace);
        let account = account.map(|namespace| Account { namespace, name });
        let watch_role = settings.as_ref().and_then(|it| it.watch_role.as_deref());
        Ok(Self {
            roles: rights::roles(client, account, watch_role).await?,
            deployments,
            health_rules,
        })
    }

    /// Whether sluice is installed in a namespace, and so gates nothing there.
    pub(crate) fn is_in(&self, namespace: &str) -> bool {
        let Lookup::Found(deployments) = &self.deployments else {
            return false;
        };
        let mut homes = deployments.iter().map(|it| &it["metadata"]["namespace"]);
        homes.any(|home| home == namespace)
    }

    /// The basis of a verdict; each part that cannot be seen has the chart's defaults, and a line says so. `namespace`: the
    /// namespace of sluice, where the caller has found it out.
    pub(crate) async fn basis(client: &Client, namespace: Option<&str>) -> Result<Basis> {
        let installation = Self::read(client, namespace).await?;
        Ok(installation.judged_by(namespace))
    }

    fn judged_by(self, namespace: Option<&str>) -> Basis {
        let mut unseen = Vec::new();
        let home = namespace.unwrap_or("sluice-system");
        let settings = first(&self.deployments).map(Settings::of);
        if settings.is_none() {
            let (why, way_out) = match self.deployments {
                Lookup::Unavailable(_) => (
                    "cannot see sluice's settings",
                    format!("; that takes the right to list Deployments in namespace {home}"),
                ),
                Lookup::Found(_) | Lookup::NotFound => {
                    ("there is no Deployment of sluice", String::new())
                }
            };
            unseen.push(format!("{why}: judged by the chart's defaults{way_out}"));
        }
        let is_there = settings.is_some();
        let settings = settings.unwrap_or_else(|| Settings::of_the_chart(namespace));
        let rules = self.rules(&settings, &mut unseen);
        let rights = match &self.roles {
            Lookup::Found(granted) => Rights::Seen(rules::rights::Rights::of(granted)),
            Lookup::NotFound if is_there => Rights::Seen(rules::rights::Rights::default()),
            Lookup::NotFound => Rights::by_settings(&settings),
            Lookup::Unavailable(_) => {
                unseen.push(format!(
                    "cannot see what sluice may read: judged as if that were every kind but Secrets; that takes the right to get ClusterRoles {NAME} and {WATCH_ROLE}"
                ));
                Rights::by_settings(&settings)
            }
        };
        Basis {
            settings,
            rights,
            rules,
            unseen,
        }
    }

    /// The administrator's health rules, as the controller reads them.
    fn rules(&self, settings: &Settings, unseen: &mut Vec<String>) -> Rules {
        let Some((namespace, name)) = settings.health_rules() else {
            return Rules::default();
        };
        let place = format!("ConfigMap {namespace}/{name}");
        match &self.health_rules {
            Lookup::Found(map) => health_rules::of_config_map(&place, map).0,
            Lookup::NotFound => Rules::unreadable(format!("{place} does not exist")),
            Lookup::Unavailable(_) => {
                unseen.push(format!(
                    "cannot see the administrator's health rules: judged by the library's; that takes the right to get {place}"
                ));
                Rules::default()
            }
        }
    }
}

fn first(deployments: &Lookup<Vec<Value>>) -> Option<&Value> {
    match deployments {
        Lookup::Found(found) => found.first(),
        Lookup::NotFound | Lookup::Unavailable(_) => None,
    }
}
