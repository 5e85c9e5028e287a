//! Whose certificates are believed: those that the pod was made with, and those of a file that the kubelet keeps up to date.

use crate::config;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{self, cipher_suite, kx_group};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// What is believed at the time.
pub(crate) struct Trust {
    given: RootCertStore,
    file: Option<PathBuf>,
    /// What was in the file when `tls` was made.
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

    /// As the file is now. One that is missing adds nothing: what was given still counts.
    pub(crate) fn now(&mut self) -> Arc<ClientConfig> {
        let text = self.file.as_ref().map(fs::read_to_string);
        let text = text.and_then(Result::ok).unwrap_or_default();
        if text != self.seen {
            // Another one only where something has changed: sessions are resumed by it.
            self.tls = believing(with(&self.given, &text));
            self.seen = text;
        }
        Arc::clone(&self.tls)
    }
}

/// The authorities given, and those of a PEM text. One that cannot be read to its end adds none.
fn with(given: &RootCertStore, text: &str) -> RootCertStore {
    let mut all = given.clone();
    if let Ok(more) = config::authorities(text) {
        all.extend(more.roots);
    }
    all
}

fn believing(authorities: RootCertStore) -> Arc<ClientConfig> {
    // What costs a start the least, of what both sides have: certificates are of P-256 too, and SHA-256 is what processors are made for.
    let provider = CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ],
        kx_groups: vec![kx_group::SECP256R1, kx_group::X25519],
        ..ring::default_provider()
    };
    let tls = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])
        .expect("the cipher suites are those of TLS 1.3")
        .with_root_certificates(authorities)
        .with_no_client_auth();
    Arc::new(tls)
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
