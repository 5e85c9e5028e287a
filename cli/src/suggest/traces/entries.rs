//! Writes entries with the values that their marks stand for.

use super::marks::{is_marked, is_port, marks};
use super::templates::{default_of, is_a_template};
use crate::suggest::switches::{Switch, Tested};
use crate::suggest::texts::Texts;
use std::cmp::Reverse;

/// An entry that names values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::suggest) struct NamedValues {
    /// The entry, with template actions in place of its marks, which are made-up hosts and ports.
    pub(in crate::suggest) text: String,
    /// The actions around an entry that stands once for each element of a list: a `range`, perhaps with an `if` around it. The outermost
    /// action comes first, and each action is told as its branches. Empty for any other entry.
    pub(in crate::suggest) within: Vec<Vec<String>>,
}

/// The entry with template actions, such as `{{ .Values.db.host }}`, in place of its marks. `None` where the entry has no mark of a host, where a
/// part of such a mark is left over, or where the templates do not agree on one default for a marked port.
pub(in crate::suggest) fn written(
    entry: &str,
    set: &[Switch],
    texts: &Texts,
    root: &str,
) -> Option<NamedValues> {
    let mut ports = set.iter().filter(|it| it.follows() && is_port(it));
    let is_unclear = |it: &Switch| marks(it, entry) && default_of(texts, &it.path).is_none();
    if !is_marked(entry) || ports.any(is_unclear) {
        return None;
    }
    let list = list_in(entry, set);
    let within = list.and_then(|it| Some(it.list()?.within(&it.path, root)));
    let within = within.unwrap_or_default();
    // A `range` sets the dot.
    let root = if within.is_empty() { root } else { "$" };
    let action = |it: &Switch, mark: &str| {
        if let Some(list) = it.list() {
            let mut marks = list.marks();
            let own = marks.find(|it| it.0 == mark);
            return own.map_or(String::new(), |it| it.1);
        }
        let value = format!("{root}.Values.{}", it.path);
        if is_a_template(texts, &it.path) {
            return format!("{{{{ tpl {value} $ }}}}");
        }
        match default_of(texts, &it.path).filter(|default| is_port(it) && !default.is_empty()) {
            Some(default) => format!("{{{{ {value} | default {default} }}}}"),
            None => format!("{{{{ {value} }}}}"),
        }
    };
    let text = replaced(entry, set, action);
    (!is_marked(&text)).then_some(NamedValues { text, within })
}

/// The switch of the list whose made-up address (mark) an entry has; `None` for an entry without the mark of a list.
pub(in crate::suggest) fn list_in<'s>(entry: &str, set: &'s [Switch]) -> Option<&'s Switch> {
    let mut lists = set.iter().filter(|it| it.list().is_some());
    lists.find(|it| marks(it, entry))
}

/// The entry with the chart's own elements of lists in place of their made-up addresses (marks); `None` for an entry without a mark of a list, and
/// where the chart does not have such an element.
pub(in crate::suggest) fn with_own_elements(entry: &str, set: &[Switch]) -> Option<String> {
    let list = list_in(entry, set)?.list()?;
    let own = |mark: &str| list.marks().find(|it| it.0 == mark).map_or("", |it| it.2);
    let text = replaced(entry, set, |it, mark| match &it.tested {
        Tested::Follows { own } => own.clone(),
        _ => own(mark).to_owned(),
    });
    let is_own = list
        .marks()
        .all(|it| !entry.contains(it.0) || !it.2.is_empty());
    (is_own && !is_marked(&text)).then_some(text)
}

/// A text for a message, with the actions of the values, such as `{{ .Values.db.host }}`, in place of their made-up addresses (marks).
pub(in crate::suggest) fn shown(text: &str, set: &[Switch]) -> String {
    replaced(text, set, |it, _| format!("{{{{ .Values.{} }}}}", it.path))
}

fn replaced(text: &str, set: &[Switch], action: impl Fn(&Switch, &str) -> String) -> String {
    let followed = set.iter().filter(|it| it.follows());
    let each = followed.flat_map(|it| it.marks().into_iter().map(move |mark| (it, mark)));
    let mut each: Vec<(&Switch, &str)> = each.collect();
    // A mark may be the beginning of a longer one.
    each.sort_by_key(|it| Reverse(it.1.len()));
    each.into_iter().fold(text.to_owned(), |text, (it, mark)| {
        if text.contains(mark) {
            text.replace(mark, &action(it, mark))
        } else {
            text
        }
    })
}
