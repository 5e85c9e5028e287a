//! A serving certificate: signed by the CA, held in memory, gone with the process.

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

/// A leaf: a key, a certificate for it, and what the plan has to know of it.
#[derive(Clone)]
pub struct Leaf {
    key: Arc<CertifiedKey>,
    issuer: CertificateDer<'static>,
    vouchers: usize,
    issued: Timestamp,
    not_after: Timestamp,
}

/// Why a leaf could not be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeafError {
    /// A DNS name is not one, or there is none at all.
    #[error("failed to put the names {names:?} into a certificate: {error}")]
    Names {
        /// The names that were asked for.
        names: Vec<String>,
        /// What is wrong with them.
        error: String,
    },
    /// The CA ends before the leaf would begin.
    #[error("the CA ended at {0}")]
    CaEnded(Timestamp),
    /// What somebody else has signed cannot be read.
    #[error("failed to read {what}: {error}")]
    Unreadable {
        /// Which of the texts.
        what: &'static str,
        /// What is wrong with it.
        error: String,
    },
    /// Nobody who trusts the CA would accept what somebody else has signed.
    #[error("the certificate is not one for {name:?} that its CA vouches for: {error}")]
    Refused {
        /// The name that is asked for.
        name: String,
        /// What a client says of it.
        error: String,
    },
    /// Key generation or signing failed.
    #[error("failed to sign a certificate: {0}")]
    Sign(String),
}

impl Leaf {
    /// Signs a leaf for the DNS names `names`, valid from a day before `now` until `lifetime` after it, and
    /// never longer than the CA.
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
        // Without the CA itself, which is a root: every client that trusts it has it. The others lead to it from what a client
        // trusts that is older.
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

    /// A leaf that somebody else has signed: its chain and its key, PEM, as whoever trusts `roots`, PEM, accepts it for
    /// `name`.
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

    /// Whether it is the same certificate.
    pub fn is(&self, other: &Self) -> bool {
        self.key.cert == other.key.cert
    }

    /// The certificate of the CA that signed it.
    pub fn issuer(&self) -> &CertificateDer<'static> {
        &self.issuer
    }

    /// Whether it is what `ca` signs, with all who vouch for that one.
    pub fn is_of(&self, ca: &Ca) -> bool {
        self.issuer == *ca.certificate() && self.vouchers == ca.formers()
    }

    /// When it was signed, by the clock of this process.
    pub fn issued(&self) -> Timestamp {
        self.issued
    }

    /// When it ends.
    pub fn not_after(&self) -> Timestamp {
        self.not_after
    }

    /// From when on it should be replaced: two thirds of its life.
    pub fn renew_at(&self) -> Timestamp {
        let life = self.not_after.duration_since(self.issued);
        self.issued
            .checked_add(life / 3 * 2)
            .unwrap_or(self.not_after)
    }

    /// Whether a verifier whose clock says `now` accepts it.
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
