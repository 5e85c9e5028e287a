//! The short form: `job/migrate, data/statefulset/postgres:started # a comment`.

use super::MAX_ENTRIES;
use super::names::NameRule;
use super::piece::Piece;
use super::problem::{Flaw, Problem};
use super::reference::{self, PartWord};
use super::{address, service_name};
use crate::dependency::{Dependency, State};
use crate::kinds::Kind;
use std::ops::Range;

/// Reads the entries of a list in the short form, which stand between commas and line breaks. Blank entries and comments are skipped; more than
/// [`MAX_ENTRIES`] are an error.
pub(super) fn list(text: Piece<'_>) -> Result<Vec<Dependency>, Flaw> {
    let mut list = Vec::new();
    for piece in entries(text) {
        if list.len() == MAX_ENTRIES {
            return Err(piece.flaw(Problem::TooMany));
        }
        list.push(entry(piece)?);
    }
    Ok(list)
}

/// The text of each entry of a list in the short form.
pub(super) fn entries(text: Piece<'_>) -> impl Iterator<Item = Piece<'_>> {
    text.split('\n')
        .flat_map(|line| without_comment(line).split(','))
        .map(Piece::trim)
        .filter(|entry| !entry.is_empty())
}

/// The part of a line before its comment. A comment begins only where a word could: `svc/redis#x` is a bad name, not a name with a comment.
pub(super) fn without_comment(line: Piece<'_>) -> Piece<'_> {
    line.split_at(comment(line.text, &(0..0))).0
}

/// The byte at which the comment of a line begins, or the line ends. A `#` in the range `text`, a quoted text of the line, begins no comment.
pub(super) fn comment(line: &str, text: &Range<usize>) -> usize {
    let marks = line.match_indices('#').map(|(at, _)| at);
    let mut comments = marks.filter(|at| {
        let before = line[..*at].chars().next_back();
        !text.contains(at) && before.is_none_or(|it| it.is_whitespace() || it == ',')
    });
    comments.next().unwrap_or(line.len())
}

/// Reads an entry of the short form: `[namespace/]kind/name[:state]`, where the kind may be `group`, `subchart` or `release`, or an address such as
/// `tcp://HOST:PORT`.
pub(super) fn entry(written: Piece<'_>) -> Result<Dependency, Flaw> {
    let text = written.text;
    if let Some(at) = text.find("{{") {
        return Err(written.flaw_at(at, Problem::Template(text.to_owned())));
    }
    if let Some(at) = text.find(|it: char| it.is_whitespace() || matches!(it, ',' | ';')) {
        return Err(written.flaw_at(at, Problem::SeveralReferences(text.to_owned())));
    }
    if address::is_address(text) {
        return address::entry(written);
    }
    // The longest known form has 5 fields, so a sixth one tells that there are too many.
    let fields: Vec<_> = written.split('/').take(6).collect();
    match fields.as_slice() {
        [_] => Err(written.flaw(Problem::NoName(text.to_owned()))),
        [kind, rest] => build(None, *kind, *rest),
        [namespace, kind, rest] => build(Some(*namespace), *kind, *rest),
        [_, second, _, _, _] if second.text == "namespaces" => {
            Err(written.flaw(Problem::ConfigGrammar(text.to_owned())))
        }
        _ => Err(written.flaw(Problem::TooManySlashes(text.to_owned()))),
    }
}

fn build(
    namespace: Option<Piece<'_>>,
    kind: Piece<'_>,
    rest: Piece<'_>,
) -> Result<Dependency, Flaw> {
    if let Some(word) = PartWord::of(kind.text) {
        return part(namespace, word, rest);
    }
    let kind = reference::kind(kind)?;
    if let Some(namespace) = namespace {
        reference::namespace(&kind, namespace)?;
    }
    let (name, state) = split_state(&kind, rest)?;
    let (namespace, name) = service_name::parts(&kind, namespace, name)?;
    reference::named(&kind, namespace, name)?;
    Ok(Dependency {
        state,
        ..Dependency::on(reference::object(kind, namespace, name))
    })
}

/// Reads an entry for a part: `group/backend`, `subchart/postgresql:started`, `data/release/shop-db`.
fn part(namespace: Option<Piece<'_>>, word: PartWord, rest: Piece<'_>) -> Result<Dependency, Flaw> {
    let (name, state) = match rest.split_once(':') {
        None => (rest, None),
        Some((name, word)) => (name, Some((word, reference::state(word)?))),
    };
    let part = word.named(name)?;
    if let Some((word, state)) = state {
        reference::state_of_part(word, state, &part)?;
    }
    if namespace.is_some() {
        reference::namespace_of_part(&part).map_err(|problem| name.flaw(problem))?;
    }
    Ok(Dependency {
        state: state.map_or_else(State::default, |(_, state)| state),
        ..Dependency::on(reference::parts(part, namespace, None)?)
    })
}

/// Splits an entry's `name:state` at the last colon; the state is the default one where there is no colon. Names of RBAC kinds have colons of
/// their own (`system:node`): there a word that is no state belongs to the name, elsewhere it is an error.
fn split_state<'t>(kind: &Kind, written: Piece<'t>) -> Result<(Piece<'t>, State), Flaw> {
    let Some((name, word)) = written.rsplit_once(':') else {
        return Ok((written, State::default()));
    };
    match reference::state(word) {
        Ok(state) => reference::state_of_kind(word, state, kind).map(|()| (name, state)),
        Err(_) if NameRule::of(kind) == NameRule::PathSegment => Ok((written, State::default())),
        Err(flaw) => Err(flaw),
    }
}
