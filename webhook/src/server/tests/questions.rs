//! The port for questions: the requests that it reads and those that it refuses.

use super::*;
use crate::server::questions::HEADERS;
use axum::body::{Body, Bytes};
use futures::stream::{self, StreamExt};
use std::time::Duration;
use tokio::io::{DuplexStream, duplex};

/// Starts a server for questions on a connection in memory. Returns the client's end, the task that serves, and the metrics.
fn question(routes: Router, limits: ServerLimits) -> (DuplexStream, JoinHandle<()>, Registry) {
    let (server, registry) = on(Port::Status, limits);
    let (client, stream) = duplex(64 * 1024);
    let caller = Caller::new("10.0.0.1:4711".parse().unwrap(), None, routes);
    let serving = tokio::spawn(async move { server.http(stream, caller).await });
    (client, serving, registry)
}

/// Sends a text to the server for questions, and returns everything that it sends until the connection ends.
async fn told(sent: &str) -> String {
    let (mut client, serving, _) = question(router(), ServerLimits::status());
    client.write_all(sent.as_bytes()).await.unwrap();
    let mut told = String::new();
    client.read_to_string(&mut told).await.unwrap();
    serving.await.unwrap();
    told
}

#[tokio::test(start_paused = true)]
async fn one_question_after_the_other_is_answered() {
    let (mut client, _serving, _) = question(router(), ServerLimits::status());
    for head in [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
        "GET /?a=b HTTP/1.1\r\ncontent-length: 0\r\n\r\n".to_owned(),
        format!(
            "GET / HTTP/1.1\r\nAuthorization: Bearer {}\r\n\r\n",
            "x".repeat(4000)
        ),
    ] {
        let answer = ask(&mut client, head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nhello 10.0.0.1"), "{answer}");
        assert!(!answer.contains("connection: close"), "{answer}");
    }
    assert!(
        ask(&mut client, b"GET /no HTTP/1.1\r\n\r\n")
            .await
            .starts_with("HTTP/1.1 404 ")
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_no_question_is_refused_and_ends_the_connection() {
    let many = "A: b\r\n".repeat(HEADERS + 1);
    let (long, endless) = ("x".repeat(20_000), "x".repeat(16 * 1024));
    for (sent, code) in [
        ("hello\r\n\r\n".to_owned(), "400 "),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n".to_owned(), "400 "),
        ("GET /\u{e9} HTTP/1.1\r\nA:\0\r\n\r\n".to_owned(), "400 "),
        ("GET  HTTP/1.1\r\n\r\n".to_owned(), "400 "),
        ("GET / HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n".to_owned(), "400 "),
        ("GET / HTTP/1.1\r\nA : b\r\n\r\n".to_owned(), "400 "),
        ("GET / HTTP/1.1\r\nA: b\nc: d\r\n\r\n".to_owned(), "400 "),
        ("GET / HTTP/1.1 x\r\n\r\n".to_owned(), "400 "),
        ("GET / HTTP/1.0\r\n\r\n".to_owned(), "505 "),
        (format!("GET / HTTP/1.1\r\n{many}\r\n"), "431 "),
        (format!("GET / HTTP/1.1\r\nA: {long}\r\n\r\n"), "431 "),
        (endless, "431 "),
        // The body is not read.
        (
            "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello".to_owned(),
            "405 ",
        ),
        (
            "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello".to_owned(),
            "200 ",
        ),
        (
            "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n".to_owned(),
            "200 ",
        ),
        (
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(),
            "200 ",
        ),
        (
            "GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n".to_owned(),
            "200 ",
        ),
        // A second request that is sent before the answer is not read either.
        (
            "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n".to_owned(),
            "200 ",
        ),
    ] {
        let told = told(&sent).await;
        assert!(
            told.starts_with(&format!("HTTP/1.1 {code}")),
            "{sent:.80} {told}"
        );
        assert_eq!(told.matches("HTTP/1.1").count(), 1, "{told}");
        assert!(told.contains("connection: close\r\n"), "{told}");
    }
}

/// Returns a route whose answer is a stream, and the sender of its parts. The part `panic` makes the stream panic.
fn bits() -> (
    Router,
    tokio::sync::mpsc::UnboundedSender<Result<&'static str, io::Error>>,
) {
    let (send, receive) = tokio::sync::mpsc::unbounded_channel();
    let receive = Arc::new(tokio::sync::Mutex::new(receive));
    let bits = async move || {
        let bits = stream::unfold(receive, async |receive| {
            let bit = receive.lock().await.recv().await?;
            assert!(!matches!(bit, Ok("panic")), "on purpose");
            Some((bit.map(Bytes::from), receive))
        });
        Body::from_stream(bits.boxed())
    };
    (Router::new().route("/", get(bits)), send)
}

#[tokio::test(start_paused = true)]
async fn each_part_is_sent_when_it_is_there() {
    let (routes, send) = bits();
    let (mut client, _serving, _) = question(routes, ServerLimits::status());
    client.write_all(GET).await.unwrap();
    let mut told = Vec::new();
    for (bit, sent) in [(" ", "\r\n\r\n1\r\n \r\n"), ("", ""), ("{}", "2\r\n{}\r\n")] {
        tokio::time::sleep(Duration::from_secs(20)).await;
        send.send(Ok(bit)).unwrap();
        while !told.ends_with(sent.as_bytes()) {
            client.read_buf(&mut told).await.unwrap();
        }
    }
    drop(send);
    while !told.ends_with(b"0\r\n\r\n") {
        client.read_buf(&mut told).await.unwrap();
    }
    let text = String::from_utf8(told).unwrap();
    assert!(text.contains("transfer-encoding: chunked\r\n"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn what_fails_on_the_way_is_not_ended_as_if_it_were_whole() {
    for (last, panics) in [(Err(io::Error::other("no")), false), (Ok("panic"), true)] {
        let (routes, send) = bits();
        let (mut client, serving, registry) = question(routes, ServerLimits::status());
        client.write_all(GET).await.unwrap();
        send.send(Ok(" ")).unwrap();
        send.send(last).unwrap();
        let mut told = String::new();
        client.read_to_string(&mut told).await.unwrap();
        assert!(!told.contains("0\r\n\r\n"), "{told}");
        serving.await.unwrap();
        assert!(turned(&registry, "broken", 1));
        assert_eq!(count(&registry, r#"panics_total{port="status"} 1"#), panics);
    }
}

#[tokio::test(start_paused = true)]
async fn who_leaves_or_asks_again_before_the_answer_is_let_go_at_once() {
    for (begun, more) in [(false, ""), (false, "GET"), (true, ""), (true, "G")] {
        let (routes, send) = bits();
        let routes = routes.route("/held", get(std::future::pending::<()>));
        let (mut client, serving, registry) = question(routes, ServerLimits::status());
        let start = Instant::now();
        if begun {
            client.write_all(GET).await.unwrap();
            send.send(Ok(" ")).unwrap();
            while !client.read_u8().await.unwrap().eq(&b'1') {}
        } else {
            client
                .write_all(b"GET /held HTTP/1.1\r\n\r\n")
                .await
                .unwrap();
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        client.write_all(more.as_bytes()).await.unwrap();
        if more.is_empty() {
            drop(client);
        }
        serving.await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 1);
        assert!(turned(&registry, "broken", 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_not_used_ends_after_a_while() {
    let (mut client, serving, _) = question(router(), ServerLimits::status());
    assert!(ask(&mut client, GET).await.starts_with("HTTP/1.1 200"));
    let start = Instant::now();
    serving.await.unwrap();
    assert_eq!(start.elapsed(), ServerLimits::status().idle);
}
