//! Tests tries with real sockets on loopback.

use super::*;
use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};
use std::net::TcpListener;
use std::thread;
use wire::probe::Probe;

/// Starts a server on loopback that calls `serve` with each connection. Returns the server's port.
fn server(serve: impl Fn(TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || listener.incoming().flatten().for_each(serve));
    port
}

/// Reads a request to its end, and answers with `text`.
fn says(text: &'static str) -> impl Fn(TcpStream) + Send + 'static {
    move |mut stream| {
        heard(&mut stream);
        let _ = stream.write_all(text.as_bytes());
    }
}

fn heard(stream: &mut impl Read) -> String {
    let (mut text, mut byte) = (String::new(), [0]);
    while !text.ends_with("\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        text.push(char::from(byte[0]));
    }
    text
}

fn tls(versions: &[&'static rustls::SupportedProtocolVersion]) -> Arc<ServerConfig> {
    let key = KeyPair::generate().unwrap();
    // The certificate is for another name, and no known authority has signed it.
    let parameters = CertificateParams::new(vec!["other.example".to_owned()]).unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key);
    Arc::new(config.unwrap())
}

fn speaks_tls(config: Arc<ServerConfig>, text: &'static str) -> u16 {
    server(move |stream| {
        let session = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(session, stream);
        heard(&mut stream);
        let _ = stream.write_all(text.as_bytes());
        stream.conn.send_close_notify();
        let _ = stream.flush();
    })
}

fn dialed(what: &str, to: &str) -> Outcome {
    let probe = Probe {
        id: String::new(),
        what: what.to_owned(),
        to: to.to_owned(),
    };
    let target = Target::of(&probe, |_| None).unwrap();
    Dialer::new(Resolver::of_the_pod()).dial(&target)
}

/// A port that refuses connections for as long as the socket is kept.
fn reserved() -> (socket2::Socket, u16) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    socket.bind(&address.into()).unwrap();
    let port = socket.local_addr().unwrap().as_socket().unwrap().port();
    (socket, port)
}

/// Keeps each connection for `time`, and sends nothing.
fn keeps(time: Duration) -> impl Fn(TcpStream) + Send + 'static {
    move |stream| {
        thread::spawn(move || {
            thread::sleep(time);
            drop(stream);
        });
    }
}

/// Resets a connection: a connection that is closed with unread bytes is reset.
fn resets(stream: TcpStream) {
    let _ = stream.peek(&mut [0]);
    drop(stream);
}

#[test]
fn a_connection_is_accepted_refused_or_reset() {
    let open = server(keeps(Duration::from_secs(1)));
    let (_socket, refused) = reserved();
    let at_once = server(|stream| {
        let socket = socket2::Socket::from(stream);
        socket.set_linger(Some(Duration::ZERO)).unwrap();
    });
    for (port, expected) in [
        (open, Outcome::Connected),
        (refused, Outcome::Refused),
        (at_once, Outcome::Reset),
    ] {
        assert_eq!(
            dialed("tcp", &format!("127.0.0.1:{port}")),
            expected,
            "{expected}"
        );
    }
}

#[test]
fn the_first_of_several_hosts_that_accepts_is_enough() {
    let open = server(keeps(Duration::from_secs(1)));
    let (_socket, refused) = reserved();
    let at = |first: u16, second: u16| format!("127.0.0.1:{first},127.0.0.1:{second}");
    assert_eq!(dialed("tcp", &at(refused, open)), Outcome::Connected);
    assert_eq!(dialed("tcp", &at(refused, refused)), Outcome::Refused);
}

#[test]
fn a_status_is_read_and_nothing_behind_it() {
    for (text, expected) in [
        ("HTTP/1.1 200 OK\r\n", Outcome::Status(200)),
        ("HTTP/1.0 503 \r\nA: b\r\n\r\nbody", Outcome::Status(503)),
        (
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n",
            Outcome::Status(302),
        ),
        ("HTTP/1.1 204\n", Outcome::Status(204)),
        ("HTTP/1.1 2000 OK\r\n", Outcome::NoHttp),
        ("HTTP/1.1 OK\r\n", Outcome::NoHttp),
        ("HTTP/1.1 200", Outcome::NoHttp),
        ("220 mail.example ESMTP\r\n", Outcome::NoHttp),
        ("", Outcome::Reset),
    ] {
        let port = server(says(text));
        assert_eq!(
            dialed("http", &format!("http://127.0.0.1:{port}/x")),
            expected,
            "{text:?}"
        );
    }
    let port = server(resets);
    assert_eq!(
        dialed("http", &format!("http://127.0.0.1:{port}")),
        Outcome::Reset
    );
}

#[test]
fn the_request_is_what_was_asked_for_and_tells_nothing() {
    let (heard_by, requests) = std::sync::mpsc::channel();
    let port = server(move |mut stream| {
        heard_by.send(heard(&mut stream)).unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
    });
    dialed(
        "http",
        &format!("http://u:p@127.0.0.1:{port}/health?deep=1"),
    );
    let request = requests.recv().unwrap();
    assert!(
        request.starts_with("GET /health?deep=1 HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains(&format!("\r\nHost: 127.0.0.1:{port}\r\n")),
        "{request}"
    );
    assert!(
        !request.to_ascii_lowercase().contains("authorization"),
        "{request}"
    );
}

#[test]
fn no_certificate_is_checked() {
    let answer = "HTTP/1.1 200 OK\r\n\r\n";
    for versions in [&[&rustls::version::TLS13], &[&rustls::version::TLS12]] {
        let port = speaks_tls(tls(versions), answer);
        for host in ["127.0.0.1", "localhost"] {
            let to = format!("https://{host}:{port}");
            assert_eq!(
                dialed("http", &to),
                Outcome::Status(200),
                "{to} {versions:?}"
            );
        }
    }
}

#[test]
fn what_speaks_no_tls_is_told_apart() {
    let plain = server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let chatty = server(|mut stream| {
        let _ = stream.write_all(b"220 mail.example ESMTP\r\n");
        heard(&mut stream);
    });
    for port in [plain, chatty] {
        assert_eq!(
            dialed("http", &format!("https://127.0.0.1:{port}")),
            Outcome::NoTls
        );
    }
    let encrypted = speaks_tls(tls(&[&rustls::version::TLS13]), "");
    assert_eq!(
        dialed("http", &format!("http://127.0.0.1:{encrypted}")),
        Outcome::NoHttp
    );
}

#[test]
fn who_stays_silent_has_five_seconds() {
    let silent = server(keeps(Duration::from_secs(20)));
    let began = Instant::now();
    assert_eq!(
        dialed("http", &format!("http://127.0.0.1:{silent}")),
        Outcome::TimedOut
    );
    let took = began.elapsed();
    assert!((4..6).contains(&took.as_secs()), "{took:?}");
}

#[test]
fn a_name_has_an_address_or_has_none() {
    assert_eq!(dialed("dns", "localhost"), Outcome::Found);
    assert_eq!(dialed("dns", "127.0.0.1"), Outcome::Found);
}
