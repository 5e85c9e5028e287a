//! The ConfigMaps in which sluice stores its facts, its sheets. One ConfigMap holds no more than 1 MiB, so there are several;
//! each namespace is on one of them, and every reader computes which.

/// The number of sheets: ConfigMaps over which the memory, or the slots, are spread.
pub const COUNT: usize = 4;

/// The most bytes of keys and values of one sheet; a ConfigMap holds 1 MiB.
pub const MOST: usize = 900_000;

/// The names of the sheets: `base`, which the administrator has chosen, with a number behind it for all but the first sheet.
pub fn names(base: &str) -> [String; COUNT] {
    std::array::from_fn(|number| match number {
        0 => base.to_owned(),
        more => format!("{base}-{more}"),
    })
}

/// The number of the sheet that holds the entries of a namespace.
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
    fn a_namespace_stays_on_its_sheet_and_the_sheets_fill_alike() {
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
