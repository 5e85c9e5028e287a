//! The grammar of cli-utils (`pkg/object/dependson`): `group/Kind/name` or `group/namespaces/namespace/Kind/name`, comma
//! separated, the core group empty. Kinds are exact, as in a manifest.

use super::MAX_ENTRIES;
use super::piece::Piece;
use super::problem::{CliUtilsFault, Flaw, Problem};
use super::reference;
use crate::dependency::Dependency;
use crate::kinds::{self, Kind};

/// Reads the entries of a list. A text without entries is an empty list, so that a template may render nothing.
pub(super) fn list(text: Piece<'_>) -> Result<Vec<Dependency>, Flaw> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut list = Vec::new();
    for piece in text.split(',').map(Piece::trim) {
        if list.len() == MAX_ENTRIES {
            return Err(piece.flaw(Problem::TooMany));
        }
        list.push(entry(piece)?);
    }
    Ok(list)
}

/// The first entry that has neither three fields nor five: a text with such an entry is not in this grammar at all. `None` where no entry
/// is such. The key is not sluice's own: other products keep their own words under it, and nothing is wrong with those.
pub(super) fn foreign(text: &str) -> Option<&str> {
    let mut entries = text.split(',').map(str::trim);
    let fits = |entry: &str| matches!(entry.split('/').take(6).count(), 3 | 5);
    entries.find(|entry| !entry.is_empty() && !fits(entry))
}

fn entry(written: Piece<'_>) -> Result<Dependency, Flaw> {
    if written.is_empty() {
        return Err(written.flaw(CliUtilsFault::EmptyEntry));
    }
    let fields: Vec<_> = written.split('/').collect();
    match fields.as_slice() {
        // cli-utils takes this for a cluster-scoped object. If the kind is namespaced, no such object exists, and the author can
        // only have meant the dependent's own namespace.
        [group, kind, name] => build(*group, *kind, None, *name),
        [group, second, namespace, kind, name] if second.text == "namespaces" => {
            build(*group, *kind, Some(*namespace), *name)
        }
        [_, second, _, _, _] => {
            Err(second.flaw(CliUtilsFault::NotNamespaces(second.text.to_owned())))
        }
        _ => {
            let (entry, fields) = (written.text.to_owned(), fields.len());
            Err(written.flaw(CliUtilsFault::Fields { entry, fields }))
        }
    }
}

fn build(
    group: Piece<'_>,
    kind: Piece<'_>,
    namespace: Option<Piece<'_>>,
    name: Piece<'_>,
) -> Result<Dependency, Flaw> {
    if !group.is_empty() {
        reference::group(group)?;
    }
    let kind = exact_kind(group.text, kind)?;
    if let Some(namespace) = namespace {
        reference::namespace(&kind, namespace)?;
    }
    reference::name(&kind, name)?;
    Ok(Dependency::on(reference::object(kind, namespace, name)))
}

/// Reads a kind that is spelled exactly. The likely word of a refusal is a kind too, and never one of kubectl's other spellings.
fn exact_kind(group: &str, kind: Piece<'_>) -> Result<Kind, Flaw> {
    reference::in_group(kinds::builtin(group, kind.text), group, kind).map_err(|mut flaw| {
        if let Problem::UnknownKindIn { likely, .. } = &mut flaw.problem {
            let builtin = likely.as_deref().and_then(kinds::by_word);
            *likely = builtin.map(|it| it.kind.to_owned());
        }
        flaw
    })
}
