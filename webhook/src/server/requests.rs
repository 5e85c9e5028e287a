//! Serves HTTP/1.1 in full, by hyper: for clients that send bodies, and for tools.

use super::deadlines::{Paced, Phase};
use super::{Caller, Server, why};
use axum::body::Body;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tracing::debug;

impl Server {
    /// Answers one request after the other until the client ends the connection, breaks a limit or pauses for too long, or the process drains.
    pub(super) async fn requests<S>(
        &self,
        stream: Paced<S>,
        phase: &Phase,
        caller: &Caller,
        retired_at: Instant,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = service_fn(|request: Request<Incoming>| {
            let answering = caller.answering(phase);
            let answer = self.answer(request.map(Body::new), caller, retired_at);
            async move {
                let response = answer.await;
                drop(answering);
                Ok::<_, Infallible>(response)
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // Hyper counts from the end of the last answer, so this is the idle limit. Heads have a deadline of their
            // own.
            .header_read_timeout(self.limits.idle)
            .max_buf_size(self.limits.read_ahead)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let mut draining = false;
        let ended = loop {
            tokio::select! {
                biased;
                () = self.shutdown.draining(), if !draining => {
                    draining = true;
                    connection.as_mut().graceful_shutdown();
                }
                // The other arm does not cancel this one: the same connection is polled again.
                ended = connection.as_mut() => break ended,
            }
        };
        match ended {
            Err(error) if error.is_timeout() => debug!("Closed after the idle limit"),
            Err(error) => {
                let source = std::error::Error::source(&error);
                self.turn(why(source.and_then(|it| it.downcast_ref())), &error);
            }
            Ok(()) => {}
        }
    }
}
