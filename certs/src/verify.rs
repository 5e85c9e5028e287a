//! What a client does with what it is shown: as a gate does it, and as an API server does.

use std::sync::Arc;

use jiff::Timestamp;
use rustls::{
    Error, RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime},
};

/// Whether a client that trusts `roots` accepts a server of this `name` that shows `leaf` and the rest of a chain.
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
