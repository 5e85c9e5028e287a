//! Tries one address once: looks its name up, connects and, for a URL, sends one request and reads the first line of the answer.
//!
//! A try follows no redirect, reads nothing beyond the status line and sends no credentials. It checks no certificate, and neither does a
//! probe of the kubelet.

use super::url::{Place, Target};
use crate::connection::Timed;
use crate::resolve::{Resolver, Unresolved};
use crate::trust;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use wire::probe::Outcome;

/// The longest time of one try.
const WITHIN: Duration = Duration::from_secs(5);
/// The time in which a proxy without a server behind it resets a connection that it has accepted.
const RESET_WITHIN: Duration = Duration::from_millis(100);
/// The longest status line that is read, in bytes.
const LINE: usize = 1024;

/// Tries addresses: looks names up through a resolver, and connects.
pub(crate) struct Dialer {
    resolver: Resolver,
    /// The configuration for TLS, made when the first address needs one.
    tls: OnceLock<Arc<ClientConfig>>,
}

impl Dialer {
    pub(crate) fn new(resolver: Resolver) -> Self {
        let tls = OnceLock::new();
        Self { resolver, tls }
    }

    /// Tries a target once, for 5 s at most, and returns the outcome.
    pub(crate) fn dial(&self, target: &Target) -> Outcome {
        let until = Instant::now() + WITHIN;
        let found = match target {
            Target::Name(name) => self.found(name, until),
            Target::Connection(places) => self.connection(places, until),
            Target::Answer { place, tls, path } => self.answer(place, *tls, path, until),
        };
        found.unwrap_or_else(|outcome| outcome)
    }

    fn found(&self, name: &str, until: Instant) -> Result<Outcome, Outcome> {
        self.addresses(name, until)?;
        Ok(Outcome::Found)
    }

    fn addresses(&self, host: &str, until: Instant) -> Result<Vec<IpAddr>, Outcome> {
        self.resolver.find(host, until).map_err(|why| match why {
            Unresolved::NoName => Outcome::NoName,
            Unresolved::NoServer => Outcome::NoNameServer,
        })
    }

    fn connection(&self, places: &[Place], until: Instant) -> Result<Outcome, Outcome> {
        let mut last = Outcome::Failed;
        for (behind, place) in (0..places.len()).rev().zip(places) {
            let until = share(until, behind);
            match self.connect(place, until).and_then(|stream| stays(&stream)) {
                Ok(()) => return Ok(Outcome::Connected),
                Err(outcome) => last = outcome,
            }
        }
        Err(last)
    }

    /// Connects to the first address of a place that accepts. In a network of IPv6 alone no route leads to the place's IPv4 addresses, so
    /// then its IPv6 addresses are tried.
    fn connect(&self, place: &Place, until: Instant) -> Result<TcpStream, Outcome> {
        let found = self.addresses(&place.host, until)?;
        match to_first(&found, place.port, until) {
            Err(Outcome::Unreachable) => {
                let others = self.resolver.find_v6(&place.host, until);
                if others.is_empty() {
                    return Err(Outcome::Unreachable);
                }
                to_first(&others, place.port, until)
            }
            connected => connected,
        }
    }

    fn answer(
        &self,
        place: &Place,
        tls: bool,
        path: &str,
        until: Instant,
    ) -> Result<Outcome, Outcome> {
        let stream = self.connect(place, until)?;
        let mut stream = Timed::new(stream, until);
        let request = request(place, tls, path);
        if !tls {
            return status_of(&mut stream, &request);
        }
        let host = place.host.trim_end_matches('.').to_owned();
        let name = ServerName::try_from(host).map_err(|_| Outcome::NoAddress)?;
        let config = Arc::clone(self.tls.get_or_init(trust::unchecked));
        let session = ClientConnection::new(config, name).map_err(|_| Outcome::Failed)?;
        status_of(&mut StreamOwned::new(session, stream), &request)
    }
}

/// The moment by which one of several addresses must answer: the time that is left is shared with the `behind` addresses after it.
fn share(until: Instant, behind: usize) -> Instant {
    let left = until.saturating_duration_since(Instant::now());
    let behind = u32::try_from(behind).unwrap_or(u32::MAX);
    Instant::now() + left / behind.saturating_add(1)
}

fn to_first(addresses: &[IpAddr], port: u16, until: Instant) -> Result<TcpStream, Outcome> {
    let mut last = Outcome::NoName;
    for (behind, address) in (0..addresses.len()).rev().zip(addresses) {
        let left = share(until, behind).saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Outcome::TimedOut);
        }
        match TcpStream::connect_timeout(&SocketAddr::new(*address, port), left) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = of(&error),
        }
    }
    Err(last)
}

/// Returns [`Outcome::Reset`] as an error if the peer resets the connection within [`RESET_WITHIN`]. The check takes no bytes from the
/// connection.
fn stays(stream: &TcpStream) -> Result<(), Outcome> {
    let seen = stream
        .set_read_timeout(Some(RESET_WITHIN))
        .and_then(|()| stream.peek(&mut [0]));
    match seen {
        Err(error) if of(&error) == Outcome::Reset => Err(Outcome::Reset),
        _ => Ok(()),
    }
}

fn request(place: &Place, tls: bool, path: &str) -> String {
    let Place { host, port } = place;
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.clone()
    };
    let port = match (tls, port) {
        (true, 443) | (false, 80) => String::new(),
        (_, port) => format!(":{port}"),
    };
    let version = wire::VERSION;
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}{port}\r\nUser-Agent: sluice-gate/{version}\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    )
}

/// Sends a request, and returns the status code in the first line of the answer. The error is the outcome of a try without such a line.
fn status_of(stream: &mut (impl Read + Write), request: &str) -> Result<Outcome, Outcome> {
    stream
        .write_all(request.as_bytes())
        .and_then(|()| stream.flush())
        .map_err(|error| of(&error))?;
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(0) if line.is_empty() => return Err(Outcome::Reset),
            Ok(0) => return Err(Outcome::NoHttp),
            Ok(_) if byte == *b"\n" => break,
            Ok(_) if line.len() == LINE => return Err(Outcome::NoHttp),
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(of(&error)),
        }
        // A server of another protocol may send no line at all, and wait.
        let begin = line.len().min(HTTP.len());
        if line[..begin] != HTTP[..begin] {
            return Err(Outcome::NoHttp);
        }
    }
    code(&line).map(Outcome::Status).ok_or(Outcome::NoHttp)
}

/// The beginning of a status line.
const HTTP: &[u8] = b"HTTP/1.";

/// The status code of a status line such as `HTTP/1.1 200 OK`; `None` where the line has no code from 100 to 599.
fn code(line: &[u8]) -> Option<u16> {
    let line = str::from_utf8(line).ok()?;
    let code = line.split_whitespace().nth(1)?;
    let code = code.parse().ok().filter(|_| code.len() == 3)?;
    (100..600).contains(&code).then_some(code)
}

/// The outcome of a try that ended with this error.
fn of(error: &io::Error) -> Outcome {
    let of_tls = matches!(error.get_ref(), Some(inner) if inner.is::<rustls::Error>());
    match error.kind() {
        _ if of_tls => Outcome::NoTls,
        ErrorKind::ConnectionRefused => Outcome::Refused,
        ErrorKind::TimedOut | ErrorKind::WouldBlock => Outcome::TimedOut,
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof => Outcome::Reset,
        ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::AddrNotAvailable
        | ErrorKind::PermissionDenied => Outcome::Unreachable,
        _ => Outcome::Failed,
    }
}

#[cfg(test)]
mod tests;
