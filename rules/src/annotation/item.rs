//! One mapping of the long form.

mod fields;
mod idle;
mod patience;

use super::long::Count;
use super::problem::{Flaw, Problem};
use super::reference::PARTS;
use super::yaml::Value;
use super::{health, reference, selector};
use crate::dependency::{
    Alternatives, Dependency, Min, Need, Reference, Revision, Selection, State,
};
use crate::expression::Expression;
use crate::kinds::{self, Kind};
use crate::text::Quoted;
use fields::{Field, found};
pub(super) use fields::{Fields, KEYS};

/// The keys that an item with `any` may have.
const BESIDE_ANY: [&str; 6] = ["any", "min", "optional", "timeout", "on-timeout", "stable"];

/// The keys that an item with a group, a sub-chart or a release may have beside it.
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

impl<'n> Fields<'n> {
    /// Reads the mapping as one entry.
    pub(super) fn dependency(&self, count: &mut Count) -> Result<Dependency, Flaw> {
        self.whole(count).map_err(|flaw| self.with_its_key(flaw))
    }

    fn whole(&self, count: &mut Count) -> Result<Dependency, Flaw> {
        Ok(Dependency {
            patience: self.patience()?,
            stable: self.stable()?,
            ..self.what(count)?
        })
    }

    /// Reads the object or objects that the item waits for; `patience` and `stable` are read beside it.
    fn what(&self, count: &mut Count) -> Result<Dependency, Flaw> {
        if let Some(field) = self.find("any") {
            return self.alternatives(field, count);
        }
        if let Some(field) = PARTS.into_iter().find_map(|word| self.find(word)) {
            return self.part(field);
        }
        let kind = self.kind()?;
        let status = self.need_of_status();
        let dependency = Dependency {
            state: self.state(&kind)?,
            optional: status == Need::Required && self.flag("optional")?,
            status,
            revision: self.revision()?,
            fresh: self.flag("fresh")?,
            same_node: self.flag("sameNode")?,
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
                .map(|item| patience::alternative(item, count))
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

    /// A group, a sub-chart or a release.
    fn part(&self, field: &Field<'n>) -> Result<Dependency, Flaw> {
        let beside = |it: &&Field<'_>| it.key != field.key && !BESIDE_PART.contains(&it.key);
        if let Some(idle) = self.pairs.iter().find(beside) {
            return Err(Flaw::at(idle.at, Problem::BesidePart(idle.key, field.key)));
        }
        let name = field.text("a text")?;
        let part = reference::part(field.key, &name.content).map_err(|flaw| name.flaw(flaw))?;
        let state = match self.text("state")? {
            None => State::default(),
            Some(word) => reference::state(&word.content)
                .and_then(|state| reference::state_of_part(&part, state).map(|()| state))
                .map_err(|flaw| word.flaw(flaw))?,
        };
        let namespace = self.text("namespace")?;
        let parts = reference::parts(part, namespace.map(|it| &*it.content), self.min()?)
            .map_err(|flaw| namespace.unwrap_or(name).flaw(flaw))?;
        Ok(Dependency {
            state,
            optional: self.flag("optional")?,
            revision: self.revision()?,
            ..Dependency::on(parts)
        })
    }

    /// The object or the objects of this kind, by name or by selector.
    fn reference(&self, kind: Kind) -> Result<Reference, Flaw> {
        let namespace = self.text("namespace")?;
        if let Some(namespace) = namespace {
            reference::namespace(&kind, &namespace.content).map_err(|flaw| namespace.flaw(flaw))?;
        }
        let namespace = namespace.map(|it| &*it.content);
        match (self.text("name")?, self.find("selector")) {
            (Some(_), Some(field)) => Err(Flaw::at(field.at, Problem::NameAndSelector)),
            (None, None) => Err(Flaw::at(self.at, Problem::MissingKey("name"))),
            (Some(name), None) => {
                reference::name(&kind, &name.content).map_err(|flaw| name.flaw(flaw))?;
                Ok(reference::object(kind, namespace, &name.content))
            }
            (None, Some(field)) => {
                let text = field.text("a text")?;
                let parsed = selector::selector(&text.content).map_err(|flaw| text.flaw(flaw))?;
                Ok(Reference::Selected(Selection {
                    kind,
                    namespace: namespace.map(str::to_owned),
                    selector: parsed,
                    min: self.min()?,
                }))
            }
        }
    }

    /// `kind` alone is read as in the short form; `apiVersion` gives it the group.
    fn kind(&self) -> Result<Kind, Flaw> {
        let Some(kind) = self.text("kind")? else {
            return Err(Flaw::at(self.at, Problem::MissingKey("kind")));
        };
        let Some(api_version) = self.text("apiVersion")? else {
            return reference::kind(&kind.content).map_err(|flaw| kind.flaw(flaw));
        };
        let group =
            reference::group_of(&api_version.content).map_err(|flaw| api_version.flaw(flaw))?;
        let word = match kind.content.split_once('.') {
            Some((_, written)) if written != group => {
                let problem = Problem::GroupConflict {
                    kind: written.to_owned(),
                    api_version: group.to_owned(),
                };
                return Err(kind.flaw(Flaw::at(0, problem)));
            }
            Some((word, _)) => word,
            None => &*kind.content,
        };
        reference::in_group(kinds::by_word_in(group, word), group, word)
            .map_err(|flaw| kind.flaw(flaw))
    }

    fn state(&self, kind: &Kind) -> Result<State, Flaw> {
        let Some(word) = self.text("state")? else {
            return Ok(State::default());
        };
        reference::state(&word.content)
            .and_then(|state| reference::state_of(kind, state).map(|()| state))
            .map_err(|flaw| word.flaw(flaw))
    }

    fn revision(&self) -> Result<Revision, Flaw> {
        match self.find("revision") {
            None => Ok(Revision::Lockstep),
            Some(field) => match &*field.text("any")?.content {
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
        let text = &*field.text(TAKES)?.content;
        let min = match text.strip_suffix('%') {
            Some(percent) => digits(percent)
                .filter(|it: &u8| (1..=100).contains(it))
                .map(Min::Percent),
            None => digits(text).filter(|it| *it >= 1).map(Min::Count),
        };
        min.map(Some)
            .ok_or_else(|| field.bad(TAKES, Quoted(text).to_string()))
    }

    /// `optional: status`.
    fn need_of_status(&self) -> Need {
        match self.find("optional").map(|field| &field.value.value) {
            Some(Value::Text(text)) if text.content == "status" => Need::Optional,
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

/// A number of digits alone; Rust would take a sign, too.
fn digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    let plain = text.bytes().all(|it| it.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}
