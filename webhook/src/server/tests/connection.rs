//! One connection: its pace, its idle time, its age, and the number of connections of one client.

use super::*;
use std::time::Duration;
use tokio::io::{DuplexStream, duplex};
use tokio::time::{Instant, sleep};

/// Starts the server on a connection in memory, so that the clock may be paused. Returns the client's end, and the task that serves.
fn in_memory(server: &Server) -> (DuplexStream, JoinHandle<()>) {
    let (client, stream) = duplex(1024);
    let server = server.clone();
    let peer = "10.0.0.1:4711".parse().unwrap();
    (
        client,
        tokio::spawn(async move { server.http(stream, Caller::new(peer, None, router())).await }),
    )
}

#[tokio::test(start_paused = true)]
async fn a_head_that_trickles_in_is_cut() {
    for port in BOTH {
        let (server, registry) = on(port, ServerLimits::admission());
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
        assert!(turned(&registry, "slow-head", 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_is_cut_and_so_is_one_that_never_ends_its_first_head() {
    for port in BOTH {
        for head in ["", "GET / HTTP/1.1\r\nX: "] {
            let (server, registry) = on(port, ServerLimits::status());
            let (mut client, connection) = in_memory(&server);
            let start = Instant::now();
            sleep(Duration::from_secs(3)).await;
            client.write_all(head.as_bytes()).await.unwrap();
            connection.await.unwrap();
            assert_eq!(start.elapsed().as_secs(), 5, "{head}");
            assert_eq!(
                turned(&registry, "slow-head", 1),
                !head.is_empty(),
                "{head}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_read_a_byte_at_a_time_is_cut() {
    for port in BOTH {
        let (server, registry) = on(port, ServerLimits::status());
        let (mut client, connection) = in_memory(&server);
        let start = Instant::now();
        client
            .write_all(b"GET /much HTTP/1.1\r\nHost: a\r\n\r\n")
            .await
            .unwrap();
        while !connection.is_finished() {
            let _ = client.read_u8().await;
            sleep(Duration::from_secs(1)).await;
        }
        assert_eq!(
            start.elapsed().as_secs(),
            11,
            "the limit, and the pause that it fell into"
        );
        assert!(turned(&registry, "unread", 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_between_requests_is_longer_than_a_head_may_take() {
    for port in BOTH {
        let (server, _) = on(
            port,
            ServerLimits {
                age: Duration::from_secs(3600),
                ..ServerLimits::admission()
            },
        );
        let (mut client, connection) = in_memory(&server);
        for _ in 0..3 {
            sleep(Duration::from_secs(100)).await; // also before the first request
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
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_in_is_answered_503() {
    let (server, registry) = server(ServerLimits::admission());
    let (mut client, _connection) = in_memory(&server);
    let start = Instant::now();
    let head = b"POST /body HTTP/1.1\r\nHost: sluice\r\nContent-Length: 10\r\n\r\nabc";
    let answer = ask(&mut client, head).await;
    assert!(
        answer.starts_with("HTTP/1.1 503") && answer.contains("connection: close"),
        "{answer}"
    );
    assert_eq!(start.elapsed().as_secs(), 10);
    assert!(turned(&registry, "slow-request", 1));
}

#[tokio::test(start_paused = true)]
async fn a_panic_costs_one_request_its_answer() {
    for port in BOTH {
        let (server, registry) = on(port, ServerLimits::admission());
        let (mut client, _connection) = in_memory(&server);
        let answer = ask(&mut client, b"GET /panic HTTP/1.1\r\nHost: sluice\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
        assert!(ask(&mut client, GET).await.starts_with("HTTP/1.1 200"));
        let panics = format!(r#"panics_total{{port="{}"}} 1"#, port.label());
        assert!(count(&registry, &panics));
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_connection_is_closed_with_an_answer() {
    for port in BOTH {
        let (server, _) = on(port, ServerLimits::admission());
        let (mut client, connection) = in_memory(&server);
        sleep(Duration::from_secs(59)).await;
        assert!(!ask(&mut client, GET).await.contains("connection: close"));
        sleep(Duration::from_secs(62)).await;
        assert!(!connection.is_finished(), "nothing is closed in a pause");
        assert!(ask(&mut client, GET).await.contains("connection: close"));
        connection.await.unwrap();
    }
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
