//! The accept loop: TLS or plain, bounded in every direction, and polite on the way out.
//!
//! A client may be slow, silent, many, or gone; none of that holds up another one. A connection is told to close with
//! `Connection: close` on an answer, never in the middle of a pause: a client that writes into a connection which is
//! just being closed loses its request, and the API server does not send an admission request twice.

mod connections;
mod head;
mod metrics;

use std::{
    convert::Infallible,
    hash::{BuildHasher, RandomState},
    io,
    net::SocketAddr,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::ConnectInfo,
    http::{HeaderValue, Request, StatusCode, header::CONNECTION},
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    time::{Instant, sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use tracing::{Instrument, debug, info, info_span, warn};

pub(crate) use self::metrics::Turned;
pub use self::metrics::{Port, ServerMetrics};
use self::{
    connections::Connections,
    head::{HeadDeadline, Phase},
};
use crate::shutdown::Shutdown;

/// The most that is read ahead of a connection, in bytes, and so the longest request head.
const READ_AHEAD: usize = 64 * 1024;

/// How long accepting pauses when the kernel has no descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What one listener puts up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// Connections at a time. More wait in the kernel's backlog.
    pub connections: usize,
    /// Connections of one client address at a time. More are closed at once.
    pub per_client: usize,
    /// From the TCP connection to the end of the TLS handshake.
    pub handshake: Duration,
    /// From the first byte of a request head to its last.
    pub header: Duration,
    /// From the end of the head to the beginning of the answer, so the reading of the body is in it.
    pub request: Duration,
    /// The longest pause between two requests.
    pub idle: Duration,
    /// The oldest that a connection gets; each draws its own age between half of it and all, so that clients spread over
    /// replicas again and leave one that is gone (kubernetes/kubernetes#127335).
    pub age: Duration,
}

impl ServerLimits {
    /// For the API server, which sends an admission request and waits a few seconds.
    pub const fn admission() -> Self {
        Self {
            connections: 1024,
            per_client: 256,
            handshake: Duration::from_secs(5),
            header: Duration::from_secs(5),
            request: Duration::from_secs(10),
            // Longer than the 90 s after which Go's client lets go of a connection by itself.
            idle: Duration::from_secs(120),
            age: Duration::from_secs(120),
        }
    }

    /// For gates: one connection each, mostly in a long poll.
    pub const fn status() -> Self {
        Self {
            connections: 8192,
            // Pods on the host's network share its address.
            per_client: 512,
            request: Duration::from_secs(90),
            idle: Duration::from_secs(60),
            ..Self::admission()
        }
    }

    /// For probes and scrapes.
    pub const fn admin() -> Self {
        Self {
            connections: 128,
            per_client: 64,
            idle: Duration::from_secs(60),
            ..Self::admission()
        }
    }
}

/// One listener's server: what it speaks and what bounds it.
#[derive(Debug, Clone)]
pub struct Server {
    /// Which of our ports this is; a metric label.
    pub port: Port,
    /// TLS, or `None` for plain HTTP.
    pub tls: Option<Arc<ServerConfig>>,
    /// The bounds.
    pub limits: ServerLimits,
    /// What is counted.
    pub metrics: ServerMetrics,
    /// When to stop.
    pub shutdown: Shutdown,
}

impl Server {
    /// Serves until the process drains, then until the last connection is done or everything is aborted. A handler finds
    /// the client's address as `ConnectInfo<SocketAddr>`; one that panics costs its request an answer 500, nothing else.
    pub async fn serve(self, listener: TcpListener, router: Router) {
        let (server, tasks) = (Arc::new(self), TaskTracker::new());
        let open = Connections::new(server.limits.connections, server.limits.per_client);
        info!(port = server.port.label(), address = ?listener.local_addr().ok(), "Listening");
        loop {
            let accepted = async {
                let permit = open.free().await;
                (permit, accept(&listener).await)
            };
            let (permit, (stream, peer)) = tokio::select! {
                biased;
                () = server.shutdown.draining() => break,
                // Cancel-safe: neither a permit nor a connection is taken before both are.
                accepted = accepted => accepted,
            };
            let span = info_span!("conn", client.ip = %peer.ip(), client.port = peer.port());
            let Some(held) = open.take(permit, peer.ip()) else {
                span.in_scope(|| debug!("Closed, the client holds too many connections"));
                server.metrics.turned(server.port, Turned::Crowded);
                continue;
            };
            let (server, router) = (Arc::clone(&server), router.clone());
            tasks.spawn(
                async move {
                    let _held = held;
                    tokio::select! {
                        biased;
                        () = server.shutdown.aborting() => server.metrics.turned(server.port, Turned::Aborted),
                        // Cancelling it is the point of aborting.
                        () = server.connection(stream, peer, router) => {}
                    }
                }
                .instrument(span),
            );
        }
        drop(listener);
        tasks.close();
        tasks.wait().await;
    }

    async fn connection(&self, stream: TcpStream, peer: SocketAddr, router: Router) {
        let _open = self.metrics.open(self.port);
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, "Failed to set nodelay");
        }
        let Some(tls) = &self.tls else {
            return self.http(stream, peer, router).await;
        };
        match timeout(
            self.limits.handshake,
            TlsAcceptor::from(Arc::clone(tls)).accept(stream),
        )
        .await
        {
            Ok(Ok(stream)) => self.http(stream, peer, router).await,
            // A client that does not trust our certificate shows here, as an alert of its.
            Ok(Err(error)) => self.turn(Turned::Handshake, &error),
            Err(elapsed) => self.turn(Turned::Handshake, &elapsed),
        }
    }

    async fn http<S>(&self, stream: S, peer: SocketAddr, router: Router)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let phase = Phase::default();
        let io = TokioIo::new(HeadDeadline::new(stream, self.limits.header, phase.clone()));
        let retired_at = Instant::now() + draw_age(self.limits.age);
        let service = service_fn(|request| {
            let answering = phase.answering();
            let answer = self.answer(request, peer, router.clone(), retired_at);
            async move {
                let response = answer.await;
                drop(answering);
                Ok::<_, Infallible>(response)
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // Hyper counts from the end of the last answer, so this is the idle limit; heads have their own.
            .header_read_timeout(self.limits.idle)
            .max_buf_size(READ_AHEAD)
            .serve_connection(io, service);
        tokio::pin!(connection);
        let mut draining = false;
        let ended = loop {
            tokio::select! {
                biased;
                () = self.shutdown.draining(), if !draining => {
                    draining = true;
                    connection.as_mut().graceful_shutdown();
                }
                // Not cancelled by the other arm: the same connection is polled again.
                ended = connection.as_mut() => break ended,
            }
        };
        match ended {
            Err(error) if error.is_timeout() => debug!("Closed after the idle limit"),
            Err(error) if is_slow_head(&error) => self.turn(Turned::SlowHead, &error),
            Err(error) => self.turn(Turned::Broken, &error),
            Ok(()) => {}
        }
    }

    /// The router's answer, or ours when it takes too long or panics.
    async fn answer(
        &self,
        mut request: Request<Incoming>,
        peer: SocketAddr,
        router: Router,
        retired_at: Instant,
    ) -> Response {
        request.extensions_mut().insert(ConnectInfo(peer));
        let handled = async move { router.oneshot(request.map(Body::new)).await };
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

    /// Counts a connection that did not end well. At debug: whoever can reach the port can fill a log.
    fn turn(&self, why: Turned, error: &dyn std::fmt::Display) {
        self.metrics.turned(self.port, why);
        debug!(reason = why.label(), %error, "Closed");
    }
}

/// The next connection. Errors of a single connection are passed over; when descriptors run out, it helps to wait for
/// connections to end.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                warn!(%error, "Failed to accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_about_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

fn is_slow_head(error: &hyper::Error) -> bool {
    let source =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::TimedOut)
}

/// An age between half of `most` and all of it. The keys of a hash map are random enough to spread clients.
fn draw_age(most: Duration) -> Duration {
    let drawn = u32::try_from(RandomState::new().hash_one(()) >> 32).unwrap_or(u32::MAX);
    most.mul_f64(0.5 + f64::from(drawn) / f64::from(u32::MAX) / 2.0)
}

#[cfg(test)]
mod tests;
