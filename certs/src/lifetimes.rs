//! How long things live, and which lives fit together.

use jiff::SignedDuration;

/// The shortest life, and the shortest overlap: replicas look each ten seconds at what is stored, and a leaf is renewed when
/// a third of its life is left.
const SHORTEST: SignedDuration = SignedDuration::from_secs(30);

/// How long things live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// A CA. Long, because nothing is won by another one.
    pub(crate) ca: SignedDuration,
    /// How long the next CA stands in every bundle before it signs, and how long the one before it is valid from then on.
    pub(crate) overlap: SignedDuration,
    /// A leaf. Short, because nothing depends on it.
    pub(crate) leaf: SignedDuration,
}

/// Why lives do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LifetimesError {
    /// A leaf would be over before anybody has renewed it.
    #[error("a certificate has to live for {SHORTEST:#} at least, not {0:#}")]
    ShortLeaf(SignedDuration),
    /// A leaf of the old CA would outlive it.
    #[error(
        "a certificate that lives for {leaf:#} outlives an overlap of {overlap:#}: the old CA has to be valid until its last certificate is over"
    )]
    LongLeaf {
        /// A leaf's life.
        leaf: SignedDuration,
        /// The overlap.
        overlap: SignedDuration,
    },
    /// A third CA would be due while the second one waits.
    #[error(
        "a CA that lives for {ca:#} has no room for an overlap of {overlap:#} at both its ends: it has to live three times as long at least"
    )]
    ShortCa {
        /// The CA's life.
        ca: SignedDuration,
        /// The overlap.
        overlap: SignedDuration,
    },
}

impl Lifetimes {
    /// A CA, the overlap with the one that follows it, and a leaf.
    ///
    /// # Errors
    ///
    /// A rotation with them would leave somebody without a certificate that is trusted.
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

    /// A CA's life.
    pub fn ca(&self) -> SignedDuration {
        self.ca
    }

    /// A leaf's life.
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
