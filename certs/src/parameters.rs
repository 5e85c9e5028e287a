//! The statements of a certificate, except its key: names, usages, validity.

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyUsagePurpose,
};

/// The subject of every CA and the issuer of every leaf. It must never change: an [`Issuer`](rcgen::Issuer) is
/// rebuilt from these parameters and the stored key, and a certificate with another issuer would not chain.
const SUBJECT: &str = "sluice CA";

/// The time by which a certificate begins before it is made: the clock of the replica that makes it may be ahead.
const BACKDATE: SignedDuration = SignedDuration::from_hours(24);

/// Returns the parameters of a CA except its key and its times. At most `below` other CAs may stand between it and a
/// leaf: a CA that signs itself vouches for later CAs (1), and a vouched-for CA signs only leaves (0).
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

/// Returns the parameters of a serving certificate for the DNS names `names`, except its key and its times. A name that is no DNS name is an
/// error.
pub(crate) fn leaf_params(names: &[String]) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    // Verifiers read the alternative names only. A common name would have room for 64 characters, and a DNS name may
    // have 253.
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "sluice");
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // The key identifier lets a verifier tell two CAs with equal subjects apart.
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

/// Sets the beginning and the end of a certificate. The type of `params`' times belongs to a crate that this one does not import. Both
/// times are in 1970 or later, so a duration since then carries them over.
pub(crate) fn set_validity(params: &mut CertificateParams, from: Timestamp, until: Timestamp) {
    let since_epoch = |time: Timestamp| time.duration_since(Timestamp::UNIX_EPOCH).unsigned_abs();
    params.not_before = rcgen::date_time_ymd(1970, 1, 1) + since_epoch(from);
    params.not_after = rcgen::date_time_ymd(1970, 1, 1) + since_epoch(until);
}

/// Returns the time at which a certificate was made, from the time at which it begins: a day later.
pub(crate) fn made(begins: Timestamp) -> Timestamp {
    begins.checked_add(BACKDATE).unwrap_or(Timestamp::MAX)
}

/// Returns the time at which a certificate begins, from the time at which it is made: a day earlier, but not before 1970.
pub(crate) fn begins(made: Timestamp) -> Timestamp {
    made.checked_sub(BACKDATE)
        .unwrap_or(Timestamp::UNIX_EPOCH)
        .max(Timestamp::UNIX_EPOCH)
}

/// Cuts off the fraction of a second, which X.509 lacks.
pub(crate) fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
