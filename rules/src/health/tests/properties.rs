//! No text and no object brings an evaluation down.

use super::*;
use crate::health::library::LIBRARY;
use proptest::prelude::*;

/// Texts that are nearly CEL.
fn nearly_cel() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "status",
        ".",
        "?",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'a'",
        "1",
        "-",
        "!",
        "+",
        "==",
        "&&",
        "||",
        "in",
        "has",
        "all",
        "exists",
        "map",
        "x",
        ",",
        ":",
        "orValue",
        "size",
        "sets.contains",
        "\"",
        "b'",
        "1e9",
        "0u",
        " ",
        "\n",
        "ü",
        "`",
    ]);
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_expression_over_any_object_gives_an_answer(
        text in prop_oneof![nearly_cel(), any::<String>()],
        object in crate::kstatus::arbitrary::json(),
    ) {
        let _ = holds(&text, &object);
    }

    #[test]
    fn any_text_is_read(text in prop_oneof![any::<String>(), nearly_cel().prop_map(|cel| format!("- {{apiVersion: a/v1, current: {cel:?}}}"))]) {
        let (rules, problems) = read(&text);
        prop_assert!(rules.len() <= 1 || problems.is_empty());
    }

    #[test]
    fn the_library_takes_any_status(status in crate::kstatus::arbitrary::json(), at in any::<prop::sample::Index>()) {
        static SUBJECTS: std::sync::LazyLock<Vec<&For>> =
            std::sync::LazyLock::new(|| LIBRARY.entries.keys().collect());
        let (group, kind) = at.get(&SUBJECTS);
        let object = thing(&group.replace('*', "x"), kind.as_deref().unwrap_or("Any"), &status);
        prop_assert!(builtin(&object, false).is_some());
    }
}
