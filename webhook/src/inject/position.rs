//! Chooses the gate's place among the init containers, and the annotation that a mesh needs.
//!
//! The chart has the table of meshes again, in CEL (`charts/sluice/templates/_policy_pods.tpl`). A test compares the results of both:
//! `a_policy_makes_of_an_object_what_the_webhook_makes` in `tests/it/chart/policy.rs`.

use rules::annotation::GatePosition;
use serde_json::Value;

/// The traces by which the proxy of one service mesh is found in a pod.
struct Mesh {
    /// The name of the mesh's proxy container.
    proxy: &'static str,
    /// The init container that redirects traffic. In a pod with a classic proxy and without this container, a CNI
    /// plugin redirects traffic from the first moment on.
    redirector: &'static str,
    /// The annotation whose comma separated ports bypass the proxy. CNI plugins read it when the pod starts.
    exclude_ports: &'static str,
}

const MESHES: [Mesh; 2] = [
    Mesh {
        proxy: "istio-proxy",
        redirector: "istio-init",
        exclude_ports: "traffic.sidecar.istio.io/excludeOutboundPorts",
    },
    Mesh {
        proxy: "linkerd-proxy",
        redirector: "linkerd-init",
        exclude_ports: "config.linkerd.io/skip-outbound-ports",
    },
];

/// Returns the index for the gate among the init containers. The pod's annotation (`wanted`) decides, unless it names an init
/// container that the pod lacks. Otherwise the gate comes after the last native-sidecar proxy of a mesh, through which its
/// traffic then goes; without such a proxy it comes first, so that no other init container starts before the gate opens.
pub(super) fn index(init_containers: &[Value], wanted: Option<&GatePosition>) -> usize {
    let after_last = |fits: &dyn Fn(&Value) -> bool| {
        let last = init_containers.iter().rposition(fits);
        last.map(|last| last + 1)
    };
    let wanted = match wanted {
        Some(GatePosition::First) => Some(0),
        Some(GatePosition::Last) => Some(init_containers.len()),
        Some(GatePosition::After(name)) => after_last(&|container| container["name"] == *name),
        None => None,
    };
    let native_proxy = |container: &Value| {
        let known = MESHES.iter().any(|mesh| container["name"] == mesh.proxy);
        known && is_native(container)
    };
    wanted.unwrap_or_else(|| after_last(&native_proxy).unwrap_or(0))
}

/// Returns the annotation `(key, value)` that lets the gate's ports past a mesh, where the mesh would redirect them to a proxy that does not run.
/// The ports that are listed already stay; `None` where no mesh does that, or no port is missing. `gate` is the gate's index among the init
/// containers: containers of a lower index have run or are running.
pub(super) fn exclusion(pod: &Value, gate: usize, ports: &[u16]) -> Option<(&'static str, String)> {
    let mesh = MESHES.iter().find(|mesh| mesh.swallows(pod, gate))?;
    let listed = super::annotations(pod)
        .and_then(|annotations| annotations.get(mesh.exclude_ports)?.as_str())
        .unwrap_or_default();
    let present: Vec<&str> = listed
        .split(',')
        .map(str::trim)
        .filter(|port| !port.is_empty())
        .collect();
    let missing: Vec<String> = ports
        .iter()
        .map(u16::to_string)
        .filter(|port| !present.contains(&port.as_str()))
        .collect();
    let all: Vec<&str> = present
        .into_iter()
        .chain(missing.iter().map(String::as_str))
        .collect();
    (!missing.is_empty()).then(|| (mesh.exclude_ports, all.join(",")))
}

impl Mesh {
    /// Returns whether traffic is redirected to the proxy while the gate runs and the proxy does not. A classic proxy
    /// starts after every init container, a native one after the init containers before it. A CNI plugin redirects
    /// before any of them.
    fn swallows(&self, pod: &Value, gate: usize) -> bool {
        let init = containers(pod, "initContainers");
        let place = |name: &str| init.iter().position(|container| container["name"] == name);
        let classic = containers(pod, "containers")
            .iter()
            .any(|container| container["name"] == self.proxy);
        let native = place(self.proxy).filter(|place| is_native(&init[*place]));
        let redirected = place(self.redirector).is_none_or(|place| place < gate);
        let runs = native.is_some_and(|place| place < gate);
        (classic || native.is_some()) && redirected && !runs
    }
}

/// Returns the list in this field of the pod's spec, such as `initContainers` or `volumes`; empty where there is none.
pub(super) fn containers<'a>(pod: &'a Value, list: &str) -> &'a [Value] {
    pod["spec"][list].as_array().map_or(&[], Vec::as_slice)
}

fn is_native(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn native(name: &str) -> Value {
        json!({"name": name, "restartPolicy": "Always"})
    }

    fn plain(name: &str) -> Value {
        json!({ "name": name })
    }

    #[test]
    fn first_unless_a_native_proxy_comes_first() {
        let index = |list: &[Value]| index(list, None);
        assert_eq!(index(&[]), 0);
        assert_eq!(index(&[plain("istio-init"), plain("migrate")]), 0);
        assert_eq!(index(&[native("log-shipper"), plain("migrate")]), 0);
        assert_eq!(index(&[plain("vault-agent-init")]), 0);
        assert_eq!(
            index(&[
                plain("istio-validation"),
                native("istio-proxy"),
                plain("migrate")
            ]),
            2
        );
        assert_eq!(index(&[plain("linkerd-init"), native("linkerd-proxy")]), 2);
        assert_eq!(index(&[plain("istio-proxy")]), 0, "not a native sidecar");
    }

    #[test]
    fn the_annotation_wins() {
        let list = [native("istio-proxy"), plain("migrate"), plain("seed")];
        let after = |name: &str| GatePosition::After(name.to_owned());
        assert_eq!(index(&list, Some(&GatePosition::First)), 0);
        assert_eq!(index(&list, Some(&GatePosition::Last)), 3);
        assert_eq!(index(&list, Some(&after("migrate"))), 2);
        assert_eq!(index(&list, Some(&after("gone"))), 1, "as without it");
        assert_eq!(index(&[], Some(&GatePosition::Last)), 0);
    }

    const ISTIO: &str = "traffic.sidecar.istio.io/excludeOutboundPorts";
    const LINKERD: &str = "config.linkerd.io/skip-outbound-ports";

    /// Returns the key of the annotation that lets port 9764 past a mesh, in a pod of these containers with its gate at index `gate`.
    fn told(init: &[Value], app: &str, gate: usize) -> Option<&'static str> {
        let pod =
            json!({"spec": {"initContainers": init, "containers": [plain("app"), plain(app)]}});
        exclusion(&pod, gate, &[9764]).map(|(key, _)| key)
    }

    #[test]
    fn a_mesh_is_told_where_it_redirects_and_its_proxy_does_not_run_yet() {
        for (init, app, gate, expected) in [
            (vec![plain("migrate")], "other", 0, None),
            // Redirected by an init container: only after it has run.
            (vec![plain("istio-init")], "istio-proxy", 0, None),
            (vec![plain("istio-init")], "istio-proxy", 1, Some(ISTIO)),
            (vec![plain("linkerd-init")], "linkerd-proxy", 0, None),
            // Redirected by a CNI plugin: from the beginning.
            (
                vec![plain("istio-validation")],
                "istio-proxy",
                0,
                Some(ISTIO),
            ),
            (vec![], "linkerd-proxy", 0, Some(LINKERD)),
            // A native proxy: only before it runs.
            (
                vec![plain("istio-init"), native("istio-proxy")],
                "x",
                2,
                None,
            ),
            (
                vec![plain("istio-init"), native("istio-proxy")],
                "x",
                1,
                Some(ISTIO),
            ),
            (
                vec![plain("istio-init"), native("istio-proxy")],
                "x",
                0,
                None,
            ),
            (vec![native("linkerd-proxy")], "x", 1, None),
            (vec![native("linkerd-proxy")], "x", 0, Some(LINKERD)),
            (vec![plain("vault-agent-init")], "vault-agent", 0, None),
        ] {
            assert_eq!(told(&init, app, gate), expected, "{init:?} {app} {gate}");
        }
    }

    #[test]
    fn ports_that_are_listed_stay() {
        let told = |listed: &str| {
            let pod = json!({
                "metadata": {"annotations": {ISTIO: listed}},
                "spec": {"containers": [plain("istio-proxy")]},
            });
            exclusion(&pod, 0, &[9764]).map(|(_, ports)| ports)
        };
        assert_eq!(told(""), Some("9764".to_owned()));
        assert_eq!(told("25, 80,"), Some("25,80,9764".to_owned()));
        assert_eq!(told("25, 9764"), None);
    }
}
