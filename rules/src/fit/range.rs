//! The bounds of one item of a LimitRange.

use super::pod::{Amounts, Half};
use super::{Breach, is_below, named, quantity_text};
use crate::quantity;
use serde_json::Value;

/// The items of a LimitRange about containers or about pods, each with the name of the LimitRange.
pub(super) fn items<'r>(
    range: &'r Value,
    kind: &'static str,
) -> impl Iterator<Item = (String, &'r Value)> {
    let items = range["spec"]["limits"].as_array().into_iter().flatten();
    let items = items.filter(move |item| item["type"] == kind);
    items.map(|item| (named("LimitRange", range), item))
}

/// The breaches of amounts by one item of a LimitRange. An amount that an item bounds has to be said: a least one as a request, a largest one as a
/// limit.
pub(super) fn breaches(item: &Value, amounts: &Amounts) -> Vec<Breach> {
    let mut found = Vec::new();
    let mut unsaid = Vec::new();
    // A least amount has to be said as a request, a largest one as a limit.
    for (field, must) in [("min", Half::Requests), ("max", Half::Limits)] {
        for (resource, text, bound) in bounds(&item[field]) {
            for half in [Half::Requests, Half::Limits] {
                let Some(has) = amounts.get(half, resource) else {
                    unsaid.extend((half == must).then(|| half.key(resource)));
                    continue;
                };
                let (amount, bound_text) = (half.key(resource), quantity_text(text));
                found.extend(match must {
                    Half::Requests => is_below(has, bound).then_some(Breach::BelowMin {
                        amount,
                        min: bound_text,
                    }),
                    Half::Limits => is_below(bound, has).then_some(Breach::AboveMax {
                        amount,
                        max: bound_text,
                    }),
                });
            }
        }
    }
    for (resource, text, most) in bounds(&item["maxLimitRequestRatio"]) {
        let said = |half| amounts.get(half, resource).filter(|has| *has > 0.0);
        match (said(Half::Requests), said(Half::Limits)) {
            (Some(request), Some(limit)) => {
                let is_more = is_below(most, limit / request);
                found.extend(is_more.then(|| Breach::Ratio {
                    resource: resource.to_owned(),
                    most: quantity_text(text),
                }));
            }
            (request, limit) => {
                let halves = [(Half::Requests, request), (Half::Limits, limit)];
                let lacking = halves.iter().filter(|(_, has)| has.is_none());
                unsaid.extend(lacking.map(|(half, _)| half.key(resource)));
            }
        }
    }
    unsaid.sort_unstable();
    unsaid.dedup();
    found.extend((!unsaid.is_empty()).then_some(Breach::NotSaid { amounts: unsaid }));
    found
}

/// The quantities of a map, each with its resource and its number. A text that is no quantity is left out, since the API server
/// refuses it.
fn bounds(map: &Value) -> impl Iterator<Item = (&str, &Value, f64)> {
    let map = map.as_object().into_iter().flatten();
    map.filter_map(|(resource, text)| Some((resource.as_str(), text, quantity::read(text)?)))
}
