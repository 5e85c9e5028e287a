//! The TLS handshake: which leaf is served, and who is dropped.

use super::*;
use std::time::Duration;

#[tokio::test]
async fn a_new_leaf_is_served_to_new_connections() {
    let (old, new) = (ca(), ca());
    let resolver = Resolver::new();
    let (plain, registry) = server(ServerLimits::admission());
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
    let limits = ServerLimits {
        handshake: Duration::from_millis(20),
        ..ServerLimits::admission()
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
