//! Reads the pairs of an item's mapping: each key is known and stands once, and each value has the form of its key.

use super::super::MAX_ENTRIES;
use super::super::piece::Piece;
use super::super::problem::{Flaw, Problem};
use super::super::yaml::{Node, Value};
use crate::suggest;
use crate::text::Quoted;

/// The keys that an item may have, in the order in which the error for an unknown key lists them.
pub(in crate::annotation) static KEYS: [&str; 24] = [
    "kind",
    "apiVersion",
    "name",
    "selector",
    "namespace",
    "state",
    "min",
    "any",
    "revision",
    "fresh",
    "sameNode",
    "optional",
    "health",
    "timeout",
    "on-timeout",
    "stable",
    "group",
    "subchart",
    "release",
    "tcp",
    "http",
    "dns",
    "status",
    "container",
];

/// The number of entries that were read so far from one annotation, including those within `any` of other entries.
#[derive(Default)]
pub(in crate::annotation) struct Count(usize);

impl Count {
    pub(in crate::annotation) fn one_more(&mut self, at: usize) -> Result<(), Flaw> {
        if self.0 == MAX_ENTRIES {
            return Err(Flaw::at(at, Problem::TooMany));
        }
        self.0 += 1;
        Ok(())
    }
}

/// The pairs of one mapping that begins at `at`. Each key is known and stands once.
pub(super) struct Fields<'n> {
    pub(super) at: usize,
    pub(super) pairs: Vec<Field<'n>>,
}

pub(super) struct Field<'n> {
    pub(super) key: &'static str,
    /// The byte of the annotation at which the field's key begins.
    pub(super) at: usize,
    pub(super) value: &'n Node<'n>,
}

impl<'n> Fields<'n> {
    pub(super) fn read(at: usize, pairs: &'n [(Node<'n>, Node<'n>)]) -> Result<Self, Flaw> {
        let mut fields = Self {
            at,
            pairs: Vec::new(),
        };
        for (key_node, value) in pairs {
            let at = key_node.at;
            let Value::Text(written) = &key_node.value else {
                return Err(Flaw::at(at, Problem::BadKey));
            };
            let written = written.piece().text;
            let Some(key) = KEYS.into_iter().find(|it| *it == written) else {
                return Err(Flaw::at(at, unknown_key(written)));
            };
            if fields.find(key).is_some() {
                return Err(Flaw::at(at, Problem::DuplicateKey(key)));
            }
            fields.pairs.push(Field { key, at, value });
        }
        Ok(fields)
    }

    /// Reads whether the flag `key` is true; a missing key is false. A value in quotes counts too: a template may put every value in quotes,
    /// and its user cannot change that.
    pub(super) fn flag(&self, key: &'static str) -> Result<bool, Flaw> {
        const TAKES: &str = "true or false";
        let Some(field) = self.find(key) else {
            return Ok(false);
        };
        match field.text(TAKES)?.text {
            "true" | "True" | "TRUE" => Ok(true),
            "false" | "False" | "FALSE" => Ok(false),
            other => Err(field.bad(TAKES, Quoted(other).to_string())),
        }
    }

    pub(super) fn text(&self, key: &'static str) -> Result<Option<Piece<'n>>, Flaw> {
        self.find(key).map(|field| field.text("a text")).transpose()
    }

    /// Adds, to a flaw in the value of one of these fields, the field's key, where the sentence does not name the key yet. A flaw in the value of
    /// `any` stays as it is: the items in it have keys of their own.
    pub(super) fn with_its_key(&self, Flaw { at, problem }: Flaw) -> Flaw {
        let before = self.pairs.iter().filter(|field| field.at <= at);
        let field = before.max_by_key(|field| field.at);
        let in_value = field.filter(|it| it.value.at <= at && it.key != "any");
        match in_value {
            Some(Field { key, .. }) if !problem.names(key) => {
                Flaw::at(at, Problem::OfKey(key, Box::new(problem)))
            }
            _ => Flaw::at(at, problem),
        }
    }

    pub(super) fn find(&self, key: &str) -> Option<&Field<'n>> {
        self.pairs.iter().find(|field| field.key == key)
    }
}

impl<'n> Field<'n> {
    /// Reads the field's value as the text that was written, also of a number. A list, a mapping, and an empty or null value are a flaw, whose
    /// message says that the field takes `takes`.
    pub(super) fn text(&self, takes: &'static str) -> Result<Piece<'n>, Flaw> {
        match &self.value.value {
            Value::Text(text) if !text.is_null() => Ok(text.piece()),
            _ => Err(self.bad(takes, found(self.value))),
        }
    }

    pub(super) fn bad(&self, takes: &'static str, found: String) -> Flaw {
        let key = self.key;
        Flaw::at(self.value.at, Problem::BadValue { key, takes, found })
    }
}

pub(super) fn found(node: &Node<'_>) -> String {
    match &node.value {
        Value::Text(text) if text.is_null() => "nothing".to_owned(),
        Value::Text(text) => Quoted(text.piece().text).to_string(),
        Value::List(_) => "a list".to_owned(),
        Value::Mapping(_) => "a mapping".to_owned(),
    }
}

fn unknown_key(key: &str) -> Problem {
    Problem::UnknownKey {
        key: key.to_owned(),
        keys: &KEYS,
        likely: suggest::nearest(key, KEYS),
    }
}
