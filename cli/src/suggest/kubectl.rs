//! Reads waits for objects, from commands of `kubectl`, from images that run `kubectl`, and from addresses of the API server.

use super::reason::Reason;
use super::shell::Call;
use super::wait::{For, NamedObject};

/// Reads the waits of `kubectl`, `oc` or `k8s-wait-for`; empty for a command of these that waits for nothing, and `None` for any other command.
pub(super) fn of(call: &Call, looks: bool, image: &str) -> Option<Vec<For>> {
    let program = call.program();
    let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
    if matches!(program, "kubectl" | "oc") {
        return Some(of_kubectl(&words[1..], looks, call.is_read));
    }
    if let ["kubectl", rest @ ..] = &words[1..]
        && matches!(program, "k3s" | "microk8s")
    {
        return Some(of_kubectl(rest, looks, call.is_read));
    }
    // A container may have only the arguments of `kubectl`, where its image runs the program.
    let is_kubectl = image.contains("kubectl") || image.contains("origin-cli");
    if program == "wait" && (is_kubectl || words.iter().any(|it| it.starts_with("--for"))) {
        return Some(of_kubectl(&words, looks, call.is_read));
    }
    if is_kubectl && matches!(program, "get" | "rollout") {
        return Some(of_kubectl(&words, looks, call.is_read));
    }
    let is_script = matches!(program, "wait_for.sh" | "wait-for-k8s" | "wait_for");
    let arguments = if is_script { &words[1..] } else { &words[..] };
    of_waiter(arguments)
}

/// The waits of `k8s-wait-for`, by its arguments: `job NAME`, `pod-wr -lSELECTOR`, `service NAME`. Its image may have any name. `None` for other
/// arguments.
fn of_waiter(arguments: &[&str]) -> Option<Vec<For>> {
    let (kind, rest) = arguments.split_first()?;
    let kind = match *kind {
        "job" | "job-wr" | "job-we" => "job",
        "pod" | "pod-wr" | "pod-we" => "pod",
        "service" => "service",
        _ => return None,
    };
    let namespace = value(arguments, &["-n", "--namespace"]);
    let selector = value(rest, &["-l", "--selector"]);
    if let Some(selector) = selector {
        return Some(vec![selected(kind, selector, namespace)]);
    }
    let name = rest.first().filter(|it| !it.starts_with('-'))?;
    Some(vec![object(kind, name, namespace, None)])
}

/// The waits of a `kubectl` command; empty for one that does not wait. A wait for a deletion, or for something inside of a pod, becomes one that
/// no list can say. `looks`: the command stands where a wait is likely, so that `get` counts too. `is_read`: another command reads its output.
fn of_kubectl(arguments: &[&str], looks: bool, is_read: bool) -> Vec<For> {
    let namespace = value(arguments, &["-n", "--namespace"]);
    let plain = plain(arguments);
    let selector = value(arguments, &["-l", "--selector"]);
    let condition = value(arguments, &["--for"]).unwrap_or_default();
    match plain.as_slice() {
        ["wait", rest @ ..] if condition != "delete" => {
            let state = state_of(&condition);
            named(rest, selector, namespace, state)
        }
        ["wait", ..] => vec![For::Nothing(Reason::Deleted)],
        ["rollout", "status", rest @ ..] => named(rest, selector, namespace, None),
        ["get" | "describe", rest @ ..] if looks => {
            let asked = arguments.join(" ").to_lowercase();
            let is_read = is_read || is_formatted(arguments);
            named(
                rest,
                selector,
                namespace,
                state_asked(rest.first(), &asked, is_read),
            )
        }
        ["exec" | "logs", ..] if looks => vec![For::Nothing(Reason::Inside)],
        _ => Vec::new(),
    }
}

/// The state of an entry that means the same as a condition of `kubectl wait`; `None` where the usual state of the kind does.
fn state_of(condition: &str) -> Option<&'static str> {
    let condition = condition.to_lowercase();
    let named = condition.strip_prefix("condition=").unwrap_or(&condition);
    if named == "create" {
        return Some("present");
    }
    (named.starts_with("available")).then_some("available")
}

/// The state of the entry for a look at an object; `None` for the usual state of the kind. A look at a Service asks for its load balancer,
/// or only whether the Service exists. Any other look whose output no command reads asks only whether the object exists, too, except that a
/// CustomResourceDefinition is of use only once it is ready.
fn state_asked(kind: Option<&&str>, asked: &str, is_read: bool) -> Option<&'static str> {
    let kind = kind.and_then(|it| it.split('/').next()).unwrap_or_default();
    let is_service = matches!(kind, "svc" | "service" | "services");
    if is_service && (asked.contains("loadbalancer") || asked.contains("ingress")) {
        return Some("addressed");
    }
    let is_definition = kind.starts_with("crd") || kind.starts_with("customresourcedefinition");
    (is_service || !is_read && !is_definition).then_some("present")
}

/// Whether an option formats the output of `kubectl get`, so that another command can read it.
fn is_formatted(arguments: &[&str]) -> bool {
    arguments.iter().any(|it| {
        it.starts_with("-o") || it.starts_with("--output") || it.starts_with("--template")
    })
}

/// The waits for the objects that words name: `KIND NAME ...`, `KIND/NAME ...`, or a kind and a selector. Without a name and a selector, a wait
/// that no list can say.
fn named(
    words: &[&str],
    selector: Option<String>,
    namespace: Option<String>,
    state: Option<&'static str>,
) -> Vec<For> {
    let Some((first, rest)) = words.split_first() else {
        return vec![For::Nothing(Reason::NoObject)];
    };
    if let Some(selector) = selector {
        return vec![selected(first, selector, namespace)];
    }
    if first.contains('/') {
        let split = words.iter().filter_map(|it| it.split_once('/'));
        return split
            .map(|(kind, name)| object(kind, name, namespace.clone(), state))
            .collect();
    }
    if rest.is_empty() {
        return vec![For::Nothing(Reason::NoObject)];
    }
    let each = rest.iter();
    each.map(|name| object(first, name, namespace.clone(), state))
        .collect()
}

fn object(kind: &str, name: &str, namespace: Option<String>, state: Option<&'static str>) -> For {
    let kind = kind.to_lowercase();
    if matches!(kind.as_str(), "secret" | "secrets") {
        return For::Nothing(Reason::Secret(name.to_owned()));
    }
    // An endpoint slice has a generated name, so the entry names its Service.
    let (kind, state) = match kind.as_str() {
        "endpoints" | "ep" | "endpoint" | "endpointslice" | "endpointslices" => {
            ("service".to_owned(), None)
        }
        _ => (kind, state),
    };
    let state = state.filter(|it| *it != "available" || kind.starts_with("deploy"));
    For::Object(NamedObject {
        kind,
        name: name.to_owned(),
        namespace,
        state,
        same_node: false,
    })
}

fn selected(kind: &str, selector: String, namespace: Option<String>) -> For {
    let kind = kind.to_owned();
    For::Selected {
        kind,
        selector,
        namespace,
        same_node: false,
    }
}

/// The wait for the object that a URL of the API server names; `None` for another URL. A Service or a Secret, and a URL that names no object in a
/// namespace, become waits that no list can say.
pub(super) fn of_url(url: &str) -> Option<For> {
    let is_api = [
        "//kubernetes.default",
        "KUBERNETES_SERVICE_HOST",
        "//kubernetes/",
    ]
    .iter()
    .any(|it| url.contains(it));
    if !is_api {
        return None;
    }
    let (_, path) = url.split_once("/namespaces/").unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').collect();
    Some(match parts.as_slice() {
        [_, "services", name, ..] => For::Nothing(Reason::OfService((*name).to_owned())),
        [namespace, kind, name, ..] => object(kind, name, Some((*namespace).to_owned()), None),
        [namespace, "pods"] if url.contains("labelSelector=") => {
            let selector = url.split("labelSelector=").nth(1).unwrap_or_default();
            let selector = selector.split('&').next().unwrap_or_default();
            let selector = selector.replace("%3D", "=").replace("%2C", ",");
            selected("pod", selector, Some((*namespace).to_owned()))
        }
        _ => For::Nothing(Reason::NoObject),
    })
}

/// The arguments of `kubectl` that are neither options nor values of options.
fn plain<'w>(arguments: &[&'w str]) -> Vec<&'w str> {
    const ALONE: [&str; 9] = [
        "--all",
        "-A",
        "--all-namespaces",
        "-w",
        "--watch",
        "--no-headers",
        "--ignore-not-found",
        "--show-labels",
        "--quiet",
    ];
    let mut found = Vec::new();
    let mut of_option = false;
    for argument in arguments {
        let is_option = argument.starts_with('-');
        if !is_option
            && !of_option
            && !argument.starts_with(['>', '<'])
            && !argument.starts_with("2>")
            && !argument.is_empty()
        {
            found.push(*argument);
        }
        of_option = is_option
            && !argument.contains('=')
            && !ALONE.contains(argument)
            && (argument.starts_with("--") || argument.len() == 2);
    }
    found
}

fn value(arguments: &[&str], names: &[&str]) -> Option<String> {
    arguments.iter().enumerate().find_map(|(at, argument)| {
        names.iter().find_map(|name| {
            if argument == name {
                return arguments.get(at + 1).map(|it| (*it).to_owned());
            }
            let behind = argument.strip_prefix(name)?;
            let short = name.len() == 2 && !argument.starts_with("--");
            let behind = behind
                .strip_prefix('=')
                .or_else(|| short.then_some(behind))?;
            (!behind.is_empty()).then(|| behind.to_owned())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::shell::Looped;
    use super::*;

    fn found(line: &str, image: &str) -> String {
        let words = line.split(' ').map(str::to_owned).collect();
        let call = Call {
            words,
            looped: Looped::MayEnd,
            ..Call::default()
        };
        let told = of(&call, true, image)
            .unwrap_or_default()
            .into_iter()
            .map(|it| match it {
                For::Object(it) => {
                    let namespace = it.namespace.map_or(String::new(), |it| format!("{it}/"));
                    format!(
                        "{namespace}{}/{}{}",
                        it.kind,
                        it.name,
                        it.state.map_or(String::new(), |it| format!(":{it}"))
                    )
                }
                For::Selected { kind, selector, .. } => format!("{kind}[{selector}]"),
                other => format!("{other:?}"),
            });
        told.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_form_of_kubectl_is_read() {
        for (line, expected) in [
            (
                "kubectl wait --for=condition=complete job/migrate --timeout=60s",
                "job/migrate",
            ),
            (
                "k3s kubectl wait --for=condition=complete job/migrate",
                "job/migrate",
            ),
            (
                "kubectl wait --for condition=available deploy/api -n shop",
                "shop/deploy/api:available",
            ),
            (
                "kubectl -n shop rollout status statefulset/db",
                "shop/statefulset/db",
            ),
            (
                "kubectl get job migrate -o jsonpath={.status.succeeded}",
                "job/migrate",
            ),
            ("oc get pods -l app=db --no-headers", "pods[app=db]"),
            ("kubectl get endpoints db -o json", "service/db"),
            (
                "kubectl get svc front -o jsonpath={.status.loadBalancer.ingress}",
                "svc/front:addressed",
            ),
            ("kubectl get crd a.example.com", "crd/a.example.com"),
            ("kubectl get job migrate", "job/migrate:present"),
            (
                "kubectl wait --for=create job/migrate",
                "job/migrate:present",
            ),
            (
                "wait job.batch/keycloak-init --for condition=complete",
                "job.batch/keycloak-init",
            ),
            ("job-wr migrate", "job/migrate"),
            ("pod -lapp=db", "pod[app=db]"),
            ("service db", "service/db"),
            ("kubectl get pods", "Nothing(NoObject)"),
            ("kubectl apply -f x", ""),
        ] {
            assert_eq!(found(line, "any"), expected, "{line}");
        }
        assert_eq!(
            found("get job migrate", "bitnami/kubectl:1.30"),
            "job/migrate:present"
        );
    }

    #[test]
    fn an_address_of_the_api_server_names_an_object() {
        let url = "https://kubernetes.default.svc/api/v1/namespaces/shop/endpoints/kafka";
        let Some(For::Object(named)) = of_url(url) else {
            panic!("no object")
        };
        assert_eq!(
            (named.kind.as_str(), named.name.as_str()),
            ("service", "kafka")
        );
        let url = "https://kubernetes/api/v1/namespaces/shop/services/front";
        let asked = Reason::OfService("front".to_owned());
        assert_eq!(of_url(url), Some(For::Nothing(asked)));
        assert_eq!(of_url("http://db:1"), None);
    }
}
