//! Keys without an effect: those of proposals for Helm, sluice's own under another prefix, sluice's own as a label.

use super::Advice;
use crate::annotation;
use crate::keys;
use crate::suggest;
use serde_json::{Map, Value};

/// Advice on the annotations and labels in `metadata` that look like sluice's, but have no effect there. `metadata` is that of an object of
/// this kind, or of a template in it (`kind` is then empty).
pub fn of_metadata(kind: &str, metadata: &Value) -> Vec<Advice> {
    let keys = |of: &str| {
        metadata[of]
            .as_object()
            .into_iter()
            .flat_map(|it| it.keys())
    };
    let foreign = keys("annotations").filter_map(|key| {
        let ours = ours(key)?;
        let key = key.clone();
        Some(Advice::ForeignKey { key, ours })
    });
    let counts = |key: &str| {
        let mut labels = keys::LABELS.iter();
        labels.any(|(it, of, _)| *it == key && *of == kind)
    };
    let annotations = keys("labels").filter(|key| counts_as_annotation(key) && !counts(key));
    let idle = keys::LABELS.into_iter().filter(|(key, of, value)| {
        let written = &metadata["labels"][key];
        let right = *of == kind && written == value;
        !written.is_null() && !right && (counts(key) || !counts_as_annotation(key))
    });
    foreign
        .chain(annotations.map(|key| Advice::LabelOnly(key.clone())))
        .chain(idle.map(|(key, of, value)| Advice::IdleLabel { key, of, value }))
        .collect()
}

/// Advice on a `config.kubernetes.io/depends-on` whose value is no list of cli-utils: other tools use that key, too.
pub fn of_list(annotations: &Map<String, Value>) -> Option<Advice> {
    annotation::foreign(annotations).map(|entry| Advice::ForeignList(entry.to_owned()))
}

/// Whether the API server refuses the key of an annotation: it allows one slash at most.
pub(super) fn is_refused(key: &str) -> bool {
    key.matches('/').count() > 1
}

/// The key of sluice that the author of an annotation most likely meant; `None` for a key of sluice or of any other product.
fn ours(key: &str) -> Option<String> {
    let (prefix, rest) = key.split_once('/')?;
    if prefix == "helm.sh" {
        return of_helm(rest);
    }
    let alike = prefix.starts_with("sluice.") || suggest::nearest(prefix, [domain()]).is_some();
    let ours = format!("{}{rest}", keys::PREFIX);
    (alike && prefix != domain() && annotation::knows(&ours)).then_some(ours)
}

fn domain() -> &'static str {
    keys::PREFIX.trim_end_matches('/')
}

/// The key of sluice for a key `helm.sh/REST` of HIP-0025, HIP-0999 or an older proposal for Helm; `None` for any other `REST`.
fn of_helm(rest: &str) -> Option<String> {
    let list = keys::DEPENDS_ON;
    match rest.split_once('/').unwrap_or((rest, "")) {
        ("weight", "") => Some(keys::WEIGHT.to_owned()),
        ("depends-on", "resource-groups") => Some(format!("{list}: group/NAME")),
        ("depends-on", "subcharts") => Some(format!("{list}: subchart/NAME")),
        ("depends-on", _) => Some(list.to_owned()),
        ("health", "") => Some(keys::HEALTH.to_owned()),
        ("health", path) => Some(format!("{}.{}", keys::HEALTH, path.replace('/', "."))),
        _ => None,
    }
}

/// Whether sluice reads this key of an annotation. The marker of a gated pod is left out, since it is a label too.
fn counts_as_annotation(key: &str) -> bool {
    let others = [
        keys::CONFIG_DEPENDS_ON,
        keys::RESOURCE_GROUP,
        keys::READINESS_SUCCESS,
        keys::READINESS_FAILURE,
    ];
    key != keys::GATED && (annotation::knows(key) || others.contains(&key))
}
