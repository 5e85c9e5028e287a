//! Rude clients: threads with real sockets and real TLS. They count what they see, and never fail.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use socket2::{Domain, Socket, Type};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

const SERVER: &str = "sluice.sluice-system.svc";
/// The longest time for a connection, and for each read and write on it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause after an attack, in which a replica gives back unused memory.
const AFTERWARDS: Duration = Duration::from_secs(15);

/// A port of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    Admission,
    Status,
    Plain,
}

/// The address of one port of one replica, which an attack goes to.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) port: Port,
    pub(crate) address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
}

/// A connection, over TLS or plain.
trait Connection: Read + Write + Send {}
impl<T: Read + Write + Send> Connection for T {}

/// Threads of rude clients, which run until the time of the attack is over, and their outcomes.
pub(crate) struct Attack {
    end: Instant,
    threads: Vec<JoinHandle<()>>,
    seen: Seen,
}

/// The number of times that each outcome was seen.
type Seen = Arc<Mutex<BTreeMap<String, u64>>>;

fn count(seen: &Seen, what: &str) {
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    *seen.entry(what.to_owned()).or_default() += 1;
}

impl Target {
    /// Returns a target for each of the three ports of each of these replicas. `bundle` is the CA bundle in base64, as the API server has it.
    pub(crate) fn all(replicas: &[IpAddr], bundle: &str) -> Vec<Self> {
        let mut roots = RootCertStore::empty();
        let pem = BASE64_STANDARD.decode(bundle).unwrap_or_default();
        for certificate in CertificateDer::pem_slice_iter(&pem).flatten() {
            // One that is refused shows as a failed handshake.
            let _ = roots.add(certificate);
        }
        let config = ClientConfig::builder().with_root_certificates(roots);
        let tls = Some(Arc::new(config.with_no_client_auth()));
        let ports = [
            (Port::Admission, 10250, tls.clone()),
            (Port::Status, 9764, tls),
            (Port::Plain, 8080, None),
        ];
        let of = |replica: &IpAddr| {
            let replica = *replica;
            ports.clone().map(|(port, number, tls)| Self {
                port,
                address: SocketAddr::new(replica, number),
                tls,
            })
        };
        replicas.iter().flat_map(of).collect()
    }

    fn connect(&self, from: IpAddr) -> io::Result<Box<dyn Connection>> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.bind(&SocketAddr::new(from, 0).into())?;
        socket.connect_timeout(&self.address.into(), PATIENCE)?;
        let mut stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let Some(tls) = &self.tls else {
            return Ok(Box::new(stream));
        };
        let name = ServerName::try_from(SERVER).map_err(io::Error::other)?;
        let mut session = ClientConnection::new(Arc::clone(tls), name).map_err(io::Error::other)?;
        session.complete_io(&mut stream)?;
        Ok(Box::new(StreamOwned::new(session, stream)))
    }
}

/// Sends a request on a connection of its own, and returns everything that comes until the replica closes it.
pub(crate) fn ask(from: IpAddr, target: &Target, request: &str) -> io::Result<String> {
    let mut connection = target.connect(from)?;
    connection.write_all(request.as_bytes())?;
    connection.flush()?;
    let mut text = String::new();
    connection.read_to_string(&mut text)?;
    Ok(text)
}

impl Attack {
    /// Returns an attack that ends `time` from now, without clients as yet.
    pub(crate) fn lasts(time: Duration) -> Self {
        Self {
            end: Instant::now() + time,
            threads: vec![],
            seen: Seen::default(),
        }
    }

    /// Opens `count` connections in a new thread, sends the bytes `sent` on each, and holds them until the attack ends.
    pub(crate) fn hold(&mut self, from: IpAddr, target: &Target, count: usize, sent: &[u8]) {
        self.crowd(from, target, vec![sent.to_vec(); count], |_, _, end| {
            sleep(end.saturating_duration_since(Instant::now()));
        });
    }

    /// Opens a connection for each of these questions in a new thread and sends the question there. When the attack ends, counts the connections
    /// whose question is still held, and those that were answered or closed.
    pub(crate) fn wait_each(&mut self, from: IpAddr, target: &Target, questions: Vec<Vec<u8>>) {
        self.crowd(from, target, questions, |connections, seen, end| {
            sleep(end.saturating_duration_since(Instant::now()));
            for connection in connections {
                let became = match answer(connection) {
                    // A blank now and then is all that is sent before the answer.
                    Ok(text) if text.starts_with("HTTP/1.1 200 ") && !text.contains('{') => "held",
                    Ok(text) if text.starts_with("HTTP/1.1 503 ") => "503",
                    Ok(text) if !text.is_empty() => "answered",
                    Ok(_) | Err(_) => "closed",
                };
                self::count(seen, became);
            }
        });
    }

    /// Opens `count` connections in a new thread, sends the bytes `first` on each, and then one byte a second until the attack ends.
    pub(crate) fn drip(&mut self, from: IpAddr, target: &Target, count: usize, first: &[u8]) {
        let first = vec![first.to_vec(); count];
        self.crowd(from, target, first, |connections, seen, end| {
            while Instant::now() < end && !connections.is_empty() {
                let before = connections.len();
                connections.retain_mut(|it| sends(it, b"x"));
                (connections.len()..before).for_each(|_| self::count(seen, "closed"));
                sleep(Duration::from_secs(1));
            }
        });
    }

    /// Opens a connection for each of these texts in a new thread, and sends the text there. A connection that fails is tried again until the attack
    /// ends. Then calls `rest` with the connections that took their text.
    fn crowd(
        &mut self,
        from: IpAddr,
        target: &Target,
        first: Vec<Vec<u8>>,
        rest: impl FnOnce(&mut Vec<Box<dyn Connection>>, &Seen, Instant) + Send + 'static,
    ) {
        let (target, seen, end) = (target.clone(), Arc::clone(&self.seen), self.end);
        self.threads.push(spawn(move || {
            let mut connections = vec![];
            for first in first {
                while Instant::now() < end {
                    if let Ok(mut connection) = target.connect(from) {
                        if sends(&mut connection, &first) {
                            connections.push(connection);
                        }
                        self::count(&seen, "connected");
                        break;
                    }
                    self::count(&seen, "turned away");
                    sleep(Duration::from_millis(100));
                }
            }
            rest(&mut connections, &seen, end);
        }));
    }

    /// Sends one request after another in a new thread until the attack ends, at most one in each `pause`. `request` makes each from its number,
    /// which begins with 1.
    pub(crate) fn ask(
        &mut self,
        from: IpAddr,
        target: &Target,
        pause: Duration,
        request: impl Fn(u64) -> Vec<u8> + Send + 'static,
    ) {
        let (target, seen, end) = (target.clone(), Arc::clone(&self.seen), self.end);
        self.threads.push(spawn(move || {
            let (mut connection, mut turn) = (None, 0);
            while Instant::now() < end {
                let began = Instant::now();
                turn += 1;
                let answered = once(&mut connection, &target, from, &request(turn));
                if let Ok(status) = answered {
                    count(&seen, &status);
                } else {
                    connection = None;
                    count(&seen, "turned away");
                }
                sleep(pause.saturating_sub(began.elapsed()));
            }
        }));
    }

    /// Waits until the attack ends, and returns each outcome with its number, such as `12 connected, 3 turned away`.
    pub(crate) async fn ended(self) -> String {
        let threads = self.threads;
        let joined = tokio::task::spawn_blocking(move || {
            for thread in threads {
                // One that panicked has said so.
                let _ = thread.join();
            }
        });
        let _ = joined.await;
        tokio::time::sleep(AFTERWARDS).await;
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.iter().map(|(what, count)| format!("{count} {what}"));
        seen.collect::<Vec<_>>().join(", ")
    }
}

fn sends(connection: &mut Box<dyn Connection>, bytes: &[u8]) -> bool {
    let sent = connection.write_all(bytes);
    sent.and_then(|()| connection.flush()).is_ok()
}

/// Sends a request on a kept connection, or on a new one where there is none, and returns the status code of the answer.
fn once(
    connection: &mut Option<Box<dyn Connection>>,
    target: &Target,
    from: IpAddr,
    request: &[u8],
) -> io::Result<String> {
    let stream = match connection {
        Some(stream) => stream,
        None => connection.insert(target.connect(from)?),
    };
    stream.write_all(request)?;
    stream.flush()?;
    let answer = answer(stream)?;
    if answer.to_ascii_lowercase().contains("connection: close") {
        *connection = None;
    }
    let status = answer.split(' ').nth(1);
    status
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other("no answer"))
}

/// Reads once from a connection, at most 4096 bytes, and returns the text; empty where the connection has ended.
fn answer(connection: &mut Box<dyn Connection>) -> io::Result<String> {
    let mut answer = vec![0; 4096];
    let read = connection.read(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer[..read]).into_owned())
}
