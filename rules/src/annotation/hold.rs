//! Whether a pod is held before it takes a node, or a Job before it has a pod: the value of [`keys::HOLD`].

use super::problem::{Flaw, Problem};
use super::terms::word;
use super::{ParseError, placed, text};
use crate::keys;
use serde_json::{Map, Value};

/// What a Job says that is to be created suspended.
const SUSPEND: &str = "suspend";

/// What the annotations of a pod or a pod template say; `None` where they leave it to the installation.
///
/// # Errors
///
/// A value that is neither `true` nor `false`.
pub fn hold(annotations: &Map<String, Value>) -> Result<Option<bool>, ParseError> {
    let key = keys::HOLD;
    let Some(value) = annotations.get(key) else {
        return Ok(None);
    };
    let text = text(key, value)?;
    if text == SUSPEND {
        return Err(placed(key, text, Flaw::at(0, Problem::SuspendsNoJob)));
    }
    let word = word(text, &["true", "false"]).map_err(|flaw| placed(key, text, flaw))?;
    Ok(Some(word == "true"))
}

/// Whether the annotations of a Job ask that it be created suspended.
///
/// # Errors
///
/// A value that is none of the words that any object may say.
pub fn suspends(annotations: &Map<String, Value>) -> Result<bool, ParseError> {
    let key = keys::HOLD;
    let Some(value) = annotations.get(key) else {
        return Ok(false);
    };
    let text = text(key, value)?;
    let words = &["true", "false", SUSPEND];
    let word = word(text, words).map_err(|flaw| placed(key, text, flaw))?;
    Ok(word == SUSPEND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(value: &Value) -> Map<String, Value> {
        let annotations = json!({ keys::HOLD: value });
        annotations.as_object().cloned().unwrap_or_default()
    }

    fn of(value: &Value) -> Result<Option<bool>, String> {
        hold(&with(value)).map_err(|error| error.to_string())
    }

    #[test]
    fn two_words() {
        assert_eq!(of(&json!("true")), Ok(Some(true)));
        assert_eq!(of(&json!("false")), Ok(Some(false)));
        assert_eq!(hold(&Map::new()), Ok(None));
    }

    #[test]
    fn a_job_has_a_third() {
        let of = |value: Value| suspends(&with(&value)).map_err(|error| error.to_string());
        assert_eq!(of(json!("suspend")), Ok(true));
        assert_eq!(of(json!("true")), Ok(false));
        assert_eq!(suspends(&Map::new()), Ok(false));
        insta::assert_snapshot!(of(json!("Suspend")).unwrap_err(),
            @r#"sluice.dev/hold: line 1, column 1: unknown word "Suspend"; did you mean "suspend"?"#);
    }

    #[test]
    fn whatever_else_is_refused_with_the_way_out() {
        let said = |value: Value| of(&value).unwrap_err();
        insta::assert_snapshot!(said(json!("yes")),
            @r#"sluice.dev/hold: line 1, column 1: unknown word "yes"; the words are true, false"#);
        insta::assert_snapshot!(said(json!(true)),
            @"sluice.dev/hold: the value is not a text; put it in quotes");
        insta::assert_snapshot!(said(json!("suspend")),
            @r#"sluice.dev/hold: line 1, column 1: only a Job can be suspended, by its own annotations and not by those of its pod template; write "true" to hold pods"#);
    }
}
