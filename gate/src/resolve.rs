//! Looks names up in the DNS. The C library's own lookup has no deadline, and does not tell an unknown name from a missing reply.

mod message;

use message::{Family, Said};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time limits for a server's answer to one question: for the first try, and for the second.
const TRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];
/// The number of name servers in `resolv.conf` that count, as in the C libraries; further servers are passed over.
const SERVERS: usize = 3;
/// The longest response over UDP without extensions, in bytes.
const DATAGRAM: usize = 512;

/// The reason why a name has no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unresolved {
    /// No server knows the name, or the name has no address.
    NoName,
    /// No server has answered, or each server that answered has failed.
    NoServer,
}

/// Looks up the addresses of names, in the pod's `/etc/hosts` and then in the DNS.
#[derive(Debug)]
pub(crate) struct Resolver {
    hosts: PathBuf,
    configuration: PathBuf,
    /// The port of every name server.
    port: u16,
    /// The full name under which each host was found last. So the search domains of a host are not asked again each time.
    called: Mutex<HashMap<String, String>>,
}

impl Resolver {
    /// Returns a resolver that reads the files of the pod.
    pub(crate) fn of_the_pod() -> Self {
        Self::by("/etc/hosts".into(), "/etc/resolv.conf".into(), 53)
    }

    fn by(hosts: PathBuf, configuration: PathBuf, port: u16) -> Self {
        Self {
            hosts,
            configuration,
            port,
            called: Mutex::default(),
        }
    }

    /// Returns the addresses of a host: the host itself if it is an address, else all that the hosts file has, else its IPv4 addresses in the
    /// DNS, or where it has none its IPv6 addresses.
    pub(crate) fn find(&self, host: &str, until: Instant) -> Result<Vec<IpAddr>, Unresolved> {
        if let Ok(address) = host.parse() {
            return Ok(vec![address]);
        }
        let local = self.in_hosts(host);
        if !local.is_empty() {
            return Ok(local);
        }
        match self.ask(host, Family::V4, until) {
            Err(Unresolved::NoName) => self.ask(host, Family::V6, until),
            found => found,
        }
    }

    /// Returns the IPv6 addresses of a host in the DNS, for a network in which its IPv4 addresses are not reachable. Empty if the host is an
    /// address itself, or if the lookup fails.
    pub(crate) fn find_v6(&self, host: &str, until: Instant) -> Vec<IpAddr> {
        if host.parse::<IpAddr>().is_ok() {
            return Vec::new();
        }
        self.ask(host, Family::V6, until).unwrap_or_default()
    }

    fn in_hosts(&self, host: &str) -> Vec<IpAddr> {
        let text = fs::read_to_string(&self.hosts).unwrap_or_default();
        let plain = host.strip_suffix('.').unwrap_or(host);
        let lines = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default());
        let mut found: Vec<IpAddr> = lines
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let address = words.next()?.parse().ok()?;
                words
                    .any(|it| it.eq_ignore_ascii_case(plain))
                    .then_some(address)
            })
            .collect();
        found.sort_by_key(IpAddr::is_ipv6);
        found
    }

    /// Asks the DNS for the addresses, of one family, of each name that the host may be short for, until one name has an address; begins with the
    /// name under which the host was found last. [`Unresolved::NoServer`] if a name got no reply, or at the time `until`.
    fn ask(&self, host: &str, family: Family, until: Instant) -> Result<Vec<IpAddr>, Unresolved> {
        let text = fs::read_to_string(&self.configuration).unwrap_or_default();
        let configuration = Configuration::of(&text);
        let known = self.called().get(host).cloned();
        let candidates = known.into_iter().chain(configuration.candidates(host));
        let mut worst = Unresolved::NoName;
        for name in candidates {
            match self.named(&name, family, &configuration.servers, until) {
                Ok(found) if !found.is_empty() => {
                    self.called().insert(host.to_owned(), name);
                    return Ok(found);
                }
                Ok(_) => {}
                Err(()) => worst = Unresolved::NoServer,
            }
            if Instant::now() >= until {
                return Err(Unresolved::NoServer);
            }
        }
        Err(worst)
    }

    /// Asks the name servers in turn for the addresses of one full name; empty where a server says that there is no such name or that it has no
    /// address. An error where each server failed or stayed silent in two tries.
    fn named(
        &self,
        name: &str,
        family: Family,
        servers: &[IpAddr],
        until: Instant,
    ) -> Result<Vec<IpAddr>, ()> {
        let Some(query) = message::query(crate::number(), name, family) else {
            return Ok(Vec::new());
        };
        for within in TRIES {
            for server in servers {
                let until = until.min(Instant::now() + within);
                let server = SocketAddr::new(*server, self.port);
                match exchange(server, &query, family, until) {
                    Ok(Said::Addresses(found)) => return Ok(found),
                    Ok(Said::NoName) => return Ok(Vec::new()),
                    // Another server may know the name.
                    Ok(Said::Failed | Said::Truncated) | Err(_) => {}
                }
            }
        }
        Err(())
    }

    fn called(&self) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
        self.called.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The settings of a `resolv.conf`: name servers, search domains and `ndots`.
#[derive(Debug, PartialEq, Eq)]
struct Configuration {
    servers: Vec<IpAddr>,
    search: Vec<String>,
    dots: usize,
}

impl Configuration {
    fn of(text: &str) -> Self {
        let mut found = Self {
            servers: Vec::new(),
            search: Vec::new(),
            dots: 1,
        };
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") => {
                    found
                        .servers
                        .extend(words.next().and_then(|it| it.parse::<IpAddr>().ok()));
                }
                // The last line with `search` or `domain` counts, and so does the last `ndots`.
                Some("search" | "domain") => found.search = words.map(str::to_owned).collect(),
                Some("options") => {
                    let mut dots = words.filter_map(|it| it.strip_prefix("ndots:")?.parse().ok());
                    found.dots = dots.next_back().unwrap_or(found.dots);
                }
                _ => {}
            }
        }
        found.servers.truncate(SERVERS);
        if found.servers.is_empty() {
            found.servers.push(Ipv4Addr::LOCALHOST.into());
        }
        found
    }

    /// Returns the full names that a host may be short for, in the order in which they are asked for: the host itself first if it has `ndots` dots or
    /// more, else last. A host with a dot at its end is short for nothing else.
    fn candidates(&self, host: &str) -> Vec<String> {
        if let Some(full) = host.strip_suffix('.') {
            return vec![full.to_owned()];
        }
        let domains = self.search.iter().map(|it| it.trim_matches('.'));
        let longer = domains.filter(|it| !it.is_empty());
        let mut names: Vec<String> = longer.map(|it| format!("{host}.{it}")).collect();
        let first = host.matches('.').count() >= self.dots;
        names.insert(if first { 0 } else { names.len() }, host.to_owned());
        names
    }
}

/// Asks one server one question over UDP, and again over TCP where the response is too long for a datagram.
fn exchange(server: SocketAddr, query: &[u8], family: Family, until: Instant) -> io::Result<Said> {
    let own: IpAddr = if server.is_ipv4() {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    let socket = UdpSocket::bind((own, 0))?;
    socket.connect(server)?;
    socket.send(query)?;
    let mut bytes = [0; DATAGRAM];
    let said = loop {
        socket.set_read_timeout(Some(left(until)?))?;
        let count = socket.recv(&mut bytes)?;
        // A late response to another question is skipped.
        if let Some(said) = message::read(&bytes[..count], query, family) {
            break said;
        }
    };
    if said == Said::Truncated {
        return at_length(server, query, family, until);
    }
    Ok(said)
}

fn at_length(server: SocketAddr, query: &[u8], family: Family, until: Instant) -> io::Result<Said> {
    let mut stream = TcpStream::connect_timeout(&server, left(until)?)?;
    stream.set_write_timeout(Some(left(until)?))?;
    let length = u16::try_from(query.len()).unwrap_or_default();
    stream.write_all(&[&length.to_be_bytes(), query].concat())?;
    stream.set_read_timeout(Some(left(until)?))?;
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut bytes = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut bytes)?;
    Ok(message::read(&bytes, query, family).unwrap_or(Said::Failed))
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        Err(io::ErrorKind::TimedOut.into())
    } else {
        Ok(left)
    }
}

#[cfg(test)]
mod tests;
