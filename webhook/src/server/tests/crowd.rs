//! More clients than places: the answers, the cut connections, and the counters.

use super::*;
use crate::connections::Bounds;
use axum::body::Body;
use futures::stream::{self, StreamExt};
use std::convert::Infallible;
use std::time::Duration;
use tokio::net::TcpSocket;
use tokio::sync::Semaphore;

/// The limits of the status port, but with few places, so that a small crowd fills them, and an hour for the first request.
fn few(all: usize, per_client: usize) -> ServerLimits {
    ServerLimits {
        connections: Bounds {
            all,
            per_client,
            sharing: 1,
        },
        first: Duration::from_secs(3600),
        ..ServerLimits::status()
    }
}

/// Connects to `to` from the loopback address 127.0.0.`host`, which counts as a client of its own.
async fn from(host: u8, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, host], 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

/// Answers `/proven` as a valid request, and `/held` only after `go` gets a permit. `reached` gets a permit when
/// `/held` is called.
fn proving(reached: &Arc<Semaphore>, go: &Arc<Semaphore>) -> Router {
    let (reached, held) = (Arc::clone(reached), Arc::clone(go));
    router()
        .route("/proven", get(async |Proven: Proven| "yes"))
        .route(
            "/held",
            get(async move |Proven: Proven| {
                reached.add_permits(1);
                held.acquire().await.unwrap().forget();
                "late"
            }),
        )
}

fn none() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(0))
}

/// An extractor that marks its request as valid, as a handler does.
struct Proven;

impl<S: Send + Sync> axum::extract::FromRequestParts<S> for Proven {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        _: &S,
    ) -> Result<Self, Infallible> {
        crate::connections::valid(&parts.extensions);
        Ok(Self)
    }
}

const GET_PROVEN: &[u8] = b"GET /proven HTTP/1.1\r\nHost: sluice\r\n\r\n";
const GET_HELD: &[u8] = b"GET /held HTTP/1.1\r\nHost: sluice\r\n\r\n";

async fn is_closed(stream: &mut TcpStream) -> bool {
    stream.read(&mut [0; 16]).await.unwrap_or(0) == 0
}

#[tokio::test]
async fn an_idle_crowd_from_many_addresses_keeps_nobody_out() {
    for port in BOTH {
        let (server, registry) = on(port, few(64, 16));
        let Running { address, .. } = start(server, proving(&none(), &none())).await;
        let mut proven = from(200, address).await;
        assert!(ask(&mut proven, GET_PROVEN).await.ends_with("yes"));
        let mut crowd = Vec::new();
        for number in 0..300_usize {
            let mut one = from(2 + u8::try_from(number % 100).unwrap(), address).await;
            // Some clients say nothing, some begin a head, some ask for an unknown path.
            match number % 3 {
                0 => {}
                1 => one.write_all(b"GET / HTTP/1.1\r\nX-Slow: ").await.unwrap(),
                _ => assert!(
                    ask(&mut one, b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
                        .await
                        .starts_with("HTTP/1.1 404")
                ),
            }
            crowd.push(one);
        }
        let mut fresh = from(201, address).await;
        assert!(ask(&mut fresh, GET_PROVEN).await.ends_with("yes"));
        assert!(ask(&mut proven, GET_PROVEN).await.ends_with("yes"));
        assert!(is_closed(&mut crowd[0]).await, "the oldest is gone");
        assert!(turned(&registry, "outranked", 238));
    }
}

#[tokio::test]
async fn a_crowd_from_one_address_turns_its_own_away() {
    for port in BOTH {
        let (server, registry) = on(port, few(64, 2));
        let Running { address, .. } = start(server, proving(&none(), &none())).await;
        let mut held = [from(2, address).await, from(2, address).await];
        for stream in &mut held {
            assert!(ask(stream, GET_PROVEN).await.ends_with("yes"));
        }
        let mut other = from(3, address).await;
        let mut third = from(2, address).await;
        assert!(ask(&mut third, GET_PROVEN).await.ends_with("yes"));
        assert!(is_closed(&mut held[0]).await, "the longest idle");
        assert!(ask(&mut held[1], GET_PROVEN).await.ends_with("yes"));
        assert!(ask(&mut other, GET_PROVEN).await.ends_with("yes"));
        assert!(turned(&registry, "crowded", 1));
    }
}

#[tokio::test]
async fn what_is_being_answered_stays_and_a_newcomer_is_told_why() {
    for port in BOTH {
        let (server, registry) = on(port, few(2, 2));
        let (reached, go) = (none(), none());
        let Running { address, .. } = start(server, proving(&reached, &go)).await;
        let mut held = [from(2, address).await, from(3, address).await];
        for stream in &mut held {
            stream.write_all(GET_HELD).await.unwrap();
        }
        let _both = reached.acquire_many(2).await.unwrap();
        let mut late = from(4, address).await;
        let answer = ask(&mut late, GET_PROVEN).await;
        assert!(turned(&registry, "full", 1));
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        assert!(answer.contains("as many requests as it can"), "{answer}");
        go.add_permits(2);
        for stream in &mut held {
            assert!(read_answer(stream).await.ends_with("late"));
        }
        let mut next = from(4, address).await;
        assert!(ask(&mut next, GET_PROVEN).await.ends_with("yes"));
    }
}

#[tokio::test]
async fn an_answer_that_comes_bit_by_bit_is_being_answered_until_its_end() {
    let (server, registry) = on(Port::Status, few(1, 1));
    let go = none();
    let end = Arc::clone(&go);
    let bits = async move |_: Proven| {
        let last = async move {
            end.acquire().await.unwrap().forget();
            Ok("end")
        };
        let bits = stream::once(async { Ok::<_, Infallible>("bit") }).chain(stream::once(last));
        Body::from_stream(bits)
    };
    let routes = proving(&none(), &none()).route("/bits", get(bits));
    let Running { address, .. } = start(server, routes).await;
    let mut slow = from(2, address).await;
    slow.write_all(b"GET /bits HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .unwrap();
    let mut begun = Vec::new();
    while !begun.ends_with(b"bit\r\n") {
        slow.read_buf(&mut begun).await.unwrap();
    }
    let mut other = from(3, address).await;
    assert!(ask(&mut other, GET).await.starts_with("HTTP/1.1 503"));
    go.add_permits(1);
    while !begun.ends_with(b"end\r\n0\r\n\r\n") {
        slow.read_buf(&mut begun).await.unwrap();
    }
    while !ask(&mut from(3, address).await, GET)
        .await
        .starts_with("HTTP/1.1 200")
    {}
    assert!(turned(&registry, "outranked", 1));
}

#[tokio::test]
async fn who_does_not_acknowledge_is_given_up() {
    let (server, _) = server(ServerLimits::status());
    let listener = server.listen(0).unwrap();
    let port = listener.local_addr().unwrap().port();
    let _client = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
        .await
        .unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    let limit = SockRef::from(&accepted).tcp_user_timeout().unwrap();
    assert_eq!(limit, Some(UNACKNOWLEDGED));
}

#[tokio::test]
async fn a_reader_that_never_reads_is_cut() {
    for port in BOTH {
        let limits = ServerLimits {
            answer: Duration::from_millis(50),
            ..ServerLimits::status()
        };
        let (server, registry) = on(port, limits);
        let much = "x".repeat(32 << 20);
        let routes = router().route("/deaf", get(async move || much));
        let Running { address, .. } = start(server, routes).await;
        let mut deaf = from(2, address).await;
        deaf.write_all(b"GET /deaf HTTP/1.1\r\nHost: sluice\r\n\r\n")
            .await
            .unwrap();
        while !turned(&registry, "unread", 1) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let mut hears = from(3, address).await;
        assert!(ask(&mut hears, GET).await.starts_with("HTTP/1.1 200"));
    }
}

#[test]
fn connections_fit_into_the_memory_there_is() {
    let mib = 1 << 20;
    let status = ServerLimits::status();
    let fitting = |bytes| status.within(bytes).connections.all;
    assert_eq!(fitting(160 * mib), 2560);
    assert_eq!(fitting(mib * mib), 8192);
    assert_eq!(fitting(0), 1);
}

/// The number of connections that the kernel queues for a listening port.
fn waiting_with_the_kernel(port: u16) -> u32 {
    let sockets = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let listens = format!(":{port:04X} 00000000:0000 0A ");
    let (_, rest) = sockets.split_once(&listens).unwrap();
    let (_, received) = rest.split(' ').next().unwrap().split_once(':').unwrap();
    u32::from_str_radix(received, 16).unwrap()
}

#[tokio::test]
async fn of_a_crowd_who_is_accepted_is_answered_before_the_next_one_is_accepted() {
    let (server, _) = server(few(1000, 1000));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = listener.local_addr().unwrap();
    let mut crowd = Vec::new();
    for _ in 0..100 {
        let mut client = TcpStream::connect(to).await.unwrap();
        client.write_all(GET).await.unwrap();
        crowd.push(client);
    }
    let waiting = get(async move || waiting_with_the_kernel(to.port()).to_string());
    tokio::spawn(server.serve(listener, Router::new().route("/", waiting)));
    for (number, client) in crowd.iter_mut().enumerate() {
        let answer = read_answer(client).await;
        let waiting: usize = answer.lines().last().unwrap().parse().unwrap();
        assert!(
            waiting + number >= 90,
            "{waiting} wait when {number} are answered"
        );
    }
}
