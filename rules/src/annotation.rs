//! Reads the lists: text to [`Dependency`] values, or an error that names the place.
//!
//! [`declared`] reads the lists of a dependent and checks its other annotations; [`terms()`] reads these others. Admission refuses on an
//! error; the status service reads both again when a gate asks.
//!
//! Three grammars share the same checks: the short form (`short`), the long form (`item`, on top of `yaml`), and that of cli-utils
//! (`config`). Inside, each part of the text is a `piece` that knows its place, and a flaw carries a byte offset; only the finished error
//! counts lines and columns.
//!
//! Every step is linear in the text, and a text beyond [`MAX_BYTES`] is refused by its length alone: any user that may create a pod writes
//! the text.

mod address;
mod config;
mod creation;
mod duration;
mod fault;
mod health;
mod hold;
mod item;
mod names;
mod node_rules;
mod order;
mod piece;
mod position;
mod prefetch;
mod problem;
mod reference;
mod selector;
mod service_name;
mod short;
mod terms;
mod yaml;

pub use creation::{Created, at_creation};
pub use fault::{AddressFault, DurationFault, NameFault, NodeRuleFault};
pub use health::health;
pub use hold::{hold, hold_of_object, holds_creation, suspends, suspends_safely};
pub use node_rules::node_rules;
pub use order::order;
pub use position::{GatePosition, gate_position};
pub use prefetch::prefetch;
pub use problem::{CliUtilsFault, HoldFault, PlanFault, Problem};
pub use terms::{parallelism, weight};

use crate::dependency::Dependency;
use crate::keys;
use crate::kinds::Kind;
use crate::selector::Selector;
use crate::suggest;
use crate::terms::Terms;
use crate::variables::{self, VariableFault};
use piece::Piece;
use problem::Flaw;
use serde_json::{Map, Value};
use std::fmt;

/// The longest value of an annotation with a list of dependencies, in bytes.
pub const MAX_BYTES: usize = keys::LONGEST_VALUE;

/// The most entries of one list of dependencies.
pub const MAX_ENTRIES: usize = 64;

/// The deepest nesting of the long form; the list itself is the first level.
pub const MAX_LEVELS: usize = 8;

/// A fault of an annotation: the key, the place, the sentence and, for a near miss, the likely word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The key of the annotation with the fault.
    pub key: String,
    /// The place in the annotation's value; `None` where the key itself is at fault.
    pub place: Option<Place>,
    /// The fault of the annotation, and the way out.
    pub problem: Problem,
}

/// A place in the value of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line in the annotation's value, from 1.
    pub line: usize,
    /// The column in the line of the annotation's value, from 1, in characters.
    pub column: usize,
}

/// Reads the annotations that count for one dependent: the union of its lists, exact repeats once. [`terms()`] reads the
/// annotations beside the lists; this function only checks them. The caller leaves out a [`foreign`] text.
///
/// # Errors
///
/// A key that cannot be read, or one below [`keys::PREFIX`] that this version does not act on.
pub fn declared(annotations: &Map<String, Value>) -> Result<Vec<Dependency>, ParseError> {
    // Only admission acts on these three keys, but a list with an unreadable one is refused everywhere.
    gate_position(annotations)?;
    prefetch(annotations)?;
    suspends(annotations)?;
    terms(annotations).all()?;
    let mut lists = [Vec::new(), Vec::new()];
    for (key, value) in annotations {
        match key.as_str() {
            keys::DEPENDS_ON => lists[0] = parse_depends_on(text(key, value)?)?,
            keys::CONFIG_DEPENDS_ON => lists[1] = parse_config_depends_on(text(key, value)?)?,
            _ => check_key(key)?,
        }
    }
    let mut union: Vec<Dependency> = Vec::new();
    for dependency in lists.into_iter().flatten() {
        if !union.contains(&dependency) {
            union.push(dependency);
        }
    }
    Ok(union)
}

/// The terms of a dependent's wait, as far as its annotations can be read ([`keys::TERMS`]).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadTerms {
    /// The terms of the keys that can be read.
    pub terms: Terms,
    /// The faults of the keys that cannot be read, in the order of [`keys::TERMS`].
    pub unreadable: Vec<ParseError>,
}

/// Returns the definitions, in the containers of `pod`, of the environment variables that the pod's list names. None for a list that cannot be read:
/// other checks refuse such a list.
///
/// # Errors
///
/// A variable that no container has, or that cannot be copied into the gate.
pub fn variables(annotations: &Map<String, Value>, pod: &Value) -> Result<Vec<Value>, ParseError> {
    let entries = listed(annotations);
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    variables::definitions(&entries, pod).map_err(no_variable)
}

/// Refuses variables in a list on a workload. Its pods do not carry such a list, and admission copies variables into the gate by the list
/// of the pod.
///
/// # Errors
///
/// The list names a variable.
pub fn no_variables(annotations: &Map<String, Value>) -> Result<(), ParseError> {
    match variables::first(&listed(annotations)) {
        None => Ok(()),
        Some(name) => Err(no_variable(VariableFault::NotOnTemplate(name.to_owned()))),
    }
}

/// The entries of a `depends-on` list whose text has `$(` in it; none for a list that cannot be read. Every pod comes here, so any other list is
/// not read again, and has no entries here.
fn listed(annotations: &Map<String, Value>) -> Vec<Dependency> {
    let text = annotations.get(keys::DEPENDS_ON).and_then(Value::as_str);
    let text = text.filter(|text| text.contains("$("));
    let list = text.and_then(|text| parse_depends_on(text).ok());
    list.unwrap_or_default()
}

fn no_variable(fault: VariableFault) -> ParseError {
    ParseError {
        key: keys::DEPENDS_ON.to_owned(),
        place: None,
        problem: Problem::Variable(fault),
    }
}

/// Reads only [`keys::TERMS`], and reads each key by itself: neither an unreadable list nor an unreadable key hides another key.
pub fn terms(annotations: &Map<String, Value>) -> ReadTerms {
    terms_by(|key| annotations.get(key))
}

/// Reads [`keys::TERMS`] by a function that finds an annotation by its key, for annotations that stand in more than one place.
pub fn terms_by<'a>(annotation: impl Fn(&str) -> Option<&'a Value>) -> ReadTerms {
    let mut read = ReadTerms::default();
    for key in keys::TERMS {
        let Some(value) = annotation(key) else {
            continue;
        };
        let written = text(key, value).and_then(|text| {
            terms::write(&mut read.terms, key, Piece::whole(text))
                .map_err(|flaw| placed(key, text, flaw))
        });
        read.unreadable.extend(written.err());
    }
    read
}

impl ReadTerms {
    /// The terms, where every key can be read.
    ///
    /// # Errors
    ///
    /// The first fault of a key that cannot be read.
    pub fn all(self) -> Result<Terms, ParseError> {
        self.unreadable
            .into_iter()
            .next()
            .map_or(Ok(self.terms), Err)
    }

    /// Whether the annotation with this key is there, but its value cannot be read.
    pub fn is_unreadable(&self, key: &str) -> bool {
        self.unreadable.iter().any(|error| error.key == key)
    }
}

/// Parses the value of `sluice.dev/depends-on`, in the short or the long form.
pub fn parse_depends_on(text: &str) -> Result<Vec<Dependency>, ParseError> {
    parse(keys::DEPENDS_ON, text, |text| {
        if yaml::applies(text) {
            item::list(text)
        } else {
            short::list(text)
        }
    })
}

/// Parses a kind as a list names it: `deploy`, `ClusterIssuer.cert-manager.io`.
pub fn kind(text: &str) -> Result<Kind, Problem> {
    reference::kind(Piece::whole(text)).map_err(|flaw| flaw.problem)
}

/// Parses a label selector as a list writes it, which is as kubectl takes it: `app=web,tier in (a, b)`.
pub fn labels(text: &str) -> Result<Selector, Problem> {
    selector::selector(Piece::whole(text)).map_err(|flaw| flaw.problem)
}

/// Whether a namespace may have this name.
pub fn names_namespace(text: &str) -> bool {
    names::check("namespace", Piece::whole(text), names::NameRule::Label).is_ok()
}

/// Parses the value of `config.kubernetes.io/depends-on`.
pub fn parse_config_depends_on(text: &str) -> Result<Vec<Dependency>, ParseError> {
    parse(keys::CONFIG_DEPENDS_ON, text, config::list)
}

/// The first entry under [`keys::CONFIG_DEPENDS_ON`] that is in no form of cli-utils; `None` where there is none. A text with such an entry
/// is another product's. A text beyond [`MAX_BYTES`] is not searched.
pub fn foreign(annotations: &Map<String, Value>) -> Option<&str> {
    let text = annotations.get(keys::CONFIG_DEPENDS_ON)?.as_str()?;
    let short = text.len() <= MAX_BYTES;
    short.then(|| config::foreign(text)).flatten()
}

/// Whether annotations ask for a gate: one of [`keys::ASKING`] is there with any value, unless that is [`foreign`].
pub fn ask(annotations: &Map<String, Value>) -> bool {
    let counts = |key: &str| key != keys::CONFIG_DEPENDS_ON || foreign(annotations).is_none();
    let mut keys = keys::ASKING.into_iter();
    keys.any(|key| annotations.contains_key(key) && counts(key))
}

fn parse<T>(
    key: &str,
    text: &str,
    list: impl Fn(Piece<'_>) -> Result<T, Flaw>,
) -> Result<T, ParseError> {
    let whole = Piece::whole(text);
    let parsed = if text.len() > MAX_BYTES {
        Err(whole.flaw(Problem::TooLong(text.len())))
    } else {
        list(whole)
    };
    parsed.map_err(|flaw| placed(key, text, flaw))
}

fn placed(key: &str, text: &str, Flaw { at, problem }: Flaw) -> ParseError {
    ParseError {
        key: key.to_owned(),
        place: Some(Place::of(text, at)),
        problem,
    }
}

/// Returns the value of an annotation, which has to be a text. Kubernetes stores no other value, but an object in an admission request may hold
/// one.
fn text<'v>(key: &str, value: &'v Value) -> Result<&'v str, ParseError> {
    value.as_str().ok_or_else(|| ParseError {
        key: key.to_owned(),
        place: None,
        problem: Problem::NotText,
    })
}

/// Whether a key of an annotation is one that sluice acts on: it begins with [`keys::PREFIX`], and this version knows the rest.
pub fn knows(key: &str) -> bool {
    key.starts_with(keys::PREFIX) && check_key(key).is_ok()
}

fn check_key(key: &str) -> Result<(), ParseError> {
    let Some(own) = key.strip_prefix(keys::PREFIX) else {
        return Ok(());
    };
    let candidates = [
        keys::DEPENDS_ON,
        keys::ALLOW_DEPENDENTS_FROM,
        keys::HEALTH,
        keys::GATE_POSITION,
        keys::SKIP_REASON,
        keys::HOLD,
        keys::PREFETCH,
    ];
    let mut words = candidates.into_iter().chain(keys::TERMS);
    if [keys::GATED, keys::HELD, keys::SUSPENDED].contains(&key)
        || words.any(|it| it == key)
        || own.starts_with("health.")
    {
        return Ok(());
    }
    no_label(key, |_| true)?;
    let words = candidates.into_iter().chain(keys::TERMS);
    let likely = suggest::nearest(own, words.filter_map(|it| it.strip_prefix(keys::PREFIX)));
    let likely = likely.map(|word| format!("{}{word}", keys::PREFIX));
    Err(ParseError {
        key: key.to_owned(),
        place: None,
        problem: Problem::UnknownAnnotation(likely),
    })
}

/// Refuses an annotation key that counts only as a label ([`keys::LABELS`]). `counts` tells whether the object is of the kind
/// that the label is for.
///
/// # Errors
///
/// The key, with the kind on which it counts as a label.
pub fn no_label(key: &str, counts: impl Fn(&str) -> bool) -> Result<(), ParseError> {
    let mut labels = keys::LABELS.into_iter();
    match labels.find(|(label, of, _)| *label == key && counts(of)) {
        None => Ok(()),
        Some((_, of, value)) => Err(ParseError {
            key: key.to_owned(),
            place: None,
            problem: Problem::Label { of, value },
        }),
    }
}

impl Place {
    /// The place of the byte at `offset` in the value of an annotation.
    fn of(text: &str, offset: usize) -> Self {
        let mut place = Self { line: 1, column: 1 };
        for (_, letter) in text.char_indices().take_while(|(at, _)| *at < offset) {
            if letter == '\n' {
                place.line += 1;
                place.column = 1;
            } else {
                place.column += 1;
            }
        }
        place
    }
}

/// Writes the fault with its key and place: `sluice.dev/depends-on: line 1, column 9: unknown kind "Deploymnt"; did you
/// mean "Deployment"?`
impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            key,
            place,
            problem,
        } = self;
        write!(out, "{key}: ")?;
        if let Some(Place { line, column }) = place {
            write!(out, "line {line}, column {column}: ")?;
        }
        write!(out, "{problem}")
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests;
