//! Whether the images of a pod are pulled before its gate begins: the value of [`keys::PREFETCH`].

use super::piece::Piece;
use super::terms::{FLAGS, word};
use super::{ParseError, placed, text};
use crate::keys;
use serde_json::{Map, Value};

/// Whether the annotations of a pod or a pod template ask for early pulls; `None` where they leave it to the installation.
///
/// # Errors
///
/// A value that is neither `true` nor `false`.
pub fn prefetch(annotations: &Map<String, Value>) -> Result<Option<bool>, ParseError> {
    let key = keys::PREFETCH;
    let Some(value) = annotations.get(key) else {
        return Ok(None);
    };
    let text = text(key, value)?;
    let flag = word(Piece::whole(text), &FLAGS).map_err(|flaw| placed(key, text, flaw))?;
    Ok(Some(flag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn two_words_and_all_else_is_refused_with_the_way_out() {
        let of = |value: Value| {
            let annotations = json!({ keys::PREFETCH: value });
            let annotations = annotations.as_object().cloned().unwrap_or_default();
            prefetch(&annotations).map_err(|error| error.to_string())
        };
        assert_eq!(of(json!("true")), Ok(Some(true)));
        assert_eq!(of(json!("false")), Ok(Some(false)));
        assert_eq!(prefetch(&Map::new()), Ok(None));
        insta::assert_snapshot!(of(json!("yes")).unwrap_err(),
            @r#"sluice.dev/prefetch: line 1, column 1: unknown word "yes"; the words are true, false"#);
        insta::assert_snapshot!(of(json!(true)).unwrap_err(),
            @"sluice.dev/prefetch: the value is not a text; put it in quotes");
    }
}
