//! Tests of the server, with clients that behave well and badly.

mod connection;
mod crowd;
mod handshake;
mod leaving;
mod questions;
mod threads;

use super::*;
use axum::{Router, extract::ConnectInfo, routing::get};
use certs::{Ca, Leaf, Resolver};
use jiff::{SignedDuration, Timestamp};
use prometheus_client::{encoding::text::encode, registry::Registry};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use std::sync::Arc;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

const NAME: &str = "sluice.sluice-system.svc";
const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: sluice\r\n\r\n";

/// A port for any request, and a port for questions.
const BOTH: [Port; 2] = [Port::Admission, Port::Status];

fn server(limits: ServerLimits) -> (Server, Registry) {
    on(Port::Admission, limits)
}

fn on(port: Port, limits: ServerLimits) -> (Server, Registry) {
    let mut registry = Registry::default();
    let metrics = ServerMetrics::register(&mut registry);
    (
        Server {
            port,
            tls: None,
            limits,
            metrics,
            shutdown: Shutdown::default(),
            alarm: MemoryAlarm::default(),
        },
        registry,
    )
}

fn count(registry: &Registry, line: &str) -> bool {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    text.lines().any(|found| found == line)
}

/// Returns whether the metrics of one port say that `times` clients were turned away for this reason.
fn turned(registry: &Registry, reason: &str, times: u32) -> bool {
    BOTH.map(Port::label).iter().any(|port| {
        let line = format!(r#"turned_away_total{{port="{port}",reason="{reason}"}} {times}"#);
        count(registry, &line)
    })
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
        .route("/much", get(async || "x".repeat(8 * 1024)))
        .route(
            "/body",
            axum::routing::post(|body: String| async move { body }),
        )
}

/// Reads an answer until its body is complete, or the stream ends.
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

/// A server that runs on a loopback port, with its shutdown and its task.
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

fn client_config(roots: &[&CertificateDer<'static>]) -> Arc<ClientConfig> {
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add((*root).clone()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(store)
        .with_no_client_auth();
    Arc::new(config)
}

async fn tls(
    address: SocketAddr,
    roots: &[&CertificateDer<'static>],
) -> io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(client_config(roots))
        .connect(ServerName::try_from(NAME).unwrap(), stream)
        .await
}
