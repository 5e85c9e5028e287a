//! The parts of a reference that all grammars share. Offsets count from the start of the text that is given.

use super::names::{self, NameRule};
use super::problem::{Flaw, Problem};
use crate::dependency::{Min, ObjectRef, Part, Parts, Reference, State};
use crate::kinds::{self, Builtin, Kind};
use crate::suggest;

/// The words that stand in the place of a kind, or as a key of an item, and name more than one object.
pub(super) const PARTS: [&str; 3] = ["group", "subchart", "release"];

/// Whether `word`, in any letter case, is one of [`PARTS`].
pub(super) fn is_part(word: &str) -> bool {
    PARTS.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// The part that a word of [`PARTS`] and a name name.
pub(super) fn part(word: &str, name: &str) -> Result<Part, Flaw> {
    let name_it = match PARTS.iter().position(|it| it.eq_ignore_ascii_case(word)) {
        Some(0) => Part::Group,
        Some(1) => Part::SubChart,
        _ => Part::Release,
    };
    let part = name_it(name.to_owned());
    // Two of the three parts are read from labels, so a name may be any label value.
    names::check(part.word(), name, NameRule::LabelPart)?;
    Ok(part)
}

/// The objects of a part; of a group a namespace tells nothing.
pub(super) fn parts(
    part: Part,
    namespace: Option<&str>,
    min: Option<Min>,
) -> Result<Reference, Flaw> {
    if let Some(namespace) = namespace {
        if let Part::Group(name) = part {
            return Err(Flaw::at(0, Problem::NamespacedGroup(name)));
        }
        names::check("namespace", namespace, NameRule::Label)?;
    }
    Ok(Reference::Part(Parts {
        part,
        namespace: namespace.map(str::to_owned),
        min,
    }))
}

/// Refuses a state that only objects of a few kinds can have.
pub(super) fn state_of_part(part: &Part, state: State) -> Result<(), Flaw> {
    match state {
        State::Present | State::Started | State::Ready | State::Available => Ok(()),
        State::Complete | State::Addressed => {
            let (state, word) = (state.word(), part.word());
            Err(Flaw::at(0, Problem::IdlePartState { state, word }))
        }
    }
}

/// A kind as kubectl takes it: `deploy`, `deployments.apps`, `Certificate.cert-manager.io`.
pub(super) fn kind(text: &str) -> Result<Kind, Flaw> {
    match text.split_once('.') {
        None => bare(text).map_err(|problem| Flaw::at(0, problem)),
        // `..` and the like: nothing is gained by looking for the group in it.
        Some(("", _)) => Err(Flaw::at(0, unknown(text))),
        Some((word, group)) => {
            let group_at = word.len() + 1;
            self::group(group).map_err(|flaw| flaw.after(group_at))?;
            in_group(by_word_in(group, word), group, word)
        }
    }
}

fn bare(word: &str) -> Result<Kind, Problem> {
    if word.is_empty() {
        return Err(Problem::Empty { what: "kind" });
    }
    if let Some(builtin) = kinds::by_word(word) {
        return Ok(Kind::Builtin(builtin));
    }
    if let Some(part) = PARTS.into_iter().find(|it| it.eq_ignore_ascii_case(word)) {
        return Err(Problem::PartAsKind(part));
    }
    Err(unknown(word))
}

fn unknown(kind: &str) -> Problem {
    Problem::UnknownKind {
        kind: kind.to_owned(),
        likely: kinds::nearest(kind),
    }
}

/// Finds a built-in kind, also by kubectl's `deployments.v1.apps`. Elsewhere `v1.` stays a part of the group: nothing there tells
/// a version from a group.
fn by_word_in(group: &str, word: &str) -> Option<&'static Builtin> {
    kinds::by_word_in(group, word).or_else(|| {
        let (version, rest) = group.split_once('.')?;
        let digits = version.strip_prefix('v')?;
        digits
            .starts_with(|first: char| first.is_ascii_digit())
            .then_some(())?;
        kinds::by_word_in(rest, word)
    })
}

/// A group that is not the core group.
pub(super) fn group(text: &str) -> Result<(), Flaw> {
    names::check("group", text, NameRule::Subdomain)?;
    // A CustomResourceDefinition needs a dot in its group, so nothing can ever be served from another one without.
    if text.contains('.') || kinds::knows_group(text) {
        return Ok(());
    }
    let likely = kinds::nearest_group(text);
    let group = text.to_owned();
    Err(Flaw::at(0, Problem::UnknownGroup { group, likely }))
}

/// The group of `apps/v1`; of `v1` the core group.
pub(super) fn group_of(api_version: &str) -> Result<&str, Flaw> {
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
        self::group(group)?;
    }
    Ok(group)
}

/// The kind `word` of a group that is empty for the core group; `found` is the built-in one of that name.
pub(super) fn in_group(
    found: Option<&'static Builtin>,
    group: &str,
    word: &str,
) -> Result<Kind, Flaw> {
    if let Some(builtin) = found {
        return Ok(Kind::Builtin(builtin));
    }
    if word.is_empty() {
        return Err(Flaw::at(0, Problem::Empty { what: "kind" }));
    }
    if let Some(problem) = unknown_in(group, word) {
        return Err(Flaw::at(0, problem));
    }
    names::check("kind", word, NameRule::KindWord)?;
    Ok(Kind::Custom {
        group: group.to_owned(),
        word: word.to_owned(),
    })
}

/// A group of Kubernetes may have a kind that is younger than this table, so only a near miss is refused; the core group grows no
/// more.
fn unknown_in(group: &str, word: &str) -> Option<Problem> {
    if !kinds::knows_group(group) {
        return None;
    }
    if let Some(builtin) = kinds::by_word(word).filter(|it| it.group != group) {
        return Some(Problem::OtherGroup {
            kind: builtin.kind,
            actual: builtin.group,
            written: group.to_owned(),
        });
    }
    let likely = kinds::nearest_in(group, word);
    (likely.is_some() || group.is_empty()).then(|| Problem::UnknownKindIn {
        kind: word.to_owned(),
        group: group.to_owned(),
        likely,
    })
}

/// A state by its word.
pub(super) fn state(word: &str) -> Result<State, Flaw> {
    State::from_word(word).ok_or_else(|| {
        let likely = suggest::nearest(word, State::ALL.map(State::word));
        let state = word.to_owned();
        Flaw::at(0, Problem::UnknownState { state, likely })
    })
}

/// Refuses a state that objects of a built-in kind can never have. The states of other kinds are unknown, so none is refused.
pub(super) fn state_of(kind: &Kind, state: State) -> Result<(), Flaw> {
    let Kind::Builtin(builtin) = kind else {
        return Ok(());
    };
    let is = |group, kind| builtin.group == group && builtin.kind == kind;
    let (fits, only) = match state {
        State::Complete => (is("batch", "Job") || is("", "Pod"), "Job and Pod"),
        State::Addressed => (
            is("", "Service") || is("networking.k8s.io", "Ingress"),
            "Service and Ingress",
        ),
        State::Present | State::Started | State::Ready | State::Available => return Ok(()),
    };
    if fits {
        return Ok(());
    }
    let (state, kind) = (state.word(), builtin.kind);
    Err(Flaw::at(0, Problem::IdleState { state, kind, only }))
}

/// The name of an object of this kind.
pub(super) fn name(kind: &Kind, text: &str) -> Result<(), Flaw> {
    names::check("name", text, NameRule::of(kind))
}

/// The namespace of an object of this kind.
pub(super) fn namespace(kind: &Kind, text: &str) -> Result<(), Flaw> {
    names::check("namespace", text, NameRule::Label)?;
    match kind {
        Kind::Builtin(builtin) if !builtin.namespaced => {
            let namespace = text.to_owned();
            let kind = builtin.kind;
            Err(Flaw::at(0, Problem::ClusterScoped { kind, namespace }))
        }
        // Whether a custom kind is namespaced, only the API server knows.
        Kind::Builtin(_) | Kind::Custom { .. } => Ok(()),
    }
}

/// An object of parts that have been checked.
pub(super) fn object(kind: Kind, namespace: Option<&str>, name: &str) -> Reference {
    Reference::Object(ObjectRef {
        kind,
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    })
}

/// The pieces of `text` between separators, each with its offset.
pub(super) fn pieces(text: &str, separator: char) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(separator).map(move |piece| {
        let start = at;
        at += piece.len() + separator.len_utf8();
        (start, piece)
    })
}

/// A piece without the space around it.
pub(super) fn trimmed((at, piece): (usize, &str)) -> (usize, &str) {
    let text = piece.trim_start();
    (at + piece.len() - text.len(), text.trim_end())
}
