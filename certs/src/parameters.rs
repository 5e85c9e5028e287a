//! What a certificate states, except its key: names, usages, validity.

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyUsagePurpose,
};

/// The subject of every CA and the issuer of every leaf. It is never changed: an [`Issuer`](rcgen::Issuer) is rebuilt
/// from these parameters and the stored key, and a certificate that names another issuer would not chain.
const SUBJECT: &str = "sluice CA";

/// How far before it was made a certificate begins: the replica that makes it may be the one whose clock is ahead.
const BACKDATE: SignedDuration = SignedDuration::from_hours(24);

/// Everything about a CA except its key and its times, with at most `below` other CAs between it and a leaf: one that signs
/// for itself vouches for those that come after it, and those sign leaves only.
pub(crate) fn ca_params(below: u8) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, SUBJECT);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(below));
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    params
}

/// Everything about a leaf except its key and its times.
pub(crate) fn leaf_params(names: &[String]) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    // Verifiers look at the alternative names only; a common name may have 64 characters and a DNS name 253.
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "sluice");
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // Lets a verifier pick the right one of two CAs that share a subject.
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

/// Writes a validity into `params`. The type of its times belongs to a crate that is not ours to name; both are at or
/// after 1970, so a duration carries them over.
pub(crate) fn set_validity(params: &mut CertificateParams, from: Timestamp, until: Timestamp) {
    let since_epoch = |time: Timestamp| time.duration_since(Timestamp::UNIX_EPOCH).unsigned_abs();
    params.not_before = rcgen::date_time_ymd(1970, 1, 1) + since_epoch(from);
    params.not_after = rcgen::date_time_ymd(1970, 1, 1) + since_epoch(until);
}

/// When a certificate was made that begins at `begins`.
pub(crate) fn made(begins: Timestamp) -> Timestamp {
    begins.checked_add(BACKDATE).unwrap_or(Timestamp::MAX)
}

/// When a certificate begins that is made at `made`.
pub(crate) fn begins(made: Timestamp) -> Timestamp {
    made.checked_sub(BACKDATE)
        .unwrap_or(Timestamp::UNIX_EPOCH)
        .max(Timestamp::UNIX_EPOCH)
}

/// X.509 has no fractions of a second.
pub(crate) fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
