//! Properties of every text and every object.

use super::super::*;
use crate::kstatus::arbitrary::json as any_json;
use proptest::prelude::*;

/// Pieces of paths, so that a random text gets past the first character.
fn paths() -> impl Strategy<Value = String> {
    const PIECES: [&str; 34] = [
        ".",
        "..",
        "[",
        "]",
        "[?(",
        ")]",
        "*",
        "@",
        "$",
        ",",
        ":",
        "'",
        "\"",
        "\\",
        " ",
        "==",
        "!=",
        "<",
        ">",
        "=",
        "0",
        "-1",
        "2",
        "true",
        "type",
        "status",
        "conditions",
        "Ready",
        "é",
        "\n",
        "[*]",
        "[0:2]",
        "['a','b']",
        "{",
    ];
    let piece = prop_oneof![
        9 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_path_on_any_json(path in paths(), root in any_json()) {
        if let Ok(path) = Path::parse(&path) {
            let mut effort = Effort::new();
            if let Ok(found) = path.find(&root, &mut effort) {
                prop_assert!(found.len() <= Effort::MOST);
            }
        }
    }
}
