//! The amounts that the containers of a pod ask for, one by one and together.

use crate::quantity;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One of the two amounts of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Half {
    Requests,
    Limits,
}

impl Half {
    /// The name that a quota has for this amount of a resource: `requests.cpu`.
    pub(super) fn key(self, resource: &str) -> String {
        format!("{}.{resource}", self.word())
    }

    fn word(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Limits => "limits",
        }
    }

    /// Reads the key of a quota: the amount that it counts, and the resource. A bare `cpu` counts requests. `None` for a resource other than
    /// `cpu`, `memory` and `ephemeral-storage`, the only ones that a gate asks for.
    pub(super) fn of_quota(key: &str) -> Option<(Self, &str)> {
        let (half, resource) = match key.split_once('.') {
            Some(("limits", resource)) => (Self::Limits, resource),
            Some(("requests", resource)) => (Self::Requests, resource),
            _ => (Self::Requests, key),
        };
        let is_counted = ["cpu", "memory", "ephemeral-storage"].contains(&resource);
        is_counted.then_some((half, resource))
    }
}

/// The requests and limits of a container or a pod, each as a number, by resource.
#[derive(Debug, Clone, Default)]
pub(super) struct Amounts(BTreeMap<(Half, String), f64>);

impl Amounts {
    fn of(resources: &Value) -> Self {
        let mut own = Self::default();
        for half in [Half::Limits, Half::Requests] {
            own.fill(half, &resources[half.word()]);
        }
        // The API server writes the request of a limit that stands alone.
        own.fill(Half::Requests, &resources["limits"]);
        own
    }

    pub(super) fn get(&self, half: Half, resource: &str) -> Option<f64> {
        self.0.get(&(half, resource.to_owned())).copied()
    }

    /// Adds the quantities of a map from resources to quantities as requests or limits, for each resource that has none of these yet.
    fn fill(&mut self, half: Half, quantities: &Value) {
        for (resource, quantity) in quantities.as_object().into_iter().flatten() {
            if let Some(amount) = quantity::read(quantity) {
                self.0.entry((half, resource.clone())).or_insert(amount);
            }
        }
    }
}

/// The containers of a pod, with the amounts of resources that each asks for.
pub(super) struct Pod {
    /// All containers of the pod, the init containers first.
    pub(super) containers: Vec<Container>,
    /// Whether the pod states amounts of its own, in `spec.resources`.
    says_amounts: bool,
}

pub(super) struct Container {
    pub(super) name: String,
    pub(super) amounts: Amounts,
    /// Whether the container runs beside all later ones; else it ends before the next begins.
    runs_on: bool,
}

impl Pod {
    pub(super) fn of(template: &Value) -> Self {
        let spec = &template["spec"];
        let list = |name: &str| spec[name].as_array().into_iter().flatten();
        let inits = list("initContainers").map(|it| (it, it["restartPolicy"] == "Always"));
        let others = list("containers").map(|it| (it, true));
        let containers = inits.chain(others).map(|(container, runs_on)| Container {
            name: container["name"].as_str().unwrap_or_default().to_owned(),
            amounts: Amounts::of(&container["resources"]),
            runs_on,
        });
        Self {
            containers: containers.collect(),
            says_amounts: spec["resources"].is_object(),
        }
    }

    /// Takes the amounts that an item of a LimitRange gives to containers for each resource of which they state none, in the API server's order: for
    /// a limit `default`, else `max`; for a request `defaultRequest`, else `default`, `max` or `min`.
    pub(super) fn take_defaults(&mut self, item: &Value) {
        for Container { amounts, .. } in &mut self.containers {
            for field in ["default", "max"] {
                amounts.fill(Half::Limits, &item[field]);
            }
            for field in ["defaultRequest", "default", "max", "min"] {
                amounts.fill(Half::Requests, &item[field]);
            }
        }
    }

    /// The amounts that the containers of a pod take together ([`quantity::at_a_time`]). `None` for a pod that says its own.
    pub(super) fn whole(&self) -> Option<Amounts> {
        if self.says_amounts {
            return None;
        }
        let said = self.containers.iter().flat_map(|it| it.amounts.0.keys());
        let keys: BTreeSet<_> = said.cloned().collect();
        let sum = |key: &(Half, String)| {
            let amount = |it: &Container| it.amounts.0.get(key).copied().unwrap_or_default();
            quantity::at_a_time(self.containers.iter().map(|it| (amount(it), it.runs_on)))
        };
        let sums = keys.into_iter().map(|key| (sum(&key), key));
        Some(Amounts(sums.map(|(sum, key)| (key, sum)).collect()))
    }
}
