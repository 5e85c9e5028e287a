//! Tries proposals: the parser of admission must accept an entry, and the list that Helm renders must mean the same as the loops.

use super::object::{ChartObject, text as text_at};
use super::reason::Reason;
use super::release::NAMESPACE;
use rules::annotation::{self, Problem};
use rules::dependency::{Dependency, Reference};
use rules::keys;
use serde_json::Value;

/// Tests whether the parser of admission accepts an entry; the error is the reason for the user.
pub(super) fn entry(text: &str) -> Result<(), Reason> {
    match read(&[text]) {
        Ok(_) => Ok(()),
        Err(error) => {
            let entry = text.to_owned();
            Err(match error.problem {
                Problem::UnknownKind { .. }
                | Problem::UnknownKindIn { .. }
                | Problem::UnknownGroup { .. } => Reason::Kind(entry),
                problem => Reason::Refused {
                    entry,
                    why: problem.to_string(),
                },
            })
        }
    }
}

/// Parses a list of these entries with the parser of admission; its error tells why it refuses one of them.
fn read(entries: &[&str]) -> Result<Vec<Dependency>, annotation::ParseError> {
    let long = entries.iter().any(|it| it.starts_with('{'));
    let joined = entries.join(", ");
    annotation::parse_depends_on(&if long { format!("[{joined}]") } else { joined })
}

/// Whether the list of a rendered object has the same entries as `entries`, in any order. An object without a list has none.
pub(super) fn says(object: &ChartObject, entries: &[String]) -> bool {
    if said(&object.value).is_none() {
        return entries.is_empty();
    }
    lists(object, entries).is_some_and(|(found, expected)| {
        found.iter().all(|it| expected.contains(it)) && expected.iter().all(|it| found.contains(it))
    })
}

/// Whether the list of a rendered object names no single object that `entries` do not name. Also `true` where the object has no list, or
/// admission refuses the list.
pub(super) fn names_no_more(object: &ChartObject, entries: &[String]) -> bool {
    let Some((found, expected)) = lists(object, entries) else {
        return true;
    };
    let mut named = found
        .iter()
        .filter(|it| matches!(it.reference, Reference::Object(_)));
    named.all(|it| expected.contains(it))
}

/// The list of a rendered object, and the list of these entries; `None` where the object has no list, or admission refuses one of the two.
fn lists(object: &ChartObject, entries: &[String]) -> Option<(Vec<Dependency>, Vec<Dependency>)> {
    let texts: Vec<&str> = entries.iter().map(String::as_str).collect();
    let mut expected = read(&texts).ok()?;
    let mut found = annotation::parse_depends_on(said(&object.value)?).ok()?;
    at_home(&object.value, expected.iter_mut().chain(&mut found));
    Some((found, expected))
}

/// Whether two entries mean the same in the list of a rendered object. An entry that admission refuses means nothing.
pub(super) fn mean_the_same(object: &ChartObject, one: &str, other: &str) -> bool {
    let (Ok(mut one), Ok(mut other)) = (read(&[one]), read(&[other])) else {
        return false;
    };
    at_home(&object.value, one.iter_mut().chain(&mut other));
    one == other
}

/// Takes the namespace of a rendered object out of the entries of its list: the DNS name of a Service has the namespace in it, which may be
/// the object's own.
fn at_home<'d>(object: &Value, entries: impl Iterator<Item = &'d mut Dependency>) {
    let home = match text_at(object, "/metadata/namespace") {
        "" => NAMESPACE,
        home => home,
    };
    for Dependency { reference, .. } in entries {
        if let Reference::Object(object) = reference
            && object.namespace.as_deref() == Some(home)
        {
            object.namespace = None;
        }
    }
}

/// The text of the list in the annotations of an object, or else of its pod template; `None` where neither has one.
pub(super) fn said(value: &Value) -> Option<&str> {
    let at = ["", "/spec/template", "/spec/jobTemplate/spec/template"];
    at.iter().find_map(|it| {
        let annotations = value.pointer(&format!("{it}/metadata/annotations"))?;
        annotations.get(keys::DEPENDS_ON)?.as_str()
    })
}
