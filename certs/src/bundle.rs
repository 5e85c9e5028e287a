//! Reads PEM from untrusted writers, within limits.

use rustls::pki_types::{CertificateDer, pem::PemObject};

/// The longest PEM text that is looked at, in bytes. Ours has 700; a bundle of sixteen RSA certificates still fits.
pub const MAX_PEM: usize = 64 * 1024;

/// The most certificates that a bundle may hold.
pub const MAX_CERTIFICATES: usize = 16;

/// Why a PEM text is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PemError {
    /// Longer than [`MAX_PEM`]. Checked before parsing: parsers have been quadratic before (CVE-2024-12401).
    #[error("the PEM text has {0} bytes, more than {MAX_PEM}")]
    TooLong(usize),
    /// More than [`MAX_CERTIFICATES`].
    #[error("the PEM text holds more than {MAX_CERTIFICATES} certificates")]
    TooMany,
    /// A section has no end, or is not base64.
    #[error("the PEM text is malformed: {0}")]
    Malformed(String),
    /// Nothing of the wanted kind in it.
    #[error("the PEM text holds no {0}")]
    Nothing(&'static str),
}

/// The certificates of a PEM bundle, in their order; at least one. Sections of other kinds are passed over.
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
