use std::{sync::Arc, time::Duration};

use axum::{Router, extract::ConnectInfo, routing::get};
use certs::{Ca, Leaf, Resolver};
use jiff::{SignedDuration, Timestamp};
use prometheus_client::{encoding::text::encode, registry::Registry};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::*;

const NAME: &str = "sluice.sluice-system.svc";
const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: sluice\r\n\r\n";

fn server(limits: Limits) -> (Server, Registry) {
    let mut registry = Registry::default();
    let metrics = Metrics::register(&mut registry);
    (
        Server {
            port: Port::Admission,
            tls: None,
            limits,
            metrics,
            shutdown: Shutdown::default(),
        },
        registry,
    )
}

fn count(registry: &Registry, line: &str) -> bool {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    text.lines().any(|found| found == line)
}

async fn panics() -> &'static str {
    panic!("on purpose")
}

fn router() -> Router {
    Router::new()
        .route(
            "/",
            get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move {
                format!("hello {}", peer.ip())
            }),
        )
        .route("/panic", get(panics))
        .route(
            "/body",
            axum::routing::post(|body: String| async move { body }),
        )
}

/// The answer to what was written: everything until its body is complete, or until the end.
async fn read_answer(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut answer = Vec::new();
    while !complete(&answer) {
        if stream.read_buf(&mut answer).await.unwrap_or(0) == 0 {
            break;
        }
    }
    String::from_utf8(answer).unwrap()
}

fn complete(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    length.is_some_and(|length| body.len() >= length.parse().unwrap())
}

async fn ask(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), request: &[u8]) -> String {
    stream.write_all(request).await.unwrap();
    stream.flush().await.unwrap();
    read_answer(stream).await
}

/// A connection in memory, so that the clock may be paused.
fn in_memory(server: &Server) -> (DuplexStream, JoinHandle<()>) {
    let (client, stream) = duplex(1024);
    let server = server.clone();
    let peer = "10.0.0.1:4711".parse().unwrap();
    (
        client,
        tokio::spawn(async move { server.http(stream, peer, router()).await }),
    )
}

#[tokio::test(start_paused = true)]
async fn a_head_that_trickles_in_is_cut() {
    let (server, registry) = server(Limits::admission());
    let (mut client, connection) = in_memory(&server);
    let start = Instant::now();
    for byte in GET {
        if client.write_all(&[*byte]).await.is_err() {
            break;
        }
        sleep(Duration::from_millis(999)).await;
    }
    connection.await.unwrap();
    assert_eq!(read_answer(&mut client).await, "");
    assert!(
        (5..7).contains(&start.elapsed().as_secs()),
        "{:?}",
        start.elapsed()
    );
    assert!(count(
        &registry,
        r#"turned_away_total{port="admission",reason="slow-head"} 1"#
    ));
}

#[tokio::test(start_paused = true)]
async fn a_pause_between_requests_is_longer_than_a_head_may_take() {
    let (server, _) = server(Limits {
        age: Duration::from_secs(3600),
        ..Limits::admission()
    });
    let (mut client, connection) = in_memory(&server);
    for _ in 0..3 {
        sleep(Duration::from_secs(100)).await;
        let answer = ask(&mut client, GET).await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("hello 10.0.0.1"),
            "{answer}"
        );
    }
    let start = Instant::now();
    connection.await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 120, "the idle limit");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_in_is_answered_503() {
    let (server, registry) = server(Limits::admission());
    let (mut client, _connection) = in_memory(&server);
    let start = Instant::now();
    let head = b"POST /body HTTP/1.1\r\nHost: sluice\r\nContent-Length: 10\r\n\r\nabc";
    let answer = ask(&mut client, head).await;
    assert!(
        answer.starts_with("HTTP/1.1 503") && answer.contains("connection: close"),
        "{answer}"
    );
    assert_eq!(start.elapsed().as_secs(), 10);
    assert!(count(
        &registry,
        r#"turned_away_total{port="admission",reason="slow-request"} 1"#
    ));
}

#[tokio::test(start_paused = true)]
async fn a_panic_costs_one_request_its_answer() {
    let (server, registry) = server(Limits::admission());
    let (mut client, _connection) = in_memory(&server);
    let answer = ask(&mut client, b"GET /panic HTTP/1.1\r\nHost: sluice\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    assert!(ask(&mut client, GET).await.starts_with("HTTP/1.1 200"));
    assert!(count(&registry, r#"panics_total{port="admission"} 1"#));
}

#[tokio::test(start_paused = true)]
async fn an_old_connection_is_closed_with_an_answer() {
    let (server, _) = server(Limits::admission());
    let (mut client, connection) = in_memory(&server);
    sleep(Duration::from_secs(59)).await;
    assert!(!ask(&mut client, GET).await.contains("connection: close"));
    sleep(Duration::from_secs(62)).await;
    assert!(!connection.is_finished(), "nothing is closed in a pause");
    assert!(ask(&mut client, GET).await.contains("connection: close"));
    connection.await.unwrap();
}

#[test]
fn ages_are_spread_over_the_second_half() {
    let most = Duration::from_secs(120);
    let ages: Vec<Duration> = (0..200).map(|_| draw_age(most)).collect();
    assert!(
        ages.iter().all(|age| (most / 2..=most).contains(age)),
        "{ages:?}"
    );
    let old = ages.iter().filter(|age| **age > most * 3 / 4).count();
    assert!((50..150).contains(&old), "{old} of 200 in the last quarter");
}

/// A server on a loopback port.
struct Running {
    address: SocketAddr,
    shutdown: Shutdown,
    serving: JoinHandle<()>,
}

async fn start(server: Server, router: Router) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shutdown = server.shutdown.clone();
    Running {
        address,
        shutdown,
        serving: tokio::spawn(server.serve(listener, router)),
    }
}

fn ca() -> Ca {
    Ca::generate(Timestamp::now(), SignedDuration::from_hours(24)).unwrap()
}

fn leaf(ca: &Ca) -> Leaf {
    Leaf::issue(
        ca,
        &[NAME.to_owned()],
        Timestamp::now(),
        SignedDuration::from_hours(1),
    )
    .unwrap()
}

async fn tls(
    address: SocketAddr,
    roots: &[&CertificateDer<'static>],
) -> io::Result<TlsStream<TcpStream>> {
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add((*root).clone()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(store)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config))
        .connect(ServerName::try_from(NAME).unwrap(), stream)
        .await
}

#[tokio::test]
async fn a_new_leaf_is_served_to_new_connections() {
    let (old, new) = (ca(), ca());
    let resolver = Resolver::new();
    let (plain, registry) = server(Limits::admission());
    let server = Server {
        tls: Some(resolver.server_config().unwrap()),
        ..plain
    };
    let Running { address, .. } = start(server, router()).await;

    assert!(
        tls(address, &[old.certificate()]).await.is_err(),
        "no leaf yet"
    );
    resolver.set(&leaf(&old));
    let mut first = tls(address, &[old.certificate()]).await.unwrap();
    assert!(ask(&mut first, GET).await.ends_with("hello 127.0.0.1"));

    resolver.set(&leaf(&new));
    assert!(
        tls(address, &[old.certificate()]).await.is_err(),
        "the new leaf is not from the old CA"
    );
    let mut second = tls(address, &[old.certificate(), new.certificate()])
        .await
        .unwrap();
    assert!(ask(&mut second, GET).await.ends_with("hello 127.0.0.1"));
    assert!(
        ask(&mut first, GET).await.ends_with("hello 127.0.0.1"),
        "the old connection lives on"
    );
    assert!(count(
        &registry,
        r#"turned_away_total{port="admission",reason="handshake"} 2"#
    ));
}

#[tokio::test]
async fn a_client_that_does_not_speak_is_dropped_at_the_handshake() {
    let resolver = Resolver::new();
    let limits = Limits {
        handshake: Duration::from_millis(20),
        ..Limits::admission()
    };
    let (plain, registry) = server(limits);
    let Running { address, .. } = start(
        Server {
            tls: Some(resolver.server_config().unwrap()),
            ..plain
        },
        router(),
    )
    .await;
    let mut silent = TcpStream::connect(address).await.unwrap();
    assert_eq!(silent.read(&mut [0; 16]).await.unwrap_or(0), 0);
    assert!(count(
        &registry,
        r#"turned_away_total{port="admission",reason="handshake"} 1"#
    ));
}

#[tokio::test]
async fn a_crowd_from_one_address_is_turned_away() {
    let (server, registry) = server(Limits {
        per_client: 2,
        ..Limits::admission()
    });
    let Running { address, .. } = start(server, router()).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert!(ask(&mut stream, GET).await.starts_with("HTTP/1.1 200"));
        held.push(stream);
    }
    let mut third = TcpStream::connect(address).await.unwrap();
    assert_eq!(third.read(&mut [0; 16]).await.unwrap_or(0), 0);
    assert!(count(
        &registry,
        r#"turned_away_total{port="admission",reason="crowded"} 1"#
    ));
    assert!(ask(&mut held[0], GET).await.starts_with("HTTP/1.1 200"));
}

/// A route that says when it was reached and answers when it is told to.
fn held_back() -> (Router, Arc<Notify>, Arc<Notify>) {
    let (reached, go) = (Arc::<Notify>::default(), Arc::<Notify>::default());
    let handler = {
        let (reached, go) = (Arc::clone(&reached), Arc::clone(&go));
        || async move {
            reached.notify_one();
            go.notified().await;
            "late"
        }
    };
    (router().route("/held", get(handler)), reached, go)
}

const GET_HELD: &[u8] = b"GET /held HTTP/1.1\r\nHost: sluice\r\n\r\n";

#[tokio::test]
async fn a_replica_that_leaves_answers_and_closes() {
    let ca = ca();
    let resolver = Resolver::new();
    resolver.set(&leaf(&ca));
    let (plain, _) = server(Limits::admission());
    let server = Server {
        tls: Some(resolver.server_config().unwrap()),
        ..plain
    };
    let (router, reached, go) = held_back();
    let Running {
        address,
        shutdown,
        serving,
    } = start(server, router).await;

    let mut idle = tls(address, &[ca.certificate()]).await.unwrap();
    assert!(!ask(&mut idle, GET).await.contains("connection: close"));
    let mut busy = tls(address, &[ca.certificate()]).await.unwrap();
    busy.write_all(GET_HELD).await.unwrap();
    reached.notified().await;

    shutdown.leave();
    let mut late = tls(address, &[ca.certificate()]).await.unwrap();
    let answer = ask(&mut late, GET).await;
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"),
        "{answer}"
    );

    shutdown.drain();
    assert_eq!(
        idle.read(&mut [0; 16]).await.unwrap_or(0),
        0,
        "an idle connection is closed"
    );
    while TcpStream::connect(address).await.is_ok() {}
    assert!(!serving.is_finished(), "a request is still being answered");
    go.notify_one();
    let answer = read_answer(&mut busy).await;
    assert!(
        answer.ends_with("late") && answer.contains("connection: close"),
        "{answer}"
    );
    serving.await.unwrap();
}

#[tokio::test]
async fn aborting_cuts_what_is_left() {
    let (server, registry) = server(Limits::admission());
    let (router, reached, _go) = held_back();
    let Running {
        address,
        shutdown,
        serving,
    } = start(server, router).await;
    let mut busy = TcpStream::connect(address).await.unwrap();
    busy.write_all(GET_HELD).await.unwrap();
    reached.notified().await;
    shutdown.abort();
    serving.await.unwrap();
    assert_eq!(read_answer(&mut busy).await, "");
    assert!(count(
        &registry,
        r#"turned_away_total{port="admission",reason="aborted"} 1"#
    ));
}
