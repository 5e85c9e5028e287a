//! The response to a question that is held: a sign now and then, so that whoever waits, and whatever lies between, sees that it is
//! not forgotten, and a gate that has gone is noticed.

use super::identity::Unidentified;
use super::request::Told;
use super::{Service, refused};
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures::stream::{self, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use tokio::time::timeout_at;
use wire::SIGN;

/// A question, until there is something to tell.
pub(super) type Held = Pin<Box<dyn Future<Output = Result<Told, Unidentified>> + Send>>;

/// What a JSON text may begin with.
const BLANK: Bytes = Bytes::from_static(b" ");

/// The whole response, where there soon is something to tell; else its head, and the rest bit by bit.
pub(super) async fn until_told(service: Arc<Service>, mut held: Held) -> Response {
    match timeout_at(service.beat.within(SIGN), &mut held).await {
        Ok(Ok(told)) => told.into_response(),
        Ok(Err(refusal)) => refused(&service, &refusal),
        Err(_elapsed) => {
            ([(CONTENT_TYPE, "application/json")], signed(service, held)).into_response()
        }
    }
}

/// Signs, then what is told. A refusal breaks it off: the gate asks again, and is refused by the status code.
fn signed(service: Arc<Service>, held: Held) -> Body {
    let rest = stream::unfold(Some((service, held)), |state| async {
        let (service, mut held) = state?;
        let due = service.beat.within(SIGN);
        Some(match timeout_at(due, &mut held).await {
            Err(_elapsed) => (Ok(BLANK), Some((service, held))),
            Ok(Ok(told)) => {
                let json = serde_json::to_vec(&told.answer);
                (json.map(Bytes::from).map_err(axum::Error::new), None)
            }
            Ok(Err(refusal)) => {
                drop(refused(&service, &refusal));
                (Err(axum::Error::new(refusal)), None)
            }
        })
    });
    Body::from_stream(stream::once(async { Ok(BLANK) }).chain(rest))
}
