//! One connection to the status service: TLS, and one exchange after the other, each with a deadline.

use crate::config::Address;
use crate::http::Response;
use crate::trouble::Failure;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{self, IoSlice, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time limit for a new connection. A policy that drops packets shows after this time.
const CONNECT: Duration = Duration::from_secs(3);
/// A connection with its TLS session.
pub(crate) struct Connection(StreamOwned<ClientConnection, Timed>);

/// The gate's work while its request is held.
pub(crate) trait Aside {
    /// Notes a sign of the service that it still holds the request.
    fn sign(&mut self);

    /// The time until the next work; `None` without work.
    fn due(&self) -> Option<Duration>;

    /// Does the work. Returns whether the request is outdated, so that the gate has to send another one in its place.
    fn work(&mut self) -> bool;
}

/// The time limits of an exchange.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The time to send the question, with the handshake.
    pub(crate) asking: Duration,
    /// The longest time without a byte from the service, after the question was sent.
    pub(crate) silence: Duration,
    /// The longest time from the beginning of the question to the whole answer.
    pub(crate) answer: Duration,
}

impl Connection {
    /// Connects to the address, within 3 s for each of its IP addresses. The TLS handshake happens in the first exchange.
    pub(crate) fn open(
        address: &Address,
        tls: &Arc<ClientConfig>,
        server_name: &ServerName<'static>,
    ) -> Result<Self, Failure> {
        let stream = Timed::new(connect(address)?, Instant::now());
        let session = ClientConnection::new(Arc::clone(tls), server_name.clone());
        let session = session.map_err(Failure::Tls)?;
        Ok(Self(StreamOwned::new(session, stream)))
    }

    /// Sends a request and returns the response. Until the response comes, `aside` notes each sign that the service still holds the
    /// request, and does its work whenever that is due; `None` if the work made the request outdated.
    pub(crate) fn exchange(
        &mut self,
        request: &str,
        limits: Limits,
        aside: &mut dyn Aside,
    ) -> Result<Option<Response>, Failure> {
        let Self(stream) = self;
        let asked = Instant::now();
        stream.sock.deadline = asked + limits.asking;
        stream
            .write_all(request.as_bytes())
            .and_then(|()| stream.flush())
            .map_err(Failure::of)?;
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        let mut silent_at = Instant::now() + limits.silence;
        loop {
            let over = silent_at.min(asked + limits.answer);
            let due = aside.due().map(|due| Instant::now() + due);
            let due = due.filter(|due| *due < over);
            stream.sock.deadline = due.unwrap_or(over);
            let count = match stream.read(&mut buffer) {
                Err(error) if due.is_some() && is_over(&error) => {
                    let began = Instant::now();
                    if aside.work() {
                        return Ok(None);
                    }
                    // The work took this time, so it is no silence of the service.
                    silent_at += began.elapsed();
                    continue;
                }
                read => read.map_err(Failure::of)?,
            };
            bytes.extend_from_slice(&buffer[..count]);
            if let Some(response) = Response::parse(&bytes, count == 0).map_err(Failure::Garbled)? {
                return Ok(Some(response));
            }
            silent_at = Instant::now() + limits.silence;
            aside.sign();
        }
    }
}

fn is_over(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
    )
}

/// Connects to the first IP address of the host that accepts. The name is looked up every time: a Service that was created again has
/// another address. The error is that of the last IP address that was tried.
fn connect(address: &Address) -> Result<TcpStream, Failure> {
    let found = (address.host.as_str(), address.port)
        .to_socket_addrs()
        .map_err(Failure::Lookup)?;
    let mut last = None;
    for socket in found {
        match TcpStream::connect_timeout(&socket, CONNECT) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(Failure::Broken)?;
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    Err(match last {
        None => Failure::Lookup(io::Error::other("the name has no address")),
        Some(error) if error.kind() == io::ErrorKind::ConnectionRefused => Failure::Refused,
        Some(error) if error.kind() == io::ErrorKind::TimedOut => Failure::ConnectTimeout,
        Some(error) => Failure::Broken(error),
    })
}

/// A stream whose every read and write ends at one deadline. A peer that sends a byte now and then would outlive a
/// timeout per read.
pub(crate) struct Timed {
    stream: TcpStream,
    deadline: Instant,
}

impl Timed {
    pub(crate) fn new(stream: TcpStream, deadline: Instant) -> Self {
        Self { stream, deadline }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            Ok(Some(left))
        }
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    /// Writes several records at once: the end of a handshake and the request go together, and do not wake the
    /// service twice.
    fn write_vectored(&mut self, records: &[IoSlice<'_>]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write_vectored(records)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn several_records_are_written_as_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut stream = Timed::new(stream, Instant::now() + CONNECT);
        let records = [b"finished".as_slice(), b"request"].map(IoSlice::new);
        assert_eq!(stream.write_vectored(&records).unwrap(), 15);
    }
}
