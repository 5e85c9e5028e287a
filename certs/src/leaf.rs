//! A serving certificate: signed by the CA, held in memory, lost with the process.

use std::{fmt, iter, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use rcgen::KeyPair;
use rustls::{
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject},
    sign::CertifiedKey,
};

use crate::{
    bundle::{certificates, validity, within_limits},
    ca::Ca,
    parameters::{begins, leaf_params, made, set_validity, whole_seconds},
    verify::verify,
};

/// A leaf: a key, its certificate, and the facts that the plan needs.
#[derive(Clone)]
pub struct Leaf {
    key: Arc<CertifiedKey>,
    issuer: CertificateDer<'static>,
    vouchers: usize,
    issued: Timestamp,
    not_after: Timestamp,
}

/// The reason why a leaf could not be signed or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeafError {
    /// A DNS name is invalid, or there is no name.
    #[error("failed to put the names {names:?} into a certificate: {error}")]
    Names {
        /// The names that were asked for.
        names: Vec<String>,
        /// The error in the names.
        error: String,
    },
    /// The CA ends before the leaf would begin.
    #[error("the CA ended at {0}")]
    CaEnded(Timestamp),
    /// One of the texts of another issuer's certificate cannot be read: the chain, the key or the trusted roots.
    #[error("failed to read {what}: {error}")]
    Unreadable {
        /// The text that cannot be read: `the certificate`, `its CA` or `the key`.
        what: &'static str,
        /// The error in that text.
        error: String,
    },
    /// A client that trusts the CA would not accept the other issuer's certificate.
    #[error("the certificate is not one for {name:?} that its CA vouches for: {error}")]
    Refused {
        /// The name that the client checks.
        name: String,
        /// The client's error.
        error: String,
    },
    /// Key generation or signing failed.
    #[error("failed to sign a certificate: {0}")]
    Sign(String),
}

impl Leaf {
    /// Signs a leaf for the DNS names `names`. The leaf is valid from a day before `now` until `lifetime` after it, and never longer than the CA. An
    /// error if there is no name, if one is invalid, or if the CA has ended.
    pub fn issue(
        ca: &Ca,
        names: &[String],
        now: Timestamp,
        lifetime: SignedDuration,
    ) -> Result<Self, LeafError> {
        let issued = whole_seconds(now);
        let not_after =
            whole_seconds(now.checked_add(lifetime).unwrap_or(Timestamp::MAX)).min(ca.not_after());
        if not_after <= issued {
            return Err(LeafError::CaEnded(ca.not_after()));
        }
        let bad_names = |error: &dyn fmt::Display| LeafError::Names {
            names: names.to_vec(),
            error: error.to_string(),
        };
        if names.is_empty() {
            return Err(bad_names(&"no name at all"));
        }
        let mut params = leaf_params(names).map_err(|error| bad_names(&error))?;
        set_validity(&mut params, begins(issued), not_after);
        let key = KeyPair::generate().map_err(|error| sign(&error))?;
        let certificate = params
            .signed_by(&key, ca.issuer())
            .map_err(|error| sign(&error))?;
        // The chain omits the CA's own certificate, because every client that trusts this CA has it. The vouching
        // certificates lead a client from an older CA to this one.
        let vouchers = ca.vouchers().map_err(|error| sign(&error))?;
        let count = vouchers.len();
        let key = CertifiedKey::from_der(
            iter::once(certificate.into()).chain(vouchers).collect(),
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            &ring::default_provider(),
        )
        .map_err(|error| sign(&error))?;
        Ok(Self {
            key: Arc::new(key),
            issuer: ca.certificate().clone(),
            vouchers: count,
            issued,
            not_after,
        })
    }

    /// Reads a certificate that another issuer, not our CA, has signed. `chain`, `key` and `roots` are PEM. A text that cannot be read is an
    /// error, and so is a chain that a client that trusts `roots` would not accept for `name` at `now`.
    pub fn read(
        chain: &str,
        key: &str,
        roots: &str,
        name: &str,
        now: Timestamp,
    ) -> Result<Self, LeafError> {
        let unreadable = |what| {
            move |error: &dyn fmt::Display| LeafError::Unreadable {
                what,
                error: error.to_string(),
            }
        };
        let read = |what, text: &str| {
            certificates(text.as_bytes()).map_err(|error| unreadable(what)(&error))
        };
        let (chain, roots) = (read("the certificate", chain)?, read("its CA", roots)?);
        within_limits(key.as_bytes()).map_err(|error| unreadable("the key")(&error))?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|error| unreadable("the key")(&error))?;
        let key = CertifiedKey::from_der(chain, key, &ring::default_provider())
            .map_err(|error| unreadable("the key")(&error))?;
        let refused = |error: &dyn fmt::Display| LeafError::Refused {
            name: name.to_owned(),
            error: error.to_string(),
        };
        let (Some((leaf, rest)), Some(issuer)) = (key.cert.split_first(), roots.first()) else {
            return Err(refused(&"there is none"));
        };
        verify(&roots, leaf, rest, name, now).map_err(|error| refused(&error))?;
        let (not_before, not_after) =
            validity(leaf).map_err(|error| unreadable("the certificate")(&error))?;
        Ok(Self {
            issuer: issuer.clone(),
            vouchers: 0,
            issued: made(not_before),
            not_after,
            key: Arc::new(key),
        })
    }

    /// Returns whether both leaves have the same certificate.
    pub fn is(&self, other: &Self) -> bool {
        self.key.cert == other.key.cert
    }

    /// The certificate of the CA that signed this leaf.
    pub fn issuer(&self) -> &CertificateDer<'static> {
        &self.issuer
    }

    /// Returns whether `ca` signed this leaf, and as many CAs vouch for it in the chain as vouch for `ca` now. `false` asks for a new leaf.
    pub fn is_of(&self, ca: &Ca) -> bool {
        self.issuer == *ca.certificate() && self.vouchers == ca.formers()
    }

    /// The time of signing: by the clock of this process, or for a certificate of another issuer a day after the certificate begins.
    pub fn issued(&self) -> Timestamp {
        self.issued
    }

    /// The time at which the leaf's certificate ends.
    pub fn not_after(&self) -> Timestamp {
        self.not_after
    }

    /// The time from which the leaf should be replaced: two thirds of its life are over then.
    pub fn renew_at(&self) -> Timestamp {
        let life = self.not_after.duration_since(self.issued);
        self.issued
            .checked_add(life / 3 * 2)
            .unwrap_or(self.not_after)
    }

    /// Returns whether `now` is within the lifetime of the leaf, which begins a day before its signing. No signature is checked.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        begins(self.issued) <= now && now < self.not_after
    }

    pub(crate) fn key(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.key)
    }
}

impl fmt::Debug for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leaf")
            .field("issued", &self.issued)
            .field("not_after", &self.not_after)
            .finish_non_exhaustive()
    }
}

fn sign(error: &dyn fmt::Display) -> LeafError {
    LeafError::Sign(error.to_string())
}

#[cfg(test)]
mod tests;
