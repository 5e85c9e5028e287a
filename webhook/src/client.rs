//! The connection to the API server, and how often it is used.

use axum::http::{Method, Request};
use kube::client::{Body, ClientBuilder};
use kube::{Client, Config, Error};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use tower::util::MapRequestLayer;

/// Bounded: a handful of verbs, and the resources that somebody depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Label {
    verb: &'static str,
    resource: String,
}

/// A client as the environment describes it, whose requests are counted as `api_requests`. A watch counts when it
/// begins, a list once for each page.
pub async fn connect(registry: &mut Registry) -> Result<Client, Error> {
    let requests = Family::<Label, Counter>::default();
    registry.register(
        "api_requests",
        "Requests to the API server, by verb and resource",
        requests.clone(),
    );
    let count = move |request: Request<Body>| {
        requests.get_or_create(&label(&request)).inc();
        request
    };
    let config = Config::infer().await.map_err(Error::InferConfig)?;
    let builder = ClientBuilder::try_from(config)?;
    Ok(builder.with_layer(&MapRequestLayer::new(count)).build())
}

/// What RBAC calls it. Read from the request itself: kube notes a verb on some requests, not on all.
fn label<B>(request: &Request<B>) -> Label {
    let (resource, named) = resource(request.uri().path()).unwrap_or(("discovery", true));
    let watches = || {
        request
            .uri()
            .query()
            .unwrap_or_default()
            .contains("watch=true")
    };
    let verb = match *request.method() {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ if watches() => "watch",
        _ if named => "get",
        _ => "list",
    };
    Label {
        verb,
        resource: resource.to_owned(),
    }
}

/// The plural in a path such as `/apis/apps/v1/namespaces/shop/deployments/api`, and whether it names one object.
fn resource(path: &str) -> Option<(&str, bool)> {
    let mut parts = path.trim_start_matches('/').split('/');
    let group_and_version = match parts.next()? {
        "api" => 1,
        "apis" => 2,
        _ => return None,
    };
    let parts: Vec<&str> = parts.skip(group_and_version).collect();
    match parts[..] {
        [] => None,
        ["namespaces", _, resource, ref name @ ..] | [resource, ref name @ ..] => {
            Some((resource, !name.is_empty()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_named_as_rbac_names_it() {
        for (method, path, expected) in [
            (Method::GET, "/api/v1/pods?limit=500", ("list", "pods")),
            (
                Method::GET,
                "/api/v1/pods?&watch=true&timeoutSeconds=290",
                ("watch", "pods"),
            ),
            (
                Method::GET,
                "/api/v1/namespaces?&limit=500",
                ("list", "namespaces"),
            ),
            (
                Method::GET,
                "/api/v1/namespaces/shop",
                ("get", "namespaces"),
            ),
            (
                Method::GET,
                "/api/v1/namespaces/shop/services/api?",
                ("get", "services"),
            ),
            (
                Method::PUT,
                "/api/v1/namespaces/shop/secrets/ca",
                ("update", "secrets"),
            ),
            (
                Method::GET,
                "/apis/apps/v1/deployments",
                ("list", "deployments"),
            ),
            (
                Method::POST,
                "/apis/authentication.k8s.io/v1/tokenreviews",
                ("create", "tokenreviews"),
            ),
            (
                Method::PATCH,
                "/apis/a.k8s.io/v1/namespaces/shop/widgets/x/status",
                ("patch", "widgets"),
            ),
            (Method::GET, "/apis/example.com/v1", ("get", "discovery")),
            (Method::GET, "/apis", ("get", "discovery")),
            (Method::GET, "/version", ("get", "discovery")),
        ] {
            let request = Request::builder()
                .method(method)
                .uri(path)
                .body(())
                .unwrap();
            let label = label(&request);
            assert_eq!((label.verb, label.resource.as_str()), expected, "{path}");
        }
    }
}
