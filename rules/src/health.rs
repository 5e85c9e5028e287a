//! Health rules of an administrator: per group and kind, three expressions in CEL, with the names and the meaning that
//! they have in Flux (`healthCheckExprs`), so that a library written for Flux can be pasted.
//!
//! The order is Flux's: generation, `inProgress`, `failed`, `current`, and an object of which none is true is in progress. An
//! expression that cannot be evaluated makes the object unknown, which never opens a gate; nor does a rule that cannot be read.
//! Narrower than in Flux: an unknown function is found when the rule is read, and `has(a.b)` of an `a` that is no map is an
//! error.
//!
//! **Bounds.** The crate has no cost budget, so cost is bounded before evaluation, by numbers that depend on the rule
//! and the object alone: the length of a text and the number of rules (`expression`, [`Rules`]), the size of the
//! object, and the product of the loops that are nested in an expression and the longest list that they may walk. A
//! deadline would make the answer depend on how busy the machine is, and nothing can end an evaluation anyway; with
//! these bounds the slowest takes milliseconds. The status service evaluates outside of its async threads.
//!
//! **Two layers.** The administrator's rules come first; then the library that is built in (`library`), unless it is
//! turned off. An entry for a kind beats an entry for its group. The version of an `apiVersion` does not count.

mod expression;
mod functions;
mod library;
mod read;
mod rule;

pub use expression::{Broken, CelExpression};
#[cfg(test)]
pub(crate) use library::without_the_nearest;
pub use library::{builtin, is_builtin};
pub use read::{MOST_RULES, RuleProblem};
pub use rule::Rule;

use crate::judged::{Judged, Reason};
use crate::kstatus;
use serde_json::Value;
use std::collections::HashMap;

/// Judges an object by the health rule for its kind: the administrator's, else that of the built-in library; `None` without a rule. `builtin`: the
/// library is in use. `statusless`: its kind is known to have no status.
pub fn judge(
    administrator: &Rules,
    builtin: bool,
    object: &Value,
    statusless: bool,
) -> Option<Judged> {
    if administrator.concerns(object) {
        return administrator.judge(object, statusless);
    }
    builtin
        .then(|| library::builtin(object, statusless))
        .flatten()
}

/// Whether the health rule for the object's kind, the administrator's or else the library's, reads a generation. Such a rule tells by itself whether
/// a status is of the latest spec. `builtin`: the built-in library is in use. `false` without a rule.
pub fn reads_a_generation(administrator: &Rules, builtin: bool, object: &Value) -> bool {
    if administrator.concerns(object) {
        return administrator.reads_a_generation(object);
    }
    builtin && library::reads_a_generation(object)
}

/// The health rules of one origin (the administrator or the built-in library), by the API group and the kind that each rule judges.
#[derive(Debug, Default)]
pub struct Rules {
    entries: HashMap<For, RuleEntry>,
    /// Why some rules could not be read at all, so that their kinds are unknown.
    unreadable: Option<String>,
}

/// The API group and the kind that a rule judges. Without a kind the rule judges every kind of the group that has no rule of its own.
type For = (String, Option<String>);

/// A health rule, or the message about a rule that could not be read.
type RuleEntry = Result<Box<Rule>, String>;

impl Rules {
    /// Reads health rules from texts, each with its name, such as the values of a ConfigMap with their keys. Returns every fault. A
    /// broken rule keeps its place among the rules, so that the objects of its kind wait.
    pub fn read<'a>(
        texts: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> (Self, Vec<RuleProblem>) {
        let mut rules = Self::default();
        let mut problems = Vec::new();
        for text in texts {
            read::text(&mut rules, MOST_RULES, text, &mut problems);
        }
        (rules, problems)
    }

    /// Makes rules that could not be read, for this reason. Every object waits that one of them may judge.
    pub fn unreadable(why: impl Into<String>) -> Self {
        Self {
            unreadable: Some(why.into()),
            ..Self::default()
        }
    }

    /// The number of health rules.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The API groups that rules are for, `*.example.com` for those below a domain.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(|(group, _)| group.as_str())
    }

    /// Whether there are no health rules.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether these rules judge the object, or make it wait because they could not be read.
    pub fn concerns(&self, object: &Value) -> bool {
        self.entry(object).is_some() || self.holds_back(object)
    }

    /// Judges an object by the rule for its kind; `None` without a rule. By a rule that could not be read the status is unknown, and so it is where
    /// the kind's rule may be among texts that could not be read. `statusless`: its kind is known to have no status.
    pub fn judge(&self, object: &Value, statusless: bool) -> Option<Judged> {
        match self.entry(object) {
            Some(Ok(rule)) => Some(rule.judge(object, statusless)),
            Some(Err(why)) => Some(broken(format!("the health rule is broken: {why}"))),
            None if self.holds_back(object) => {
                let why = self.unreadable.as_deref().unwrap_or_default();
                Some(broken(format!("the health rules cannot be read: {why}")))
            }
            None => None,
        }
    }

    fn reads_a_generation(&self, object: &Value) -> bool {
        matches!(self.entry(object), Some(Ok(rule)) if rule.reads_a_generation())
    }

    /// Whether the object waits because the rules could not be read. Such a rule is most likely for a custom resource, so objects of
    /// built-in kinds go on: to stop every Deployment for a misplaced comma would do more harm than it prevents.
    fn holds_back(&self, object: &Value) -> bool {
        let (group, kind) = kstatus::group_and_kind(object);
        self.unreadable.is_some() && crate::kinds::builtin(group, kind).is_none()
    }

    fn entry(&self, object: &Value) -> Option<&RuleEntry> {
        self.found(object).map(|(_, entry)| entry)
    }

    /// The entry for an object's kind, with the group and kind of the entry: the first of [`Rules::candidates`].
    fn found(&self, object: &Value) -> Option<(&For, &RuleEntry)> {
        self.candidates(object).next()
    }

    /// The entries that could judge an object, the nearest first: the entry for its kind, the entry for its group, then the entries for
    /// the parent domains of the group (`*.upbound.io`).
    fn candidates(&self, object: &Value) -> impl Iterator<Item = (&For, &RuleEntry)> {
        let (group, kind) = kstatus::group_and_kind(object);
        let mut rest = Some(group).filter(|_| !self.entries.is_empty());
        let parents = std::iter::from_fn(move || {
            let (_, parent) = rest?.split_once('.')?;
            rest = Some(parent);
            Some(format!("*.{parent}"))
        });
        let groups = std::iter::once(group.to_owned()).chain(parents);
        groups.flat_map(move |group| {
            let of_kind = (group, Some(kind.to_owned()));
            let of_group = (of_kind.0.clone(), None);
            let at = |key| self.entries.get_key_value(&key);
            [at(of_kind), at(of_group)].into_iter().flatten()
        })
    }
}

/// The finding, with this message, that an object has no status yet: it is in progress, and not satisfied.
fn unwritten(message: String) -> Judged {
    crate::judged::unmet(kstatus::Status::InProgress, Reason::NoStatusYet, message)
}

fn broken(message: String) -> Judged {
    crate::judged::unmet(kstatus::Status::Unknown, Reason::RuleError, message)
}

#[cfg(test)]
pub(crate) mod tests;
