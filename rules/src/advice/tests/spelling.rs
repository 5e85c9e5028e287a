//! Keys without an effect.

use super::*;
use crate::keys;

#[test]
fn keys_that_nobody_acts_on_have_our_spelling() {
    for (key, told) in [
        (
            "helm.sh/weight",
            "nobody acts on helm.sh/weight; write sluice.dev/weight",
        ),
        (
            "helm.sh/depends-on/resource-groups",
            "the API server refuses helm.sh/depends-on/resource-groups, a key with two slashes, and nobody acts on it; write \
             sluice.dev/depends-on: group/NAME",
        ),
        (
            "helm.sh/health/status/items/each/phase",
            "the API server refuses helm.sh/health/status/items/each/phase, a key with two slashes, and nobody acts on it; \
             write sluice.dev/health.status.items.each.phase",
        ),
        (
            "sluice.io/depends-on",
            "nobody acts on sluice.io/depends-on; write sluice.dev/depends-on",
        ),
        ("sluice.io/of-somebody-else", ""),
        ("helm.sh/hook-weight", ""),
        ("helm.sh/resource-group", ""),
        ("sluice.dev/depends-on", ""),
        ("depends-on", ""),
    ] {
        let advice = of_metadata("Deployment", &json!({"annotations": {key: "x"}}));
        let sentences: Vec<_> = advice.iter().map(ToString::to_string).collect();
        assert_eq!(sentences.join(""), told, "{key}");
        let is_error = advice.iter().any(|it| it.level() == Level::Error);
        assert_eq!(is_error, told.starts_with("the API server"), "{key}");
    }
    // Two letters of the prefix change places.
    let mut misspelt: Vec<char> = keys::PREFIX.chars().collect();
    let differ = |at: &usize| misspelt[*at] != misspelt[at + 1];
    let at = (1..misspelt.len()).find(differ).unwrap();
    misspelt.swap(at, at + 1);
    let key = misspelt.into_iter().collect::<String>() + "weight";
    let advice = of_metadata("Deployment", &json!({"annotations": {&key: "x"}}));
    let told = format!("nobody acts on {key}; write {}", keys::WEIGHT);
    assert_eq!(advice[0].to_string(), told);
    let labels =
        json!({"labels": {"sluice.dev/weight": "1", "sluice.dev/gated": "true", "team": "a"}});
    let told = of_metadata("", &labels);
    assert_eq!(told, [Advice::LabelOnly("sluice.dev/weight".to_owned())]);
}

#[test]
fn a_label_counts_on_one_kind_with_one_value() {
    let told = |kind: &str, key: &str, value: &str| {
        let advice = of_metadata(kind, &json!({"labels": {key: value}}));
        let sentences: Vec<_> = advice.iter().map(ToString::to_string).collect();
        sentences.join("")
    };
    for (key, kind, value) in keys::LABELS {
        assert_eq!(told(kind, key, value), "");
        let way_out = format!("it counts on a {kind}, and its only value there is {value:?}");
        assert!(told(kind, key, "yes").ends_with(&way_out), "{key}");
        if key != keys::HOLD {
            assert!(told("Deployment", key, value).ends_with(&way_out), "{key}");
            assert!(told("", key, value).ends_with(&way_out), "{key}");
        }
    }
    assert_eq!(
        told("Deployment", keys::HOLD, "true"),
        "sluice.dev/hold has no effect as a label; move it to the annotations"
    );
}
