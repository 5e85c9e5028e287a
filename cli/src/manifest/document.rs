//! Reads the documents of a text one after another: YAML documents, and JSON values.

use super::Flaw;
use super::yaml::{Composer, Events, RawDocument};
use granit_parser::Event;
use serde_json::Deserializer;

/// Reads one document of a manifest after another, YAML or a JSON value.
pub(super) struct Documents<'t> {
    pub(super) text: &'t str,
    /// The byte up to which JSON was read; YAML's parser knows by itself how far it is.
    at: usize,
    yaml: Option<Events<'t>>,
    /// The byte at which the present YAML document begins.
    pub(super) began: usize,
}

impl<'t> Documents<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            yaml: None,
            began: 0,
        }
    }

    /// The next document, if there is one. A syntax error ends the reading: where the next document begins is unknown.
    pub(super) fn read(&mut self) -> Result<Option<RawDocument>, Flaw> {
        let Some(mut yaml) = self.yaml.take() else {
            let json = self.json(self.at);
            if json.is_none() {
                self.yaml = Some(Events::new(self.text, self.at));
                return self.read();
            }
            return Ok(json);
        };
        loop {
            match yaml.next()? {
                (Event::DocumentStart(true, ..), span) => {
                    let marks = span.byte_range().map_or(0, |range| range.len());
                    let json = self.json(yaml.start(span) + marks);
                    if json.is_some() {
                        return Ok(json);
                    }
                }
                // The start of a document without `---` has the span of the first token, so no JSON is sought behind that span.
                (Event::StreamStart | Event::DocumentEnd | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, _) => return Ok(None),
                (event, span) => {
                    let start = yaml.start(span);
                    self.began = self.text[..start].rfind('\n').map_or(0, |it| it + 1);
                    let document = Composer::document(&mut yaml, event, span)?;
                    self.yaml = Some(yaml);
                    return Ok(Some(document));
                }
            }
        }
    }

    /// The JSON mapping that begins at `from`, behind blank lines and comments; `None` where none does. A text that only looks like JSON is left to
    /// YAML, which accepts more (`{"a": 1,}`) and reports the place of an error.
    fn json(&mut self, from: usize) -> Option<RawDocument> {
        let blank = |line: &&str| matches!(line.trim_start().bytes().next(), None | Some(b'#'));
        let lines = self.text[from..].split_inclusive('\n');
        let blank: usize = lines.take_while(blank).map(str::len).sum();
        let text = self.text[from + blank..].trim_start();
        let mut values = Deserializer::from_str(text).into_iter();
        let value = text.starts_with('{').then(|| values.next()?.ok())??;
        let at = self.text.len() - text.len();
        self.at = at + values.byte_offset();
        Some(RawDocument {
            value,
            flaw: None,
            twice: Vec::new(),
            at,
        })
    }
}
