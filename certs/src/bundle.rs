//! Reads PEM texts from untrusted writers, within limits.

use jiff::Timestamp;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use x509_parser::time::ASN1Time;

/// The longest PEM text that is read, in bytes. A certificate of ours has 700; a bundle of sixteen RSA certificates
/// fits.
pub const MAX_PEM: usize = 64 * 1024;

/// The most certificates that a bundle may hold.
pub const MAX_CERTIFICATES: usize = 16;

/// The reason why a PEM text cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PemError {
    /// The text is longer than [`MAX_PEM`]. Checked before parsing: parsers have been quadratic before
    /// (CVE-2024-12401).
    #[error("the PEM text has {0} bytes, more than {MAX_PEM}")]
    TooLong(usize),
    /// The text holds more than [`MAX_CERTIFICATES`].
    #[error("the PEM text holds more than {MAX_CERTIFICATES} certificates")]
    TooMany,
    /// A section has no end, or is not base64.
    #[error("the PEM text is malformed: {0}")]
    Malformed(String),
    /// The text holds no section of the wanted type.
    #[error("the PEM text holds no {0}")]
    Nothing(&'static str),
}

/// Returns the certificates of a PEM bundle in order, at least one. Sections of other types are skipped.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, PemError> {
    within_limits(pem)?;
    let mut found = Vec::new();
    for section in CertificateDer::pem_slice_iter(pem) {
        if found.len() == MAX_CERTIFICATES {
            return Err(PemError::TooMany);
        }
        found.push(section.map_err(|error| PemError::Malformed(error.to_string()))?);
    }
    if found.is_empty() {
        return Err(PemError::Nothing("certificate"));
    }
    Ok(found)
}

/// Joins the PEM bundle `first` with those certificates of the bundle `others` that it lacks and that end after `now`. The result
/// holds at most `most` certificates, those of `first` before the others. `others` adds nothing if it cannot be read; `first` is an error then.
pub fn joined(first: &str, others: &str, now: Timestamp, most: usize) -> Result<String, PemError> {
    let known = certificates(first.as_bytes())?;
    let found = certificates(others.as_bytes()).unwrap_or_default();
    let carried = found.iter().zip(sections(others)).filter(|(it, _)| {
        !known.contains(it) && validity(it).is_ok_and(|(_, not_after)| not_after > now)
    });
    let carried = carried.map(|(_, text)| text);
    let lines = |text: &str| format!("{}\n", text.trim());
    Ok(sections(first)
        .chain(carried)
        .take(most)
        .map(lines)
        .collect())
}

/// Returns the texts of the certificates in a bundle, in order.
fn sections(pem: &str) -> impl Iterator<Item = &str> {
    let ended = pem.split_inclusive("-----END CERTIFICATE-----");
    ended.filter_map(|text| {
        text.find("-----BEGIN CERTIFICATE-----")
            .map(|at| &text[at..])
    })
}

/// Returns the times at which a certificate begins and ends (RFC 5280, 4.1.2.5). An error for a certificate that cannot be read.
pub(crate) fn validity(certificate: &CertificateDer<'_>) -> Result<(Timestamp, Timestamp), String> {
    let (_, parsed) =
        x509_parser::parse_x509_certificate(certificate).map_err(|error| error.to_string())?;
    let said = parsed.validity();
    let at = |time: ASN1Time| {
        Timestamp::from_second(time.timestamp()).map_err(|error| error.to_string())
    };
    Ok((at(said.not_before)?, at(said.not_after)?))
}

/// Refuses a text that is longer than [`MAX_PEM`].
pub(crate) fn within_limits(pem: &[u8]) -> Result<(), PemError> {
    if pem.len() > MAX_PEM {
        return Err(PemError::TooLong(pem.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTION: &str = "-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n";
    const OTHER: &str = "-----BEGIN EC PARAMETERS-----\nAAEC\n-----END EC PARAMETERS-----\n";

    #[test]
    fn finds_certificates_between_other_sections() {
        let text = format!("# a comment\n{SECTION}{OTHER}{SECTION}");
        let found = certificates(text.as_bytes()).unwrap();
        assert_eq!(
            found,
            [
                CertificateDer::from(vec![0, 1, 2]),
                CertificateDer::from(vec![0, 1, 2])
            ]
        );
    }

    #[test]
    fn carries_on_what_is_not_over() {
        let now: Timestamp = "2026-11-20T10:00:00Z".parse().unwrap();
        let day = jiff::SignedDuration::from_hours(24);
        let make = |at| crate::Ca::generate(at, day).unwrap();
        let [new, old, over] = [now, now, now - day * 2].map(make);
        let live = format!("{}# a comment\n{}{}", old.pem(), over.pem(), new.pem());
        let wanted = joined(new.pem(), &live, now, 8).unwrap();
        let text = |ca: &crate::Ca| format!("{}\n", ca.pem().trim());
        assert_eq!(wanted, format!("{}{}", text(&new), text(&old)));
        assert_eq!(joined(new.pem(), &wanted, now, 8).as_ref(), Ok(&wanted));
        assert_eq!(joined(new.pem(), &wanted, now, 1), Ok(text(&new)));
        assert_eq!(joined(new.pem(), "rubbish", now, 8), Ok(text(&new)));
    }

    #[test]
    fn refuses_what_is_not_a_bundle() {
        let long = SECTION.repeat(MAX_PEM / SECTION.len() + 1);
        assert_eq!(
            certificates(long.as_bytes()),
            Err(PemError::TooLong(long.len()))
        );
        let many = SECTION.repeat(MAX_CERTIFICATES + 1);
        assert_eq!(certificates(many.as_bytes()), Err(PemError::TooMany));
        assert_eq!(certificates(b""), Err(PemError::Nothing("certificate")));
        assert_eq!(
            certificates(OTHER.as_bytes()),
            Err(PemError::Nothing("certificate"))
        );
        let cut = &SECTION[..SECTION.len() - 10];
        assert!(
            matches!(certificates(cut.as_bytes()), Err(PemError::Malformed(_))),
            "{:?}",
            certificates(cut.as_bytes())
        );
    }
}
