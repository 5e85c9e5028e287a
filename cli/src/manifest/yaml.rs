//! One YAML document as JSON, made of the parser's events.
//!
//! Keys, merges and aliases follow the reader under kubectl, and differ from serde-saphyr's: `<<` overrides the keys
//! before it, the key `0x10` is `"16"`, and of a duplicate key the last value counts.

use super::Flaw;
use super::scalar;
use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, options};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// One document of a manifest as JSON; a Kubernetes list in it is not taken apart yet.
pub(super) struct RawDocument {
    pub(super) value: Value,
    /// The first fault of the document that is valid YAML and makes no valid object.
    pub(super) flaw: Option<Flaw>,
    /// A flaw for each key that a mapping of the document has twice.
    pub(super) twice: Vec<Flaw>,
    /// The byte of the text, from 0, at which the document begins.
    pub(super) at: usize,
}

/// The most values that the aliases of one document may stand for: a short text can name billions.
const MAX_ALIASED: usize = 1_000_000;

/// The parser's events, with byte offsets into the whole text.
pub(super) struct Events<'t> {
    parser: Parser<'t, StrInput<'t>>,
    base: usize,
    end: usize,
}

impl<'t> Events<'t> {
    /// The events of the text from the byte `base` on.
    pub(super) fn new(text: &'t str, base: usize) -> Self {
        let mut options = options! {};
        options.set_emit_comments(false);
        Self {
            parser: Parser::new_from_str_with_options(&text[base..], options),
            base,
            end: text.len(),
        }
    }

    pub(super) fn next(&mut self) -> Result<(Event<'t>, Span), Flaw> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(Flaw {
                at: self.at(error.marker().byte_offset()),
                text: error.info(),
            }),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    pub(super) fn start(&self, span: Span) -> usize {
        self.at(span.start.byte_offset())
    }

    fn at(&self, offset: Option<usize>) -> usize {
        offset.map_or(self.end, |offset| self.base + offset)
    }
}

/// Makes the JSON value of one YAML document.
pub(super) struct Composer<'e, 't> {
    events: &'e mut Events<'t>,
    /// The values that YAML aliases may name, by the numbers of their anchors.
    anchors: HashMap<usize, Value>,
    /// The number of values that the aliases have stood for.
    aliased: usize,
    /// The first flaw of the document.
    flaw: Option<Flaw>,
    /// A flaw for each key that a mapping of the document repeats.
    twice: Vec<Flaw>,
}

impl<'e, 't> Composer<'e, 't> {
    /// Reads the document that begins with this event. A syntax error is an error; a key or scalar that is no JSON is the document's `flaw`.
    pub(super) fn document(
        events: &'e mut Events<'t>,
        event: Event<'t>,
        span: Span,
    ) -> Result<RawDocument, Flaw> {
        let at = events.start(span);
        let mut composer = Self {
            events,
            anchors: HashMap::new(),
            aliased: 0,
            flaw: None,
            twice: Vec::new(),
        };
        let value = composer.node(event, span)?;
        Ok(RawDocument {
            value,
            flaw: composer.flaw,
            twice: composer.twice,
            at,
        })
    }

    /// The value of a node with all nodes below it; null for a scalar or alias that is no JSON. The parser's nesting limits bound the recursion.
    fn node(&mut self, event: Event<'t>, span: Span) -> Result<Value, Flaw> {
        let anchor = event.anchor_id();
        let value = match event {
            Event::Scalar(text, style, _, tag) => {
                let value = scalar::resolve(&text, style, tag.as_deref());
                scalar::json(self.unless_flawed(value, span).unwrap_or_default())
            }
            Event::SequenceStart(..) => self.sequence()?,
            Event::MappingStart(..) => self.mapping()?,
            Event::Alias(id) => {
                let value = self.alias(id);
                self.unless_flawed(value, span).unwrap_or_default()
            }
            _ => Value::Null,
        };
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn sequence(&mut self) -> Result<Value, Flaw> {
        let mut items = Vec::new();
        loop {
            match self.events.next()? {
                (Event::SequenceEnd | Event::StreamEnd, _) => return Ok(Value::Array(items)),
                (event, span) => items.push(self.node(event, span)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Value, Flaw> {
        let mut map = Map::new();
        let mut merged = false;
        loop {
            let (event, at) = match self.events.next()? {
                (Event::MappingEnd | Event::StreamEnd, _) => return Ok(Value::Object(map)),
                next => next,
            };
            let key = if is_merge(&event) {
                None
            } else {
                Some(self.key(event, at)?)
            };
            let (event, span) = self.events.next()?;
            let value = self.node(event, span)?;
            let fault = match key {
                None => {
                    merged = true;
                    let fits = merge(&mut map, value);
                    (!fits).then(|| "<< takes a mapping, or a list of mappings".to_owned())
                }
                // A merge may come first and be overridden; without one a second value is likely a mistake.
                Some(Ok(key)) => {
                    if !merged && map.contains_key(&key) {
                        let text = format!("the key {key:?} is there twice; the last one counts");
                        let at = self.events.start(at);
                        self.twice.push(Flaw { at, text });
                    }
                    map.insert(key, value);
                    None
                }
                Some(Err(fault)) => Some(fault),
            };
            self.unless_flawed(fault.map_or(Ok(()), Err), at);
        }
    }

    /// The key, or why it is not valid. A float behind an anchor or an alias has passed through JSON, so its spelling may
    /// differ from kubectl's.
    fn key(&mut self, event: Event<'t>, span: Span) -> Result<Result<String, String>, Flaw> {
        let value = match event {
            Event::Scalar(text, style, 0, tag) => scalar::resolve(&text, style, tag.as_deref()),
            event => Ok(self.node(event, span)?),
        };
        Ok(value.and_then(scalar::key))
    }

    fn alias(&mut self, id: usize) -> Result<Value, String> {
        let value = self.anchors.get(&id);
        let value = value.ok_or("the alias stands within what it names")?;
        self.aliased += size(value);
        if self.aliased > MAX_ALIASED {
            return Err(format!("aliases stand for more than {MAX_ALIASED} values"));
        }
        Ok(value.clone())
    }

    /// The value, or `None` for a fault. The document keeps its first fault, at the begin of `span`.
    fn unless_flawed<T>(&mut self, value: Result<T, String>, span: Span) -> Option<T> {
        let at = self.events.start(span);
        value
            .map_err(|text| self.flaw.get_or_insert(Flaw { at, text }))
            .ok()
    }
}

fn is_merge(key: &Event<'_>) -> bool {
    match (key.scalar(), key.tag()) {
        (Some(("<<", style)), None) => style == ScalarStyle::Plain,
        (Some(("<<", _)), Some(tag)) => tag.core_suffix() == Some("merge"),
        _ => false,
    }
}

/// Merges the value of `<<` into a mapping as go-yaml 2 does: its fields override the keys before the `<<`, and the first of several mappings
/// wins. False where the value is neither a mapping nor a list of mappings.
fn merge(map: &mut Map<String, Value>, value: Value) -> bool {
    match value {
        Value::Object(fields) => {
            map.extend(fields);
            true
        }
        Value::Array(items) => items
            .into_iter()
            .rev()
            .all(|item| item.is_object() && merge(map, item)),
        _ => false,
    }
}

/// The number of JSON values in a value, itself included.
fn size(value: &Value) -> usize {
    let within: usize = match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    };
    1 + within
}
