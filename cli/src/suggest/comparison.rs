//! Reads how a condition of a template compares a value with texts.

/// The comparison of a value with texts, such as `eq .Values.kind "a" "b"` or `has .Values.kind (list "a" "b")`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comparison {
    /// The texts, of which one has to be the value.
    pub(super) texts: Vec<String>,
    /// The function: `eq`, which also stands for `ne`, or `has`.
    function: &'static str,
}

impl Comparison {
    /// Reads the comparison of a value by `eq`, `ne` (read as `eq`) or `has`. `before` and `behind` are the texts of the condition around the value's
    /// path. `None` where the condition compares the value with no text in quotes other than `""`.
    pub(super) fn around(before: &str, behind: &str) -> Option<Self> {
        let before = before.trim_end_matches(['$', ' ', '(']);
        let of = |function: &'static str, texts: Vec<String>| {
            let texts: Vec<String> = texts.into_iter().filter(|it| !it.is_empty()).collect();
            (!texts.is_empty()).then_some(Self { texts, function })
        };
        let is = |function: &str| {
            let start = before.strip_suffix(function);
            start.is_some_and(|it| !it.ends_with(|it: char| it.is_ascii_alphanumeric()))
        };
        if is("has") {
            let behind = behind.trim_start();
            let end = behind.find(')')?;
            let list = behind[..end].strip_prefix("(list ")?;
            return of("has", quoted(list));
        }
        if is("eq") || is("ne") {
            return of("eq", leading(behind));
        }
        // The text may stand before the value: `eq "a" .Values.kind`.
        let (first, text) = before.strip_suffix('"')?.rsplit_once('"')?;
        let first = first.trim_end();
        let compares = ["eq", "ne"].iter().any(|it| {
            let start = first.strip_suffix(it);
            start.is_some_and(|it| !it.ends_with(|it: char| it.is_ascii_alphanumeric()))
        });
        compares.then(|| of("eq", vec![text.to_owned()])).flatten()
    }

    /// Adds the texts of another comparison of the same value.
    pub(super) fn join(&mut self, other: &Self) {
        for text in &other.texts {
            self.add(text);
        }
    }

    /// Adds a text to the texts of the comparison, unless it is there.
    pub(super) fn add(&mut self, text: &str) {
        if self.texts.iter().all(|it| it != text) {
            self.texts.push(text.to_owned());
        }
    }

    /// Whether the condition compares by `has`, so that the texts stand in a list of their own.
    pub(super) fn is_of_list(&self) -> bool {
        self.function == "has"
    }

    /// The condition that holds where the value at a path is one of the texts.
    pub(super) fn holds(&self, path: &str) -> String {
        let texts: Vec<String> = self.texts.iter().map(|it| format!("\"{it}\"")).collect();
        let texts = texts.join(" ");
        if self.is_of_list() {
            format!("(has {path} (list {texts}))")
        } else {
            format!("(eq {path} {texts})")
        }
    }

    /// The condition that holds where the value at a path is none of the texts.
    pub(super) fn fails(&self, path: &str) -> String {
        match self.texts.as_slice() {
            [one] if !self.is_of_list() => format!("(ne {path} \"{one}\")"),
            _ => format!("(not {})", self.holds(path)),
        }
    }
}

/// The texts in quotes in a list of arguments.
fn quoted(text: &str) -> Vec<String> {
    let texts = text.split('"').skip(1).step_by(2);
    texts.map(str::to_owned).collect()
}

/// The texts in quotes with which a list of arguments begins.
fn leading(behind: &str) -> Vec<String> {
    let mut texts = Vec::new();
    // The value may stand in parentheses.
    let mut rest = behind.trim_start_matches([' ', ')']);
    while let Some((text, behind)) = rest.strip_prefix('"').and_then(|it| it.split_once('"')) {
        texts.push(text.to_owned());
        rest = behind.trim_start();
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_names_each_of_its_texts() {
        for (condition, expected) in [
            (
                "if eq .Values.kind \"a\" \"b\"",
                Some(("eq", vec!["a", "b"])),
            ),
            ("if (ne $.Values.kind \"a\")", Some(("eq", vec!["a"]))),
            ("if eq (lower .Values.kind) \"a\"", None),
            ("if eq \"a\" .Values.kind", Some(("eq", vec!["a"]))),
            (
                "if has .Values.kind (list \"a\" \"b\")",
                Some(("has", vec!["a", "b"])),
            ),
            ("if eq .Values.kind .Values.other", None),
            ("if eq .Values.kind \"\"", None),
            ("if .Values.kind", None),
        ] {
            let (before, behind) = condition.split_once(".Values.").unwrap();
            let end = behind.find([' ', ')']).unwrap_or(behind.len());
            let found = Comparison::around(before, &behind[end..]);
            let found = found.map(|it| (it.function, it.texts));
            let expected = expected.map(|(function, texts)| {
                let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
                (function, texts)
            });
            assert_eq!(found, expected, "{condition}");
        }
    }
}
