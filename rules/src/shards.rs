//! The shards: the ConfigMaps that store the memory and the slots. One ConfigMap holds no more than 1 MiB, so the memory has several
//! shards, and so have the slots. Each namespace has its entries in one shard of each, and every reader computes the shard's number.

/// The number of shards of the memory, and of the slots.
pub const COUNT: usize = 4;

/// The most bytes of keys and values of one shard; a ConfigMap holds 1 MiB.
pub const MOST: usize = 900_000;

/// The names of the shards: `base`, which the administrator has chosen, with a number behind it for all but the first shard.
pub fn names(base: &str) -> [String; COUNT] {
    std::array::from_fn(|number| match number {
        0 => base.to_owned(),
        more => format!("{base}-{more}"),
    })
}

/// The number of the shard that holds the entries of a namespace.
pub fn of(namespace: &str) -> usize {
    // FNV-1a: which hash it is matters little, that it never changes does.
    let hash = namespace.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    (hash >> 16) as usize % COUNT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_stays_in_its_shard_and_the_shards_fill_alike() {
        assert_eq!(
            names("sluice-slots")[..2],
            ["sluice-slots", "sluice-slots-1"]
        );
        assert_eq!(["shop", "default", "a"].map(of), [3, 3, 0]);
        let mut filled = [0; COUNT];
        (0..1_000).for_each(|number| filled[of(&format!("team-{number}"))] += 1);
        assert!(
            filled.iter().all(|it| (150..350).contains(it)),
            "{filled:?}"
        );
    }
}
