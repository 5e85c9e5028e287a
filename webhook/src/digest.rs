//! A short name for a text, the same in every replica.

use sha2::{Digest, Sha256};

/// Only "is it another text" is asked of it, so eight bytes are plenty.
pub(crate) fn short(text: impl AsRef<[u8]>) -> u64 {
    let digest = Sha256::digest(text);
    let first = digest.iter().take(8);
    first.fold(0, |all, byte| all << 8 | u64::from(*byte))
}
