//! Renews a gate that comes with its pod: from an earlier call, a copy, or a backup, maybe of another cluster.
//!
//! No container of a pod runs when the pod is created, so an old gate may get the present parts. With its old parts
//! the gate could wait for ever, for an address that does not exist or with a certificate that no CA vouches for. The
//! gate's place, its resources and additions of other webhooks stay as they are.

use super::GateParts;
use super::container::ConstantPart;
use super::patch::{Edits, Misshapen};
use super::position::containers;
use rules::gate::{STATE_VOLUME, TOKEN_VOLUME};
use serde_json::{Value, json};
use wire::env;

/// Gives the gate at `index` the present environment, mounts, image and volumes. Returns whether any of them differed. An
/// image that another webhook may have rewritten stays, if nothing else differs.
pub(super) fn renew(
    edits: &mut Edits<'_>,
    pod: &Value,
    index: usize,
    parts: &GateParts,
) -> Result<bool, Misshapen> {
    const INIT: [&str; 2] = ["spec", "initContainers"];
    let gate = &containers(pod, "initContainers")[index];
    let today = &parts.constant;
    let env = renewed(&gate["env"], &today["env"].value, |name| {
        name.starts_with(env::PREFIX)
    });
    let mounts = renewed(
        &gate["volumeMounts"],
        &today["volumeMounts"].value,
        |name| [TOKEN_VOLUME, STATE_VOLUME].contains(&name),
    );
    let volumes = renew_volumes(edits, pod, parts)?;
    let of_another_time = env.is_some() || mounts.is_some() || volumes;
    for (key, list) in [("env", env), ("volumeMounts", mounts)] {
        if let Some(list) = list {
            edits.set_in(&INIT, index, key, list);
        }
    }
    let found = gate["image"].as_str().unwrap_or_default();
    let wanted = parts.spec.image.as_str();
    let image = found != wanted && (of_another_time || !is_rewritten(found, wanted));
    if image {
        edits.set_in(&INIT, index, "image", wanted);
        if let Some(pull) = &parts.spec.image_pull_policy {
            edits.set_in(&INIT, index, "imagePullPolicy", pull.as_str());
        }
        add_pull_secrets(edits, pod, parts)?;
    }
    Ok(of_another_time || image)
}

/// Adds the pull secrets of the gate's image that the pod does not name yet.
pub(super) fn add_pull_secrets(
    edits: &mut Edits<'_>,
    pod: &Value,
    parts: &GateParts,
) -> Result<(), Misshapen> {
    let known = containers(pod, "imagePullSecrets");
    for name in &parts.spec.image_pull_secrets {
        if !known.iter().any(|secret| secret["name"] == *name) {
            edits.insert(&["spec", "imagePullSecrets"], None, json!({ "name": name }))?;
        }
    }
    Ok(())
}

/// Adds the gate's missing volumes and updates the old ones. Returns whether any was missing or old.
fn renew_volumes(edits: &mut Edits<'_>, pod: &Value, parts: &GateParts) -> Result<bool, Misshapen> {
    const VOLUMES: [&str; 2] = ["spec", "volumes"];
    let mut renewed = false;
    for ConstantPart { value: today, text } in &parts.volumes {
        let volumes = containers(pod, "volumes");
        let index = volumes.iter().position(|it| it["name"] == today["name"]);
        if index.is_some_and(|index| holds(&volumes[index], today)) {
            continue;
        }
        renewed = true;
        match index {
            None => edits.insert(&VOLUMES, None, text.clone())?,
            // Set the volume's keys one by one: the list as a whole cannot be set, because only the names of other
            // volumes have been read.
            Some(index) => {
                let parts = today.as_object().into_iter().flatten();
                for (key, value) in parts.filter(|(key, _)| *key != "name") {
                    edits.set_in(&VOLUMES, index, key, value.clone());
                }
            }
        }
    }
    Ok(renewed)
}

/// Returns the list `found` with our items as `today` has them, and all other items as they were; `None` where nothing changes. Items of
/// ours that `today` lacks go, and those that `found` lacks come last.
fn renewed(found: &Value, today: &Value, is_ours: impl Fn(&str) -> bool) -> Option<Vec<Value>> {
    let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let (found, mut missing) = (items(found), items(today));
    let mut list = Vec::with_capacity(found.len());
    for item in &found {
        if !is_ours(item["name"].as_str().unwrap_or_default()) {
            list.push(item.clone());
        } else if let Some(at) = missing.iter().position(|it| it["name"] == item["name"]) {
            let today = missing.remove(at);
            list.push(if holds(item, &today) {
                item.clone()
            } else {
                today
            });
        }
    }
    list.extend(missing);
    (list != found).then_some(list)
}

/// Returns whether `found` holds everything in `wanted`. The API server adds defaults to `wanted`, so `found` may
/// hold more.
fn holds(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, value)| found.get(key).is_some_and(|found| holds(found, value))),
        (Value::Array(found), Value::Array(wanted)) => {
            let mut pairs = found.iter().zip(wanted);
            found.len() == wanted.len() && pairs.all(|(found, wanted)| holds(found, wanted))
        }
        _ => found == wanted,
    }
}

/// Returns whether `found` may be the present image under a rewritten name: from another registry, or with the digest
/// of its tag. Webhooks that rewrite images see a pod after sluice, and sluice sees the pod again after them.
fn is_rewritten(found: &str, wanted: &str) -> bool {
    let tail = |image: &str| image.rsplit('/').next().unwrap_or_default().to_owned();
    let (found, wanted) = (tail(found), tail(wanted));
    let name = |tail: &str| tail.split([':', '@']).next().unwrap_or_default().to_owned();
    let pinned = found.contains('@') && !wanted.contains('@');
    found == wanted || (pinned && name(&found) == name(&wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_added_stays_where_it_is() {
        let is_ours = |name: &str| name.starts_with("SLUICE_");
        let found = json!([
            {"name": "SLUICE_B", "value": "old"}, {"name": "HTTP_PROXY", "value": "x"},
            {"name": "SLUICE_GONE", "value": "1"}, {"name": "SLUICE_A", "value": "1", "default": 0},
        ]);
        let today = json!([
            {"name": "SLUICE_A", "value": "1"}, {"name": "SLUICE_B", "value": "new"}, {"name": "SLUICE_C", "value": "1"},
        ]);
        let list = renewed(&found, &today, is_ours).unwrap();
        assert_eq!(
            json!(list),
            json!([
                {"name": "SLUICE_B", "value": "new"}, {"name": "HTTP_PROXY", "value": "x"},
                {"name": "SLUICE_A", "value": "1", "default": 0}, {"name": "SLUICE_C", "value": "1"},
            ])
        );
        assert_eq!(renewed(&json!(list), &today, is_ours), None);
        assert_eq!(renewed(&Value::Null, &json!([]), is_ours), None);
    }

    #[test]
    fn an_image_of_another_registry_or_by_its_digest_is_not_another_one() {
        let wanted = "ghcr.io/sluice-dev/sluice-gate:0.4.0";
        for (found, expected) in [
            ("mirror:5000/ghcr.io/sluice-dev/sluice-gate:0.4.0", true),
            ("sluice-gate:0.4.0", true),
            ("ghcr.io/sluice-dev/sluice-gate:0.4.0@sha256:aa", true),
            ("mirror:5000/sluice-gate@sha256:aa", true),
            ("ghcr.io/sluice-dev/sluice-gate:0.3.0", false),
            ("ghcr.io/sluice-dev/gate:0.4.0", false),
            ("", false),
        ] {
            assert_eq!(is_rewritten(found, wanted), expected, "{found}");
        }
        let digest = "ghcr.io/sluice-dev/sluice-gate:0.4.0@sha256:aa";
        assert!(is_rewritten("mirror/sluice-gate:0.4.0@sha256:aa", digest));
        assert!(!is_rewritten("mirror/sluice-gate:0.4.0@sha256:bb", digest));
    }
}
