//! Bounds the time of the API server's answers, and the bytes of them that are held.
//!
//! Tenants choose the length of their objects. So every answer has a bound, only a few long answers of all kinds are
//! held at a time, and no line of a watch is longer than one object may be.

use super::lines::{FREE, WatchLines};
use super::sieve::Sieve;
use axum::body::{Body as Answer, Bytes, HttpBody};
use axum::http::{Request, Response};
use futures::future::BoxFuture;
use http_body_util::BodyExt;
use kube::client::Body;
use rules::kept::LONGEST;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use tower::{BoxError, Layer, Service};

/// The time for the head of an answer, also of a watch: a slower API server counts as away.
const HEAD: Duration = Duration::from_secs(10);
/// The time for the rest of an answer. A watch has no such limit: its follower knows when an event is due.
const REST: Duration = Duration::from_secs(20);
/// The number of long texts that are held at a time. Each has [`LONGEST`] bytes at most, and takes twice that for a
/// moment while it grows.
const LONG: usize = 4;

/// The bound on the answer to a request, which the caller puts into the request's extensions. A request without one gets [`LONGEST`] bytes at
/// most, and needs no permit. A watch has no such bound.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    /// The most bytes of the API server's answer.
    pub(crate) most: usize,
    /// The treatment of an answer that is longer than `most`.
    pub(crate) beyond: Beyond,
    /// The permit of an answer longer than 256 KiB, set while the answer arrives. The reader keeps it until the answer has been used.
    pub(crate) room: Arc<OnceLock<OwnedSemaphorePermit>>,
}

/// The treatment of an answer that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// The rest of the answer is not read, and the request fails with [`TooLong`].
    Refused,
    /// The answer is sieved: only the metadata of its objects is kept, with the mark of [`rules::kept::is_too_large`].
    Sieved,
}

/// An answer has more than this number of bytes, which its request allows; the rest of it was not read.
#[derive(Debug, thiserror::Error)]
#[error("the answer of the API server is longer than {0} bytes")]
pub(crate) struct TooLong(usize);

/// A layer of the client that ends every request whose answer takes too long, and bounds the bytes of every answer. Clones share the permits for
/// long answers.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    room: Arc<Semaphore>,
}

impl Default for Limits {
    fn default() -> Self {
        let room = Arc::new(Semaphore::new(LONG));
        Self { room }
    }
}

/// A service whose answers come in time and within their bounds, or fail.
#[derive(Debug, Clone)]
pub(crate) struct Limited<S>(S, Arc<Semaphore>);

impl<S> Layer<S> for Limits {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Limited(inner, Arc::clone(&self.room))
    }
}

impl<S, B> Service<Request<Body>> for Limited<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Answer>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Answer>, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let watches = super::watches(&request);
        let bound = request.extensions().get::<Bound>().cloned();
        let room = Arc::clone(&self.1);
        let answer = self.0.call(request);
        Box::pin(async move {
            let head = tokio::time::timeout(HEAD, answer).await;
            let answer = head.map_err(|_| too_slow(HEAD))?.map_err(Into::into)?;
            let (head, body) = answer.into_parts();
            let body = if watches {
                Answer::from_stream(WatchLines::of(body, room).stream())
            } else {
                Answer::from(whole(body, bound, room).await?)
            };
            Ok(Response::from_parts(head, body))
        })
    }
}

/// Reads the whole body of an answer. A body longer than its bound is sieved or refused with [`TooLong`], as the bound says, and refused where
/// there is no bound. A bound body beyond [`FREE`] waits for a permit of `room`. Fails where the body takes longer than [`REST`].
async fn whole<B>(body: B, bound: Option<Bound>, room: Arc<Semaphore>) -> Result<Bytes, BoxError>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let most = bound.as_ref().map_or(LONGEST, |bound| bound.most);
    let mut body = pin!(body);
    let (mut text, mut sieve) = (Vec::new(), None::<Sieve>);
    let mut latest = Instant::now() + REST;
    loop {
        let frame = timeout_at(latest, body.frame()).await;
        let Some(frame) = frame.map_err(|_| too_slow(REST))? else {
            return Ok(sieve.map_or(text, Sieve::finish).into());
        };
        let Ok(part) = frame.map_err(Into::into)?.into_data() else {
            continue;
        };
        let long = text.len() + part.len();
        match (&mut sieve, &bound) {
            (Some(sieve), _) => sieve.feed(&part),
            (None, _) if long <= most => {
                if let Some(bound) = &bound
                    && long > FREE
                    && bound.room.get().is_none()
                {
                    let waits = Instant::now();
                    let held = Arc::clone(&room).acquire_owned().await?;
                    // The wait for a permit does not count against the API server.
                    latest += waits.elapsed();
                    let _ = bound.room.set(held);
                }
                text.extend_from_slice(&part);
            }
            (None, Some(bound)) if bound.beyond == Beyond::Sieved => {
                let mut begun = Sieve::default();
                begun.feed(&std::mem::take(&mut text));
                begun.feed(&part);
                sieve = Some(begun);
            }
            (None, _) => return Err(TooLong(most).into()),
        }
    }
}

fn too_slow(limit: Duration) -> BoxError {
    format!("the API server did not answer within {} s", limit.as_secs()).into()
}

#[cfg(test)]
mod tests;
