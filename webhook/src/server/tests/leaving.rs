//! Tests of a server whose process leaves, or is told to stop at once.

use super::*;
use tokio::sync::Notify;

/// A route that notifies when it is reached, and answers when it is notified.
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
    for port in BOTH {
        let ca = ca();
        let resolver = Resolver::new();
        resolver.set(&leaf(&ca));
        let (plain, _) = on(port, ServerLimits::admission());
        let server = Server {
            tls: Some(resolver.config_for_gates().unwrap()),
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
}

#[tokio::test]
async fn aborting_cuts_what_is_left() {
    for port in BOTH {
        let (server, registry) = on(port, ServerLimits::admission());
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
        assert!(turned(&registry, "aborted", 1));
    }
}
