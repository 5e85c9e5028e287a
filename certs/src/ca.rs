//! The certificate authority: generated once, stored as text, and checked whenever it is read back.

use std::{fmt, iter, slice};

use jiff::{SignedDuration, Timestamp};
use rcgen::{Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, pem::PemObject};

use crate::{
    bundle::{PemError, certificates, validity, within_limits},
    parameters::{begins, ca_params, leaf_params, made, set_validity, whole_seconds},
    verify::verify,
};

/// The most former CAs that vouch for a CA. A verifier tries each vouching certificate with each certificate that it
/// trusts, and a gate gives up after a hundred signatures.
const FORMERS: usize = 16;

/// A name that only the self-check of [`Ca::restore`] signs (RFC 6761 reserves it).
const PROBE: &str = "probe.invalid";

/// A certificate authority that can sign leaves.
///
/// A CA holds the keys of former CAs, so that these can vouch for it. A gate trusts the CA that its pod was made with
/// for as long as it waits, and through the vouching certificates it trusts the present CA as well. The certificates
/// are sent with the leaf, so gates of every version follow them without any setting.
pub struct Ca {
    certificate: CertificateDer<'static>,
    pem: String,
    key_pem: String,
    issuer: Issuer<'static, KeyPair>,
    not_before: Timestamp,
    not_after: Timestamp,
    /// The former CAs, the newest first.
    formers: Vec<Issuer<'static, KeyPair>>,
}

/// A [`Ca`] as texts for a store. The times are in the certificate alone, so no other times can be written beside it.
#[derive(Clone, PartialEq, Eq)]
pub struct CaParts {
    /// One certificate, PEM.
    pub certificate: String,
    /// The private key of the certificate, PKCS#8, PEM.
    pub key: String,
    /// The private keys of the former CAs that vouch for this CA, PEM, the newest first. Empty until the first rotation.
    pub formers: String,
}

/// The reason why a CA could not be made or restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaError {
    /// The certificate or the key is not PEM.
    #[error("failed to read the CA's {what}: {error}")]
    Pem {
        /// `certificate` or `key`.
        what: &'static str,
        /// The error in the text.
        error: PemError,
    },
    /// The certificate's times cannot be read.
    #[error("failed to read the CA's lifetime: {0}")]
    Times(String),
    /// The text holds several certificates; only a bundle may.
    #[error("the CA's certificate holds {0} certificates, not one")]
    Several(usize),
    /// The key is PEM, but not a key of ours (ECDSA P-256, PKCS#8).
    #[error("failed to read the CA's key: {0}")]
    Key(String),
    /// A leaf signed with the key does not verify against the certificate.
    #[error("the CA's key and certificate do not belong together: {0}")]
    Mismatch(String),
    /// The lifetime begins before 1970, or does not end after its beginning.
    #[error("the CA's lifetime is out of range: {not_before} to {not_after}")]
    Lifetime {
        /// The beginning of the refused lifetime.
        not_before: Timestamp,
        /// The end of the refused lifetime.
        not_after: Timestamp,
    },
    /// Key generation or signing failed: in practice, for lack of entropy.
    #[error("failed to make a CA: {0}")]
    Make(String),
}

impl Ca {
    /// Generates a CA that lives from `now` for `lifetime`. The certificate begins a day earlier, so that an API
    /// server with a slow clock accepts it.
    pub fn generate(now: Timestamp, lifetime: SignedDuration) -> Result<Self, CaError> {
        let made = whole_seconds(now);
        let not_after = whole_seconds(now.checked_add(lifetime).unwrap_or(Timestamp::MAX));
        lifetime_in_range(made, not_after)?;
        let not_before = begins(made);
        let key = KeyPair::generate().map_err(make)?;
        let mut params = ca_params(1);
        set_validity(&mut params, not_before, not_after);
        let certificate = params.self_signed(&key).map_err(make)?;
        Ok(Self {
            pem: certificate.pem(),
            certificate: certificate.into(),
            key_pem: key.serialize_pem(),
            issuer: Issuer::new(params, key),
            not_before,
            not_after,
            formers: Vec::new(),
        })
    }

    /// Returns this CA as the successor of `old`: `old` and the former CAs of `old` vouch for it, 16 at most, the newest first. Its own former CAs
    /// are dropped, and a CA with this CA's key is left out.
    pub fn after(&self, old: &Self) -> Result<Self, CaError> {
        let before = iter::once(&old.issuer).chain(&old.formers);
        let ours = |former: &&Issuer<'_, KeyPair>| !same_key(former, &self.issuer);
        Self::restore(CaParts {
            formers: texts(before.filter(ours).take(FORMERS)),
            ..self.parts()
        })
    }

    /// Returns whether `old` is one of the former CAs that vouch for this CA, so a client that trusts `old` trusts this CA.
    pub fn follows(&self, old: &Self) -> bool {
        let mut formers = self.formers.iter();
        formers.any(|former| same_key(former, &old.issuer))
    }

    /// Returns the number of CAs that vouch for this one.
    pub fn formers(&self) -> usize {
        self.formers.len()
    }

    /// Rebuilds a CA from its texts. The texts may come from anywhere, so the CA is tried: a leaf signed with the key must verify against the
    /// certificate as it would in a gate. The unusable key of a former CA is skipped.
    pub fn restore(parts: CaParts) -> Result<Self, CaError> {
        let CaParts {
            certificate: pem,
            key: key_pem,
            formers,
        } = parts;
        let mut found = certificates(pem.as_bytes()).map_err(|error| CaError::Pem {
            what: "certificate",
            error,
        })?;
        let (Some(certificate), true) = (found.pop(), found.is_empty()) else {
            return Err(CaError::Several(found.len() + 1));
        };
        let (not_before, not_after) = validity(&certificate).map_err(CaError::Times)?;
        lifetime_in_range(not_before, not_after)?;
        within_limits(key_pem.as_bytes()).map_err(|error| CaError::Pem { what: "key", error })?;
        let key = KeyPair::from_pem(&key_pem).map_err(|error| CaError::Key(error.to_string()))?;
        let ca = Self {
            certificate,
            pem,
            key_pem,
            issuer: Issuer::new(ca_params(1), key),
            not_before,
            not_after,
            formers: issuers(&formers),
        };
        ca.probe()?;
        Ok(ca)
    }

    /// Returns the texts to store, in PEM: the certificate, its private key, and the private keys of the former CAs that
    /// vouch for this CA, the newest first.
    pub fn parts(&self) -> CaParts {
        CaParts {
            certificate: self.pem.clone(),
            key: self.key_pem.clone(),
            formers: texts(&self.formers),
        }
    }

    /// The certificate, DER, which identifies the CA.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// The certificate, PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The time at which the CA was generated, taken to be a day after its certificate begins.
    pub fn made(&self) -> Timestamp {
        made(self.not_before)
    }

    /// The time at which the certificate begins.
    pub fn not_before(&self) -> Timestamp {
        self.not_before
    }

    /// The time at which the certificate ends.
    pub fn not_after(&self) -> Timestamp {
        self.not_after
    }

    /// Returns whether the certificate has begun for a verifier whose clock says `now`.
    pub fn has_begun(&self, now: Timestamp) -> bool {
        self.not_before <= now
    }

    pub(crate) fn issuer(&self) -> &Issuer<'static, KeyPair> {
        &self.issuer
    }

    /// Returns the vouching certificates: this CA's name and key, signed by each former CA.
    pub(crate) fn vouchers(&self) -> Result<Vec<CertificateDer<'static>>, rcgen::Error> {
        let mut params = ca_params(0);
        params.use_authority_key_identifier_extension = true;
        set_validity(&mut params, self.not_before, self.not_after);
        let vouch = |former| Ok(params.signed_by(self.issuer.key(), former)?.into());
        self.formers.iter().map(vouch).collect()
    }

    fn probe(&self) -> Result<(), CaError> {
        let key = KeyPair::generate().map_err(make)?;
        let mut params = leaf_params(&[PROBE.to_owned()]).map_err(make)?;
        set_validity(&mut params, self.not_before, self.not_after);
        let leaf = params.signed_by(&key, &self.issuer).map_err(make)?;
        let roots = slice::from_ref(&self.certificate);
        verify(roots, leaf.der(), &[], PROBE, self.not_before)
            .map_err(|error| CaError::Mismatch(error.to_string()))
    }
}

fn same_key(a: &Issuer<'_, KeyPair>, b: &Issuer<'_, KeyPair>) -> bool {
    a.key().public_key_raw() == b.key().public_key_raw()
}

/// Returns the former CAs whose private keys stand in `text`, PEM, at most [`FORMERS`]. Skips an unusable key, and returns none for a text that
/// is too long: a bad former CA vouches for nothing, and must not cost the CA itself.
fn issuers(text: &str) -> Vec<Issuer<'static, KeyPair>> {
    if within_limits(text.as_bytes()).is_err() {
        return Vec::new();
    }
    PrivatePkcs8KeyDer::pem_slice_iter(text.as_bytes())
        .flatten()
        .filter_map(|key| KeyPair::try_from(&key).ok())
        .map(|key| Issuer::new(ca_params(1), key))
        .take(FORMERS)
        .collect()
}

fn texts<'a>(issuers: impl IntoIterator<Item = &'a Issuer<'static, KeyPair>>) -> String {
    let text = |issuer: &Issuer<'_, KeyPair>| issuer.key().serialize_pem();
    issuers.into_iter().map(text).collect()
}

// Written by hand, so that no log line ever holds the key.
impl fmt::Debug for Ca {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ca")
            .field("not_before", &self.not_before)
            .field("not_after", &self.not_after)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for CaParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaParts").finish_non_exhaustive()
    }
}

/// Refuses a lifetime that begins before 1970, or that does not end after its beginning. No cluster was installed before 1970.
fn lifetime_in_range(not_before: Timestamp, not_after: Timestamp) -> Result<(), CaError> {
    if not_before < Timestamp::UNIX_EPOCH || not_after <= not_before {
        return Err(CaError::Lifetime {
            not_before,
            not_after,
        });
    }
    Ok(())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err wants"
)]
fn make(error: rcgen::Error) -> CaError {
    CaError::Make(error.to_string())
}

#[cfg(test)]
mod tests;
