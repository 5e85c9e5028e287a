//! The trusted certificates: those in the pod's environment, and those in a file that the kubelet keeps up to date.

use crate::config;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{self, cipher_suite, kx_group};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// The certificates that the gate trusts, and the TLS configuration made of them, which changes with the file.
pub(crate) struct Trust {
    given: RootCertStore,
    file: Option<PathBuf>,
    /// The text of the file when `tls` was made.
    seen: String,
    tls: Arc<ClientConfig>,
}

impl Trust {
    pub(crate) fn new(given: RootCertStore, file: Option<PathBuf>) -> Self {
        Self {
            tls: believing(given.clone()),
            seen: String::new(),
            file,
            given,
        }
    }

    /// Returns the TLS configuration that trusts the given authorities and those in the file's present text. A missing or bad file adds
    /// nothing. While the text stays equal, the configuration is one and the same.
    pub(crate) fn now(&mut self) -> Arc<ClientConfig> {
        let text = self.file.as_ref().map(fs::read_to_string);
        let text = text.and_then(Result::ok).unwrap_or_default();
        if text != self.seen {
            // Make a new configuration only after a change, because the old one holds the sessions to resume.
            self.tls = believing(with(&self.given, &text));
            self.seen = text;
        }
        Arc::clone(&self.tls)
    }
}

/// Returns the given authorities and those of a PEM text. A text that cannot be read to its end adds none.
fn with(given: &RootCertStore, text: &str) -> RootCertStore {
    let mut all = given.clone();
    if let Ok(more) = config::authorities(text) {
        all.extend(more.roots);
    }
    all
}

fn believing(authorities: RootCertStore) -> Arc<ClientConfig> {
    let tls = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .expect("the cipher suites are those of TLS 1.3")
        .with_root_certificates(authorities)
        .with_no_client_auth();
    Arc::new(tls)
}

/// Returns a TLS configuration that accepts every certificate, as the kubelet's probes do: the gate asks for a status, and sends nothing secret.
pub(crate) fn unchecked() -> Arc<ClientConfig> {
    let mut provider = CryptoProvider::clone(&provider());
    provider.cipher_suites.extend([
        cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        cipher_suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ]);
    let mut tls = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13, &TLS12])
        .expect("the cipher suites are those of both versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Unchecked))
        .with_no_client_auth();
    tls.resumption = Resumption::disabled();
    Arc::new(tls)
}

fn provider() -> Arc<CryptoProvider> {
    // Choose the cheapest algorithms that both sides have: our certificates use P-256 too, and processors are built
    // for SHA-256.
    Arc::new(CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ],
        kx_groups: vec![kx_group::SECP256R1, kx_group::X25519],
        ..ring::default_provider()
    })
}

/// Finds nothing wrong with any certificate.
#[derive(Debug)]
struct Unchecked;

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    /// The signature schemes of every key that a server may have.
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        use SignatureScheme as S;
        vec![
            S::ECDSA_NISTP256_SHA256,
            S::ECDSA_NISTP384_SHA384,
            S::ECDSA_NISTP521_SHA512,
            S::ED25519,
            S::RSA_PSS_SHA256,
            S::RSA_PSS_SHA384,
            S::RSA_PSS_SHA512,
            S::RSA_PKCS1_SHA256,
            S::RSA_PKCS1_SHA384,
            S::RSA_PKCS1_SHA512,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    fn authority() -> String {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        parameters.self_signed(&key).unwrap().pem()
    }

    #[test]
    fn a_file_adds_what_can_be_read() {
        let given = config::authorities(&authority()).unwrap();
        let (one, another) = (authority(), authority());
        for (text, all) in [
            (String::new(), 1),
            ("rubbish".to_owned(), 1),
            (one.clone(), 2),
            (format!("{one}{another}"), 3),
            (format!("{one}{}", &another[..another.len() / 2]), 1),
        ] {
            assert_eq!(with(&given, &text).len(), all, "{text}");
        }
    }

    #[test]
    fn the_file_is_read_anew_each_time() {
        let given = config::authorities(&authority()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        let mut trust = Trust::new(given, Some(file.clone()));
        let mut last = trust.now();
        for text in [Some(authority()), Some(authority()), None] {
            assert!(Arc::ptr_eq(&last, &trust.now()), "nothing has changed");
            match text {
                Some(text) => fs::write(&file, text).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
            let next = trust.now();
            assert!(!Arc::ptr_eq(&last, &next));
            last = next;
        }
    }
}
