//! The connection to the API server: its time limits, the bounds on its answers, and the count of its requests.

mod limits;
mod lines;
mod sieve;

pub(crate) use limits::{Beyond, Bound, Limits, TooLong};

use crate::clock::Clock;
use axum::http::{Method, Request, Response};
use futures::FutureExt;
use futures::future::BoxFuture;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ClientBuilder, ConfigExt};
use kube::{Client, Config, Error};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use std::time::Duration;
use tower::util::{MapFutureLayer, MapRequestLayer, option_layer};
use tower::{BoxError, ServiceExt};

/// The time for an address of the API server to accept a connection. The kernel repeats a lost packet after one
/// second, and then after twice that: our next attempt comes before the kernel's third.
const CONNECT: Duration = Duration::from_secs(3);
/// The silence on a connection to the API server after which the connection is probed.
const PROBE_AFTER: Duration = Duration::from_secs(10);
/// The time between two probes of a silent connection to the API server.
const PROBE_EVERY: Duration = Duration::from_secs(3);
/// The time without an acknowledgement, of a probe or of data, after which a connection is dead.
const DEAD_AFTER: Duration = Duration::from_secs(20);

/// The labels of a request in the metric `api_requests`. They are bounded: a handful of verbs, and the resources that gates depend on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabel {
    verb: &'static str,
    resource: String,
}

/// Returns a client for the cluster that the environment describes, and counts its requests as `api_requests`. A watch counts when it begins, a
/// list once for each page. A configuration with a proxy is an error.
pub(crate) async fn connect(registry: &mut Registry, clock: Clock) -> Result<Client, Error> {
    let requests = Family::<RequestLabel, Counter>::default();
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
    if let Some(proxy_url) = config.proxy_url {
        let proxy_url = Box::new(proxy_url);
        return Err(Error::ProxyProtocolUnsupported { proxy_url });
    }
    // Build kube's stack by hand: kube's connector would wait for a dead peer for a quarter of an hour, the followers decide on retries themselves,
    // and a log line for every failure is too much.
    let connector = config.rustls_https_connector_with_connector(connector())?;
    let http = legacy::Client::builder(TokioExecutor::new()).build::<_, Body>(connector);
    let builder = ClientBuilder::new(http.map_err(BoxError::from), &config.default_namespace)
        .with_layer(&config.extra_headers_layer()?)
        .with_layer(&option_layer(config.auth_layer()?))
        .with_layer(&config.base_uri_layer())
        .with_layer(&MapRequestLayer::new(count))
        .with_layer(&dated(clock))
        .with_layer(&Limits::default());
    Ok(builder.build())
}

/// Returns a layer that passes the `Date` of each answer to the clock, with the time at which the request was sent.
pub(crate) fn dated<F, B, E>(
    clock: Clock,
) -> MapFutureLayer<impl Fn(F) -> BoxFuture<'static, Result<Response<B>, E>> + Clone>
where
    F: Future<Output = Result<Response<B>, E>> + Send + 'static,
{
    MapFutureLayer::new(move |answer: F| {
        let (clock, sent) = (clock.clone(), clock.local());
        async move {
            let answer = answer.await?;
            clock.answered(sent, answer.headers());
            Ok(answer)
        }
        .boxed()
    })
}

/// Returns a connector for TCP connections that give up an address after [`CONNECT`], and notice a dead peer within [`DEAD_AFTER`].
fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT));
    connector.set_keepalive(Some(PROBE_AFTER));
    connector.set_keepalive_interval(Some(PROBE_EVERY));
    connector.set_tcp_user_timeout(Some(DEAD_AFTER));
    connector
}

/// Returns the verb and the resource of a request, as RBAC names them; the resource is `discovery` where the path has none. Both are read from the
/// request itself, because kube notes a verb on some requests only.
fn label<B>(request: &Request<B>) -> RequestLabel {
    let (resource, named) = resource(request.uri().path()).unwrap_or(("discovery", true));
    let verb = match *request.method() {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ if watches(request) => "watch",
        _ if named => "get",
        _ => "list",
    };
    RequestLabel {
        verb,
        resource: resource.to_owned(),
    }
}

fn watches<B>(request: &Request<B>) -> bool {
    let query = request.uri().query();
    query.unwrap_or_default().contains("watch=true")
}

/// Returns the plural in a path such as `/apis/apps/v1/namespaces/shop/deployments/api`, and whether the path names one object. `None` for a path
/// without a resource.
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
