//! The input cut where documents meet, so that only one of them is held.

use super::Place;
use std::io::{self, BufRead};

/// Whole lines of the input: one or more documents.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) text: Vec<u8>,
    /// Whether JSON is to be tried first.
    pub(super) json: bool,
    /// The number of its first line.
    line: usize,
}

impl Chunk {
    /// The place of a byte of the text.
    pub(super) fn place(&self, at: usize) -> Place {
        let before = &self.text[..at.min(self.text.len())];
        let mut lines = before.split(|byte| *byte == b'\n');
        let in_line = lines.next_back().unwrap_or_default();
        Place {
            line: self.line + lines.count(),
            column: 1 + String::from_utf8_lossy(in_line).chars().count(),
        }
    }
}

/// The chunks of an input.
///
/// A line that begins with `---` starts a document wherever it stands, even within a quoted text: YAML says so. `...`
/// ends one, and a JSON value ends with the line on which its braces are balanced.
pub(super) struct Chunks<R> {
    input: R,
    /// A separator that ended the chunk before.
    held: Vec<u8>,
    line: usize,
}

impl<R: BufRead> Chunks<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            held: Vec::new(),
            line: 1,
        }
    }

    fn read(&mut self) -> io::Result<Option<Chunk>> {
        let mut chunk = Chunk {
            text: Vec::new(),
            json: false,
            line: self.line,
        };
        let mut content = false;
        let mut directive = false;
        let mut braces = Braces::default();
        loop {
            let mut line = std::mem::take(&mut self.held);
            if line.is_empty() && self.input.read_until(b'\n', &mut line)? == 0 {
                return Ok(content.then_some(chunk));
            }
            let kind = Line::of(&line);
            if content && matches!(kind, Line::Separator | Line::Start) {
                self.held = line;
                return Ok(Some(chunk));
            }
            self.line += 1;
            directive |= kind == Line::Directive;
            if !content && matches!(kind, Line::Start | Line::Content) {
                content = true;
                chunk.json = kind == Line::Content && !directive && begins_json(&line);
            }
            let ended = chunk.json && braces.pass(&mut line) || kind == Line::End && content;
            chunk.text.append(&mut line);
            if ended {
                return Ok(Some(chunk));
            }
        }
    }
}

impl<R: BufRead> Iterator for Chunks<R> {
    type Item = io::Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// Nothing, or a comment.
    Blank,
    /// `%YAML 1.1`, where no document has begun.
    Directive,
    /// `---` and nothing else.
    Separator,
    /// `--- {a: b}`
    Start,
    /// `...`
    End,
    Content,
}

impl Line {
    fn of(line: &[u8]) -> Self {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        let empty = |text: &[u8]| matches!(text.trim_ascii().first(), None | Some(b'#'));
        match line {
            [b'-', b'-', b'-', rest @ ..] if empty(rest) => Self::Separator,
            [b'-', b'-', b'-', b' ' | b'\t', ..] => Self::Start,
            [b'.', b'.', b'.', rest @ ..] if empty(rest) => Self::End,
            [b'%', ..] => Self::Directive,
            _ if empty(line) => Self::Blank,
            _ => Self::Content,
        }
    }
}

/// Whether a brace opens, and what follows can be JSON: not `{name: a}`, which is YAML.
fn begins_json(line: &[u8]) -> bool {
    match line.trim_ascii() {
        [b'{', rest @ ..] => matches!(rest.trim_ascii_start().first(), None | Some(b'"' | b'}')),
        _ => false,
    }
}

/// Counts braces outside of texts.
#[derive(Debug, Default)]
struct Braces {
    depth: usize,
    quoted: bool,
    escaped: bool,
}

impl Braces {
    /// Passes a line, and says whether every brace is closed at its end.
    ///
    /// On the way `-0` loses its sign: to Go it is an integer, to serde_json a float.
    fn pass(&mut self, line: &mut [u8]) -> bool {
        for at in 0..line.len() {
            match line[at] {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.quoted => self.escaped = true,
                b'"' => self.quoted = !self.quoted,
                _ if self.quoted => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b'-' if is_zero(&line[at + 1..]) => line[at] = b' ',
                _ => {}
            }
        }
        self.depth == 0 && !self.quoted
    }
}

fn is_zero(digits: &[u8]) -> bool {
    match digits {
        [b'0', rest @ ..] => !matches!(rest.first(), Some(b'.' | b'e' | b'E' | b'0'..=b'9')),
        _ => false,
    }
}
