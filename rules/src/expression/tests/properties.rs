//! Properties of every text and every object.

use super::super::*;
use crate::kstatus::arbitrary::json as any_json;
use proptest::prelude::*;

/// Pieces of expressions, so that a random text gets past the first character.
fn texts() -> impl Strategy<Value = String> {
    const PIECES: [&str; 30] = [
        "/",
        "/",
        "/status",
        "/spec",
        "/metadata",
        "/conditions",
        "/each",
        "/any",
        "/-",
        "/_each",
        "/type",
        "_d",
        "_",
        " ",
        " == ",
        " != ",
        ">=",
        "<",
        "=",
        "1",
        "-2.5",
        "1e400",
        "true",
        "null",
        "True",
        "\"",
        "'",
        "é",
        "\n",
        "18446744073709551615",
    ];
    let piece = prop_oneof![
        9 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_expression_on_any_json(text in texts(), object in any_json()) {
        match Expression::parse(&text) {
            Ok(expression) => {
                prop_assert_eq!(&Expression::parse(&expression.to_string()).unwrap(), &expression);
                if let Held::Fails(why) = expression.holds(&object) {
                    prop_assert!(!why.is_empty() && !why.contains('\n'));
                }
            }
            Err(ExpressionError { at, problem }) => {
                let at = at.unwrap();
                prop_assert!(text.is_char_boundary(at), "{} {}", at, problem);
            }
        }
    }

    /// A missing value, or one of another type, never holds; so `!=` is not the contrary of `==`.
    #[test]
    fn equal_and_not_equal_never_both(object in any_json(), name in "[a-c]", literal in "(1|true|x|\"1\")") {
        let holds = |sign: &str| {
            let expression = Expression::parse(&format!("/{name} {sign} {literal}")).unwrap();
            expression.holds(&object) == Held::Holds
        };
        let (equal, other) = (holds("=="), holds("!="));
        prop_assert!(!(equal && other));
        prop_assert!(object.get(&name).is_some() || !(equal || other));
    }
}
