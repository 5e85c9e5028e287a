use super::*;
use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

const NAME: &str = "sluice.sluice-system.svc";

fn client(token_file: &str, port: u16) -> Client {
    let config = Config {
        addresses: vec![Address {
            host: "127.0.0.1".to_owned(),
            port,
        }],
        server_name: ServerName::try_from(NAME).unwrap(),
        authorities: RootCertStore::empty(),
        authority_file: None,
        token_file: token_file.into(),
        state_dir: PathBuf::new(),
    };
    Client {
        patience: Duration::from_millis(50),
        ..Client::new(config, None)
    }
}

fn question(seconds: u64) -> Question<'static> {
    Question {
        seen: None,
        hold: Duration::from_secs(seconds),
        probed: "",
    }
}

/// A gate without work beside its question.
#[derive(Default)]
struct Idle {
    signs: usize,
}

impl Aside for Idle {
    fn sign(&mut self) {
        self.signs += 1;
    }

    fn due(&self) -> Option<Duration> {
        None
    }

    fn work(&mut self) -> bool {
        unreachable!("nothing is due")
    }
}

/// A gate with work at a fixed interval, whose last work finds something new.
struct Busy {
    every: Duration,
    left: usize,
    signs: usize,
}

impl Aside for Busy {
    fn sign(&mut self) {
        self.signs += 1;
    }

    fn due(&self) -> Option<Duration> {
        Some(self.every)
    }

    fn work(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }
}

fn trouble(client: &mut Client) -> String {
    client
        .ask(&question(0), &mut Idle::default())
        .unwrap_err()
        .to_string()
}

/// The client gives up where no process accepts: the kernel completes the connection, and the handshake gets no reply.
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

/// The client gives up at its deadline although bytes keep arriving, if the record of TLS that they begin is never complete.
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

/// A service that gives each connection one list of responses and closes it after the last, and a client that trusts
/// the service.
fn service(connections: Vec<Vec<String>>) -> Client {
    let key = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(vec![NAME.to_owned()]).unwrap();
    let certificate: CertificateDer<'static> = parameters.self_signed(&key).unwrap().into();
    let mut authorities = RootCertStore::empty();
    authorities.add(certificate.clone()).unwrap();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let tls = Arc::new(tls);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut open = vec![];
        let mut connections = connections.into_iter().peekable();
        'next: while let Some(responses) = connections.next() {
            let (stream, _) = listener.accept().unwrap();
            let session = ServerConnection::new(Arc::clone(&tls)).unwrap();
            let mut stream = BufReader::new(StreamOwned::new(session, stream));
            for response in responses {
                let mut line = String::new();
                while stream.read_line(&mut line).unwrap() > 2 {
                    line.clear();
                }
                stream.get_mut().write_all(response.as_bytes()).unwrap();
                if !response.ends_with('}') {
                    // The service falls silent on this connection.
                    if connections.peek().is_none() {
                        thread::park();
                    }
                    open.push(stream);
                    continue 'next;
                }
            }
            stream.get_mut().conn.send_close_notify();
            stream.get_mut().flush().unwrap();
            open.push(stream);
        }
    });
    let mut client = client("/proc/sys/kernel/ostype", port);
    client.trust = Trust::new(authorities, None);
    client.patience = PATIENCE;
    client
}

fn response(digest: &str, headers: &str) -> String {
    let body = format!(r#"{{"verdict": "wait", "digest": "{digest}"}}"#);
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
}

fn digests(client: &mut Client, count: usize) -> Vec<String> {
    let mut ask = |_| client.ask(&question(0), &mut Idle::default()).unwrap();
    (0..count)
        .map(|at| ask(at).unwrap().answer.digest)
        .collect()
}

#[test]
fn keeps_its_connection_and_makes_another_when_the_service_has_closed_it() {
    let close = "Connection: close\r\n";
    let mut client = service(vec![
        vec![response("1", ""), response("2", "")],
        vec![response("3", ""), response("4", close)],
        vec![response("5", "")],
    ]);
    assert_eq!(digests(&mut client, 5), ["1", "2", "3", "4", "5"]);
}

#[test]
fn keeps_no_connection_that_brings_no_answer() {
    let mut client = service(vec![
        vec!["HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}".to_owned()],
        vec![response("1", "")],
    ]);
    let text = trouble(&mut client);
    assert!(text.contains("HTTP status 503"), "{text}");
    assert_eq!(digests(&mut client, 1), ["1"]);
}

#[test]
fn gives_up_who_falls_silent_and_asks_again_on_another_connection() {
    let held = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n";
    let mut client = service(vec![vec![response("1", ""), held.to_owned()]]);
    assert_eq!(digests(&mut client, 1), ["1"]);
    client.silence = Duration::from_secs(1);
    let mut idle = Idle::default();
    client.addresses[0].port = 1;
    let silent = client.ask(&question(300), &mut idle);
    let told = silent.unwrap_err().to_string();
    assert!(told.contains("refused"), "{told}");
    assert!(idle.signs > 0);
}

#[test]
fn a_question_that_is_old_is_left_and_asked_anew() {
    let held = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n";
    let mut client = service(vec![vec![held.to_owned()], vec![response("2", "")]]);
    let mut busy = Busy {
        every: Duration::from_millis(20),
        left: 3,
        signs: 0,
    };
    let left = client.ask(&question(300), &mut busy).unwrap();
    assert!(left.is_none(), "what came of an address has made it old");
    assert_eq!(busy.left, 0);
    assert_eq!(digests(&mut client, 1), ["2"], "on another connection");
}

#[test]
fn what_is_done_meanwhile_is_no_silence_of_the_service() {
    struct Slow(Busy);
    impl Aside for Slow {
        fn sign(&mut self) {
            self.0.sign();
        }

        fn due(&self) -> Option<Duration> {
            self.0.due()
        }

        fn work(&mut self) -> bool {
            thread::sleep(Duration::from_millis(300));
            self.0.work()
        }
    }
    let held = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n";
    let mut client = service(vec![vec![held.to_owned()]]);
    client.silence = Duration::from_secs(1);
    let mut slow = Slow(Busy {
        every: Duration::from_millis(5),
        left: 4,
        signs: 0,
    });
    let left = client.ask(&question(300), &mut slow).unwrap();
    assert!(left.is_none(), "it has not been taken for gone");
}
