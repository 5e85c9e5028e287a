//! A container, reduced to the fields that tell for which things it waits.

use super::image;
use super::reason::Reason;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A container: its command, its environment and its mounts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Container {
    pub(super) name: String,
    pub(super) image: String,
    /// Whether the container is an init container.
    pub(super) init: bool,
    /// The words of `command`, then those of `args`.
    pub(super) words: Vec<String>,
    /// The variables with a known value, which is in the container's own fields, or after `environment::completed` in a rendered ConfigMap or
    /// Secret.
    pub(super) env: BTreeMap<String, String>,
    /// The variables of the pod's other containers with the same image that the container itself does not have.
    pub(super) beside: BTreeMap<String, String>,
    /// The variables whose value is in a Secret, a ConfigMap or the pod, and so not known.
    pub(super) elsewhere: BTreeSet<String>,
    /// The paths at which the container mounts folders of the node.
    pub(super) node_paths: Vec<String>,
    /// The ConfigMaps that the container mounts.
    pub(super) config_maps: Vec<MountedMap>,
    /// Whether the words are a command of a hook, which the kubelet runs after the start of the container or before its end.
    pub(super) after_start: bool,
}

/// A ConfigMap, and the path at which a container mounts it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MountedMap {
    pub(super) map: String,
    path: String,
    /// The key of the ConfigMap where only that key is mounted at the path; `None` where all keys are mounted.
    only: Option<String>,
}

impl MountedMap {
    /// The key of the ConfigMap whose content the file at a path has; `None` for a path outside of the mount.
    pub(super) fn key(&self, path: &str) -> Option<String> {
        let behind = path.strip_prefix(&self.path)?;
        match &self.only {
            Some(key) => behind.is_empty().then(|| key.clone()),
            None => Some(behind.strip_prefix('/')?.to_owned()),
        }
    }
}

impl Container {
    /// A word of a command without variables. A variable that holds the address of a Service, such as `$(DB_SERVICE_HOST)`, is replaced by
    /// the name of the Service, because the kubelet puts that address into the environment of every pod.
    ///
    /// # Errors
    ///
    /// The word has another variable, which the error names.
    pub(super) fn known(&self, word: &str) -> Result<String, Reason> {
        let mut known = String::new();
        let mut rest = word;
        while let Some((before, behind)) = rest.split_once("$(") {
            let (name, behind) = behind.split_once(')').unwrap_or((behind, ""));
            let service = name.strip_suffix("_SERVICE_HOST");
            if self.elsewhere.contains(name) {
                return Err(Reason::Elsewhere(name.to_owned()));
            }
            let Some(service) = service.filter(|it| !it.is_empty()) else {
                return Err(Reason::Unsaid(format!("${name}")));
            };
            known.push_str(before);
            known.push_str(&service.to_lowercase().replace('_', "-"));
            rest = behind;
        }
        known.push_str(rest);
        Ok(known)
    }

    /// Reads a container of a pod with the spec `pod`, without its hooks; `None` for a container without a name. Where it has arguments alone and its
    /// image is known to take them, the image's program stands in front. `pod` is null for an item of a list in a template's text.
    pub(super) fn of(value: &Value, init: bool, pod: &Value) -> Option<Self> {
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let name = value.get("name")?.as_str()?.to_owned();
        let words = ["command", "args"]
            .into_iter()
            .flat_map(|key| texts(&value[key]));
        let mut words: Vec<String> = words.collect();
        if texts(&value["command"]).is_empty() && words.first().is_some_and(|it| image::takes(it)) {
            let program = image::program(&text("image"));
            words
                .splice(0..0, program.map(str::to_owned))
                .for_each(drop);
        }
        let mut container = Self {
            name,
            image: text("image"),
            init,
            words,
            node_paths: node_paths(value, pod),
            config_maps: config_maps(value, pod),
            ..Self::default()
        };
        for variable in value["env"].as_array().into_iter().flatten() {
            let Some(name) = variable["name"].as_str() else {
                continue;
            };
            match said(&variable["value"]) {
                Some(value) => {
                    container.env.insert(name.to_owned(), value);
                }
                None => {
                    container.elsewhere.insert(name.to_owned());
                }
            }
        }
        Some(container)
    }

    /// The containers of a pod's spec, the init containers first. Behind each container stand the commands of its hooks, as containers of their
    /// own.
    pub(super) fn all(pod: &Value) -> Vec<Self> {
        let of = |key: &str, init: bool| {
            let list = pod[key].as_array().into_iter().flatten();
            list.flat_map(move |it| Self::each(it, init, pod))
        };
        of("initContainers", true)
            .chain(of("containers", false))
            .collect()
    }

    /// The container, and as further containers the commands that the kubelet runs after the start of the container or before its end. Empty for
    /// a container without a name.
    pub(super) fn each(value: &Value, init: bool, pod: &Value) -> Vec<Self> {
        let Some(own) = Self::of(value, init, pod) else {
            return Vec::new();
        };
        let hooks = ["postStart", "preStop"];
        let commands = hooks.map(|it| value.pointer(&format!("/lifecycle/{it}/exec/command")));
        let after_start = commands.into_iter().flatten().map(|command| Self {
            words: texts(command),
            after_start: true,
            ..own.clone()
        });
        let after_start: Vec<Self> = after_start.collect();
        std::iter::once(own).chain(after_start).collect()
    }

    /// Gives each container of a pod, in `beside`, the variables of the pod's other containers with its image that it does not have itself: a script
    /// of the image may have them from a file that another container writes. A container without an image gets none.
    pub(super) fn join(containers: &mut [Self]) {
        let all: Vec<(String, BTreeMap<String, String>)> = containers
            .iter()
            .map(|it| (it.image.clone(), it.env.clone()))
            .collect();
        for own in containers {
            let others = all
                .iter()
                .filter(|it| !own.image.is_empty() && it.0 == own.image);
            for (name, value) in others.flat_map(|it| &it.1) {
                if !own.env.contains_key(name) && !own.elsewhere.contains(name) {
                    own.beside
                        .entry(name.clone())
                        .or_insert_with(|| value.clone());
                }
            }
        }
    }

    /// Whether the container's script also takes an answer that refuses for success: 401, 403 or 404 stands as a number in its words.
    pub(super) fn takes_refusals(&self) -> bool {
        let is_number = |it: char| !it.is_ascii_digit();
        let mut words = self.words.iter().flat_map(|it| it.split(is_number));
        words.any(|it| matches!(it, "401" | "403" | "404"))
    }

    /// Whether a path leads to the node, and not to a volume of the pod alone.
    pub(super) fn is_on_the_node(&self, path: &str) -> bool {
        let within = |it: &String| path.starts_with(it.as_str());
        self.node_paths.iter().any(within)
    }
}

/// The texts, numbers and flags of a list, as texts; a single one counts as a list of one. Empty for a value of another type.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(said).collect(),
        _ => said(value).into_iter().collect(),
    }
}

/// The text of a scalar, which may be a text, a number or a flag; `None` for another value.
pub(super) fn said(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(it) => Some(it.to_string()),
        _ => None,
    }
}

/// The paths at which the container mounts folders of the node: a volume with a `hostPath`, or any mount that is propagated.
fn node_paths(container: &Value, pod: &Value) -> Vec<String> {
    let volumes = pod["volumes"].as_array().into_iter().flatten();
    let of_node: Vec<&str> = volumes
        .filter(|volume| volume.get("hostPath").is_some())
        .filter_map(|volume| volume["name"].as_str())
        .collect();
    let mounts = container["volumeMounts"].as_array().into_iter().flatten();
    let is_of_node = |mount: &&Value| {
        let name = mount["name"].as_str().unwrap_or_default();
        // Only a mount from the node can be propagated.
        of_node.contains(&name) || mount.get("mountPropagation").is_some()
    };
    mounts
        .filter(is_of_node)
        .filter_map(|mount| Some(mount["mountPath"].as_str()?.to_owned()))
        .collect()
}

/// The ConfigMaps that a container mounts as volumes of their own; one in a projected volume is left out.
fn config_maps(container: &Value, pod: &Value) -> Vec<MountedMap> {
    let mounts = container["volumeMounts"].as_array().into_iter().flatten();
    let of_map = |mount: &Value| {
        let mut volumes = pod["volumes"].as_array()?.iter();
        let volume = volumes.find(|it| it["name"] == mount["name"])?;
        Some(MountedMap {
            map: volume["configMap"]["name"].as_str()?.to_owned(),
            path: mount["mountPath"]
                .as_str()?
                .trim_end_matches('/')
                .to_owned(),
            only: mount["subPath"].as_str().map(str::to_owned),
        })
    };
    mounts.filter_map(of_map).collect()
}
