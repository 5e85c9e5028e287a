//! The TLS handshake: the served leaf, and the clients that are dropped.

use super::*;
use crate::connections::Certified;
use axum::Extension;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use rustls::{HandshakeKind, pki_types::PrivateKeyDer};
use std::time::Duration;

#[tokio::test]
async fn a_new_leaf_is_served_to_new_connections() {
    for port in BOTH {
        let (old, new) = (ca(), ca());
        let resolver = Resolver::new();
        let (plain, registry) = on(port, ServerLimits::admission());
        let server = Server {
            tls: Some(resolver.config_for_gates().unwrap()),
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
        assert!(turned(&registry, "handshake", 2));
    }
}

#[tokio::test]
async fn a_session_goes_on_until_the_leaf_is_replaced() {
    let ca = ca();
    let resolver = Resolver::new();
    resolver.set(&leaf(&ca));
    let (plain, _) = server(ServerLimits::status());
    let server = Server {
        tls: Some(resolver.config_for_gates().unwrap()),
        ..plain
    };
    let Running { address, .. } = start(server, router()).await;
    let client = TlsConnector::from(client_config(&[ca.certificate()]));
    let kind = async || {
        let stream = TcpStream::connect(address).await.unwrap();
        let name = ServerName::try_from(NAME).unwrap();
        let mut stream = client.connect(name, stream).await.unwrap();
        assert!(ask(&mut stream, GET).await.ends_with("hello 127.0.0.1"));
        stream.get_ref().1.handshake_kind().unwrap()
    };
    assert_eq!(kind().await, HandshakeKind::Full);
    assert_eq!(kind().await, HandshakeKind::Resumed);
    assert_eq!(kind().await, HandshakeKind::Resumed);
    resolver.set(&leaf(&ca));
    assert_eq!(kind().await, HandshakeKind::Full);
    assert_eq!(kind().await, HandshakeKind::Resumed);
}

/// The port of admission resumes no TLS session: a resumed one would prove the client's certificate for as long as the client likes.
#[tokio::test]
async fn an_api_server_shakes_hands_each_time() {
    let (ca, clients) = (ca(), issuer());
    let resolver = Resolver::new();
    resolver.set(&leaf(&ca));
    let (plain, _) = server(ServerLimits::admission());
    for may_show in [vec![], vec![clients.der().clone()]] {
        let server = Server {
            tls: Some(resolver.config_for_api_servers(&may_show).unwrap()),
            ..plain.clone()
        };
        let Running { address, .. } = start(server, router()).await;
        let client = TlsConnector::from(client_config(&[ca.certificate()]));
        for _ in 0..2 {
            let stream = TcpStream::connect(address).await.unwrap();
            let name = ServerName::try_from(NAME).unwrap();
            let mut stream = client.connect(name, stream).await.unwrap();
            assert!(ask(&mut stream, GET).await.ends_with("hello 127.0.0.1"));
            let kind = stream.get_ref().1.handshake_kind();
            assert_eq!(kind, Some(HandshakeKind::Full));
        }
    }
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
            tls: Some(resolver.config_for_gates().unwrap()),
            ..plain
        },
        router(),
    )
    .await;
    let mut silent = TcpStream::connect(address).await.unwrap();
    assert_eq!(silent.read(&mut [0; 16]).await.unwrap_or(0), 0);
    assert!(turned(&registry, "handshake", 1));
}

/// Makes a CA that signs the certificates of clients.
fn issuer() -> CertifiedIssuer<'static, KeyPair> {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
}

/// Connects with a client certificate that `by` has signed, or with none, sends a request, and returns the answer.
async fn shown(
    address: SocketAddr,
    server: &Ca,
    by: Option<&CertifiedIssuer<'_, KeyPair>>,
) -> io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(server.certificate().clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match by {
        None => builder.with_no_client_auth(),
        Some(issuer) => {
            let mut parameters = CertificateParams::default();
            parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
            let key = KeyPair::generate().unwrap();
            let certificate = parameters.signed_by(&key, issuer).unwrap();
            let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
            let chain = vec![certificate.der().clone()];
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(NAME).unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let mut stream = connector.connect(name, stream).await?;
    stream
        .write_all(b"GET /shown HTTP/1.1\r\nHost: a\r\n\r\n")
        .await?;
    Ok(read_answer(&mut stream).await)
}

#[tokio::test]
async fn a_client_proves_itself_by_its_certificate_or_is_served_as_anybody() {
    let (ca, clients, others) = (ca(), issuer(), issuer());
    let resolver = Resolver::new();
    resolver.set(&leaf(&ca));
    let (plain, _) = server(ServerLimits::admission());
    let tls = resolver.config_for_api_servers(&[clients.der().clone()]);
    let server = Server {
        tls: Some(tls.unwrap()),
        ..plain
    };
    let routes = router().route(
        "/shown",
        get(async |shown: Option<Extension<Certified>>| shown.is_some().to_string()),
    );
    let Running { address, .. } = start(server, routes).await;
    let told = shown(address, &ca, Some(&clients)).await.unwrap();
    assert!(told.ends_with("true"), "{told}");
    let told = shown(address, &ca, None).await.unwrap();
    assert!(told.ends_with("false"), "{told}");
    let told = shown(address, &ca, Some(&others)).await;
    assert_eq!(told.unwrap_or_default(), "", "of somebody else");
}
