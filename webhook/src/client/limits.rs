//! How long the API server may take to answer.

use axum::body::{Body as Answer, Bytes, HttpBody};
use axum::http::{Request, Response};
use futures::future::BoxFuture;
use http_body_util::BodyExt;
use kube::client::Body;
use std::task::{Context, Poll};
use std::time::Duration;
use tower::{BoxError, Layer, Service};

/// For the head of an answer, a watch's too: an API server that is slower is as good as away.
const HEAD: Duration = Duration::from_secs(10);
/// For the rest of an answer, except for a watch's: its follower knows when it must give a sign.
const REST: Duration = Duration::from_secs(20);

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
        let answer = self.0.call(request);
        Box::pin(async move {
            let (head, body) = within(HEAD, answer).await?.into_parts();
            let body = if watches {
                Answer::new(body)
            } else {
                Answer::from(within(REST, body.collect()).await?.to_bytes())
            };
            Ok(Response::from_parts(head, body))
        })
    }
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
