//! The long form: a YAML or JSON list whose items are single references in the short form, or mappings.

mod fields;
mod idle;
mod outside;
mod patience;

use super::piece::Piece;
use super::problem::{Flaw, Problem};
use super::reference::{PARTS, PartWord};
use super::yaml::{self, Node, Value};
use super::{address, health, reference, selector, service_name, short};
use crate::dependency::{
    Alternatives, Dependency, Min, Need, Reference, Revision, Selection, State,
};
use crate::expression::Expression;
use crate::keys::SAME_NODE;
use crate::kinds::{self, Kind};
use crate::text::Quoted;
pub(super) use fields::Count;
#[cfg(test)]
pub(super) use fields::KEYS;
use fields::{Field, Fields, found};

/// The keys that an item with `any` may have.
const BESIDE_ANY: [&str; 6] = ["any", "min", "optional", "timeout", "on-timeout", "stable"];

/// The keys that an item with a group, a sub-chart or a release may have beside it. `namespace` beside a group is refused by a check of its own.
const BESIDE_PART: [&str; 8] = [
    "namespace",
    "state",
    "min",
    "revision",
    "optional",
    "timeout",
    "on-timeout",
    "stable",
];

/// Reads the items of a list of dependencies that is written in YAML. A document that is no list is an error, and so are too many items, those within
/// `any` included.
pub(super) fn list(text: Piece<'_>) -> Result<Vec<Dependency>, Flaw> {
    let root = yaml::document(text.text)?;
    let Value::List(items) = root.value else {
        return Err(Flaw::at(root.at, Problem::NotAList));
    };
    let mut count = Count::default();
    items.iter().map(|node| item(node, &mut count)).collect()
}

/// Reads one item, of the list or of another item's `any`, and counts it in `count`. The YAML bounds how deep the items of `any` nest.
pub(super) fn item(node: &Node<'_>, count: &mut Count) -> Result<Dependency, Flaw> {
    count.one_more(node.at)?;
    match &node.value {
        Value::Text(text) if text.is_null() || text.piece().trim().is_empty() => {
            Err(Flaw::at(node.at, Problem::BadItem("nothing")))
        }
        Value::Text(text) => short::entry(text.piece()),
        Value::List(_) => Err(Flaw::at(node.at, Problem::BadItem("a list"))),
        Value::Mapping(pairs) => Fields::read(node.at, pairs)?.dependency(count),
    }
}

/// Reads an item of `any`. All items of `any` are waited for together, so a `timeout` of its own is an error.
fn alternative(node: &Node<'_>, count: &mut Count) -> Result<Dependency, Flaw> {
    let item = item(node, count)?;
    let is_timeout =
        |key: &&Node<'_>| matches!(&key.value, Value::Text(text) if text.piece().text == "timeout");
    let timeout = match &node.value {
        Value::Mapping(pairs) => pairs.iter().map(|(key, _)| key).find(is_timeout),
        _ => None,
    };
    match timeout {
        Some(key) => Err(Flaw::at(key.at, Problem::TimeoutWithinAny)),
        None => Ok(item),
    }
}

impl<'n> Fields<'n> {
    /// Reads the mapping as one entry of a list. A flaw in a value gets the key of the value.
    fn dependency(&self, count: &mut Count) -> Result<Dependency, Flaw> {
        self.whole(count).map_err(|flaw| self.with_its_key(flaw))
    }

    fn whole(&self, count: &mut Count) -> Result<Dependency, Flaw> {
        Ok(Dependency {
            patience: self.patience()?,
            stable: self.stable()?,
            ..self.what(count)?
        })
    }

    /// Reads the object or objects that the item waits for. [`Self::patience`] and [`Self::stable`] read the item's times.
    fn what(&self, count: &mut Count) -> Result<Dependency, Flaw> {
        if let Some(field) = self.find("any") {
            return self.alternatives(field, count);
        }
        let mut parts = PARTS.into_iter();
        if let Some((word, field)) = parts.find_map(|it| Some((it, self.find(it.word)?))) {
            return self.part(word, field);
        }
        if let Some(field) = address::KEYS.into_iter().find_map(|word| self.find(word)) {
            return self.address(field);
        }
        let kind = self.kind()?;
        let status = self.need_of_status();
        let dependency = Dependency {
            state: self.state(|word, state| reference::state_of_kind(word, state, &kind))?,
            optional: status == Need::Required && self.flag("optional")?,
            status,
            revision: self.revision()?,
            fresh: self.flag("fresh")?,
            same_node: self.flag(SAME_NODE)?,
            health: self.health(&kind)?,
            ..Dependency::on(self.reference(kind)?)
        };
        self.check(&dependency)?;
        Ok(dependency)
    }

    fn alternatives(&self, any: &Field<'n>, count: &mut Count) -> Result<Dependency, Flaw> {
        let beside = |field: &&Field<'_>| !BESIDE_ANY.contains(&field.key);
        if let Some(field) = self.pairs.iter().find(beside) {
            return Err(Flaw::at(field.at, Problem::BesideAny(field.key)));
        }
        let of: Vec<Dependency> = match &any.value.value {
            Value::List(items) => items
                .iter()
                .map(|item| alternative(item, count))
                .collect::<Result<_, _>>()?,
            _ => return Err(any.bad("a list", found(any.value))),
        };
        if of.is_empty() {
            return Err(Flaw::at(any.value.at, Problem::NoAlternatives));
        }
        let min = self.min()?;
        let items = of.len();
        if let (Some(Min::Count(min)), Some(field)) = (min, self.find("min"))
            && min > items
        {
            let problem = Problem::MinBeyond { min, items };
            return Err(Flaw::at(field.value.at, problem));
        }
        Ok(Dependency {
            optional: self.flag("optional")?,
            ..Dependency::on(Reference::Any(Alternatives { of, min }))
        })
    }

    /// Reads an item that names a group, a sub-chart or a release. A key beyond [`BESIDE_PART`], and a state that its objects cannot all have, are
    /// errors.
    fn part(&self, word: PartWord, field: &Field<'n>) -> Result<Dependency, Flaw> {
        let beside = |it: &&Field<'_>| it.key != field.key && !BESIDE_PART.contains(&it.key);
        if let Some(idle) = self.pairs.iter().find(beside) {
            return Err(Flaw::at(idle.at, Problem::BesidePart(idle.key, field.key)));
        }
        let name = field.text("a text")?;
        let part = word.named(name)?;
        let state = self.state(|word, state| reference::state_of_part(word, state, &part))?;
        let namespace = self.text("namespace")?;
        let min = self.min()?;
        if let Some(namespace) = namespace {
            reference::namespace_of_part(&part).map_err(|problem| namespace.flaw(problem))?;
        }
        let parts = reference::parts(part, namespace, min)?;
        Ok(Dependency {
            state,
            optional: self.flag("optional")?,
            revision: self.revision()?,
            ..Dependency::on(parts)
        })
    }

    /// Reads the reference to one object of this kind by `name`, or to several by `selector`. Both together, or neither, is an error.
    fn reference(&self, kind: Kind) -> Result<Reference, Flaw> {
        let namespace = self.text("namespace")?;
        if let Some(namespace) = namespace {
            reference::namespace(&kind, namespace)?;
        }
        match (self.text("name")?, self.find("selector")) {
            (Some(_), Some(field)) => Err(Flaw::at(field.at, Problem::NameAndSelector)),
            (None, None) => Err(Flaw::at(self.at, Problem::MissingKey("name"))),
            (Some(name), None) => {
                let (namespace, name) = service_name::parts(&kind, namespace, name)?;
                reference::named(&kind, namespace, name)?;
                Ok(reference::object(kind, namespace, name))
            }
            (None, Some(field)) => {
                let selector = selector::selector(field.text("a text")?)?;
                Ok(Reference::Selected(Selection {
                    kind,
                    namespace: namespace.map(|it| it.text.to_owned()),
                    selector,
                    min: self.min()?,
                }))
            }
        }
    }

    /// Reads `kind`, in the forms of the short form; a missing one is an error. `apiVersion`, where it is there, gives the group, and another group
    /// in `kind` is an error.
    fn kind(&self) -> Result<Kind, Flaw> {
        let Some(kind) = self.text("kind")? else {
            return Err(Flaw::at(self.at, Problem::MissingKey("kind")));
        };
        let Some(api_version) = self.text("apiVersion")? else {
            return reference::kind(kind);
        };
        let group = reference::group_of(api_version)?;
        let word = match kind.split_once('.') {
            Some((_, written)) if written.text != group => {
                return Err(kind.flaw(Problem::GroupConflict {
                    kind: written.text.to_owned(),
                    api_version: group.to_owned(),
                }));
            }
            Some((word, _)) => word,
            None => kind,
        };
        reference::in_group(kinds::by_word_in(group, word.text), group, word)
    }

    /// Reads `state`; an item without it asks for `ready`. `fits` refuses a state that the item's objects cannot have.
    fn state(&self, fits: impl Fn(Piece<'_>, State) -> Result<(), Flaw>) -> Result<State, Flaw> {
        let Some(word) = self.text("state")? else {
            return Ok(State::default());
        };
        let state = reference::state(word)?;
        fits(word, state)?;
        Ok(state)
    }

    fn revision(&self) -> Result<Revision, Flaw> {
        match self.find("revision") {
            None => Ok(Revision::Lockstep),
            Some(field) => match field.text("any")?.text {
                "any" => Ok(Revision::Any),
                other => Err(field.bad("any", Quoted(other).to_string())),
            },
        }
    }

    fn min(&self) -> Result<Option<Min>, Flaw> {
        const TAKES: &str = "a number from 1 or a percentage from 1% to 100%";
        let Some(field) = self.find("min") else {
            return Ok(None);
        };
        let text = field.text(TAKES)?.text;
        let min = match text.strip_suffix('%') {
            Some(percent) => digits(percent)
                .filter(|it: &u8| (1..=100).contains(it))
                .map(Min::Percent),
            None => digits(text).filter(|it| *it >= 1).map(Min::Count),
        };
        min.map(Some)
            .ok_or_else(|| field.bad(TAKES, Quoted(text).to_string()))
    }

    /// Reads whether the item has `optional: status`: then the need is optional, in any other case it is required.
    fn need_of_status(&self) -> Need {
        match self.find("optional").map(|field| &field.value.value) {
            Some(Value::Text(text)) if text.piece().text == "status" => Need::Optional,
            _ => Need::Required,
        }
    }

    fn health(&self, kind: &Kind) -> Result<Vec<Expression>, Flaw> {
        let elsewhere = self.find("namespace").is_some();
        self.find("health").map_or(Ok(Vec::new()), |field| {
            health::of_an_item(field.value, kind, elsewhere)
        })
    }
}

/// Reads a number that consists of digits alone; `None` for any other text, also one with a sign, which Rust would take.
fn digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    let plain = text.bytes().all(|it| it.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}
