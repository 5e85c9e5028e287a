//! A piece of an annotation's text that knows where it stands, so that every flaw of it has its place.

use super::problem::{Flaw, Problem};

/// A part of the text of an annotation, and the byte of the annotation at which it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    at: usize,
    /// Whether the annotation holds the text byte for byte. Otherwise every flaw is placed at the start of the text.
    verbatim: bool,
}

impl<'t> Piece<'t> {
    /// The piece that is the text of a whole annotation.
    pub(super) fn whole(text: &'t str) -> Self {
        Self::verbatim(text, 0)
    }

    /// A text that stands byte for byte at the byte `at` of the annotation.
    pub(super) fn verbatim(text: &'t str, at: usize) -> Self {
        let verbatim = true;
        Self { text, at, verbatim }
    }

    /// A text that the annotation spells with escapes or over several lines from the byte `at` on.
    pub(super) fn respelt(text: &'t str, at: usize) -> Self {
        let verbatim = false;
        Self { text, at, verbatim }
    }

    /// A flaw at the start of the piece.
    pub(super) fn flaw(self, problem: impl Into<Problem>) -> Flaw {
        Flaw::at(self.at, problem)
    }

    /// A flaw at the byte `offset` of the piece.
    pub(super) fn flaw_at(self, offset: usize, problem: Problem) -> Flaw {
        self.moved(self.text, offset).flaw(problem)
    }

    /// The part before the byte `offset` and the part from there on. The offset is the start of a character, or the end.
    pub(super) fn split_at(self, offset: usize) -> (Self, Self) {
        let (before, behind) = self.text.split_at(offset);
        (self.moved(before, 0), self.moved(behind, offset))
    }

    /// The parts of the piece before and behind the first separator; `None` without one.
    pub(super) fn split_once(self, separator: char) -> Option<(Self, Self)> {
        let (before, behind) = self.text.split_once(separator)?;
        Some(self.around(before, behind))
    }

    /// The parts of the piece before and behind the last separator; `None` without one.
    pub(super) fn rsplit_once(self, separator: char) -> Option<(Self, Self)> {
        let (before, behind) = self.text.rsplit_once(separator)?;
        Some(self.around(before, behind))
    }

    /// The parts of the piece between the separators.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Self> {
        let mut next = 0;
        self.text.split(separator).map(move |text| {
            let offset = next;
            next += text.len() + separator.len_utf8();
            self.moved(text, offset)
        })
    }

    /// The piece without the space around it.
    pub(super) fn trim(self) -> Self {
        let text = self.text.trim_start();
        self.moved(text.trim_end(), self.text.len() - text.len())
    }

    /// The part of the piece behind a prefix; `None` where the piece does not begin with the prefix.
    pub(super) fn strip_prefix(self, prefix: &str) -> Option<Self> {
        let text = self.text.strip_prefix(prefix)?;
        Some(self.moved(text, prefix.len()))
    }

    pub(super) fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// Makes two pieces of this piece's text: its part `start`, which begins where this piece begins, and its part `end`, which ends where it ends.
    fn around(self, start: &'t str, end: &'t str) -> (Self, Self) {
        let offset = self.text.len() - end.len();
        (self.moved(start, 0), self.moved(end, offset))
    }

    /// Makes a piece of a part of this piece's text; the part begins at the byte `offset` of this piece's text.
    fn moved(self, text: &'t str, offset: usize) -> Self {
        let at = if self.verbatim {
            self.at + offset
        } else {
            self.at
        };
        Self { text, at, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each piece with the byte at which it begins.
    fn placed<'t>(pieces: impl IntoIterator<Item = Piece<'t>>) -> Vec<(usize, &'t str)> {
        pieces.into_iter().map(|it| (it.at, it.text)).collect()
    }

    #[test]
    fn every_part_of_a_piece_keeps_its_place() {
        let whole = Piece::whole("a/b,  \u{e9}: c ,d");
        let entries: Vec<_> = whole.split(',').map(Piece::trim).collect();
        assert_eq!(
            placed(entries.clone()),
            [(0, "a/b"), (6, "\u{e9}: c"), (13, "d")]
        );
        let (before, behind) = entries[1].split_once(':').unwrap();
        assert_eq!(
            placed([before, behind, behind.trim()]),
            [(6, "\u{e9}"), (9, " c"), (10, "c")]
        );
        let (before, behind) = whole.rsplit_once(',').unwrap();
        assert_eq!(
            placed([before, behind]),
            [(0, "a/b,  \u{e9}: c "), (13, "d")]
        );
        let (before, behind) = entries[0].split_at(1);
        assert_eq!(placed([before, behind]), [(0, "a"), (1, "/b")]);
        assert_eq!(placed(behind.strip_prefix("/")), [(2, "b")]);
    }

    #[test]
    fn the_parts_of_a_respelt_text_stand_at_its_start() {
        let text = Piece::respelt("a,b", 7);
        assert_eq!(placed(text.split(',')), [(7, "a"), (7, "b")]);
        assert_eq!(
            text.flaw_at(2, Problem::NotText),
            Flaw::at(7, Problem::NotText)
        );
        let text = Piece::verbatim("a,b", 7);
        assert_eq!(
            text.flaw_at(2, Problem::NotText),
            Flaw::at(9, Problem::NotText)
        );
    }
}
