//! The accept loop: TLS or plain, bounded in every direction, and polite on the way out.
//!
//! A client may be slow, silent, many, or gone; none of that holds up another one: everybody is accepted, and where that
//! is too many the one that has proven the least goes. A connection is told to close with `Connection: close` on an answer,
//! and in the middle of a pause only to make room: a client that writes into a connection which is just being closed loses
//! its request, and the API server does not send an admission request twice.

mod answers;
mod limits;
mod metrics;
mod pace;
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
pub use self::limits::ServerLimits;
pub(crate) use self::metrics::Turned;
pub use self::metrics::{Port, ServerMetrics};
use self::pace::{Pace, Paced, Phase, Unread};
use crate::connections::{Connection, Connections, Place};
use crate::shutdown::Shutdown;

/// How many connections the kernel keeps until we accept them: as many as it does unless told otherwise. One more is not heard
/// until it tries again a second later.
const BACKLOG: u32 = 4096;

/// So many more connections are open at a time, to be told that this replica is full.
const TOLD: usize = 16;

/// How long a client may take to acknowledge what the kernel has sent: one whose packets are lost is gone after it, and one that
/// holds a request is sent a sign often enough to be noticed within a minute.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// How long accepting pauses when the kernel has no descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Whose connection it is, and what its requests are answered by.
struct Caller {
    peer: SocketAddr,
    accepted: Instant,
    /// None where nothing but a refusal is told.
    place: Option<Place>,
    certified: bool,
    router: Router,
}

/// A request is being answered until this is dropped.
struct Answering {
    _phase: pace::Answering,
    place: Option<Place>,
}

impl Drop for Answering {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            place.answered();
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

impl Caller {
    fn new(peer: SocketAddr, place: Option<Place>, router: Router) -> Self {
        let accepted = Instant::now();
        Self {
            peer,
            accepted,
            place,
            certified: false,
            router,
        }
    }

    /// A request of it is being answered until what this returns is dropped.
    fn answering(&self, phase: &Phase) -> Answering {
        Answering {
            _phase: phase.answering(),
            place: self.place.clone(),
        }
    }
}

impl Server {
    /// Opens its port, for both families where the machine has both.
    ///
    /// # Errors
    ///
    /// The port is taken, or not ours.
    pub fn listen(&self, port: u16) -> io::Result<TcpListener> {
        let on = |socket: TcpSocket, address: SocketAddr| {
            socket.set_reuseaddr(true)?;
            // What is accepted inherits all of it.
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

    /// Serves until the process drains, then until the last connection is done or everything is aborted. A handler finds
    /// the client's address as `ConnectInfo<SocketAddr>`; one that panics costs its request an answer 500, nothing else.
    pub async fn serve(self, listener: TcpListener, router: Router) {
        let (server, tasks) = (Arc::new(self), TaskTracker::new());
        let open = Connections::new(server.limits.connections);
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
                // Cancel-safe: what is not accepted here stays with the kernel.
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
                            // Who does not ask within the time is told nothing.
                            () = server.shutdown.aborting() => {}
                            () = sleep(server.limits.handshake) => {}
                            () = server.connection(stream, caller) => {}
                        }
                    };
                    tasks.spawn(told.instrument(span));
                }
            }
            // Whoever has been accepted goes first: of a crowd that costs more than there is processor, those who are not yet
            // wait with the kernel, at no cost and against no limit of ours.
            yield_now().await;
        }
        drop(listener);
        tasks.close();
        tasks.wait().await;
    }

    /// Serves a connection until it ends, or has to.
    async fn held(&self, mut held: Connection, stream: TcpStream, caller: Caller) {
        tokio::select! {
            biased;
            // Cancelling the connection is the point of both.
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
        // One byte is none: whoever reads more reads past it.
        let stream = BufReader::with_capacity(self.limits.ciphertext.max(1), stream);
        // Boxed, so that neither the handshake nor the session takes room in what waits.
        let handshake = Box::pin(acceptor.accept(stream).map_ok(Box::new));
        match timeout(self.limits.handshake, handshake).await {
            Ok(Ok(stream)) => {
                // Shown is as good as verified: any other ends the handshake.
                let certified = stream.get_ref().1.peer_certificates().is_some();
                let caller = Caller {
                    certified,
                    ..caller
                };
                self.http(stream, caller).await;
            }
            // A client that does not trust our certificate shows here, as an alert of its.
            Ok(Err(error)) => self.turn(Turned::Handshake, &error),
            Err(elapsed) => self.turn(Turned::Handshake, &elapsed),
        }
    }

    async fn http<S>(&self, stream: S, caller: Caller)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let phase = Phase::default();
        let pace = Pace {
            first: caller.accepted + self.limits.first,
            head: self.limits.header,
            answer: self.limits.answer,
        };
        let stream = Paced::new(stream, pace, phase.clone());
        let retired_at = Instant::now() + draw_age(self.limits.age);
        match self.port {
            Port::Status => self.questions(stream, &phase, &caller, retired_at).await,
            // Boxed, so that who waits at the other port does not keep room for this.
            Port::Admission | Port::Admin => {
                Box::pin(self.requests(stream, &phase, &caller, retired_at)).await;
            }
        }
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

/// Why a connection ended, by the error of its stream.
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

/// An age between half of `most` and all of it. The keys of a hash map are random enough to spread clients.
fn draw_age(most: Duration) -> Duration {
    let drawn = u32::try_from(RandomState::new().hash_one(()) >> 32).unwrap_or(u32::MAX);
    most.mul_f64(0.5 + f64::from(drawn) / f64::from(u32::MAX) / 2.0)
}

#[cfg(test)]
mod tests;
