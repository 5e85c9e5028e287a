//! The long form: a YAML or JSON list whose items are single references in the short form, or mappings.

use super::item::Fields;
use super::problem::{Flaw, Problem};
use super::yaml::{self, Node, Value};
use super::{MAX_ENTRIES, short};
use crate::dependency::Dependency;

/// Whether the text is in the long form, by its first character that is neither space nor comment. A text that begins
/// with a brace is JSON with its list forgotten; nothing in the short form begins with one.
pub(super) fn applies(text: &str) -> bool {
    let first = text
        .lines()
        .map(|line| short::without_comment(line).trim_start())
        .find_map(|line| line.chars().next());
    first.is_some_and(|it| matches!(it, '-' | '[' | '{'))
}

/// The items.
pub(super) fn list(text: &str) -> Result<Vec<Dependency>, Flaw> {
    let root = yaml::document(text)?;
    let Value::List(items) = root.value else {
        return Err(Flaw::at(root.at, Problem::NotAList));
    };
    let mut count = Count::default();
    items.iter().map(|node| item(node, &mut count)).collect()
}

/// The number of entries so far, including those inside of others.
#[derive(Default)]
pub(super) struct Count(usize);

impl Count {
    pub(super) fn one_more(&mut self, at: usize) -> Result<(), Flaw> {
        if self.0 == MAX_ENTRIES {
            return Err(Flaw::at(at, Problem::TooMany));
        }
        self.0 += 1;
        Ok(())
    }
}

/// One item, of the list or of another item's `any`. No deeper than the YAML, so than `MAX_LEVELS`.
pub(super) fn item(node: &Node<'_>, count: &mut Count) -> Result<Dependency, Flaw> {
    count.one_more(node.at)?;
    match &node.value {
        Value::Text(text) if text.is_null() || text.content.trim().is_empty() => {
            Err(Flaw::at(node.at, Problem::BadItem("nothing")))
        }
        Value::Text(text) => short::entry(&text.content).map_err(|flaw| text.flaw(flaw)),
        Value::List(_) => Err(Flaw::at(node.at, Problem::BadItem("a list"))),
        Value::Mapping(pairs) => Fields::read(node.at, pairs)?.dependency(count),
    }
}
