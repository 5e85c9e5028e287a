//! The marks and colours of lines, for a terminal that shows them.

use clap::ValueEnum;

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Everywhere, with marks.
    Always,
    /// Nowhere.
    Never,
}

/// The tone of a line, which decides its mark and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    /// The line tells that a dependency holds its object back.
    Waiting,
    /// The object is on its way, and nothing holds it back.
    Moving,
    Bad,
}

/// The marks and colours of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    marks: bool,
    colors: bool,
}

impl Style {
    /// The style without colours, and with words in place of marks.
    pub(crate) const PLAIN: Self = Self {
        marks: false,
        colors: false,
    };

    /// The style for these wishes. `terminal`: standard output is a terminal. `no_color`: the user wants no colours.
    pub(crate) fn new(color: Color, terminal: bool, no_color: bool) -> Self {
        let colors = match color {
            Color::Auto => terminal && !no_color,
            Color::Always => true,
            Color::Never => false,
        };
        Self {
            marks: terminal || color == Color::Always,
            colors,
        }
    }

    /// The mark of a line: a sign, or a word where the output may not show signs.
    pub(crate) fn mark(self, tone: Tone) -> String {
        let word = match (self.marks, tone) {
            (true, Tone::Good) => "✓",
            (true, Tone::Waiting) => "◌",
            (true, Tone::Moving) => "…",
            (true, Tone::Bad) => "✗",
            (false, Tone::Good) => "ok  ",
            (false, Tone::Waiting) => "wait",
            (false, Tone::Moving) => "... ",
            (false, Tone::Bad) => "fail",
        };
        self.painted(tone, word)
    }

    /// The text, in the colour of its tone if there are colours.
    pub(crate) fn painted(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => 32,
            Tone::Waiting => 33,
            Tone::Moving => 36,
            Tone::Bad => 31,
        };
        self.escaped(code, text)
    }

    /// The text in bold, as a heading of a group of lines; unchanged where there are no colours.
    pub(crate) fn heading(self, text: &str) -> String {
        self.escaped(1, text)
    }

    fn escaped(self, code: u8, text: &str) -> String {
        if self.colors {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_marks_and_colours_and_a_file_words() {
        for (color, terminal, no_color, expected) in [
            (Color::Auto, true, false, "\x1b[32m✓\x1b[0m"),
            (Color::Auto, true, true, "✓"),
            (Color::Auto, false, false, "ok  "),
            (Color::Always, false, true, "\x1b[32m✓\x1b[0m"),
            (Color::Never, true, false, "✓"),
            (Color::Never, false, false, "ok  "),
        ] {
            let style = Style::new(color, terminal, no_color);
            assert_eq!(style.mark(Tone::Good), expected, "{color:?} {terminal}");
        }
    }
}
