//! Finds the places of the nodes of one document in its text, so that an editor can open the place of a finding.
//!
//! The document is read once more for that, and only where there is a finding.

use super::spelled;
use super::yaml::Events;
use super::{Flaw, Origin, Position};
use granit_parser::{Event, ScalarStyle, Span};
use std::collections::HashMap;

/// The nodes of a document by their JSON pointers.
#[derive(Debug)]
pub(crate) struct Places<'t> {
    text: &'t str,
    /// The bytes, from 0, at which the lines of the text begin.
    lines: &'t [usize],
    nodes: HashMap<String, NodePlace>,
}

#[derive(Debug)]
struct NodePlace {
    /// The byte, from 0, at which the node's key begins; the byte of the node itself where it has no key.
    key: usize,
    /// The byte at which the node itself begins: the value, for a node with a key.
    value: usize,
    /// The text of a scalar in a manifest, and its style.
    scalar: Option<(String, ScalarStyle)>,
}

impl<'t> Places<'t> {
    /// Finds the places of the nodes of the document that begins at the byte `at`; in a document with a flaw, those before the flaw.
    pub(crate) fn new(text: &'t str, lines: &'t [usize], at: usize) -> Self {
        // Indentation counts from the start of the line; in JSON, where another document may stand before it, nothing does.
        let line = text[..at].rfind('\n').map_or(0, |it| it + 1);
        let from = if text[at..].starts_with('{') {
            at
        } else {
            line
        };
        let mut reader = PlaceReader {
            events: Events::new(text, from),
            nodes: HashMap::new(),
        };
        // A flaw ends the reading; the places up to it count.
        let _ = reader.document();
        let nodes = reader.nodes;
        Self { text, lines, nodes }
    }

    /// The line and column of the key of the node at `pointer` in the object `of`, or of the node itself where it has no key; for a missing node, of
    /// the nearest node around it. `None` where the document has no node before a flaw.
    pub(crate) fn key(&self, of: &Origin, pointer: &str) -> Option<Position> {
        let pointer = absolute(of, pointer);
        let node = ancestors(&pointer).find_map(|it| self.nodes.get(it))?;
        Some(self.position(node.key))
    }

    /// The place of a character in a scalar of the object, by line and column (from 1) in the scalar's text; `None` where there is no such scalar. Where
    /// its spelling cannot be matched, the place of the scalar.
    pub(crate) fn within(
        &self,
        of: &Origin,
        pointer: &str,
        line: usize,
        column: usize,
    ) -> Option<Position> {
        let node = self.nodes.get(&absolute(of, pointer))?;
        let (says, style) = node.scalar.as_ref()?;
        let before = says.split_inclusive('\n').take(line.saturating_sub(1));
        let before: usize = before.map(|line| line.chars().count()).sum();
        let indent = self.position(node.value).column - 1;
        let letters = spelled::letters(&self.text[node.value..], indent, *style, says);
        let letters = letters.unwrap_or_default();
        let at = before + column.saturating_sub(1);
        // Behind the last character is its end.
        let at = letters.get(at).or(letters.last()).copied();
        Some(self.position(node.value + at.unwrap_or_default()))
    }

    fn position(&self, at: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines[..line].last().copied().unwrap_or_default();
        Position {
            line,
            column: 1 + self.text[start..at].chars().count(),
        }
    }
}

/// The bytes, from 0, at which the lines of a text begin.
pub(crate) fn lines(text: &str) -> Vec<usize> {
    let behind = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(behind).collect()
}

/// The JSON pointer from the root of the document to a field of the object `of`, which may be an item of a list.
fn absolute(of: &Origin, pointer: &str) -> String {
    let items = of.items.iter().map(|item| format!("/items/{item}"));
    items.collect::<String>() + pointer
}

/// A JSON pointer, and the pointers of the nodes around its node, from the inside out.
fn ancestors(pointer: &str) -> impl Iterator<Item = &str> {
    let around = pointer.rmatch_indices('/').map(|(at, _)| &pointer[..at]);
    std::iter::once(pointer).chain(around)
}

struct PlaceReader<'t> {
    events: Events<'t>,
    nodes: HashMap<String, NodePlace>,
}

impl PlaceReader<'_> {
    fn document(&mut self) -> Result<(), Flaw> {
        loop {
            match self.events.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(()),
                (event, span) => return self.node(&event, span, String::new(), None),
            }
        }
    }

    /// Notes, by JSON pointer, the bytes at which a node, its key and all nodes below it begin. An error is a flaw in the text, at which the reading
    /// ends. The parser's nesting limits bound the recursion.
    fn node(
        &mut self,
        event: &Event<'_>,
        span: Span,
        pointer: String,
        key: Option<usize>,
    ) -> Result<(), Flaw> {
        let value = self.events.start(span);
        let mut scalar = None;
        match event {
            Event::Scalar(text, style, ..) => scalar = Some((text.to_string(), *style)),
            Event::SequenceStart(..) => self.sequence(&pointer)?,
            Event::MappingStart(..) => self.mapping(&pointer)?,
            _ => {}
        }
        let key = key.unwrap_or(value);
        let node = NodePlace { key, value, scalar };
        self.nodes.insert(pointer, node);
        Ok(())
    }

    fn sequence(&mut self, pointer: &str) -> Result<(), Flaw> {
        for index in 0.. {
            match self.events.next()? {
                (Event::SequenceEnd | Event::StreamEnd, _) => break,
                (event, span) => self.node(&event, span, format!("{pointer}/{index}"), None)?,
            }
        }
        Ok(())
    }

    fn mapping(&mut self, pointer: &str) -> Result<(), Flaw> {
        loop {
            let (event, span) = self.events.next()?;
            if matches!(event, Event::MappingEnd | Event::StreamEnd) {
                return Ok(());
            }
            let key = self.events.start(span);
            let name = if let Some((name, _)) = event.scalar() {
                token(name)
            } else {
                // A node that no pointer can name is read to its end.
                self.node(&event, span, format!("{pointer}/?"), None)?;
                "?".to_owned()
            };
            let (event, span) = self.events.next()?;
            self.node(&event, span, format!("{pointer}/{name}"), Some(key))?;
        }
    }
}

/// A key as it stands in a JSON pointer.
pub(crate) fn token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
