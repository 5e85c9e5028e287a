//! Whether pods fit the LimitRanges and the ResourceQuotas of their namespace, as Kubernetes' own admission counts them.
//!
//! A gate has the amounts of its pod's smallest container, so a pod fits with its gate where it fits without, unless the administrator
//! has given the gates amounts of their own.

mod pod;
mod range;
mod sentence;

use crate::quantity;
use pod::{Amounts, Container, Half, Pod};
use serde_json::Value;

/// Why Kubernetes refuses the pods of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The object that refuses the pods: `LimitRange/small`.
    by: String,
    /// The container that does not fit; `None` where all containers of a pod do not fit together.
    container: Option<String>,
    breach: Breach,
}

/// The way in which amounts do not fit. An amount is called as a quota calls it: `requests.cpu`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Breach {
    /// An amount is below the least one.
    BelowMin { amount: String, min: String },
    /// An amount is above the largest one.
    AboveMax { amount: String, max: String },
    /// A limit is more than so many times the request.
    Ratio { resource: String, most: String },
    /// Amounts without which the pods are refused are not said.
    NotSaid { amounts: Vec<String> },
}

/// The misfits of a pod, or of the pods of a template, by the LimitRanges and ResourceQuotas of their namespace.
///
/// A quota with scopes is left out, since it may not count these pods. The sums of a pod that says amounts of its own are left out, too.
pub fn of(template: &Value, ranges: &[&Value], quotas: &[&Value]) -> Vec<Misfit> {
    let mut pod = Pod::of(template);
    let items = |kind| ranges.iter().flat_map(move |it| range::items(it, kind));
    for (_, item) in items("Container") {
        pod.take_defaults(item);
    }
    let mut found = Vec::new();
    for (by, item) in items("Container") {
        for Container { name, amounts, .. } in &pod.containers {
            let misfit = |breach| Misfit {
                by: by.clone(),
                container: Some(name.clone()),
                breach,
            };
            found.extend(range::breaches(item, amounts).into_iter().map(misfit));
        }
    }
    let Some(whole) = pod.whole() else {
        return found;
    };
    for (by, item) in items("Pod") {
        let misfit = |breach| Misfit {
            by: by.clone(),
            container: None,
            breach,
        };
        found.extend(range::breaches(item, &whole).into_iter().map(misfit));
    }
    let quotas = quotas.iter().filter(|it| !is_scoped(it));
    found.extend(quotas.flat_map(|it| of_quota(it, &pod, &whole)));
    found
}

fn is_scoped(quota: &Value) -> bool {
    let spec = &quota["spec"];
    let scopes = spec["scopes"].as_array();
    scopes.is_some_and(|it| !it.is_empty()) || spec["scopeSelector"].is_object()
}

/// The misfits of a pod by one ResourceQuota: the amounts that it counts and a container does not state, and those of which the whole pod asks
/// for more than the quota allows to all pods together.
fn of_quota(quota: &Value, pod: &Pod, whole: &Amounts) -> Vec<Misfit> {
    let by = named("ResourceQuota", quota);
    let hard = quota["spec"]["hard"].as_object().into_iter().flatten();
    let hard: Vec<_> = hard
        .filter_map(|(key, hard)| Some((Half::of_quota(key)?, hard)))
        .collect();
    let mut found = Vec::new();
    for Container { name, amounts, .. } in &pod.containers {
        // Kubernetes asks for no amount of storage.
        let must = hard
            .iter()
            .filter(|((_, it), _)| *it != "ephemeral-storage");
        let lacking = must.filter(|((half, it), _)| amounts.get(*half, it).is_none());
        let mut amounts: Vec<_> = lacking.map(|((half, it), _)| half.key(it)).collect();
        amounts.sort_unstable();
        amounts.dedup();
        found.extend((!amounts.is_empty()).then(|| Misfit {
            by: by.clone(),
            container: Some(name.clone()),
            breach: Breach::NotSaid { amounts },
        }));
    }
    for ((half, resource), text) in hard {
        let more = |hard| {
            whole
                .get(half, resource)
                .is_some_and(|it| is_below(hard, it))
        };
        found.extend(quantity::read(text).is_some_and(more).then(|| Misfit {
            by: by.clone(),
            container: None,
            breach: Breach::AboveMax {
                amount: half.key(resource),
                max: quantity_text(text),
            },
        }));
    }
    found
}

fn named(kind: &str, object: &Value) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    format!("{kind}/{name}")
}

/// Whether an amount is below another; sums of fractions may be off by a little.
fn is_below(amount: f64, bound: f64) -> bool {
    amount < bound * (1.0 - 1e-9)
}

fn quantity_text(quantity: &Value) -> String {
    let text = quantity.as_str().map(ToOwned::to_owned);
    text.unwrap_or_else(|| quantity.to_string())
}

#[cfg(test)]
mod tests;
