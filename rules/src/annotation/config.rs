//! The grammar of cli-utils (`pkg/object/dependson`): `group/Kind/name` or `group/namespaces/namespace/Kind/name`, comma
//! separated, the core group empty. Kinds are exact, as in a manifest.

use super::MAX_ENTRIES;
use super::problem::{Flaw, Problem};
use super::reference::{self, pieces, trimmed};
use crate::dependency::Dependency;
use crate::kinds::{self, Kind};

/// The entries; a text without any is an empty list, so that a template may render nothing.
pub(super) fn list(text: &str) -> Result<Vec<Dependency>, Flaw> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut list = Vec::new();
    for (at, text) in pieces(text, ',').map(trimmed) {
        if list.len() == MAX_ENTRIES {
            return Err(Flaw::at(at, Problem::TooMany));
        }
        list.push(entry(text).map_err(|flaw| flaw.after(at))?);
    }
    Ok(list)
}

/// The first entry of a text that is not in this grammar at all; `None` where every entry has as many fields as one may have. The key
/// is not sluice's own: other products keep their own words under it, and nothing is wrong with those.
pub(super) fn foreign(text: &str) -> Option<&str> {
    let mut entries = text.split(',').map(str::trim);
    let fits = |entry: &str| matches!(entry.split('/').take(6).count(), 3 | 5);
    entries.find(|entry| !entry.is_empty() && !fits(entry))
}

fn entry(text: &str) -> Result<Dependency, Flaw> {
    if text.is_empty() {
        return Err(Flaw::at(0, Problem::EmptyEntry));
    }
    let fields: Vec<_> = pieces(text, '/').collect();
    match fields.as_slice() {
        // cli-utils takes this for a cluster-scoped object. If the kind is namespaced, no such object exists, and the author can
        // only have meant the dependent's own namespace.
        [group, kind, name] => build(group.1, *kind, None, *name),
        [group, (_, "namespaces"), namespace, kind, name] => {
            build(group.1, *kind, Some(*namespace), *name)
        }
        [_, (at, word), _, _, _] => Err(Flaw::at(*at, Problem::NotNamespaces((*word).to_owned()))),
        _ => {
            let (entry, fields) = (text.to_owned(), fields.len());
            Err(Flaw::at(0, Problem::Fields { entry, fields }))
        }
    }
}

fn build(
    group: &str,
    (kind_at, kind): (usize, &str),
    namespace: Option<(usize, &str)>,
    (name_at, name): (usize, &str),
) -> Result<Dependency, Flaw> {
    if !group.is_empty() {
        reference::group(group)?;
    }
    let kind = exact_kind(group, kind).map_err(|flaw| flaw.after(kind_at))?;
    if let Some((at, namespace)) = namespace {
        reference::namespace(&kind, namespace).map_err(|flaw| flaw.after(at))?;
    }
    reference::name(&kind, name).map_err(|flaw| flaw.after(name_at))?;
    let namespace = namespace.map(|(_, namespace)| namespace);
    Ok(Dependency::on(reference::object(kind, namespace, name)))
}

/// The likely word is a kind here, never one of kubectl's other spellings.
fn exact_kind(group: &str, kind: &str) -> Result<Kind, Flaw> {
    reference::in_group(kinds::builtin(group, kind), group, kind).map_err(|mut flaw| {
        if let Problem::UnknownKindIn { likely, .. } = &mut flaw.problem {
            let builtin = likely.as_deref().and_then(kinds::by_word);
            *likely = builtin.map(|it| it.kind.to_owned());
        }
        flaw
    })
}
