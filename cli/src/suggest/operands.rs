//! Takes an expression of a template apart.

/// The operands of a function, each a word or an expression in parentheses.
pub(super) fn operands(all: &str) -> Vec<&str> {
    let (mut open, mut quoted, mut from) = (0, false, 0);
    let mut found = Vec::new();
    for (at, letter) in all.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' => open += 1,
            ')' => open -= 1,
            ' ' if open == 0 => {
                found.push(&all[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&all[from..]);
    found
}

/// The places in an expression at which a field of the dot, or the dot itself, begins, each with the name of the field; empty for the dot.
fn fields(expression: &str) -> impl Iterator<Item = (usize, &str)> {
    let dots = expression.match_indices('.');
    dots.filter_map(move |(at, _)| {
        let before = &expression[..at];
        let begins = before.is_empty() || before.ends_with([' ', '(', '{']);
        let behind = &expression[at + 1..];
        let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let end = behind.find(|it| !is_letter(it)).unwrap_or(behind.len());
        begins.then_some((at, &behind[..end]))
    })
}

/// Whether an expression reads only fields that the root of a chart has, such as `.Values`, or the dot itself. Then it means the same in every
/// template whose dot is the root.
pub(super) fn is_of_root(expression: &str) -> bool {
    let of_root = [
        "",
        "Values",
        "Release",
        "Chart",
        "Capabilities",
        "Template",
        "Files",
        "Subcharts",
    ];
    fields(expression).all(|(_, field)| of_root.contains(&field))
}

/// Whether an expression has another result each time: it has the time in it, or a random text.
pub(super) fn is_unsteady(expression: &str) -> bool {
    let mut words = expression.split(|it: char| !it.is_ascii_alphanumeric());
    words.any(|it| matches!(it, "now" | "uuidv4") || it.starts_with("rand"))
}

/// A text in which each action names the root of the chart by `$`, for a place where the dot is something else.
pub(super) fn from_root(text: &str) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let end = rest[start..].find("}}").map_or(rest.len(), |it| start + it);
        found.push_str(&rest[..start]);
        let action = &rest[start..end];
        let mut from = 0;
        for (at, field) in fields(action) {
            found.push_str(&action[from..at]);
            found.push('$');
            // A bare dot becomes the root, and a field stays one of the root.
            from = if field.is_empty() { at + 1 } else { at };
        }
        found.push_str(&action[from..]);
        rest = &rest[end..];
    }
    found + rest
}

/// A condition without the pair of parentheses around it; the condition itself where it has none.
pub(super) fn bare(condition: &str) -> &str {
    let inner = condition.strip_prefix('(');
    let inner = inner.and_then(|it| it.strip_suffix(')'));
    inner.unwrap_or(condition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dot_is_told_from_the_root() {
        for (expression, expected) in [
            ("include \"shop.db\" .", true),
            ("printf \"%s-db\" .Release.Name", true),
            ("$.Values.db.host", true),
            (".context", false),
            ("include \"shop.db\" (dict \"of\" .db)", false),
        ] {
            assert_eq!(is_of_root(expression), expected, "{expression}");
        }
        assert!(is_unsteady(
            "printf \"%s-%s\" .Release.Name (now | date \"20060102\")"
        ));
        assert!(!is_unsteady("include \"shop.known\" ."));
        let text = "a.b/{{ include \"shop.db\" . }}:{{ .Values.port | default 1.5 }}.c";
        let expected = "a.b/{{ include \"shop.db\" $ }}:{{ $.Values.port | default 1.5 }}.c";
        assert_eq!(from_root(text), expected);
    }
}
