//! The long form: a YAML or JSON list whose items are single references in the short form, or mappings.

use super::problem::{Flaw, Problem, Quoted};
use super::yaml::{self, Node, Text, Value};
use super::{reference, short};
use crate::dependency::{Dependency, State};
use crate::kinds::{self, Kind};
use crate::suggest;

const KEYS: [&str; 6] = [
    "kind",
    "apiVersion",
    "name",
    "namespace",
    "state",
    "optional",
];

/// Keys of the contract that later versions bring.
const LATER: [&str; 10] = [
    "selector", "min", "any", "group", "subchart", "release", "health", "fresh", "sameNode",
    "revision",
];

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
    items.iter().map(item).collect()
}

fn item(node: &Node) -> Result<Dependency, Flaw> {
    match &node.value {
        Value::Text(text) if text.is_null() || text.content.trim().is_empty() => {
            Err(Flaw::at(node.at, Problem::BadItem("nothing")))
        }
        Value::Text(text) => short::entry(&text.content).map_err(|flaw| text.flaw(flaw)),
        Value::List(_) => Err(Flaw::at(node.at, Problem::BadItem("a list"))),
        Value::Mapping(pairs) => Fields::read(pairs)?.dependency(node.at),
    }
}

/// The values of one mapping.
#[derive(Default)]
struct Fields<'n> {
    kind: Option<&'n Text<'n>>,
    api_version: Option<&'n Text<'n>>,
    name: Option<&'n Text<'n>>,
    namespace: Option<&'n Text<'n>>,
    state: Option<&'n Text<'n>>,
    optional: Option<&'n Text<'n>>,
}

impl<'n> Fields<'n> {
    fn read(pairs: &'n [(Node<'n>, Node<'n>)]) -> Result<Self, Flaw> {
        let mut fields = Self::default();
        for (key_node, value) in pairs {
            let Value::Text(key) = &key_node.value else {
                return Err(Flaw::at(key_node.at, Problem::BadKey));
            };
            let (key, slot) = match &*key.content {
                "kind" => ("kind", &mut fields.kind),
                "apiVersion" => ("apiVersion", &mut fields.api_version),
                "name" => ("name", &mut fields.name),
                "namespace" => ("namespace", &mut fields.namespace),
                "state" => ("state", &mut fields.state),
                "optional" => ("optional", &mut fields.optional),
                other => return Err(Flaw::at(key_node.at, unknown_key(other))),
            };
            if slot.replace(plain_value(key, value)?).is_some() {
                return Err(Flaw::at(key_node.at, Problem::DuplicateKey(key)));
            }
        }
        Ok(fields)
    }

    /// The dependency of a mapping that begins at `at`.
    fn dependency(&self, at: usize) -> Result<Dependency, Flaw> {
        let missing = |key| Flaw::at(at, Problem::MissingKey(key));
        let kind = self.kind(self.kind.ok_or_else(|| missing("kind"))?)?;
        let name = self.name.ok_or_else(|| missing("name"))?;
        reference::name(&kind, &name.content).map_err(|flaw| name.flaw(flaw))?;
        if let Some(namespace) = self.namespace {
            reference::namespace(&kind, &namespace.content).map_err(|flaw| namespace.flaw(flaw))?;
        }
        let namespace = self.namespace.map(|it| &*it.content);
        Ok(Dependency {
            object: reference::object(kind, namespace, &name.content),
            state: self.state.map_or(Ok(State::default()), |word| {
                reference::state(&word.content).map_err(|flaw| word.flaw(flaw))
            })?,
            optional: self.optional.map_or(Ok(false), boolean)?,
        })
    }

    /// `kind` alone is read as in the short form; `apiVersion` gives it the group.
    fn kind(&self, kind: &Text) -> Result<Kind, Flaw> {
        let Some(api_version) = self.api_version else {
            return reference::kind(&kind.content).map_err(|flaw| kind.flaw(flaw));
        };
        let group = group_of(&api_version.content).map_err(|flaw| api_version.flaw(flaw))?;
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
}

/// The group of `apps/v1`; of `v1` the core group.
fn group_of(api_version: &str) -> Result<&str, Flaw> {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let is_version = version
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    let core_and_old = group.is_empty() && version != "v1";
    if !is_version || core_and_old || api_version.starts_with('/') {
        let problem = Problem::BadApiVersion(api_version.to_owned());
        return Err(Flaw::at(0, problem));
    }
    if !group.is_empty() {
        reference::group(group)?;
    }
    Ok(group)
}

fn plain_value<'n>(key: &'static str, node: &'n Node<'n>) -> Result<&'n Text<'n>, Flaw> {
    let found = match &node.value {
        Value::Text(text) if text.is_null() => "nothing",
        Value::Text(text) => return Ok(text),
        Value::List(_) => "a list",
        Value::Mapping(_) => "a mapping",
    };
    let problem = Problem::BadValue {
        key,
        takes: if key == "optional" {
            "true or false"
        } else {
            "a text"
        },
        found: found.to_owned(),
    };
    Err(Flaw::at(node.at, problem))
}

/// In quotes too: whoever fills in a template may not have a say in that.
fn boolean(text: &Text) -> Result<bool, Flaw> {
    match &*text.content {
        "true" | "True" | "TRUE" => Ok(true),
        "false" | "False" | "FALSE" => Ok(false),
        other => {
            let problem = Problem::BadValue {
                key: "optional",
                takes: "true or false",
                found: Quoted(other).to_string(),
            };
            Err(text.flaw(Flaw::at(0, problem)))
        }
    }
}

fn unknown_key(key: &str) -> Problem {
    if let Some(later) = LATER.into_iter().find(|it| *it == key) {
        return Problem::LaterKey(later);
    }
    Problem::UnknownKey {
        key: key.to_owned(),
        likely: suggest::nearest(key, KEYS.into_iter().chain(LATER)),
    }
}
