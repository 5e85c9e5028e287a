//! Finds how a scalar is spelled: at which byte of the text each of its characters is written.

use granit_parser::ScalarStyle;
use std::iter::Peekable;
use std::str::Chars;

/// The byte of each character of a scalar's text, from the scalar's first byte on; `None` where the two cannot be matched. The
/// first byte is a quote or, in a block, the first letter behind the indentation.
pub(super) fn letters(
    source: &str,
    indent: usize,
    style: ScalarStyle,
    says: &str,
) -> Option<Vec<usize>> {
    let says = says.chars().peekable();
    match style {
        ScalarStyle::Literal | ScalarStyle::Folded => block(source, indent, says),
        ScalarStyle::Plain => flow(source, style, 0, says),
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => flow(source, style, 1, says),
    }
}

/// The byte in `source` of each letter that a block scalar (`|`, `>`) says; `None` where the letters do not match. Every line
/// of `source` is indented by `indent`, but the first one begins behind its indentation.
fn block(source: &str, indent: usize, mut says: Peekable<Chars<'_>>) -> Option<Vec<usize>> {
    let mut letters = Vec::new();
    // Blank lines before the first letter.
    while says.next_if_eq(&'\n').is_some() {
        letters.push(0);
    }
    let (mut at, mut skipped) = (0, 0);
    for line in source.split_inclusive('\n') {
        says.peek()?;
        let text = line.trim_end_matches(['\n', '\r']);
        for (offset, letter) in text.char_indices().skip(skipped) {
            if says.next()? != letter {
                return None;
            }
            letters.push(at + offset);
        }
        // A break is a space where the lines are folded, and nothing behind another one.
        if says.next_if(|it| matches!(it, ' ' | '\n')).is_some() {
            letters.push(at + text.len());
        }
        at += line.len();
        skipped = indent;
        if says.peek().is_none() {
            return Some(letters);
        }
    }
    Some(letters)
}

/// The byte in `source` of each letter of a scalar in quotes, or of a plain one; `None` where the letters do not match.
fn flow(
    source: &str,
    style: ScalarStyle,
    mut at: usize,
    mut says: Peekable<Chars<'_>>,
) -> Option<Vec<usize>> {
    let mut letters = Vec::new();
    while let Some(letter) = says.peek().copied() {
        let rest = &source[at..];
        let blank = &rest[..rest.len() - rest.trim_start().len()];
        let breaks = blank.matches('\n').count();
        if breaks > 0 {
            // One line break is a space; of several, each but the first is a line break.
            for _ in 0..(breaks - 1).max(1) {
                says.next_if(|it| matches!(it, ' ' | '\n'))?;
                letters.push(at);
            }
            at += blank.len();
            continue;
        }
        let length = match style {
            ScalarStyle::SingleQuoted if rest.starts_with("''") => 2,
            ScalarStyle::DoubleQuoted if rest.starts_with('\\') => escape(rest)?,
            _ if rest.starts_with(letter) => letter.len_utf8(),
            _ => return None,
        };
        // A break behind a backslash stands for nothing.
        if !rest.starts_with("\\\n") {
            letters.push(at);
            says.next();
        }
        at += length;
    }
    Some(letters)
}

/// The length in bytes of the escape with which a text in double quotes begins, such as `\n` or `\u0041`; `None` where nothing follows the backslash.
fn escape(text: &str) -> Option<usize> {
    let letter = text[1..].chars().next()?;
    Some(match letter {
        'x' => 4,
        'u' => 6,
        'U' => 10,
        '\n' => 2 + text[2..].len() - text[2..].trim_start().len(),
        _ => 1 + letter.len_utf8(),
    })
}

#[cfg(test)]
mod tests;
