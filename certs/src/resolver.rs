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

/// Answers every handshake with the current leaf, whatever name the client asked for: there is only one, and the client
/// checks the name. Without a leaf the handshake fails, which a client sees as a TLS alert.
///
/// A client may go on with a session that it had, by a ticket. Each leaf has tickets of its own: whoever comes back after it was
/// replaced has to see the new one.
#[derive(Debug, Default)]
pub struct Resolver {
    current: ArcSwapOption<Served>,
}

#[derive(Debug)]
struct Served {
    leaf: Arc<CertifiedKey>,
    /// None where the system had no randomness for their keys.
    tickets: Option<Arc<dyn ProducesTickets>>,
}

impl Resolver {
    /// A resolver without a leaf.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// New connections get this leaf from now on. Old ones keep the one they began with.
    pub fn set(&self, leaf: &Leaf) {
        let served = Served {
            leaf: leaf.key(),
            tickets: ring::Ticketer::new().ok(),
        };
        self.current.store(Some(Arc::new(served)));
    }

    /// Whether a client that trusts the bundle `roots`, PEM, accepts what is served now for `name`; `None` where that is
    /// nothing.
    pub fn is_accepted(&self, roots: &[u8], name: &str, now: Timestamp) -> Option<bool> {
        let current = self.current.load_full()?;
        let (leaf, rest) = current.leaf.cert.split_first()?;
        let accepted = |roots: Vec<_>| verify(&roots, leaf, rest, name, now).is_ok();
        Some(certificates(roots).is_ok_and(accepted))
    }

    /// A TLS configuration for gates, which come back, and may go on with the session that they had: TLS 1.2 and 1.3, HTTP/1.1,
    /// no client certificates.
    ///
    /// # Errors
    ///
    /// None in practice: only if the crypto provider supported neither TLS version.
    pub fn config_for_gates(self: &Arc<Self>) -> Result<Arc<ServerConfig>, rustls::Error> {
        let mut config = self.config(WebPkiClientVerifier::no_client_auth())?;
        config.ticketer = Arc::clone(self) as Arc<dyn ProducesTickets>;
        config.send_tls13_tickets = 1;
        Ok(Arc::new(config))
    }

    /// One for API servers, whose client goes on with no session: so none is kept, and no ticket is sent. It may show a certificate
    /// which one of `clients` signed. Who shows none is served as well, and one of anybody else is refused. Without `clients` nobody
    /// is asked for one.
    ///
    /// # Errors
    ///
    /// One of them is no certificate.
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
        // A session vouches for the certificate that its client showed, and for ours as it was: unless told otherwise, rustls keeps
        // the last few hundred, and sends two tickets for each.
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
