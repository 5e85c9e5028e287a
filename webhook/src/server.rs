//! The accept loop, with TLS or without. Everything that a client may do has a bound, and a leaving replica loses no
//! request.
//!
//! A client may be slow, silent, numerous or gone, and none of that holds up another client: every connection is
//! accepted, and where there are too many, the one with the least merit is cut. An answer with `Connection: close`
//! tells a client to leave. A connection is closed in a pause between requests only to make room: a client that
//! writes at that moment loses its request, and the API server does not send an admission request twice.

mod answers;
mod deadlines;
mod limits;
mod metrics;
mod questions;
mod requests;

use std::{
    hash::{BuildHasher, RandomState},
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use futures::TryFutureExt;
use rustls::ServerConfig;
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, BufReader},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::Semaphore,
    task::yield_now,
    time::{Instant, sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, debug, info, info_span, warn};

use self::answers::full;
use self::deadlines::{Deadlines, Paced, Phase, Unread};
pub use self::limits::ServerLimits;
pub(crate) use self::metrics::Turned;
pub use self::metrics::{Port, ServerMetrics};
use crate::connections::{Connection, ConnectionPlace, Connections};
use crate::memory_alarm::MemoryAlarm;
use crate::shutdown::Shutdown;

/// The connections that the kernel queues until they are accepted, which is the kernel's own default. Beyond them, a
/// client's attempt is ignored until it tries again a second later.
const BACKLOG: u32 = 4096;

/// The most connections without a place that are open at a time, each only to be told that this replica is full. Beyond them a connection is closed
/// without an answer.
const TOLD: usize = 16;

/// The time for a client to acknowledge the bytes that the kernel has sent. A client that lost its network is cut
/// after this time. An open request is sent a sign often enough that a lost client is noticed within a minute.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// The pause in accepting when the kernel has no descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The client of a connection, and the router that answers its requests.
struct Caller {
    peer: SocketAddr,
    accepted: Instant,
    /// The place of the connection; `None` where the client is only told that there is no place.
    place: Option<ConnectionPlace>,
    certified: bool,
    router: Router,
}

/// A guard that marks a request as being answered until it is dropped; then the connection is idle.
struct RequestInFlight {
    _phase: deadlines::Answering,
    place: Option<ConnectionPlace>,
}

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            place.answered();
        }
    }
}

/// The server of one listener.
#[derive(Debug, Clone)]
pub struct Server {
    /// The port of the listener, which is a metric label.
    pub port: Port,
    /// The TLS settings of the listener, or `None` for plain HTTP.
    pub tls: Option<Arc<ServerConfig>>,
    /// The bounds on the listener's connections and requests.
    pub limits: ServerLimits,
    /// The counters of the listener.
    pub metrics: ServerMetrics,
    /// Tells the server when to stop.
    pub shutdown: Shutdown,
    /// Tells the server when memory is nearly used up: then the listener has fewer places.
    pub alarm: MemoryAlarm,
}

impl Caller {
    fn new(peer: SocketAddr, place: Option<ConnectionPlace>, router: Router) -> Self {
        let accepted = Instant::now();
        Self {
            peer,
            accepted,
            place,
            certified: false,
            router,
        }
    }

    /// Marks a request as being answered, until the returned guard is dropped.
    fn answering(&self, phase: &Phase) -> RequestInFlight {
        RequestInFlight {
            _phase: phase.answering(),
            place: self.place.clone(),
        }
    }
}

impl Server {
    /// Opens the port, for both IP families where the machine has both.
    ///
    /// # Errors
    ///
    /// The port is taken, or the process may not open it.
    pub fn listen(&self, port: u16) -> io::Result<TcpListener> {
        let on = |socket: TcpSocket, address: SocketAddr| {
            socket.set_reuseaddr(true)?;
            // Accepted connections inherit these settings.
            socket.set_recv_buffer_size(self.limits.buffered)?;
            socket.set_send_buffer_size(self.limits.buffered)?;
            SockRef::from(&socket).set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
            socket.bind(address)?;
            socket.listen(BACKLOG)
        };
        let both = |socket| on(socket, (Ipv6Addr::UNSPECIFIED, port).into());
        TcpSocket::new_v6()
            .and_then(both)
            .or_else(|_| on(TcpSocket::new_v4()?, (Ipv4Addr::UNSPECIFIED, port).into()))
    }

    /// Serves until the process drains, and then until the last connection ends or the process aborts. A handler finds the client's address as
    /// `ConnectInfo<SocketAddr>`. A handler that panics costs its request an answer 500, and nothing else. A connection beyond the limits is turned
    /// away: with an answer to it, or closed where too many are being told.
    pub async fn serve(self, listener: TcpListener, router: Router) {
        let (server, tasks) = (Arc::new(self), TaskTracker::new());
        let open = Connections::new(server.limits.connections, server.alarm.clone());
        let told = Arc::new(Semaphore::new(TOLD));
        let address = listener.local_addr().map(|address| address.to_string());
        info!(
            port = server.port.label(),
            address = address.ok(),
            "Listening"
        );
        loop {
            let (stream, peer) = tokio::select! {
                biased;
                () = server.shutdown.draining() => break,
                // Cancel-safe: a connection that is not accepted here stays with the kernel.
                accepted = accept(&listener) => accepted,
            };
            let span = info_span!("conn", client.ip = %peer.ip(), client.port = peer.port());
            let server = Arc::clone(&server);
            match open.take(peer.ip()) {
                Ok(held) => {
                    let caller = Caller::new(peer, Some(held.place()), router.clone());
                    let conversation = async move { server.held(held, stream, caller).await };
                    tasks.spawn(conversation.instrument(span));
                }
                Err(lost) => {
                    span.in_scope(|| server.turn(lost.into(), &"no other connection may go"));
                    let Ok(told) = Arc::clone(&told).try_acquire_owned() else {
                        continue;
                    };
                    let caller = Caller::new(peer, None, full(lost));
                    let told = async move {
                        let _told = told;
                        tokio::select! {
                            biased;
                            // A client that sends no request within this time gets no answer.
                            () = server.shutdown.aborting() => {}
                            () = sleep(server.limits.handshake) => {}
                            () = server.connection(stream, caller) => {}
                        }
                    };
                    tasks.spawn(told.instrument(span));
                }
            }
            // Let the accepted connections run first. When a crowd costs more than there is processor, the rest waits
            // with the kernel, where it costs nothing and no time limit runs.
            yield_now().await;
        }
        drop(listener);
        tasks.close();
        tasks.wait().await;
    }

    /// Serves a connection until it ends, loses its place to another connection, or the process aborts.
    async fn held(&self, mut held: Connection, stream: TcpStream, caller: Caller) {
        tokio::select! {
            biased;
            // Both arms cancel the connection on purpose.
            () = self.shutdown.aborting() => self.metrics.turned(self.port, Turned::Aborted),
            lost = held.lost() => self.turn(lost.into(), &"another connection needs the place"),
            () = self.connection(stream, caller) => {}
        }
    }

    async fn connection(&self, stream: TcpStream, caller: Caller) {
        let _open = self.metrics.open(self.port);
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, "Failed to set nodelay");
        }
        let Some(tls) = &self.tls else {
            return self.http(stream, caller).await;
        };
        let acceptor = TlsAcceptor::from(Arc::clone(tls));
        // A buffer of one byte is no buffer: longer reads bypass it.
        let stream = BufReader::with_capacity(self.limits.ciphertext.max(1), stream);
        // Boxed, so that neither the handshake nor the session enlarges the future of a waiting connection.
        let handshake = Box::pin(acceptor.accept(stream).map_ok(Box::new));
        match timeout(self.limits.handshake, handshake).await {
            Ok(Ok(stream)) => {
                // A certificate that was shown is verified: any other ends the handshake.
                let certified = stream.get_ref().1.peer_certificates().is_some();
                let caller = Caller {
                    certified,
                    ..caller
                };
                self.http(stream, caller).await;
            }
            // A client that does not trust our certificate ends the handshake with an alert.
            Ok(Err(error)) => self.turn(Turned::Handshake, &error),
            Err(elapsed) => self.turn(Turned::Handshake, &elapsed),
        }
    }

    async fn http<S>(&self, stream: S, caller: Caller)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let phase = Phase::default();
        let pace = Deadlines {
            first: caller.accepted + self.limits.first,
            head: self.limits.header,
            answer: self.limits.answer,
        };
        let stream = Paced::new(stream, pace, phase.clone());
        let retired_at = Instant::now() + draw_age(self.limits.age);
        match self.port {
            Port::Status => self.questions(stream, &phase, &caller, retired_at).await,
            // Boxed, so that connections of the status port do not carry the size of this future.
            Port::Admission | Port::Admin => {
                Box::pin(self.requests(stream, &phase, &caller, retired_at)).await;
            }
        }
    }

    /// Counts a connection that was refused or ended badly, by its reason. Logs at debug, because any client that reaches the port could fill a
    /// log.
    fn turn(&self, why: Turned, error: &dyn std::fmt::Display) {
        self.metrics.turned(self.port, why);
        debug!(reason = why.label(), %error, "Closed");
    }
}

/// Accepts the next connection. An error of a single connection is skipped. After another error, such as too few descriptors, it pauses and tries
/// again.
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

/// Returns why a connection ended badly, by the error of its stream: the client did not read, the head of its request came too slowly, or else the
/// connection broke.
fn why(error: Option<&io::Error>) -> Turned {
    match error {
        Some(error)
            if error
                .get_ref()
                .is_some_and(<dyn std::error::Error + Send + Sync>::is::<Unread>) =>
        {
            Turned::Unread
        }
        Some(error) if error.kind() == io::ErrorKind::TimedOut => Turned::SlowHead,
        _ => Turned::Broken,
    }
}

/// Draws an age between half of `most` and all of it. The keys of a hash map are random enough to spread clients.
fn draw_age(most: Duration) -> Duration {
    let drawn = u32::try_from(RandomState::new().hash_one(()) >> 32).unwrap_or(u32::MAX);
    most.mul_f64(0.5 + f64::from(drawn) / f64::from(u32::MAX) / 2.0)
}

#[cfg(test)]
mod tests;
