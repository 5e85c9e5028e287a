//! The chart's values, explained by the comments above them.

use super::GlossaryEntry;

/// Reads the text of the chart's values: returns an entry for each key with a comment directly above it. The word of the entry is the path of
/// the key, such as `rbac.secrets`, its meaning the comment.
pub(super) fn values(text: &str) -> Vec<GlossaryEntry> {
    let mut found = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut path: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        let content = line.trim_start();
        if let Some(words) = content.strip_prefix('#') {
            comment.push(words.trim().trim_start_matches("-- "));
            continue;
        }
        let indent = line.len() - content.len();
        let key = content.split_once(':').map(|(key, _)| key);
        let Some(key) = key.filter(|it| it.chars().all(char::is_alphanumeric)) else {
            comment.clear();
            continue;
        };
        path.retain(|(above, _)| *above < indent);
        path.push((indent, key));
        if !comment.is_empty() {
            let keys: Vec<_> = path.iter().map(|(_, key)| *key).collect();
            found.push(GlossaryEntry {
                word: keys.join("."),
                meaning: comment.join(" ").replace('`', ""),
                place: "values of the chart".to_owned(),
            });
            comment.clear();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_explains_the_key_below_it() {
        let text = "# -- How many.\nreplicas: 2\n\n# Loose.\n\na:\n  # -- One `b`,\n  # in two lines.\n  b: 1\n  c: 2\n";
        let found = values(text);
        let told: Vec<_> = found
            .iter()
            .map(|it| (it.word.as_str(), it.meaning.as_str()))
            .collect();
        assert_eq!(
            told,
            [("replicas", "How many."), ("a.b", "One b, in two lines.")]
        );
    }
}
