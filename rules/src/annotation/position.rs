//! The gate's place among the init containers: the value of [`keys::GATE_POSITION`].

use super::names::{self, NameRule};
use super::piece::Piece;
use super::problem::{Flaw, Problem};
use super::{ParseError, placed, text};
use crate::keys;
use crate::suggest;
use serde_json::{Map, Value};

const AFTER: &str = "after=";

/// The gate's place among a pod's init containers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatePosition {
    /// The gate comes before every other init container.
    First,
    /// The gate comes after every other init container.
    Last,
    /// The gate comes right after the init container of this name.
    After(String),
}

/// The gate's place according to the annotations of a pod or a pod template; `None` where they leave it to sluice.
///
/// # Errors
///
/// A value that is none of `first`, `last` and `after=<init container>`.
pub fn gate_position(annotations: &Map<String, Value>) -> Result<Option<GatePosition>, ParseError> {
    let key = keys::GATE_POSITION;
    let Some(value) = annotations.get(key) else {
        return Ok(None);
    };
    let text = text(key, value)?;
    let position = read(Piece::whole(text)).map_err(|flaw| placed(key, text, flaw))?;
    Ok(Some(position))
}

fn read(written: Piece<'_>) -> Result<GatePosition, Flaw> {
    match written.text {
        "first" => return Ok(GatePosition::First),
        "last" => return Ok(GatePosition::Last),
        _ => {}
    }
    let Some(name) = written.strip_prefix(AFTER) else {
        return Err(written.flaw(Problem::UnknownWord {
            word: written.text.to_owned(),
            words: &["first", "last", "after=<init container>"],
            likely: suggest::nearest(written.text, ["first", "last"]),
        }));
    };
    names::check("init container", name, NameRule::Label)?;
    Ok(GatePosition::After(name.text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(value: &Value) -> Result<Option<GatePosition>, String> {
        let annotations = json!({ keys::GATE_POSITION: value });
        let annotations = annotations.as_object().cloned().unwrap_or_default();
        gate_position(&annotations).map_err(|error| error.to_string())
    }

    #[test]
    fn three_forms() {
        assert_eq!(of(&json!("first")), Ok(Some(GatePosition::First)));
        assert_eq!(of(&json!("last")), Ok(Some(GatePosition::Last)));
        let after = GatePosition::After("istio-init".to_owned());
        assert_eq!(of(&json!("after=istio-init")), Ok(Some(after)));
        assert_eq!(gate_position(&Map::new()), Ok(None));
    }

    #[test]
    fn whatever_else_is_refused_with_the_place_and_the_likely_word() {
        let said = |value: Value| of(&value).unwrap_err();
        insta::assert_snapshot!(said(json!("frist")),
            @r#"sluice.dev/gate-position: line 1, column 1: unknown word "frist"; did you mean "first"?"#);
        insta::assert_snapshot!(said(json!("after=Migrate")),
            @r#"sluice.dev/gate-position: line 1, column 7: init container "Migrate" has 'M' in it; lower case letters, digits and "-" are allowed"#);
        insta::assert_snapshot!(said(json!("after=")),
            @r#"sluice.dev/gate-position: line 1, column 7: init container is empty; write one"#);
        insta::assert_snapshot!(said(json!("")),
            @r#"sluice.dev/gate-position: line 1, column 1: unknown word ""; the words are first, last, after=<init container>"#);
        insta::assert_snapshot!(said(json!(1)),
            @r#"sluice.dev/gate-position: the value is not a text; put it in quotes"#);
    }
}
