//! The answers of the accept loop itself: when a handler takes too long or panics, and when there is no place.

use super::{Caller, Server, Turned};
use crate::connections::{Certified, Lost};
use axum::{
    Router,
    body::Body,
    extract::ConnectInfo,
    http::{
        HeaderValue, Request, StatusCode,
        header::{CONNECTION, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use tokio::time::{Instant, timeout};
use tower::ServiceExt;

impl Server {
    /// Returns the router's answer, 503 where the router takes too long, or 500 where it panics. The answer closes the connection while the process
    /// is leaving, and from `retired_at` on.
    pub(super) async fn answer(
        &self,
        mut request: Request<Body>,
        caller: &Caller,
        retired_at: Instant,
    ) -> Response {
        let (place, router) = (caller.place.as_ref(), caller.router.clone());
        let extensions = request.extensions_mut();
        extensions.insert(ConnectInfo(caller.peer));
        place.map(|place| extensions.insert(place.clone()));
        caller.certified.then(|| extensions.insert(Certified));
        let handled = async move { router.oneshot(request).await };
        let mut response = match timeout(
            self.limits.request,
            AssertUnwindSafe(handled).catch_unwind(),
        )
        .await
        {
            Ok(Ok(Ok(response))) => response,
            Ok(Err(_panic)) => {
                self.metrics.panicked(self.port);
                (
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "the request hit a bug in sluice; its log has the details\n",
                )
                    .into_response()
            }
            Err(_elapsed) => {
                self.turn(Turned::SlowRequest, &"the request took too long");
                let text = format!("the request took longer than {:?}\n", self.limits.request);
                (
                    StatusCode::SERVICE_UNAVAILABLE,
                    [(CONNECTION, "close")],
                    text,
                )
                    .into_response()
            }
        };
        if self.shutdown.is_leaving() || Instant::now() >= retired_at {
            response
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// Returns a router that answers every request with 503, `Retry-After: 1` and the reason why the connection got no place.
pub(super) fn full(lost: Lost) -> Router {
    let text = match lost {
        Lost::Crowded => "this address holds too many connections; try again\n",
        Lost::Outranked | Lost::Full => {
            "this replica answers as many requests as it can; try again\n"
        }
    };
    let headers = [(CONNECTION, "close"), (RETRY_AFTER, "1")];
    Router::new().fallback(async move || (StatusCode::SERVICE_UNAVAILABLE, headers, text))
}
