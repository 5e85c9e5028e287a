//! Masks the actions of a template: a number between two special letters takes the place of each `{{ … }}`, so that the text can be read as
//! YAML and as words of a shell.

use super::operands::{bare, operands};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The letter in front of the number of an action; [`CLOSE`] stands behind it. Unicode leaves both for private use, so no chart has them, and
/// YAML takes them as any other letter.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// A text with numbers in place of its actions, and the actions in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Masked {
    pub(super) text: String,
    actions: Vec<String>,
}

/// Replaces each action of a text by its number between [`OPEN`] and [`CLOSE`], and drops each comment. Equal actions have one number, so that
/// equal waits have one text. The line breaks of a long action follow its number, so that the numbers of lines stay.
pub(super) fn mask(text: &str) -> Masked {
    let mut masked = Masked::default();
    let text = with_parts(text);
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rest = &*text;
    while let Some(start) = rest.find("{{") {
        let end = rest[start..]
            .find("}}")
            .map_or(rest.len(), |end| start + end + 2);
        masked.text.push_str(&rest[..start]);
        let action = &rest[start..end];
        if !inner(action).starts_with("/*") {
            let all = &mut masked.actions;
            let number = *numbers.entry(inner(action)).or_insert_with(|| {
                all.push(action.to_owned());
                all.len() - 1
            });
            masked.text.push(OPEN);
            masked.text.push_str(&number.to_string());
            masked.text.push(CLOSE);
        }
        let breaks = action.matches('\n').count();
        masked.text.extend(std::iter::repeat_n('\n', breaks));
        rest = &rest[end..];
    }
    masked.text.push_str(rest);
    masked
}

/// A text in which each `printf` of a URL is taken apart, so that the host in it is an action of its own.
fn with_parts(text: &str) -> Cow<'_, str> {
    if !text.contains("printf \"") {
        return Cow::Borrowed(text);
    }
    let mut found = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let end = rest[start..]
            .find("}}")
            .map_or(rest.len(), |end| start + end + 2);
        found.push_str(&rest[..start]);
        let action = &rest[start..end];
        found.push_str(url_of(inner(action)).as_deref().unwrap_or(action));
        rest = &rest[end..];
    }
    found.push_str(rest);
    Cow::Owned(found)
}

/// The text that `printf "%s://%v:%v" A B C` prints, with an action for each argument; `None` for an action that prints no URL so.
fn url_of(action: &str) -> Option<String> {
    let behind = unquoted(action).strip_prefix("printf \"")?;
    let (format, arguments) = behind.split_once('"')?;
    let arguments = operands(arguments.trim());
    let mut pieces = format.split('%');
    let mut url = pieces.next()?.to_owned();
    let mut given = arguments.iter();
    for piece in pieces {
        let behind = piece.strip_prefix(['s', 'v', 'd'])?;
        url.extend(["{{ ", bare(given.next()?), " }}", behind]);
    }
    let is_plain = given.next().is_none() && !arguments.contains(&"|");
    (is_plain && format.contains("://")).then_some(url)
}

/// The text between the braces of an action, without the dash and the spaces at either end.
pub(super) fn inner(action: &str) -> &str {
    let inner = action.trim_start_matches("{{").trim_end_matches("}}");
    let inner = inner.strip_prefix('-').unwrap_or(inner);
    inner.strip_suffix('-').unwrap_or(inner).trim()
}

impl Masked {
    /// A piece of the masked text with its actions put back, in a form that an entry of a list may have: without the quotes that a pipeline puts
    /// around a value, and without the `-` by which an action trims the space around it.
    pub(super) fn seen(&self, text: &str) -> String {
        let mut seen = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(OPEN) {
            seen.push_str(&rest[..start]);
            let behind = &rest[start + OPEN.len_utf8()..];
            let Some(end) = behind.find(CLOSE) else { break };
            let number = behind[..end].parse::<usize>().ok();
            if let Some(action) = number.and_then(|number| self.actions.get(number)) {
                seen.extend(["{{ ", unquoted(inner(action)), " }}"]);
            }
            rest = &behind[end + CLOSE.len_utf8()..];
        }
        seen + rest
    }

    /// The masked text with `x` in place of each action, or with `1` in place of an action behind a colon.
    pub(super) fn stand_in(&self) -> String {
        let mut text = String::new();
        let mut inside = false;
        for letter in self.text.chars() {
            match letter {
                OPEN => inside = true,
                CLOSE => {
                    inside = false;
                    text.push(if text.ends_with(':') { '1' } else { 'x' });
                }
                _ if inside => {}
                _ => text.push(letter),
            }
        }
        text
    }

    /// The actions, without their braces, of a line of the masked text that holds only actions; empty for a line with any other text.
    pub(super) fn alone(&self, line: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut rest = line.trim();
        while let Some(behind) = rest.strip_prefix(OPEN) {
            let Some((number, next)) = behind.split_once(CLOSE) else {
                return Vec::new();
            };
            let action = number.parse::<usize>().ok();
            found.extend(action.and_then(|number| Some(inner(self.actions.get(number)?))));
            rest = next.trim_start();
        }
        if rest.is_empty() { found } else { Vec::new() }
    }
}

/// An action without the `quote` or `squote` at the end of its pipeline.
fn unquoted(action: &str) -> &str {
    let mut action = action.trim();
    for function in ["quote", "squote"] {
        let before = action.strip_suffix(function).map(str::trim_end);
        if let Some(before) = before.and_then(|it| it.strip_suffix('|')) {
            action = before.trim_end();
        }
    }
    action
}

/// Whether a text holds a masked action.
pub(super) fn is_masked(text: &str) -> bool {
    text.contains(OPEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_is_printed_is_taken_apart() {
        let url = "{{ printf \"%s://%v:%v/x\" (include \"a\" .) .Values.b (c | int) | quote }}";
        let masked = mask(url);
        let parts = "{{ include \"a\" . }}://{{ .Values.b }}:{{ c | int }}/x";
        assert_eq!(masked.seen(&masked.text), parts);
        for other in [
            "{{ printf \"%s-db\" .Release.Name }}",
            "{{ printf \"%s://x\" .a | upper }}",
            "{{ printf \"%s://%q\" .a .b }}",
        ] {
            let masked = mask(other);
            assert_eq!(masked.seen(&masked.text), other);
        }
    }

    #[test]
    fn equal_actions_have_one_number() {
        let masked = mask("{{ .a }} {{- .b }} {{- .a -}}");
        let words: Vec<&str> = masked.text.split(' ').collect();
        assert_eq!((words[0], words.len()), (words[2], 3));
        assert_ne!(words[0], words[1]);
    }

    #[test]
    fn what_is_masked_is_seen_again_without_the_quotes_of_a_pipeline() {
        let masked =
            mask("a {{- include \"x\" . | quote }}-b {{/* c */}}\n  {{- if .Values.a }}\n");
        let mut lines = masked.text.lines();
        let first = lines.next().unwrap();
        assert_eq!(masked.seen(first), "a {{ include \"x\" . }}-b ");
        assert!(is_masked(first));
        assert_eq!(masked.alone(lines.next().unwrap()), ["if .Values.a"]);
        assert_eq!(masked.alone(first), [""; 0]);
    }
}
