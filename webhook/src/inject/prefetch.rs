//! The image volumes by which the kubelet pulls a pod's images before its gate begins.

use super::GateParts;
use super::lists::{Prefetch, prefetch};
use super::patch::{Edits, Misshapen};
use super::position::containers;
use rules::gate::{PREFETCH_VOLUMES, PULL_POLICY, later_images};
use serde_json::{Map, Value, json};

const VOLUMES: [&str; 2] = ["spec", "volumes"];

/// Returns whether a pod with these annotations gets image volumes, by which its images are pulled early: if it asks for that, or under
/// [`Prefetch::All`] unless it declines; never where there are no image volumes.
pub(super) fn is_wanted(annotations: Option<&Map<String, Value>>, of: Prefetch) -> bool {
    let said = prefetch(annotations);
    match of {
        Prefetch::Unsupported => false,
        Prefetch::Asked => said == Some(true),
        Prefetch::All => said != Some(false),
    }
}

/// Adds an image volume for each image that only containers behind the gate have, as far as there are names in
/// [`PREFETCH_VOLUMES`]. `begin` is the index of the first init container behind the gate. Returns whether any volume was
/// missing or old.
///
/// A volume that is there gets the present image, because another webhook may have changed the image since. The volume's pull
/// policy stays: the admission plugin `AlwaysPullImages` changes it, and refuses any other.
pub(super) fn add(
    edits: &mut Edits<'_>,
    pod: &Value,
    begin: usize,
    parts: &GateParts,
) -> Result<bool, Misshapen> {
    let images = later_images(pod, begin, &parts.spec.image);
    let volumes = containers(pod, "volumes");
    let mut changed = false;
    for (name, image) in PREFETCH_VOLUMES.into_iter().zip(images) {
        match volumes.iter().position(|volume| volume["name"] == name) {
            None => {
                let source = json!({"reference": image, "pullPolicy": PULL_POLICY});
                edits.insert(&VOLUMES, None, json!({"name": name, "image": source}))?;
                changed = true;
            }
            Some(index) => {
                let source = &volumes[index]["image"];
                if source.is_object() && source["reference"] != image {
                    edits.set_below(&VOLUMES, index, &["image"], "reference", image);
                    changed = true;
                }
            }
        }
    }
    Ok(changed)
}
