//! Whether a pod is held before it takes a node: the value of [`keys::HOLD`].

use super::terms::word;
use super::{ParseError, placed, text};
use crate::keys;
use serde_json::{Map, Value};

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
    let word = word(text, &["true", "false"]).map_err(|flaw| placed(key, text, flaw))?;
    Ok(Some(word == "true"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(value: &Value) -> Result<Option<bool>, String> {
        let annotations = json!({ keys::HOLD: value });
        let annotations = annotations.as_object().cloned().unwrap_or_default();
        hold(&annotations).map_err(|error| error.to_string())
    }

    #[test]
    fn two_words() {
        assert_eq!(of(&json!("true")), Ok(Some(true)));
        assert_eq!(of(&json!("false")), Ok(Some(false)));
        assert_eq!(hold(&Map::new()), Ok(None));
    }

    #[test]
    fn whatever_else_is_refused_with_the_way_out() {
        let said = |value: Value| of(&value).unwrap_err();
        insta::assert_snapshot!(said(json!("yes")),
            @r#"sluice.dev/hold: line 1, column 1: unknown word "yes"; the words are true, false"#);
        insta::assert_snapshot!(said(json!(true)),
            @"sluice.dev/hold: the value is not a text; put it in quotes");
    }
}
