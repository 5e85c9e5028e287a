//! Verifies a certificate as a gate and an API server do.

use std::sync::Arc;

use jiff::Timestamp;
use rustls::{
    Error, RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime},
};

/// Verifies that a client that trusts `roots` accepts `leaf`, with the `rest` of its chain, for a server called
/// `name`, at `now`. An error says why not.
pub(crate) fn verify(
    roots: &[CertificateDer<'static>],
    leaf: &CertificateDer<'static>,
    rest: &[CertificateDer<'static>],
    name: &str,
    now: Timestamp,
) -> Result<(), Error> {
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add(root.clone())?;
    }
    let other = |error: &dyn std::fmt::Display| Error::General(error.to_string());
    let verifier = WebPkiServerVerifier::builder_with_provider(
        Arc::new(store),
        Arc::new(ring::default_provider()),
    )
    .build()
    .map_err(|error| other(&error))?;
    let name = ServerName::try_from(name).map_err(|error| other(&error))?;
    let now = UnixTime::since_unix_epoch(now.duration_since(Timestamp::UNIX_EPOCH).unsigned_abs());
    verifier
        .verify_server_cert(leaf, rest, &name, &[], now)
        .map(drop)
}
