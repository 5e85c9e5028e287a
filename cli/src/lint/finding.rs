//! A finding of lint.

use crate::objects::Place;
use rules::advice::{Advice, Level};
use rules::annotation::ParseError;
use serde::Serialize;
use std::fmt;

/// One finding, and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) level: Level,
    #[serde(flatten)]
    pub(super) place: Place,
    /// Which annotations of the object: of its own metadata, or of a template in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
    /// In the value of the annotation, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<usize>,
    /// Which advice it is, where admission may give it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<&'static str>,
    pub(super) message: String,
}

impl Finding {
    pub(super) fn new(level: Level, place: &Place, message: impl Into<String>) -> Self {
        Self {
            level,
            place: place.clone(),
            path: None,
            key: None,
            line: None,
            column: None,
            advice: None,
            message: message.into(),
        }
    }

    /// What admission says too, in its words.
    pub(super) fn advice(place: &Place, advice: &Advice) -> Self {
        Self {
            advice: Some(advice.label()),
            ..Self::new(advice.level(), place, advice.to_string())
        }
    }

    /// What the grammar refuses, with its own place and words.
    pub(super) fn refused(place: &Place, path: &'static str, error: &ParseError) -> Self {
        let finding = Self::new(Level::Error, place, error.problem.to_string());
        Self {
            line: error.place.map(|it| it.line),
            column: error.place.map(|it| it.column),
            ..finding.at(path, &error.key)
        }
    }

    pub(super) fn at(self, path: &'static str, key: &str) -> Self {
        Self {
            path: Some(path),
            key: Some(key.to_owned()),
            ..self
        }
    }
}

/// `error: shop.yaml, document 2, Deployment api, spec.template: sluice.dev/depends-on: line 1, column 9: …`
impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { file, document, .. } = &self.place;
        write!(out, "{}: {file}", self.level.word())?;
        if *document > 0 {
            write!(out, ", document {document}")?;
        }
        if !self.place.kind.is_empty() {
            write!(out, ", {}", self.place)?;
        }
        if let Some(path) = self.path {
            write!(out, ", {path}")?;
        }
        if let Some(key) = &self.key {
            write!(out, ": {key}")?;
        }
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(out, ": line {line}, column {column}")?;
        }
        write!(out, ": {}", self.message)
    }
}
