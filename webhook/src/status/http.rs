//! The HTTP boundary of the status service: the route, the refusals by a status code, and the signs of a request that stays open.

use super::gate_report::GateReport;
use super::long_poll::{Ask, GateReply, until_news};
use super::remembered_tokens::Identity;
use super::service::Service;
use super::unidentified::Unidentified;
use crate::connections;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Query, State};
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures::stream::{self, StreamExt};
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use tokio::time::timeout_at;
use wire::SIGN;

/// The future answer to a request that stays open until there is news for its gate, or until it has to end.
type OpenRequest = Pin<Box<dyn Future<Output = Result<GateReply, Unidentified>> + Send>>;

/// The sign of life on a held request: a blank, because JSON text may begin with blanks.
const BLANK: Bytes = Bytes::from_static(b" ");

/// Returns the router of the status service, with its one route: the question of a gate.
pub(crate) fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route(wire::PATH, get(verdict))
        .with_state(service)
}

async fn verdict(
    State(service): State<Arc<Service>>,
    Query(mut ask): Query<Ask>,
    extensions: Extensions,
    headers: HeaderMap,
) -> Response {
    // Boxed, so that the room of this future is given back before the wait.
    let identity = Box::pin(identify(&service, &extensions, &headers)).await;
    let identity = match identity {
        Ok(identity) => identity,
        Err(refusal) => return reject(&service, &refusal),
    };
    let Some(entry) = service.requests.begin(&identity.pod) else {
        return reject(&service, &Unidentified::Asking);
    };
    connections::valid(&extensions);
    ask.report = GateReport::of(&headers, service.clock.now());
    // The open request keeps nothing of these: the token alone is a kilobyte.
    drop((headers, extensions));
    let open = until_news(Arc::clone(&service), identity, ask, entry);
    respond(service, Box::pin(open)).await
}

async fn identify(
    service: &Service,
    extensions: &Extensions,
    headers: &HeaderMap,
) -> Result<Identity, Unidentified> {
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let claimed = service.authenticator.claimed(bearer).await?;
    connections::claims(extensions);
    let address = address(extensions);
    service.authenticator.identify(claimed, address).await
}

/// The network address of the client of a request, an IPv4 address in IPv6 form as IPv4; the unspecified address where there is no connection, as in
/// a test.
fn address(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(peer)| {
        peer.ip().to_canonical()
    })
}

/// Responds to an open request: at once, if its answer comes before the first sign is due; else by the head of the response, signs of life, and the
/// answer at the end.
///
/// The signs show the gate, and every proxy in between, that the request is still open. They also show the replica that a gate has gone.
async fn respond(service: Arc<Service>, mut open: OpenRequest) -> Response {
    match timeout_at(service.beat.within(SIGN), &mut open).await {
        Ok(Ok(reply)) => respond_at_once(reply),
        Ok(Err(refusal)) => reject(&service, &refusal),
        Err(_elapsed) => {
            let json = [(header::CONTENT_TYPE, "application/json")];
            (json, signs(service, open)).into_response()
        }
    }
}

fn respond_at_once(GateReply { answer, elsewhere }: GateReply) -> Response {
    let close = elsewhere.then_some([(header::CONNECTION, "close")]);
    (close, Json(answer)).into_response()
}

/// The body of a held response: signs of life, then the answer. A refusal breaks the body off: the gate asks again, and the next response
/// refuses it by a status code.
fn signs(service: Arc<Service>, open: OpenRequest) -> Body {
    let rest = stream::unfold(Some((service, open)), |state| async {
        let (service, mut open) = state?;
        let due = service.beat.within(SIGN);
        Some(match timeout_at(due, &mut open).await {
            Err(_elapsed) => (Ok(BLANK), Some((service, open))),
            Ok(Ok(reply)) => {
                let json = serde_json::to_vec(&reply.answer);
                (json.map(Bytes::from).map_err(axum::Error::new), None)
            }
            Ok(Err(refusal)) => {
                service.tell.rejected(&refusal);
                (Err(axum::Error::new(refusal)), None)
            }
        })
    });
    Body::from_stream(stream::once(async { Ok(BLANK) }).chain(rest))
}

/// Returns the response to a client that is not identified as a gated pod: a status code and the reason as JSON, with `Retry-After: 5` beside the
/// code 429. The reason is counted and logged too.
fn reject(service: &Service, refusal: &Unidentified) -> Response {
    use Unidentified as U;
    service.tell.rejected(refusal);
    let code = match refusal {
        U::NoToken | U::NotAToken | U::OutOfDate | U::NotAccepted => StatusCode::UNAUTHORIZED,
        U::NotAPod | U::NoPod | U::AnotherPod => StatusCode::FORBIDDEN,
        U::TooMany | U::NoTurn | U::Asking => StatusCode::TOO_MANY_REQUESTS,
        U::Unreachable => StatusCode::SERVICE_UNAVAILABLE,
    };
    let retry = (code == StatusCode::TOO_MANY_REQUESTS).then_some([(header::RETRY_AFTER, "5")]);
    (code, retry, Json(json!({"error": refusal.to_string()}))).into_response()
}
