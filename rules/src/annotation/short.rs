//! The short form: `job/migrate, data/statefulset/postgres:started # a comment`.

use super::MAX_ENTRIES;
use super::names::NameRule;
use super::problem::{Flaw, Problem};
use super::reference::{self, pieces, trimmed};
use crate::dependency::{Dependency, State};
use crate::kinds::Kind;
use std::ops::Range;

/// Entries between commas and line breaks; blank ones and comments do not count.
pub(super) fn list(text: &str) -> Result<Vec<Dependency>, Flaw> {
    let mut list = Vec::new();
    for (at, text) in entries(text) {
        if list.len() == MAX_ENTRIES {
            return Err(Flaw::at(at, Problem::TooMany));
        }
        list.push(entry(text).map_err(|flaw| flaw.after(at))?);
    }
    Ok(list)
}

/// Each entry with its offset.
pub(super) fn entries(text: &str) -> impl Iterator<Item = (usize, &str)> {
    pieces(text, '\n')
        .flat_map(|(line_at, line)| {
            pieces(without_comment(line), ',').map(move |(at, piece)| (line_at + at, piece))
        })
        .map(trimmed)
        .filter(|(_, entry)| !entry.is_empty())
}

/// A comment begins where a word could: `svc/redis#x` is a bad name, not a comment that hides half of it.
pub(super) fn without_comment(line: &str) -> &str {
    &line[..comment(line, &(0..0))]
}

/// The index at which the comment of a line begins, or the line ends; a `#` within `text` begins none.
pub(super) fn comment(line: &str, text: &Range<usize>) -> usize {
    let marks = line.match_indices('#').map(|(at, _)| at);
    let mut comments = marks.filter(|at| {
        let before = line[..*at].chars().next_back();
        !text.contains(at) && before.is_none_or(|it| it.is_whitespace() || it == ',')
    });
    comments.next().unwrap_or(line.len())
}

/// One reference: `[namespace/]kind/name[:state]`.
pub(super) fn entry(text: &str) -> Result<Dependency, Flaw> {
    if let Some(at) = text.find("{{") {
        return Err(Flaw::at(at, Problem::Template(text.to_owned())));
    }
    if let Some(at) = text.find(|it: char| it.is_whitespace() || matches!(it, ',' | ';')) {
        return Err(Flaw::at(at, Problem::SeveralReferences(text.to_owned())));
    }
    // One more than the longest grammar that is recognized; the number of pieces beyond it does not matter.
    let fields: Vec<_> = pieces(text, '/').take(6).collect();
    match fields.as_slice() {
        [_] => Err(Flaw::at(0, Problem::NoName(text.to_owned()))),
        [kind, rest] => build(None, *kind, *rest),
        [namespace, kind, rest] => build(Some(*namespace), *kind, *rest),
        [_, (_, "namespaces"), _, _, _] => {
            Err(Flaw::at(0, Problem::ConfigGrammar(text.to_owned())))
        }
        _ => Err(Flaw::at(0, Problem::TooManySlashes(text.to_owned()))),
    }
}

fn build(
    namespace: Option<(usize, &str)>,
    (kind_at, kind): (usize, &str),
    (rest_at, rest): (usize, &str),
) -> Result<Dependency, Flaw> {
    if reference::is_part(kind) {
        return part(namespace, kind, rest).map_err(|flaw| flaw.after(rest_at));
    }
    let kind = reference::kind(kind).map_err(|flaw| flaw.after(kind_at))?;
    if let Some((at, namespace)) = namespace {
        reference::namespace(&kind, namespace).map_err(|flaw| flaw.after(at))?;
    }
    let (name, state) = split_state(&kind, rest).map_err(|flaw| flaw.after(rest_at))?;
    reference::name(&kind, name).map_err(|flaw| flaw.after(rest_at))?;
    let namespace = namespace.map(|(_, namespace)| namespace);
    Ok(Dependency {
        state,
        ..Dependency::on(reference::object(kind, namespace, name))
    })
}

/// `group/backend`, `subchart/postgresql:started`, `data/release/shop-db`.
fn part(namespace: Option<(usize, &str)>, word: &str, rest: &str) -> Result<Dependency, Flaw> {
    let (name, state) = match rest.split_once(':') {
        None => (rest, State::default()),
        Some((name, word)) => {
            let state = reference::state(word).map_err(|flaw| flaw.after(name.len() + 1))?;
            (name, state)
        }
    };
    let part = reference::part(word, name)?;
    reference::state_of_part(&part, state).map_err(|flaw| flaw.after(name.len() + 1))?;
    let namespace = namespace.map(|(_, namespace)| namespace);
    let parts = reference::parts(part, namespace, None)?;
    Ok(Dependency {
        state,
        ..Dependency::on(parts)
    })
}

/// The state behind the last colon. Names of RBAC kinds have colons of their own (`system:node`): there only a word that
/// is a state is taken for one.
fn split_state<'t>(kind: &Kind, text: &'t str) -> Result<(&'t str, State), Flaw> {
    let Some((name, word)) = text.rsplit_once(':') else {
        return Ok((text, State::default()));
    };
    match reference::state(word) {
        Ok(state) => reference::state_of(kind, state)
            .map(|()| (name, state))
            .map_err(|flaw| flaw.after(name.len() + 1)),
        Err(_) if NameRule::of(kind) == NameRule::PathSegment => Ok((text, State::default())),
        Err(flaw) => Err(flaw.after(name.len() + 1)),
    }
}
