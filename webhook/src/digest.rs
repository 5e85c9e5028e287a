//! Short names of texts, equal in every replica.

use sha2::{Digest, Sha256};

/// Returns the first eight bytes of the text's SHA-256 digest: enough, because callers only compare texts for equality.
pub(crate) fn short(text: impl AsRef<[u8]>) -> u64 {
    let digest = Sha256::digest(text);
    let first = digest.iter().take(8);
    first.fold(0, |all, byte| all << 8 | u64::from(*byte))
}
