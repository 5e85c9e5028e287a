//! The parts of a reference that all grammars share.

use super::names::{self, NameRule};
use super::piece::Piece;
use super::problem::{Flaw, Problem};
use crate::dependency::{Min, ObjectRef, Part, Parts, Reference, State};
use crate::kinds::{self, Builtin, Kind};
use crate::suggest;

/// The words that stand in the place of a kind, or as a key of an item, and name more than one object.
pub(super) const PARTS: [PartWord; 3] = [
    PartWord {
        word: "group",
        part: Part::Group,
    },
    PartWord {
        word: "subchart",
        part: Part::SubChart,
    },
    PartWord {
        word: "release",
        part: Part::Release,
    },
];

/// A word that names a part of a release or of the dependent's scope, and the part that the word and a name make.
#[derive(Clone, Copy)]
pub(super) struct PartWord {
    pub(super) word: &'static str,
    part: fn(String) -> Part,
}

impl PartWord {
    /// The entry of [`PARTS`] whose word is `word`, in any letter case; `None` for any other word.
    pub(super) fn of(word: &str) -> Option<Self> {
        let mut words = PARTS.into_iter();
        words.find(|it| it.word.eq_ignore_ascii_case(word))
    }

    /// The group, sub-chart or release of this name.
    pub(super) fn named(self, name: Piece<'_>) -> Result<Part, Flaw> {
        let part = (self.part)(name.text.to_owned());
        // Two of the three parts are read from labels, so a name may be any label value.
        names::check(part.word(), name, NameRule::LabelPart)?;
        Ok(part)
    }
}

/// The reference to the objects of a group, a sub-chart or a release.
pub(super) fn parts(
    part: Part,
    namespace: Option<Piece<'_>>,
    min: Option<Min>,
) -> Result<Reference, Flaw> {
    if let Some(namespace) = namespace {
        names::check("namespace", namespace, NameRule::Label)?;
    }
    Ok(Reference::Part(Parts {
        part,
        namespace: namespace.map(|it| it.text.to_owned()),
        min,
    }))
}

/// Refuses a namespace beside a group. A sub-chart or a release may have one.
pub(super) fn namespace_of_part(part: &Part) -> Result<(), Problem> {
    match part {
        Part::Group(name) => Err(Problem::NamespacedGroup(name.clone())),
        Part::SubChart(_) | Part::Release(_) => Ok(()),
    }
}

/// Refuses a state, written as `word`, that the objects of a part cannot all have: `complete`, `addressed` or `connects`.
pub(super) fn state_of_part(word: Piece<'_>, state: State, part: &Part) -> Result<(), Flaw> {
    match state {
        State::Present | State::Started | State::Ready | State::Available => Ok(()),
        State::Complete | State::Addressed | State::Connects => {
            let (state, part) = (state.word(), part.word());
            Err(word.flaw(Problem::IdlePartState { state, word: part }))
        }
    }
}

/// Reads a kind as kubectl takes it: `deploy`, `deployments.apps`, `Certificate.cert-manager.io`. A kind without a group has to be a built-in one.
pub(super) fn kind(written: Piece<'_>) -> Result<Kind, Flaw> {
    match written.split_once('.') {
        None => bare(written.text).map_err(|problem| written.flaw(problem)),
        // `..` and the like: nothing is gained by looking for the group in it.
        Some((word, _)) if word.is_empty() => Err(written.flaw(unknown(written.text))),
        Some((word, group)) => {
            self::group(group)?;
            in_group(by_word_in(group.text, word.text), group.text, word)
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
    if let Some(part) = PartWord::of(word) {
        return Err(Problem::PartAsKind(part.word));
    }
    Err(unknown(word))
}

fn unknown(kind: &str) -> Problem {
    Problem::UnknownKind {
        kind: kind.to_owned(),
        likely: kinds::nearest(kind),
    }
}

/// Finds a built-in kind by its word and group; in kubectl's `deployments.v1.apps` the version before the group is left out. Of a custom kind
/// `v1.` stays a part of the group, since nothing tells a version from a group there.
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

/// Checks the name of an API group other than the core group: it has a dot, or is one of Kubernetes' own.
pub(super) fn group(written: Piece<'_>) -> Result<(), Flaw> {
    names::check("group", written, NameRule::Subdomain)?;
    let text = written.text;
    // A CustomResourceDefinition needs a dot in its group, so a group without a dot that Kubernetes does not have can never be served.
    if text.contains('.') || kinds::knows_group(text) {
        return Ok(());
    }
    let likely = kinds::nearest_group(text);
    let group = text.to_owned();
    Err(written.flaw(Problem::UnknownGroup { group, likely }))
}

/// Reads the group of an `apiVersion`: `apps` of `apps/v1`, and the empty text, the core group, of `v1`. Any other form is an error.
pub(super) fn group_of(api_version: Piece<'_>) -> Result<&str, Flaw> {
    let (core, _) = api_version.split_at(0);
    let (group, version) = api_version.rsplit_once('/').unwrap_or((core, api_version));
    let is_version = version
        .text
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    let core_and_old = group.is_empty() && version.text != "v1";
    if !is_version || core_and_old || api_version.text.starts_with('/') {
        let problem = Problem::BadApiVersion(api_version.text.to_owned());
        return Err(api_version.flaw(problem));
    }
    if !group.is_empty() {
        self::group(group)?;
    }
    Ok(group.text)
}

/// Returns the kind `word` of `group`, which is empty for the core group: `found`, the built-in kind of that name, if there is one, or else a
/// custom kind. A kind that a group of Kubernetes cannot have is an error.
pub(super) fn in_group(
    found: Option<&'static Builtin>,
    group: &str,
    word: Piece<'_>,
) -> Result<Kind, Flaw> {
    if let Some(builtin) = found {
        return Ok(Kind::Builtin(builtin));
    }
    if word.is_empty() {
        return Err(word.flaw(Problem::Empty { what: "kind" }));
    }
    if let Some(problem) = unknown_in(group, word.text) {
        return Err(word.flaw(problem));
    }
    names::check("kind", word, NameRule::KindWord)?;
    Ok(Kind::Custom {
        group: group.to_owned(),
        word: word.text.to_owned(),
    })
}

/// The refusal of a kind that a group of Kubernetes does not have; `None` where the group may have it. The group may have kinds that are
/// younger than this table, so only a near miss is refused. The core group gets no new kinds, so every unknown kind of it is refused.
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

/// Reads the state that a dependency must have from its word. The refusal of any other text names the likely word; it takes a number for a port.
pub(super) fn state(word: Piece<'_>) -> Result<State, Flaw> {
    word.text.parse().map_err(|_| {
        if let Ok(port) = word.text.parse() {
            return word.flaw(Problem::PortAsState(port));
        }
        let likely = suggest::nearest(word.text, State::ALL.iter().map(|it| it.word()));
        let state = word.text.to_owned();
        word.flaw(Problem::UnknownState { state, likely })
    })
}

/// Refuses a state, written as `word`, that objects of a built-in kind can never have. The states of custom kinds are unknown, so only `connects` is
/// refused for them.
pub(super) fn state_of_kind(word: Piece<'_>, state: State, kind: &Kind) -> Result<(), Flaw> {
    let Kind::Builtin(builtin) = kind else {
        return state_of_custom(word, state);
    };
    let is = |group, kind| builtin.group == group && builtin.kind == kind;
    let (fits, only) = match state {
        State::Complete => (is("batch", "Job") || is("", "Pod"), "Job and Pod"),
        State::Addressed => (
            is("", "Service") || is("networking.k8s.io", "Ingress"),
            "Service and Ingress",
        ),
        State::Connects => (is("", "Service"), "Service"),
        State::Present | State::Started | State::Ready | State::Available => return Ok(()),
    };
    if fits {
        return Ok(());
    }
    let (state, kind) = (state.word(), builtin.kind);
    Err(word.flaw(Problem::IdleState { state, kind, only }))
}

/// Refuses `connects` for a custom kind: only a Service can have that state.
fn state_of_custom(word: Piece<'_>, state: State) -> Result<(), Flaw> {
    if state != State::Connects {
        return Ok(());
    }
    let (state, kind, only) = (state.word(), "of an operator", "Service");
    Err(word.flaw(Problem::IdleState { state, kind, only }))
}

/// Checks the name of an object of this kind, and its namespace where the reference has one.
pub(super) fn named(
    kind: &Kind,
    namespace: Option<Piece<'_>>,
    written: Piece<'_>,
) -> Result<(), Flaw> {
    name(kind, written)?;
    namespace.map_or(Ok(()), |namespace| self::namespace(kind, namespace))
}

/// Checks the name of an object of this kind.
pub(super) fn name(kind: &Kind, name: Piece<'_>) -> Result<(), Flaw> {
    names::check("name", name, NameRule::of(kind))
}

/// Checks the namespace of an object of this kind. One beside a built-in kind that has no namespaces is an error.
pub(super) fn namespace(kind: &Kind, written: Piece<'_>) -> Result<(), Flaw> {
    names::check("namespace", written, NameRule::Label)?;
    match kind {
        Kind::Builtin(builtin) if !builtin.namespaced => {
            let namespace = written.text.to_owned();
            let kind = builtin.kind;
            Err(written.flaw(Problem::ClusterScoped { kind, namespace }))
        }
        // Whether a custom kind is namespaced, only the API server knows.
        Kind::Builtin(_) | Kind::Custom { .. } => Ok(()),
    }
}

/// Makes the reference to an object from a kind, a namespace and a name that have been checked.
pub(super) fn object(kind: Kind, namespace: Option<Piece<'_>>, name: Piece<'_>) -> Reference {
    Reference::Object(ObjectRef {
        kind,
        namespace: namespace.map(|it| it.text.to_owned()),
        name: name.text.to_owned(),
    })
}
