//! Texts of other programs, shortened and escaped for a line of ours.

use std::fmt;

/// The text of another program as one line of at most `longest` bytes, of which an ellipsis takes 3. A longer text is cut between two
/// characters first, and ends with the ellipsis. Then each control character, such as a line break, becomes a space.
pub(crate) fn one_line(mut text: String, longest: usize) -> String {
    const ELLIPSIS: &str = "…";
    // Cut first: the part that is never shown need not be kept or searched.
    if text.len() > longest {
        text.truncate(text.floor_char_boundary(longest.saturating_sub(ELLIPSIS.len())));
        text.push_str(ELLIPSIS);
        text.shrink_to_fit();
    }
    if text.contains(char::is_control) {
        text = text.replace(char::is_control, " ");
    }
    text
}

/// Writes the text of another program for one line of a log: in quotes, cut to 60 characters, and then escaped.
pub(crate) struct Quoted<'t>(pub(crate) &'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 60;
        let Self(text) = self;
        if text.chars().nth(LONGEST).is_none() {
            write!(out, "{text:?}")
        } else {
            let head: String = text.chars().take(LONGEST - 1).collect();
            write!(out, "{:?}", head + "…")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_between_two_characters() {
        for (text, told) in [
            ("", ""),
            ("a\nb\u{85}", "a b "),
            ("12345678", "12345678"),
            ("123456789", "12345…"),
            ("1234\u{fc}678", "1234…"),
        ] {
            let line = one_line(text.to_owned(), 8);
            assert_eq!(line, told);
            assert!(line.capacity() <= 8, "{told}");
        }
    }
}
