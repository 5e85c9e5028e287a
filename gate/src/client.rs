//! One question, one answer: connect, TLS, request, response, all before a deadline.

use crate::config::{Address, Config};
use crate::http::{self, Response};
use crate::trouble::{Attempt, BadToken, Failure, Trouble};
use crate::trust::Trust;
use crate::wait::{Reply, Source};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a connection may take to be made. A policy that drops packets is noticed after this.
const CONNECT: Duration = Duration::from_secs(3);
/// How long handshake and answer may take beyond the time that the service was asked to hold the request.
const PATIENCE: Duration = Duration::from_secs(10);

/// The status service, as seen from a gate.
pub(crate) struct Client {
    addresses: Vec<Address>,
    server_name: ServerName<'static>,
    trust: Trust,
    token_file: PathBuf,
    patience: Duration,
}

impl Client {
    /// A client that trusts only the configured authorities, and those of the file that goes with them.
    pub(crate) fn new(config: Config) -> Self {
        let Config {
            addresses,
            server_name,
            authorities,
            authority_file,
            token_file,
            state_dir: _,
        } = config;
        Self {
            addresses,
            server_name,
            trust: Trust::new(authorities, authority_file),
            token_file,
            patience: PATIENCE,
        }
    }

    /// The kubelet replaces the file long before its token expires.
    fn token(&self) -> Result<String, BadToken> {
        let text = fs::read_to_string(&self.token_file).map_err(BadToken::Unreadable)?;
        let token = text.trim();
        let printable = token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.is_empty() || !printable {
            Err(BadToken::Malformed)
        } else {
            Ok(token.to_owned())
        }
    }

    fn exchange(
        &self,
        address: &Address,
        tls: &Arc<ClientConfig>,
        request: &str,
        hold: Duration,
    ) -> Result<Response, Failure> {
        let stream = connect(address)?;
        let stream = Timed {
            stream,
            deadline: Instant::now() + hold + self.patience,
        };
        let session = ClientConnection::new(Arc::clone(tls), self.server_name.clone())
            .map_err(Failure::Tls)?;
        let mut stream = StreamOwned::new(session, stream);
        stream
            .write_all(request.as_bytes())
            .and_then(|()| stream.flush())
            .map_err(Failure::of)?;
        let mut bytes = Vec::new();
        let mut buffer = [0; 16 * 1024];
        loop {
            let count = stream.read(&mut buffer).map_err(Failure::of)?;
            bytes.extend_from_slice(&buffer[..count]);
            if let Some(response) = Response::parse(&bytes, count == 0).map_err(Failure::Garbled)? {
                return Ok(response);
            }
        }
    }
}

impl Source for Client {
    fn ask(&mut self, seen: Option<&str>, hold: Duration) -> Result<Reply, Trouble> {
        let token = self
            .token()
            .map_err(|problem| Trouble::Token(self.token_file.clone(), problem))?;
        let request = http::request(&self.server_name.to_str(), &token, seen, hold.as_secs());
        let tls = self.trust.now();
        let mut attempts = Vec::new();
        for address in &self.addresses {
            let answer = self
                .exchange(address, &tls, &request, hold)
                .and_then(|response| match response.status {
                    200 => serde_json::from_slice(&response.body).map_err(Failure::NotAnAnswer),
                    code => Err(Failure::Status(
                        code,
                        String::from_utf8_lossy(&response.body).into_owned(),
                    )),
                });
            let failure = match answer {
                Ok(answer) => {
                    return Ok(Reply {
                        answer,
                        passed_over: attempts,
                    });
                }
                Err(failure) => failure,
            };
            let last = failure.final_word();
            attempts.push(Attempt {
                address: address.clone(),
                failure,
            });
            if last {
                break;
            }
        }
        Err(Trouble::NoAnswer(attempts))
    }
}

/// The name is looked up every time: a Service that was deleted and made again has another address.
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

/// A stream whose every read and write ends at one deadline: a peer that sends a byte now and then would outlive a
/// timeout for each read.
struct Timed {
    stream: TcpStream,
    deadline: Instant,
}

impl Timed {
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

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::RootCertStore;
    use std::net::TcpListener;
    use std::thread;

    fn client(token_file: &str, port: u16) -> Client {
        let config = Config {
            addresses: vec![Address {
                host: "127.0.0.1".to_owned(),
                port,
            }],
            server_name: ServerName::try_from("sluice.sluice-system.svc").unwrap(),
            authorities: RootCertStore::empty(),
            authority_file: None,
            token_file: token_file.into(),
            state_dir: PathBuf::new(),
        };
        Client {
            patience: Duration::from_millis(50),
            ..Client::new(config)
        }
    }

    fn trouble(client: &mut Client) -> String {
        client.ask(None, Duration::ZERO).unwrap_err().to_string()
    }

    /// No process accepts: the kernel completes the connection, and the handshake gets no reply.
    #[test]
    fn has_a_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = trouble(&mut client("/proc/sys/kernel/ostype", port));
        assert!(
            text.starts_with(&format!(
                "127.0.0.1:{port}: connected, but no answer in time; "
            )),
            "{text}"
        );
    }

    /// Every byte comes well within the deadline, and the record that they begin is never whole.
    #[test]
    fn has_one_deadline_for_everything() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&[22, 3, 3, 0x40, 0]).unwrap();
            while stream.write_all(&[0]).is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
        });
        let text = trouble(&mut client("/proc/sys/kernel/ostype", port));
        assert!(
            text.contains(": connected, but no answer in time; "),
            "{text}"
        );
    }

    #[test]
    fn needs_a_token() {
        for (file, expected) in [
            (
                "/nowhere/token",
                "cannot read the token /nowhere/token: No such file or directory",
            ),
            ("/dev/null", "/dev/null holds no token"),
            ("/proc/version", "/proc/version holds no token"),
        ] {
            let text = trouble(&mut client(file, 1));
            assert!(text.starts_with(expected), "{text}");
        }
    }
}
