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
    /// `requests.cpu`
    pub(super) fn key(self, resource: &str) -> String {
        format!("{}.{resource}", self.word())
    }

    fn word(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Limits => "limits",
        }
    }

    /// The amount that a key of a quota counts, among those that a gate has.
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

/// Amounts by half and resource.
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

    /// Adds the quantities of a map where there is none yet.
    fn fill(&mut self, half: Half, quantities: &Value) {
        for (resource, quantity) in quantities.as_object().into_iter().flatten() {
            if let Some(amount) = quantity::read(quantity) {
                self.0.entry((half, resource.clone())).or_insert(amount);
            }
        }
    }
}

/// The containers of a pod.
pub(super) struct Pod {
    /// The init containers come first.
    pub(super) containers: Vec<Container>,
    /// Whether the pod says amounts of its own.
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

    /// Takes the amounts that an item of a LimitRange gives to containers without them. The API server takes the largest for the
    /// limit, the limit for the request, and the least for the request, where the item says nothing else.
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
