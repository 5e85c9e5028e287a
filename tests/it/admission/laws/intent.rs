//! Builds the intended result of admission without a patch, to compare with the patched object.

use super::{EXCLUSIONS, MARKER};
use serde_json::{Map, Value, json};

fn names<'a>(pod: &'a Value, list: &str) -> Vec<&'a str> {
    let items = pod["spec"][list].as_array().into_iter().flatten();
    items.filter_map(|item| item["name"].as_str()).collect()
}

/// Returns a child of a mapping. Where it is absent or null, sets it to `empty` first.
pub(in crate::admission) fn made<'a>(
    parent: &'a mut Value,
    key: &str,
    empty: &Value,
) -> &'a mut Value {
    let child = &mut parent[key];
    if child.is_null() {
        *child = empty.clone();
    }
    child
}

/// Returns the intended index of the gate among the init containers: the one that `sluice.dev/gate-position` names, else the one behind the last
/// native proxy of a mesh, else 0.
fn intended_index(pod: &Value) -> usize {
    let init = pod["spec"]["initContainers"].as_array();
    let init = init.map_or(&[][..], Vec::as_slice);
    let position = pod["metadata"]["annotations"]["sluice.dev/gate-position"].as_str();
    let after = match position {
        Some("first") => return 0,
        Some("last") => return init.len(),
        other => other.and_then(|text| text.strip_prefix("after=")),
    };
    if let Some(place) = init
        .iter()
        .rposition(|item| Some(item["name"].as_str().unwrap_or_default()) == after)
    {
        return place + 1;
    }
    let native = |item: &Value| {
        item["restartPolicy"] == "Always"
            && (item["name"] == "istio-proxy" || item["name"] == "linkerd-proxy")
    };
    init.iter().rposition(native).map_or(0, |last| last + 1)
}

/// Returns the variables and the mounts that every gate gets, each list with its name in the container.
fn lists_of_the_gate() -> [(&'static str, Value); 2] {
    let env = json!([
        {"name": "SLUICE_ADDRESSES", "value": "10.96.0.7:9764,sluice.sluice-system.svc:9764"},
        {"name": "SLUICE_SERVER_NAME", "value": "sluice.sluice-system.svc"},
        {"name": "SLUICE_CA_BUNDLE", "value": "-----BEGIN CERTIFICATE-----\n"},
        {"name": "SLUICE_TOKEN_FILE", "value": "/var/run/secrets/kubernetes.io/serviceaccount/token"},
        {"name": "SLUICE_STATE_DIR", "value": "/run/sluice"},
    ]);
    let mounts = json!([
        {"name": "sluice-token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true},
        {"name": "sluice-state", "mountPath": "/run/sluice"},
    ]);
    [("env", env), ("volumeMounts", mounts)]
}

fn volumes_of_the_gate() -> Value {
    json!([
        {"name": "sluice-token", "projected": {"sources": [
            {"serviceAccountToken": {"audience": "sluice", "expirationSeconds": 600, "path": "token"}},
        ]}},
        {"name": "sluice-state", "emptyDir": {"sizeLimit": "1Mi"}},
    ])
}

/// Returns the image volumes that a pod must get whose gate is at index `place` of the init containers: one for each image of the containers from
/// there on. Left out are images of earlier init containers, the gate's own, those never pulled, and texts that name none. None unless
/// `sluice.dev/prefetch` is `true`.
fn image_volumes(pod: &Value, place: usize) -> Vec<Value> {
    if pod["metadata"]["annotations"]["sluice.dev/prefetch"] != "true" {
        return Vec::new();
    }
    let list = |list: &str| pod["spec"][list].as_array().cloned().unwrap_or_default();
    let init = list("initContainers");
    let behind = [init[place..].to_vec(), list("containers")].concat();
    let mut images: Vec<&str> = Vec::new();
    for container in &behind {
        let image = container["image"].as_str().unwrap_or_default();
        let good = image.starts_with(|first: char| first.is_alphanumeric());
        let before = init[..place].iter().any(|it| it["image"] == image);
        let gates_own = image == "localhost/sluice-gate:dev";
        let never = container["imagePullPolicy"] == "Never";
        if good && !before && !gates_own && !never && !images.contains(&image) {
            images.push(image);
        }
    }
    let volume = |(number, image)| {
        let name = format!("sluice-prefetch-{number}");
        json!({"name": name, "image": {"reference": image, "pullPolicy": "IfNotPresent"}})
    };
    images.into_iter().enumerate().map(volume).collect()
}

/// Returns `list` with each of `items` in the place of the item of equal name, or at the end where there is none. Items whose name begins with
/// `SLUICE_` and contains `ANOTHER` are left out.
fn with_items(list: &Value, items: &Value) -> Value {
    let name = |item: &Value| item["name"].as_str().unwrap_or_default().to_owned();
    let [mut list, items] = [list, items].map(|it| it.as_array().cloned().unwrap_or_default());
    for item in items {
        match list.iter_mut().find(|it| name(it) == name(&item)) {
            Some(place) => *place = item,
            None => list.push(item),
        }
    }
    list.retain(|it| !name(it).starts_with("SLUICE_") || !name(it).contains("ANOTHER"));
    list.into()
}

/// Returns the intended result for a pod that comes with a gate of an earlier time: variables, mounts, image and volumes are today's, and everything
/// else stays.
fn intended_renewal(pod: &Value, place: usize) -> Value {
    let mut result = pod.clone();
    let gate = &mut result["spec"]["initContainers"][place];
    for (key, items) in lists_of_the_gate() {
        gate[key] = with_items(&gate[key], &items);
    }
    gate["image"] = json!("localhost/sluice-gate:dev");
    let volumes = made(&mut result["spec"], "volumes", &json!([]));
    *volumes = with_items(volumes, &volumes_of_the_gate());
    result
}

/// Returns the names between `$(` and `)` in a text.
fn variables(text: &str) -> Vec<&str> {
    let rest = text.split("$(").skip(1);
    rest.filter_map(|it| Some(it.split_once(')')?.0)).collect()
}

/// Returns the variables that the gate must get: those that the list names, and those that their values name in turn, in the order of the containers.
/// A container that the list names comes before all other ones.
fn intended_variables(pod: &Value) -> Vec<Value> {
    let list = pod["metadata"]["annotations"]["sluice.dev/depends-on"].as_str();
    let list = list.unwrap_or_default();
    let preferred: Vec<&str> = list
        .split("container: ")
        .skip(1)
        .filter_map(|it| it.split_whitespace().next())
        .collect();
    let lists = ["containers", "initContainers"].map(|key| pod["spec"][key].as_array());
    let containers: Vec<&Value> = lists.into_iter().flatten().flatten().collect();
    let env = |at: usize| {
        containers[at]["env"]
            .as_array()
            .map_or(&[][..], Vec::as_slice)
    };
    let has = |at: &usize, name: &str| env(*at).iter().any(|it| it["name"] == name);
    let mut picked = std::collections::BTreeSet::new();
    for name in variables(list) {
        let mut all = 0..containers.len();
        let is_preferred = |at: &usize| preferred.iter().any(|it| containers[*at]["name"] == *it);
        let first = all.clone().find(|at| is_preferred(at) && has(at, name));
        let Some(at) = first.or_else(|| all.find(|at| has(at, name))) else {
            continue;
        };
        picked.insert((
            at,
            env(at).iter().rposition(|it| it["name"] == name).unwrap(),
        ));
    }
    loop {
        let more: Vec<_> = picked
            .iter()
            .flat_map(|(at, place)| {
                let value = env(*at)[*place]["value"].as_str().unwrap_or_default();
                let places = variables(value).into_iter();
                places.filter_map(|name| {
                    let before = &env(*at)[..*place];
                    Some((*at, before.iter().rposition(|it| it["name"] == name)?))
                })
            })
            .collect();
        let count = picked.len();
        picked.extend(more);
        if picked.len() == count {
            break;
        }
    }
    picked
        .into_iter()
        .map(|(at, place)| env(at)[place].clone())
        .collect()
}

/// Returns the pod that admission must make of this one, built in place and without a patch. A pod that already has a gate gets the renewal of that
/// gate alone.
pub(in crate::admission) fn intended(pod: &Value) -> Value {
    let there = names(pod, "initContainers");
    if let Some(place) = there.iter().position(|it| *it == "sluice-gate") {
        return intended_renewal(pod, place);
    }
    let mut result = pod.clone();
    let place = intended_index(pod);
    let mesh = EXCLUSIONS.iter().find(|(proxy, redirector, _)| {
        let init = names(pod, "initContainers");
        let native = init.iter().position(|name| name == proxy);
        let native =
            native.filter(|at| pod["spec"]["initContainers"][*at]["restartPolicy"] == "Always");
        let redirected = !init.contains(redirector) || init[..place].contains(redirector);
        let runs = native.is_some_and(|at| at < place);
        (names(pod, "containers").contains(proxy) || native.is_some()) && redirected && !runs
    });
    if let Some((_, _, key)) = mesh {
        let ports = made(
            made(&mut result, "metadata", &json!({})),
            "annotations",
            &json!({}),
        );
        let listed = ports[key].as_str().unwrap_or_default().to_owned();
        let mut all: Vec<&str> = listed
            .split(',')
            .map(str::trim)
            .filter(|port| !port.is_empty())
            .collect();
        if !all.contains(&"9764") {
            all.push("9764");
            ports[key] = json!(all.join(","));
        }
    }
    made(&mut result["metadata"], "labels", &json!({}))[MARKER] = json!("true");
    let volumes = made(&mut result["spec"], "volumes", &json!([]))
        .as_array_mut()
        .unwrap();
    volumes.extend(volumes_of_the_gate().as_array().unwrap().clone());
    volumes.extend(image_volumes(pod, place));
    let resources = intended_resources(pod);
    let init = made(&mut result["spec"], "initContainers", &json!([]))
        .as_array_mut()
        .unwrap();
    let mut gate = json!({
        "name": "sluice-gate",
        "image": "localhost/sluice-gate:dev",
        "securityContext": {
            "runAsNonRoot": true,
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationMessagePolicy": "File",
    });
    for (key, items) in lists_of_the_gate() {
        gate[key] = items;
    }
    let env = gate["env"].as_array_mut().unwrap();
    env.extend(intended_variables(pod));
    let user = &pod["spec"]["securityContext"]["runAsUser"];
    if user.is_null() || user == 0 {
        gate["securityContext"]["runAsUser"] = json!(65532);
    }
    if let Some(resources) = resources {
        gate["resources"] = resources;
    }
    init.insert(place, gate);
    result
}

/// Returns the `qosClass` of a pod by the letter of the documentation, for amounts that have one spelling.
pub(in crate::admission) fn qos(pod: &Value) -> &'static str {
    let all: Vec<&Value> = ["containers", "initContainers"]
        .iter()
        .filter_map(|list| pod["spec"][list].as_array())
        .flatten()
        .collect();
    let empty = |value: &Value| value.as_object().is_none_or(Map::is_empty);
    let silent = |item: &&Value| {
        empty(&item["resources"]["requests"]) && empty(&item["resources"]["limits"])
    };
    let equal = |item: &&Value| {
        let (requests, limits) = (&item["resources"]["requests"], &item["resources"]["limits"]);
        ["cpu", "memory"]
            .iter()
            .all(|name| limits[name].is_string() && limits[name] == requests[name])
    };
    if all.iter().all(silent) {
        "BestEffort"
    } else if all.iter().all(equal) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// Returns the value of an amount that the tests use, in thousandths of a processor or in bytes; 0 where it is missing. Panics on any other amount.
fn thousandths(amount: &Value) -> u64 {
    const AMOUNTS: [(&str, u64); 18] = [
        ("0", 0),
        ("1m", 1),
        ("5m", 5),
        ("10m", 10),
        ("100m", 100),
        ("0.1", 100),
        ("200m", 200),
        ("400m", 400),
        ("600m", 600),
        ("1", 1_000),
        ("2", 2_000),
        ("1Mi", 1 << 20),
        ("64Mi", 64 << 20),
        ("128Mi", 128 << 20),
        ("256Mi", 256 << 20),
        ("512Mi", 512 << 20),
        ("1Gi", 1 << 30),
        ("2Gi", 2 << 30),
    ];
    let text = amount.as_str().unwrap_or("0");
    let known = AMOUNTS.iter().find(|(known, _)| *known == text);
    known.unwrap().1
}

/// Returns the resources that the gate must get: those of the container with the least, limited to cpu, memory and ephemeral-storage; `None` where
/// there are none.
fn intended_resources(pod: &Value) -> Option<Value> {
    const KEYS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
    let lists = ["containers", "initContainers"].map(|list| pod["spec"][list].as_array());
    let containers = lists.into_iter().flatten().find(|list| !list.is_empty())?;
    let amounts = |container: &Value| {
        let half = |half: &str| KEYS.map(|key| thousandths(&container["resources"][half][key]));
        (half("requests"), half("limits"))
    };
    let least = containers.iter().map(amounts).min()?;
    let smallest = containers.iter().find(|it| amounts(it) == least)?;
    let mut resources = json!({});
    for half in ["requests", "limits"] {
        for key in KEYS {
            let amount = &smallest["resources"][half][key];
            if !amount.is_null() {
                resources[half][key] = amount.clone();
            }
        }
    }
    (resources != json!({})).then_some(resources)
}

/// Returns a pod without the parts that sluice adds, and without mappings and lists that are empty then.
pub(in crate::admission) fn without_additions(pod: &Value) -> Value {
    let mut pod = pod.clone();
    for (key, ours) in [
        ("volumes", &["sluice-token", "sluice-state"][..]),
        ("initContainers", &["sluice-gate"]),
    ] {
        if let Some(items) = pod["spec"][key].as_array_mut() {
            let is_ours = |name: &str| ours.contains(&name) || name.starts_with("sluice-prefetch-");
            items.retain(|item| !is_ours(item["name"].as_str().unwrap_or_default()));
        }
    }
    for key in ["labels", "annotations"] {
        if let Some(map) = pod["metadata"][key].as_object_mut() {
            map.retain(|name, _| {
                !(key == "labels" && name == MARKER
                    || EXCLUSIONS.iter().any(|(.., own)| own == name))
            });
        }
    }
    for (parent, key) in [
        ("metadata", "labels"),
        ("metadata", "annotations"),
        ("spec", "volumes"),
        ("spec", "initContainers"),
    ] {
        let parent = pod[parent].as_object_mut().unwrap();
        let empty = |value: &Value| match value {
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            other => other.is_null(),
        };
        if parent.get(key).is_some_and(empty) {
            parent.remove(key);
        }
    }
    pod
}
