//! The image volumes of a gated pod: the kubelet pulls the image of each before it starts the first container, although no
//! container mounts the volume. So the images are on the node when the gate opens.

use serde_json::Value;
use std::collections::HashSet;

/// The names of the image volumes; the first image has the first name. A pod gets no more of them, so that a pod of hundreds of
/// images does not become a longer one.
pub const PREFETCH_VOLUMES: [&str; 16] = [
    "sluice-prefetch-0",
    "sluice-prefetch-1",
    "sluice-prefetch-2",
    "sluice-prefetch-3",
    "sluice-prefetch-4",
    "sluice-prefetch-5",
    "sluice-prefetch-6",
    "sluice-prefetch-7",
    "sluice-prefetch-8",
    "sluice-prefetch-9",
    "sluice-prefetch-10",
    "sluice-prefetch-11",
    "sluice-prefetch-12",
    "sluice-prefetch-13",
    "sluice-prefetch-14",
    "sluice-prefetch-15",
];

/// The pull policy of an image volume. Not the policy of the image's container: the kubelet goes through the image volumes each
/// time it looks at the pod, and with `Always` it would ask the registry each time, for as long as the pod lives.
pub const PULL_POLICY: &str = "IfNotPresent";

/// The longest image reference that is put into a volume, in bytes. Kubernetes takes any text for an image, and a long text
/// would make the pod too large to be stored.
const LONGEST_IMAGE: usize = 512;

/// The images of the containers that start after the gate of a pod, each once, in the order of the containers; the first sixteen.
///
/// `begin` is the index of the first init container after the gate, `gate_image` the gate's own image. An image that an earlier container has is on
/// the node already. Left out too are an image of a container that is never to be pulled, and a text that no registry could know.
pub fn later_images<'p>(pod: &'p Value, begin: usize, gate_image: &str) -> Vec<&'p str> {
    let containers = |list: &str| pod["spec"][list].as_array().map_or(&[][..], Vec::as_slice);
    let init = containers("initContainers");
    let (early, late) = init.split_at(begin.min(init.len()));
    let mut known: HashSet<&str> = early.iter().filter_map(|it| it["image"].as_str()).collect();
    known.insert(gate_image);
    let later = late.iter().chain(containers("containers"));
    let mut images: Vec<&str> = Vec::new();
    for image in later.filter_map(pulled) {
        if images.len() < PREFETCH_VOLUMES.len() && known.insert(image) {
            images.push(image);
        }
    }
    images
}

/// The image of a container, if the container's start may pull it: not with the pull policy `Never`, and not a text that can be no image.
fn pulled(container: &Value) -> Option<&str> {
    let image = container["image"].as_str()?;
    (container["imagePullPolicy"] != "Never" && may_be_reference(image)).then_some(image)
}

/// Whether a text may refer to an image: by its letters and its length, not by the whole grammar of references.
fn may_be_reference(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:/@+".contains(&byte);
    text.len() <= LONGEST_IMAGE
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(letter)
}

/// The images that the volumes of a gated pod have the kubelet pull.
pub fn prefetched(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    let ours = |volume: &&Value| {
        let name = volume["name"].as_str();
        name.is_some_and(|name| PREFETCH_VOLUMES.contains(&name))
    };
    volumes
        .filter(ours)
        .filter_map(|volume| volume["image"]["reference"].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(init: &[&str], app: &[&str]) -> Value {
        let containers = |images: &[&str]| -> Vec<Value> {
            images
                .iter()
                .map(|image| json!({ "image": image }))
                .collect()
        };
        json!({"spec": {"initContainers": containers(init), "containers": containers(app)}})
    }

    #[test]
    fn each_later_image_is_named_once_and_no_earlier_one() {
        let pod = pod(
            &["early:1", "late:1", "gate:1"],
            &["app:1", "early:1", "late:1", "b:1"],
        );
        assert_eq!(later_images(&pod, 1, "gate:1"), ["late:1", "app:1", "b:1"]);
        let all = later_images(&pod, 0, "none");
        assert_eq!(all, ["early:1", "late:1", "gate:1", "app:1", "b:1"]);
        assert_eq!(
            later_images(&pod, 9, ""),
            ["app:1", "b:1"],
            "beyond the list"
        );
        assert!(later_images(&json!({}), 0, "").is_empty());
    }

    #[test]
    fn what_is_never_pulled_or_no_reference_is_left_out() {
        let longest = "a".repeat(LONGEST_IMAGE);
        let longer = format!("{longest}a");
        let images = [
            "",
            " a",
            "a b",
            "$(IMAGE)",
            "-a",
            "a\u{e9}",
            longer.as_str(),
        ];
        assert!(later_images(&pod(&[], &images), 0, "").is_empty());
        let good = "r.example.com:5000/Team/a_b.c-d:V1@sha256+b:0f";
        let images = [longest.as_str(), good];
        assert_eq!(later_images(&pod(&[], &images), 0, ""), images);
        let mut pod = pod(&[], &["a:1", "b:1"]);
        pod["spec"]["containers"][0]["imagePullPolicy"] = json!("Never");
        pod["spec"]["containers"][1]["imagePullPolicy"] = json!("Always");
        assert_eq!(later_images(&pod, 0, ""), ["b:1"]);
    }

    #[test]
    fn a_pod_of_many_images_gets_the_first_of_them() {
        let names: Vec<String> = (0..20).map(|number| format!("a:{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let pod = pod(&[], &names);
        let found = later_images(&pod, 0, "");
        assert_eq!(found, names[..PREFETCH_VOLUMES.len()]);
    }

    #[test]
    fn the_volumes_of_a_pod_say_what_is_pulled() {
        let volume = |name: &str, image: Value| json!({"name": name, "image": image});
        let pod = json!({"spec": {"volumes": [
            volume("sluice-prefetch-0", json!({"reference": "a:1"})),
            volume("models", json!({"reference": "m:1"})),
            volume("sluice-prefetch-1", json!(null)),
            volume("sluice-prefetch-12", json!({"reference": "b:1"})),
        ]}});
        assert_eq!(prefetched(&pod).collect::<Vec<_>>(), ["a:1", "b:1"]);
    }
}
