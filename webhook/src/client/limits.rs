//! How long the API server may take to answer.

use axum::body::{Body as Answer, Bytes, HttpBody};
use axum::http::{Request, Response};
use futures::future::BoxFuture;
use http_body_util::{BodyExt, LengthLimitError, Limited as Shortened};
use kube::client::Body;
use std::task::{Context, Poll};
use std::time::Duration;
use tower::{BoxError, Layer, Service};

/// For the head of an answer, a watch's too: an API server that is slower is as good as away.
const HEAD: Duration = Duration::from_secs(10);
/// For the rest of an answer, except for a watch's: its follower knows when it must give a sign.
const REST: Duration = Duration::from_secs(20);

/// So many bytes the answer to a request may have that says so, in its extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MostBytes(pub(crate) usize);

/// An answer has more bytes than its request allows; the rest of it was not read.
#[derive(Debug, thiserror::Error)]
#[error("the answer of the API server is longer than {0} bytes")]
pub(crate) struct TooLong(usize);

/// Ends every request that takes too long, whoever makes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadlines;

/// A service whose answers come in time or not at all.
#[derive(Debug, Clone)]
pub(crate) struct Limited<S>(S);

impl<S> Layer<S> for Deadlines {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Limited(inner)
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
        let most = request.extensions().get::<MostBytes>().copied();
        let answer = self.0.call(request);
        Box::pin(async move {
            let (head, body) = within(HEAD, answer).await?.into_parts();
            let body = if watches {
                Answer::new(body)
            } else {
                Answer::from(within(REST, whole(body, most)).await?)
            };
            Ok(Response::from_parts(head, body))
        })
    }
}

async fn whole<B>(body: B, most: Option<MostBytes>) -> Result<Bytes, BoxError>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let MostBytes(most) = most.unwrap_or(MostBytes(usize::MAX));
    let read = Shortened::new(body, most).collect().await;
    let whole = read.map_err(|error| match error.downcast::<LengthLimitError>() {
        Ok(_) => TooLong(most).into(),
        Err(error) => error,
    });
    Ok(whole?.to_bytes())
}

async fn within<T, E: Into<BoxError>>(
    limit: Duration,
    what: impl Future<Output = Result<T, E>>,
) -> Result<T, BoxError> {
    match tokio::time::timeout(limit, what).await {
        Ok(done) => done.map_err(Into::into),
        Err(_) => Err(format!("the API server did not answer within {} s", limit.as_secs()).into()),
    }
}
