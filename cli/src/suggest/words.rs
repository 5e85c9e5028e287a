//! The words of a document, as a shell or a list of arguments has them.

use super::document::{Document, indent, is_action};

/// A word, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// In the file, from 0.
    pub(super) line: usize,
    /// Whether it is of an init container.
    pub(super) init: bool,
    /// Whether it is a key of the manifest.
    pub(super) is_key: bool,
}

/// The words of a document; what stands between `{{` and `}}` is within one.
pub(super) fn of(document: &Document<'_>) -> Vec<Word> {
    let mut words = Vec::new();
    let mut init: Option<usize> = None;
    for (number, line) in document.lines.iter().enumerate() {
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('#') || is_action(line) {
            continue;
        }
        let depth = indent(line);
        let is_item = text.starts_with('-');
        if init.is_some_and(|of| depth < of || depth == of && !is_item) {
            init = None;
        }
        if text.starts_with("initContainers:") {
            init = Some(depth);
        }
        let of_line = split(text);
        let mut first = true;
        for text in of_line {
            let is_key = first && is_key(&text);
            first &= text == "-" || is_key;
            if text != "-" {
                let line = document.first + number;
                let init = init.is_some();
                words.push(Word {
                    text,
                    line,
                    init,
                    is_key,
                });
            }
        }
    }
    words
}

/// `command:`, and no `$HOST:` of a shell.
fn is_key(word: &str) -> bool {
    let name = word.strip_suffix(':').unwrap_or_default();
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// At blanks, quotes, brackets and commas; `;` and the like are words.
fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        let mut length = letter.len_utf8();
        if rest.starts_with("{{") {
            length = rest.find("}}").map_or(rest.len(), |end| end + 2);
            push(&mut words, &rest[..length]);
        } else if letter.is_whitespace() || "\"'[],`".contains(letter) {
            words.push(String::new());
        } else if ";|&".contains(letter) {
            words.extend([letter.to_string(), String::new()]);
        } else {
            push(&mut words, &rest[..length]);
        }
        rest = &rest[length..];
    }
    words.retain(|word| !word.is_empty());
    words
}

fn push(words: &mut [String], text: &str) {
    if let Some(last) = words.last_mut() {
        last.push_str(text);
    }
}
