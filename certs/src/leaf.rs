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
mod tests {
    use std::slice;

    use rustls::{CertificateError, Error};

    use super::*;
    use crate::ca::CaParts;

    const WEEK: SignedDuration = SignedDuration::from_hours(24 * 7);
    const NAME: &str = "sluice.sluice-system.svc";

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn ca() -> Ca {
        Ca::generate(
            at("2026-11-20T10:00:00Z"),
            SignedDuration::from_hours(24 * 365),
        )
        .unwrap()
    }

    fn names() -> Vec<String> {
        vec![NAME.to_owned()]
    }

    fn verify(leaf: &Leaf, root: &Ca, name: &'static str, now: Timestamp) -> Result<(), Error> {
        let (first, rest) = leaf.key.cert.split_first().unwrap();
        super::verify(slice::from_ref(root.certificate()), first, rest, name, now)
    }

    #[test]
    fn what_somebody_else_has_signed_is_tried() {
        let (ours, now) = (ca(), at("2026-11-20T10:00:00Z"));
        let key = KeyPair::generate().unwrap();
        let mut params = leaf_params(&names()).unwrap();
        set_validity(&mut params, now, now + WEEK);
        let chain = params.signed_by(&key, ours.issuer()).unwrap().pem();
        let read =
            |key: &str, roots: &str, name: &str, now| Leaf::read(&chain, key, roots, name, now);
        let key = key.serialize_pem();
        let leaf = read(&key, ours.pem(), NAME, now).unwrap();
        assert_eq!(
            (leaf.not_after(), leaf.issuer()),
            (now + WEEK, ours.certificate())
        );
        assert!(leaf.is_valid(now) && !leaf.is_valid(now - WEEK));
        let wrong = |key: &str, roots: &str, name: &str, now| {
            let error = read(key, roots, name, now).unwrap_err();
            matches!(error, LeafError::Refused { .. })
        };
        assert!(wrong(&key, ca().pem(), NAME, now));
        assert!(wrong(&key, ours.pem(), "other.svc", now));
        assert!(wrong(&key, ours.pem(), NAME, now + WEEK * 2));
        assert!(
            !wrong(&ours.parts().key, ours.pem(), NAME, now),
            "the key of another"
        );
        assert!(!wrong("rubbish", ours.pem(), NAME, now));
    }

    #[test]
    fn verifies_for_its_name_and_its_time() {
        let ca = ca();
        let leaf = Leaf::issue(&ca, &names(), at("2026-11-21T10:00:00.9Z"), WEEK).unwrap();
        assert_eq!(verify(&leaf, &ca, NAME, at("2026-11-20T10:00:00Z")), Ok(()));
        assert_eq!(verify(&leaf, &ca, NAME, at("2026-11-28T10:00:00Z")), Ok(()));
        assert!(verify(&leaf, &ca, NAME, at("2026-11-20T09:59:59Z")).is_err());
        assert!(verify(&leaf, &ca, NAME, at("2026-11-28T10:00:01Z")).is_err());
        assert!(
            verify(
                &leaf,
                &ca,
                "other.sluice-system.svc",
                at("2026-11-21T10:00:00Z")
            )
            .is_err()
        );
    }

    #[test]
    fn a_restored_ca_signs_what_the_made_one_vouches_for() {
        let made = ca();
        let leaf = Leaf::issue(
            &Ca::restore(made.parts()).unwrap(),
            &names(),
            at("2026-11-20T10:00:00Z"),
            WEEK,
        )
        .unwrap();
        assert_eq!(
            verify(&leaf, &made, NAME, at("2026-11-20T10:00:00Z")),
            Ok(())
        );
        assert_eq!(leaf.issuer(), made.certificate());
    }

    #[test]
    fn another_ca_of_the_same_subject_does_not_vouch_for_it() {
        let leaf = Leaf::issue(&ca(), &names(), at("2026-11-20T10:00:00Z"), WEEK).unwrap();
        let error = verify(&leaf, &ca(), NAME, at("2026-11-20T10:00:00Z")).unwrap_err();
        assert!(
            matches!(
                error,
                Error::InvalidCertificate(
                    CertificateError::BadSignature | CertificateError::UnknownIssuer
                )
            ),
            "{error}"
        );
    }

    #[test]
    fn who_trusts_a_ca_that_came_before_trusts_it() {
        let now = at("2026-11-20T10:00:00Z");
        let cas: Vec<Ca> = (0..19).fold(Vec::new(), |mut cas, _| {
            let next = ca();
            cas.push(match cas.last() {
                Some(last) => next.after(last).unwrap(),
                None => next,
            });
            cas
        });
        let leaf = Leaf::issue(&cas[18], &names(), now, WEEK).unwrap();
        assert!(leaf.is_of(&cas[18]) && !leaf.is_of(&cas[17]));
        let verified: Vec<bool> = cas
            .iter()
            .map(|root| verify(&leaf, root, NAME, now).is_ok())
            .collect();
        let forgotten = [false; 2].into_iter();
        let expected: Vec<bool> = forgotten.chain([true; 17]).collect();
        assert_eq!(verified, expected, "sixteen came before");
    }

    #[test]
    fn a_ca_of_an_older_version_vouches_as_well() {
        let now = at("2026-11-20T10:00:00Z");
        let key = KeyPair::generate().unwrap();
        let mut params = crate::parameters::ca_params(0);
        set_validity(&mut params, begins(now), now + WEEK * 52);
        let certificate = params.self_signed(&key).unwrap();
        let old = Ca::restore(CaParts {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            formers: String::new(),
        })
        .unwrap();
        let leaf = Leaf::issue(&ca().after(&old).unwrap(), &names(), now, WEEK).unwrap();
        assert_eq!(verify(&leaf, &old, NAME, now), Ok(()));
    }

    #[test]
    fn never_outlives_its_ca() {
        let ca = ca();
        let late = at("2027-11-19T10:00:00Z");
        let leaf = Leaf::issue(&ca, &names(), late, WEEK).unwrap();
        assert_eq!(leaf.not_after(), ca.not_after());
        let error = Leaf::issue(&ca, &names(), ca.not_after(), WEEK).unwrap_err();
        assert_eq!(error, LeafError::CaEnded(ca.not_after()));
    }

    #[test]
    fn is_renewed_at_two_thirds() {
        let leaf = Leaf::issue(
            &ca(),
            &names(),
            at("2026-11-21T00:00:00Z"),
            SignedDuration::from_hours(72),
        )
        .unwrap();
        assert_eq!(leaf.renew_at(), at("2026-11-23T00:00:00Z"));
    }

    #[test]
    fn knows_when_it_is_valid() {
        let leaf = Leaf::issue(&ca(), &names(), at("2026-11-21T10:00:00Z"), WEEK).unwrap();
        assert!(leaf.is_valid(at("2026-11-20T10:00:00Z")));
        assert!(!leaf.is_valid(at("2026-11-20T09:59:59Z")));
        assert!(leaf.is_valid(at("2026-11-28T09:59:59Z")));
        assert!(!leaf.is_valid(at("2026-11-28T10:00:00Z")));
    }

    #[test]
    fn refuses_names_that_are_none() {
        for names in [vec![], vec!["nämé".to_owned()]] {
            let error = Leaf::issue(&ca(), &names, at("2026-11-21T10:00:00Z"), WEEK).unwrap_err();
            assert!(matches!(error, LeafError::Names { .. }), "{error}");
        }
    }
}
