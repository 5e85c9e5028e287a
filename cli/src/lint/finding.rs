//! One finding of `lint`: its level and rule, the object and the place in its file, and the message.

use crate::manifest::{Position, token};
use crate::objects::{Finder, Location, Place, Spot};
use crate::output::printable;
use crate::style::{Style, Tone};
use rules::advice::{Advice, Level};
use rules::annotation::{self, ParseError};
use serde::Serialize;
use std::fmt::{self, Write};

/// One finding of `lint`, and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) level: Level,
    /// The name of the rule of `lint` that the finding is by.
    pub(super) rule: &'static str,
    #[serde(flatten)]
    pub(super) place: Place,
    /// The part of the object that has the key: `metadata`, a template such as `spec.template`, or the `data` of a ConfigMap; `None` where
    /// the finding names no key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
    /// The line of the finding in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<usize>,
    pub(super) message: String,
    /// The place of the finding in the object.
    #[serde(skip)]
    pub(super) spot: Where,
}

/// The place of a finding of `lint` in an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Where {
    /// The finding is about the object as a whole.
    #[default]
    Object,
    /// The finding is at a place in the text of the file.
    Text(Position),
    /// The finding is at a field, by the field's JSON pointer.
    Field(String),
    /// The finding is at a place in the text of a field: the field's JSON pointer, and the line and column in the text.
    Within(String, annotation::Place),
}

impl Finding {
    pub(super) fn new(
        rule: &'static str,
        level: Level,
        place: &Place,
        message: impl Into<String>,
    ) -> Self {
        Self {
            level,
            rule,
            place: place.clone(),
            path: None,
            key: None,
            line: None,
            column: None,
            message: message.into(),
            spot: Where::Object,
        }
    }

    /// The finding for an advice, which admission reports in the same words.
    pub(super) fn advice(place: &Place, advice: &Advice) -> Self {
        Self::new(advice.label(), advice.level(), place, advice.to_string())
    }

    /// The error for an annotation that the grammar refuses, with the place in the annotation's text where the grammar tells one.
    pub(super) fn refused(place: &Place, path: &'static str, error: &ParseError) -> Self {
        let message = error.problem.to_string();
        let finding = Self::new("Grammar", Level::Error, place, message).at(path, &error.key);
        match (&finding.spot, error.place) {
            (Where::Field(pointer), Some(within)) => Self {
                spot: Where::Within(pointer.clone(), within),
                ..finding
            },
            _ => finding,
        }
    }

    /// Places the finding at the annotation `key` of the object (path `metadata`) or of a template in it (`spec.template`), or at a key of its data
    /// (`data`).
    pub(super) fn at(self, path: &'static str, key: &str) -> Self {
        Self {
            path: Some(path),
            key: Some(key.to_owned()),
            spot: Where::Field(pointer(path, "annotations", key)),
            ..self
        }
    }

    pub(super) fn spot(self, spot: Where) -> Self {
        Self { spot, ..self }
    }

    /// Adds the file, and the line and the column where they can be found, to the finding.
    pub(super) fn located(mut self, finder: &mut Finder<'_>) -> Self {
        let spot = match &self.spot {
            Where::Text(position) => {
                self.put(*position);
                return self;
            }
            Where::Object => Spot::Field(""),
            Where::Field(pointer) => Spot::Field(pointer),
            Where::Within(pointer, within) => Spot::Within(pointer, within.line, within.column),
        };
        let Location { file, position } = finder.find(&self.place, spot);
        self.place.file = file;
        if let Some(position) = position {
            self.put(position);
        }
        self
    }

    fn put(&mut self, Position { line, column }: Position) {
        self.line = Some(line);
        self.column = Some(column);
    }

    /// The key that sorts findings: errors first, then warnings, then notes, each in the order of the files.
    pub(super) fn order(&self) -> impl Ord + use<> {
        let level = std::cmp::Reverse(self.level);
        (level, self.place.file.clone(), self.line, self.column)
    }

    /// The text of the finding without its file and level: `Deployment api, spec.template: sluice.dev/depends-on: …`
    pub(super) fn what(&self) -> String {
        let object = (!self.place.kind.is_empty()).then(|| self.place.to_string());
        let path = self.path.filter(|path| *path != OWN).map(str::to_owned);
        let parts = [object, path].into_iter().flatten();
        let subject = parts.collect::<Vec<_>>().join(", ");
        let parts = [Some(subject), self.key.clone(), Some(self.message.clone())];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(": ")
    }
}

/// The path of an object's own metadata, as a finding tells it.
const OWN: &str = "metadata";

/// The path of a ConfigMap's data, as a finding tells it.
pub(super) const DATA: &str = "data";

/// The JSON pointer of a key in the metadata at `path`: `spec.template` and `labels` make `/spec/template/metadata/labels/KEY`. For the path `data`
/// it is `/data/KEY`.
pub(super) fn pointer(path: &str, of: &str, key: &str) -> String {
    let key = token(key);
    match path {
        DATA => format!("/{DATA}/{key}"),
        OWN => format!("/{OWN}/{of}/{key}"),
        _ => format!("/{}/{OWN}/{of}/{key}", path.replace('.', "/")),
    }
}

impl Finding {
    /// The finding in one line, with its level in colour where there are colours: `shop.yaml:12:29: error: Deployment api,
    /// spec.template: sluice.dev/depends-on: …`
    pub(super) fn told(&self, style: Style) -> String {
        let mut line = printable(&self.place.file);
        if let (Some(number), Some(column)) = (self.line, self.column) {
            let _ = write!(line, ":{number}:{column}");
        }
        let tone = match self.level {
            Level::Error => Tone::Bad,
            Level::Warning => Tone::Waiting,
            Level::Note => Tone::Moving,
        };
        let level = style.painted(tone, self.level.word());
        format!("{line}: {level}: {}", printable(&self.what()))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.told(Style::PLAIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_findings_of_greater_weight_come_first() {
        let finding = |level: Level, file: &str, line: usize| {
            let place = Place {
                file: file.to_owned(),
                ..Place::default()
            };
            Finding {
                line: Some(line),
                column: Some(1),
                ..Finding::new("Grammar", level, &place, "")
            }
        };
        let mut findings = [
            finding(Level::Note, "a.yaml", 1),
            finding(Level::Warning, "a.yaml", 2),
            finding(Level::Error, "b.yaml", 9),
            finding(Level::Error, "b.yaml", 3),
            finding(Level::Error, "a.yaml", 4),
        ];
        findings.sort_by_cached_key(Finding::order);
        let told: Vec<_> = findings.iter().map(ToString::to_string).collect();
        let expected = [
            "a.yaml:4:1: error: ",
            "b.yaml:3:1: error: ",
            "b.yaml:9:1: error: ",
            "a.yaml:2:1: warning: ",
            "a.yaml:1:1: note: ",
        ];
        assert_eq!(told, expected);
    }
}
