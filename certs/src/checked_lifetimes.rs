//! Checks that the lifetimes that an administrator has chosen fit together. Their defaults are not here: the controller's flags and the
//! chart's values hold them.

use jiff::SignedDuration;

/// The shortest lifetime and the shortest overlap: replicas read the store every ten seconds, and renew a leaf when a
/// third of its life is left.
const SHORTEST: SignedDuration = SignedDuration::from_secs(30);

/// The lifetimes of the CA and the leaf, and the overlap of two CAs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// The lifetime of a CA. It is long, because replacing a CA gains nothing.
    pub(crate) ca: SignedDuration,
    /// The time that the next CA stands in every bundle before it signs, and that the former CA stays valid
    /// afterwards.
    pub(crate) overlap: SignedDuration,
    /// The lifetime of a leaf. It is short, because nothing depends on a leaf.
    pub(crate) leaf: SignedDuration,
}

/// The reason why lifetimes do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LifetimesError {
    /// A leaf would expire before a replica has renewed it.
    #[error("a certificate has to live for {SHORTEST:#} at least, not {0:#}")]
    ShortLeaf(SignedDuration),
    /// A leaf of the former CA would outlive that CA.
    #[error(
        "a certificate that lives for {leaf:#} outlives an overlap of {overlap:#}: the old CA has to be valid until its last certificate is over"
    )]
    LongLeaf {
        /// The lifetime of a leaf.
        leaf: SignedDuration,
        /// The overlap.
        overlap: SignedDuration,
    },
    /// The CA lives too short: a third CA would be due while the second one still waits to be trusted.
    #[error(
        "a CA that lives for {ca:#} has no room for an overlap of {overlap:#} at both its ends: it has to live three times as long at least"
    )]
    ShortCa {
        /// The lifetime of the CA.
        ca: SignedDuration,
        /// The overlap.
        overlap: SignedDuration,
    },
}

impl Lifetimes {
    /// Checks the lifetimes of a CA and a leaf, and the overlap of a CA with the next.
    ///
    /// # Errors
    ///
    /// The leaf lives for less than 30 s or for longer than the overlap, or the CA for less than three overlaps: a rotation would leave a
    /// client without a trusted certificate.
    pub fn new(
        ca: SignedDuration,
        overlap: SignedDuration,
        leaf: SignedDuration,
    ) -> Result<Self, LifetimesError> {
        if leaf < SHORTEST {
            return Err(LifetimesError::ShortLeaf(leaf));
        }
        if leaf > overlap {
            return Err(LifetimesError::LongLeaf { leaf, overlap });
        }
        if ca / 3 < overlap {
            return Err(LifetimesError::ShortCa { ca, overlap });
        }
        Ok(Self { ca, overlap, leaf })
    }

    /// The lifetime of a CA.
    pub fn ca(&self) -> SignedDuration {
        self.ca
    }

    /// The lifetime of a leaf.
    pub fn leaf(&self) -> SignedDuration {
        self.leaf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_which_lives_do_not_fit() {
        let error = |ca, overlap, leaf| {
            let [ca, overlap, leaf] = [ca, overlap, leaf].map(SignedDuration::from_secs);
            Lifetimes::new(ca, overlap, leaf)
                .err()
                .map(|it| it.to_string())
        };
        assert_eq!(error(90, 30, 30), None);
        for (ca, overlap, leaf, expected) in [
            (
                90,
                30,
                29,
                "a certificate has to live for 30s at least, not 29s",
            ),
            (
                3_600,
                60,
                61,
                "a certificate that lives for 1m 1s outlives an overlap of 1m: the old CA has to be valid until its last certificate is over",
            ),
            (
                179,
                60,
                60,
                "a CA that lives for 2m 59s has no room for an overlap of 1m at both its ends: it has to live three times as long at least",
            ),
        ] {
            assert_eq!(error(ca, overlap, leaf).as_deref(), Some(expected));
        }
    }
}
