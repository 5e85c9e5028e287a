//! The part of YAML (and so of JSON) that a list may use: one document of texts, lists and mappings.

use super::piece::Piece;
use super::problem::{Flaw, Problem};
use super::{MAX_ENTRIES, MAX_LEVELS, short};
use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, options};
use std::borrow::Cow;

/// A value, and the byte at which it begins.
#[derive(Debug)]
pub(super) struct Node<'t> {
    pub(super) at: usize,
    pub(super) value: Value<'t>,
}

#[derive(Debug)]
pub(super) enum Value<'t> {
    Text(Text<'t>),
    List(Vec<Node<'t>>),
    Mapping(Vec<(Node<'t>, Node<'t>)>),
}

/// A scalar of YAML, as the text that it has in the source. Numbers and booleans are read out of that text where they are expected.
#[derive(Debug)]
pub(super) struct Text<'t> {
    content: Cow<'t, str>,
    plain: bool,
    /// The byte of the annotation at which the scalar's text begins.
    at: usize,
    /// Whether the source holds the text byte for byte: on one line and without escapes.
    verbatim: bool,
}

impl Text<'_> {
    /// The scalar's text, with its place in the annotation.
    pub(super) fn piece(&self) -> Piece<'_> {
        if self.verbatim {
            Piece::verbatim(&self.content, self.at)
        } else {
            Piece::respelt(&self.content, self.at)
        }
    }

    /// Whether the scalar is empty or YAML's null.
    pub(super) fn is_null(&self) -> bool {
        self.plain && matches!(&*self.content, "" | "~" | "null" | "Null" | "NULL")
    }
}

/// Whether a list is written in YAML or JSON, by its first character that is neither space nor comment. A text that
/// begins with a brace is JSON without the brackets of the list; nothing in the short form begins with a brace.
pub(super) fn applies(text: Piece<'_>) -> bool {
    let first = text
        .split('\n')
        .map(|line| short::without_comment(line).trim())
        .find_map(|line| line.text.chars().next());
    first.is_some_and(|it| matches!(it, '-' | '[' | '{'))
}

/// Reads the text of a whole annotation as one YAML document. A second document is an error, and so are anchors, aliases and tags.
pub(super) fn document(text: &str) -> Result<Node<'_>, Flaw> {
    let mut options = options! {
        disallow_directives: true,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
    };
    options.set_emit_comments(false);
    let mut reader = Reader {
        text,
        events: Parser::new_from_str_with_options(text, options),
    };
    let root = loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentStart(..), _) => {}
            (event, span) => break reader.node(event, span, 1)?,
        }
    };
    loop {
        match reader.next()? {
            (Event::DocumentStart(..), span) => {
                return Err(Flaw::at(reader.start(span), Problem::SecondDocument));
            }
            (Event::StreamEnd, _) => return Ok(root),
            _ => {}
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    events: Parser<'t, StrInput<'t>>,
}

impl<'t> Reader<'t> {
    /// The parser's next event. An alias, an anchor or a tag is a flaw, since a list may not use them, and so is text that is no YAML.
    fn next(&mut self) -> Result<(Event<'t>, Span), Flaw> {
        let (event, span) = match self.events.next_event() {
            Some(Ok(next)) => next,
            Some(Err(error)) => return Err(self.unreadable(&error)),
            None => return Err(self.cut_short()),
        };
        let feature = match &event {
            Event::Alias(_) | Event::UnresolvedAlias(_) => Some("aliases (*name)"),
            Event::Anchor(..) => Some("anchors (&name)"),
            _ if event.tag().is_some() => Some("tags (!name)"),
            _ => None,
        };
        match feature {
            Some(feature) => {
                let start = span.tag_span().unwrap_or(span);
                Err(Flaw::at(self.start(start), Problem::YamlFeature(feature)))
            }
            None => Ok((event, span)),
        }
    }

    /// Reads the node that begins with `event`. The recursion is no deeper than [`MAX_LEVELS`].
    fn node(&mut self, event: Event<'t>, span: Span, level: usize) -> Result<Node<'t>, Flaw> {
        let at = self.start(span);
        let value = match event {
            Event::Scalar(text, style, ..) => Value::Text(self.scalar(text, style, span)),
            Event::SequenceStart(..) | Event::MappingStart(..) if level > MAX_LEVELS => {
                return Err(Flaw::at(at, Problem::TooDeep));
            }
            Event::SequenceStart(..) => Value::List(self.items(level)?),
            Event::MappingStart(..) => Value::Mapping(self.pairs(level)?),
            _ => return Err(self.cut_short()),
        };
        Ok(Node { at, value })
    }

    fn items(&mut self, level: usize) -> Result<Vec<Node<'t>>, Flaw> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (_, span) if items.len() == MAX_ENTRIES => return Err(self.too_many(span)),
                (event, span) => items.push(self.node(event, span, level + 1)?),
            }
        }
    }

    fn pairs(&mut self, level: usize) -> Result<Vec<(Node<'t>, Node<'t>)>, Flaw> {
        let mut pairs = Vec::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return Ok(pairs),
                (_, span) if pairs.len() == MAX_ENTRIES => return Err(self.too_many(span)),
                (event, span) => self.node(event, span, level + 1)?,
            };
            let (event, span) = self.next()?;
            pairs.push((key, self.node(event, span, level + 1)?));
        }
    }

    fn scalar(&self, text: Cow<'t, str>, style: ScalarStyle, span: Span) -> Text<'t> {
        let at = self.start(span);
        let source = span.slice(self.text).unwrap_or_default();
        let quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
        let within = if quoted {
            source.get(1..source.len().saturating_sub(1))
        } else {
            Some(source)
        };
        Text {
            verbatim: within == Some(&*text),
            at: at + usize::from(quoted),
            plain: style == ScalarStyle::Plain,
            content: text,
        }
    }

    fn start(&self, span: Span) -> usize {
        span.start.byte_offset().unwrap_or(self.text.len())
    }

    /// The refusal of a list with too many entries. It comes while the list is read, so a long list is not read to its end.
    fn too_many(&self, span: Span) -> Flaw {
        Flaw::at(self.start(span), Problem::TooMany)
    }

    fn unreadable(&self, error: &ScanError) -> Flaw {
        let at = error.marker().byte_offset().unwrap_or(self.text.len());
        self.invalid(at, error.info())
    }

    /// The refusal of an incomplete text. The parser reports such a text as an error of its own, so no known text leads here.
    fn cut_short(&self) -> Flaw {
        self.invalid(self.text.len(), "it ends too early".to_owned())
    }

    fn invalid(&self, at: usize, reason: String) -> Flaw {
        let rest = self.text.get(at..).unwrap_or_default();
        let text = rest.lines().next().unwrap_or_default().trim().to_owned();
        Flaw::at(at, Problem::Yaml { reason, text })
    }
}
