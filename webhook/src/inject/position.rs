//! Where the gate stands among the init containers, and what a mesh has to be told. Every mesh that sluice knows is in
//! the one table of this file.

use serde_json::Value;

/// How one mesh looks from inside a pod.
struct Mesh {
    /// The proxy's container.
    proxy: &'static str,
    /// The init container that redirects traffic. A pod with a classic proxy and without this one is redirected by a CNI
    /// plugin, from its first moment on.
    redirector: &'static str,
    /// The annotation whose comma separated ports bypass the proxy; CNI plugins read it when the pod starts.
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

/// The index for the gate: after the last native-sidecar proxy, through which its traffic then goes, else first, so that
/// nothing else (a Vault lease, a migration) starts before the gate opens.
pub(super) fn index(init_containers: &[Value]) -> usize {
    let native = |container: &Value| container["restartPolicy"] == "Always" && is_proxy(container);
    init_containers
        .iter()
        .rposition(native)
        .map_or(0, |last| last + 1)
}

/// The annotation `(key, value)` by which a mesh lets the gate's ports pass, where it would swallow them and has not been
/// told yet: a classic proxy starts after every init container, and a CNI plugin has redirected to it by then.
pub(super) fn exclusion(pod: &Value, ports: &[u16]) -> Option<(&'static str, String)> {
    let has = |list: &str, name: &str| {
        containers(pod, list)
            .iter()
            .any(|container| container["name"] == name)
    };
    let mesh = MESHES
        .iter()
        .find(|mesh| has("containers", mesh.proxy) && !has("initContainers", mesh.redirector))?;
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

/// One of the pod's lists of containers.
pub(super) fn containers<'a>(pod: &'a Value, list: &str) -> &'a [Value] {
    pod["spec"][list].as_array().map_or(&[], Vec::as_slice)
}

fn is_proxy(container: &Value) -> bool {
    MESHES.iter().any(|mesh| container["name"] == mesh.proxy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn native(name: &str) -> Value {
        json!({"name": name, "restartPolicy": "Always"})
    }

    #[test]
    fn first_unless_a_native_proxy_comes_first() {
        let plain = |name: &str| json!({"name": name});
        assert_eq!(index(&[]), 0);
        assert_eq!(index(&[plain("istio-init"), plain("migrate")]), 0);
        assert_eq!(index(&[native("log-shipper"), plain("migrate")]), 0);
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
    fn only_a_classic_proxy_behind_a_cni_plugin_is_told() {
        let pod = |init: &str, app: &str, annotations: Value| {
            json!({
                "metadata": {"annotations": annotations},
                "spec": {"initContainers": [{"name": init}], "containers": [{"name": "app"}, {"name": app}]},
            })
        };
        let istio = "traffic.sidecar.istio.io/excludeOutboundPorts";
        let told = |pod: &Value| exclusion(pod, &[9764]);
        assert_eq!(told(&pod("migrate", "other", json!({}))), None);
        assert_eq!(
            told(&pod("istio-init", "istio-proxy", json!({}))),
            None,
            "not redirected yet"
        );
        let cni = pod("istio-validation", "istio-proxy", json!({}));
        assert_eq!(told(&cni), Some((istio, "9764".to_owned())));
        let listed = pod("istio-validation", "istio-proxy", json!({istio: "25, 80,"}));
        assert_eq!(told(&listed), Some((istio, "25,80,9764".to_owned())));
        let done = pod(
            "istio-validation",
            "istio-proxy",
            json!({istio: "25, 9764"}),
        );
        assert_eq!(told(&done), None);
        let linkerd = pod("linkerd-network-validator", "linkerd-proxy", json!({}));
        assert_eq!(
            told(&linkerd),
            Some(("config.linkerd.io/skip-outbound-ports", "9764".to_owned()))
        );
    }
}
