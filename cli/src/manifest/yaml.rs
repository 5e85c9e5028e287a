//! YAML documents as JSON.

use super::scalar::Scalar;
use super::{Document, Flaw};
use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, options};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// How many values the aliases of one document may stand for: a short text can name billions.
const MAX_ALIASED: usize = 1_000_000;

/// The documents of a text. Of a syntax error nobody knows where the next document begins: nothing follows it.
pub(super) struct Documents<'t> {
    events: Parser<'t, StrInput<'t>>,
    end: usize,
    /// The values that aliases name, and how many values each of them is.
    anchors: HashMap<usize, (Value, usize)>,
    /// How many values were made in this document, and how many of them by aliases.
    made: usize,
    aliased: usize,
    flaw: Option<Flaw>,
    ended: bool,
}

impl<'t> Documents<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut options = options! {};
        options.set_emit_comments(false);
        Self {
            events: Parser::new_from_str_with_options(text, options),
            end: text.len(),
            anchors: HashMap::new(),
            made: 0,
            aliased: 0,
            flaw: None,
            ended: false,
        }
    }

    fn document(&mut self) -> Result<Option<Document>, Flaw> {
        loop {
            match self.event()? {
                (Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd, _) => {}
                (Event::StreamEnd, _) => return Ok(None),
                (event, span) => {
                    self.anchors.clear();
                    (self.made, self.aliased) = (0, 0);
                    let at = self.start(span);
                    let value = self.node(event, span)?;
                    let flaw = self.flaw.take();
                    return Ok(Some(Document { value, flaw, at }));
                }
            }
        }
    }

    fn event(&mut self) -> Result<(Event<'t>, Span), Flaw> {
        match self.events.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(Flaw {
                at: error.marker().byte_offset().unwrap_or(self.end),
                text: error.info(),
            }),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// Recursion is bounded by the parser's nesting limits.
    fn node(&mut self, event: Event<'t>, span: Span) -> Result<Value, Flaw> {
        let before = self.made;
        self.made += 1;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = Scalar::resolve(&text, style, tag.as_deref()).and_then(Scalar::value);
                (self.unless_flawed(value, span), anchor)
            }
            Event::SequenceStart(_, anchor, _) => (self.sequence()?, anchor),
            Event::MappingStart(_, anchor, _) => (self.mapping()?, anchor),
            Event::Alias(id) => (self.alias(id, span), 0),
            _ => (Value::Null, 0),
        };
        if anchor != 0 {
            let size = self.made - before;
            self.anchors.insert(anchor, (value.clone(), size));
        }
        Ok(value)
    }

    fn sequence(&mut self) -> Result<Value, Flaw> {
        let mut items = Vec::new();
        loop {
            match self.event()? {
                (Event::SequenceEnd | Event::StreamEnd, _) => return Ok(Value::Array(items)),
                (event, span) => items.push(self.node(event, span)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Value, Flaw> {
        let mut map = Map::new();
        let mut merged = false;
        loop {
            let (key, at) = match self.event()? {
                (Event::MappingEnd | Event::StreamEnd, _) => return Ok(Value::Object(map)),
                (event, span) => (event, span),
            };
            let is_merge = is_merge(&key);
            let key = if is_merge { None } else { self.key(key, at)? };
            let (event, span) = self.event()?;
            let value = self.node(event, span)?;
            if is_merge {
                merged = true;
                if !merge(&mut map, value) {
                    self.found(at, "<< takes a mapping, or a list of mappings");
                }
            } else if let Some(key) = key {
                // A merge may come first and be overridden; without one a second value is a mistake.
                let twice = map.contains_key(&key).then(|| key.clone());
                map.insert(key, value);
                if let Some(key) = twice.filter(|_| !merged) {
                    self.found(at, &format!("the key {key:?} is there twice"));
                }
            }
        }
    }

    fn key(&mut self, event: Event<'t>, span: Span) -> Result<Option<String>, Flaw> {
        let key = match event {
            Event::Scalar(text, style, 0, tag) => {
                Scalar::resolve(&text, style, tag.as_deref()).and_then(Scalar::key)
            }
            // Rare enough to go through JSON, at the price of how a float is spelled.
            event => match self.node(event, span)? {
                Value::String(text) => Ok(text),
                Value::Array(_) | Value::Object(_) | Value::Null => {
                    Err("a key is a text, a number or a boolean".to_owned())
                }
                other => Ok(other.to_string()),
            },
        };
        Ok(match key {
            Ok(key) => Some(key),
            Err(text) => {
                self.found(span, &text);
                None
            }
        })
    }

    fn alias(&mut self, id: usize, span: Span) -> Value {
        let Some((value, size)) = self.anchors.get(&id) else {
            self.found(span, "the alias stands within what it names");
            return Value::Null;
        };
        if self.aliased + size > MAX_ALIASED {
            let text = format!("aliases stand for more than {MAX_ALIASED} values");
            self.found(span, &text);
            return Value::Null;
        }
        self.aliased += size;
        self.made += size;
        value.clone()
    }

    fn unless_flawed(&mut self, value: Result<Value, String>, span: Span) -> Value {
        value.unwrap_or_else(|text| {
            self.found(span, &text);
            Value::Null
        })
    }

    /// Only the first flaw is told.
    fn found(&mut self, span: Span, text: &str) {
        let at = self.start(span);
        self.flaw.get_or_insert_with(|| Flaw {
            at,
            text: text.to_owned(),
        });
    }

    fn start(&self, span: Span) -> usize {
        span.start.byte_offset().unwrap_or(self.end)
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Document, Flaw>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let document = self.document().transpose();
        self.ended = !matches!(document, Some(Ok(_)));
        document
    }
}

fn is_merge(key: &Event<'_>) -> bool {
    match key {
        Event::Scalar(text, style, _, None) => text == "<<" && *style == ScalarStyle::Plain,
        Event::Scalar(text, .., Some(tag)) => text == "<<" && tag.core_suffix() == Some("merge"),
        _ => false,
    }
}

/// As go-yaml 2 merges: over what stands before the `<<`, and the first of several mappings wins.
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
