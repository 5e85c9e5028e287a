//! The leaf behind a TLS listener, swapped without a restart.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use jiff::Timestamp;
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::CertificateDer,
    server::{
        ClientHello, NoServerSessionStorage, ProducesTickets, ResolvesServerCert,
        WebPkiClientVerifier, danger::ClientCertVerifier,
    },
    sign::CertifiedKey,
};

use crate::{bundle::certificates, leaf::Leaf, verify::verify};

/// Answers every handshake with the current leaf, whichever name the client asked for: there is one leaf, and the
/// client checks the name. While there is no leaf, the handshake fails with a TLS alert.
///
/// A client may resume a session with a ticket. Each leaf has tickets of its own, so a client that returns after a
/// change sees the new leaf.
#[derive(Debug, Default)]
pub struct Resolver {
    current: ArcSwapOption<Served>,
}

#[derive(Debug)]
struct Served {
    leaf: Arc<CertifiedKey>,
    /// The maker of the leaf's session tickets; `None` where the system had no randomness for the tickets' keys.
    tickets: Option<Arc<dyn ProducesTickets>>,
}

impl Resolver {
    /// Returns a resolver without a leaf.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Serves `leaf` on new connections from now on. Open connections keep their leaf.
    pub fn set(&self, leaf: &Leaf) {
        let served = Served {
            leaf: leaf.key(),
            tickets: ring::Ticketer::new().ok(),
        };
        self.current.store(Some(Arc::new(served)));
    }

    /// Returns whether a client that trusts the bundle `roots`, PEM, accepts the present leaf for `name` at `now`; `false` for a bundle that cannot
    /// be read. `None` where there is no leaf.
    pub fn is_accepted(&self, roots: &[u8], name: &str, now: Timestamp) -> Option<bool> {
        let current = self.current.load_full()?;
        let (leaf, rest) = current.leaf.cert.split_first()?;
        let accepted = |roots: Vec<_>| verify(&roots, leaf, rest, name, now).is_ok();
        Some(certificates(roots).is_ok_and(accepted))
    }

    /// Returns a TLS configuration for gates: TLS 1.2 and 1.3, HTTP/1.1, no client certificates. Gates return, so
    /// they may resume a session.
    ///
    /// # Errors
    ///
    /// None in practice: the crypto provider would have to support neither TLS version.
    pub fn config_for_gates(self: &Arc<Self>) -> Result<Arc<ServerConfig>, rustls::Error> {
        let mut config = self.config(WebPkiClientVerifier::no_client_auth())?;
        config.ticketer = Arc::clone(self) as Arc<dyn ProducesTickets>;
        config.send_tls13_tickets = 1;
        Ok(Arc::new(config))
    }

    /// Returns a TLS configuration for API servers. Their client resumes no session, so no session is kept and no
    /// ticket sent. With `clients`, a client may show a certificate that one of `clients` signed: a client that shows
    /// none is served, and any other certificate is refused. An empty `clients` asks for no certificate.
    ///
    /// # Errors
    ///
    /// One of `clients` is no certificate.
    pub fn config_for_api_servers(
        self: &Arc<Self>,
        clients: &[CertificateDer<'static>],
    ) -> Result<Arc<ServerConfig>, rustls::Error> {
        if clients.is_empty() {
            let nobody = WebPkiClientVerifier::no_client_auth();
            return self.config(nobody).map(Arc::new);
        }
        let mut roots = RootCertStore::empty();
        for certificate in clients {
            roots.add(certificate.clone())?;
        }
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
            .allow_unauthenticated()
            .build()
            .map_err(|error| rustls::Error::General(error.to_string()))?;
        self.config(verifier).map(Arc::new)
    }

    fn config(
        self: &Arc<Self>,
        clients: Arc<dyn ClientCertVerifier>,
    ) -> Result<ServerConfig, rustls::Error> {
        // The provider is named here, so that a process that installed none still starts.
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(clients)
            .with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A session would vouch for the client's certificate, and for our leaf at its time. By default rustls keeps
        // the last few hundred sessions and sends two tickets for each.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(config)
    }

    fn tickets(&self) -> Option<Arc<dyn ProducesTickets>> {
        self.current.load().as_ref()?.tickets.clone()
    }
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.load().as_ref()?.leaf))
    }
}

impl ProducesTickets for Resolver {
    fn enabled(&self) -> bool {
        self.tickets().is_some()
    }

    fn lifetime(&self) -> u32 {
        self.tickets().map_or(0, |it| it.lifetime())
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.tickets()?.encrypt(plain)
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        self.tickets()?.decrypt(cipher)
    }
}
