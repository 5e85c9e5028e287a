//! Names, checked as Kubernetes checks them.

use super::fault::NameFault;
use super::piece::Piece;
use super::problem::{Flaw, Problem};
use crate::kinds::Kind;

/// The rule for a name. Kubernetes' words, from `k8s.io/apimachinery/pkg/api/validation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameRule {
    /// RFC 1123 labels with dots between them, up to 253 characters: most kinds, and groups.
    Subdomain,
    /// One RFC 1123 label, up to 63 characters: Namespaces and Services.
    Label,
    /// Any text that can stand between two slashes of a path: RBAC kinds and `APIService` (`v1.` is one).
    PathSegment,
    /// An RFC 1035 label in any letter case: the kind, plural, singular or short name of a custom resource.
    KindWord,
    /// A label's value, or its key behind the prefix.
    LabelPart,
}

impl NameRule {
    /// The rule for the names of objects of this kind.
    pub(super) fn of(kind: &Kind) -> Self {
        let Kind::Builtin(builtin) = kind else {
            return Self::Subdomain;
        };
        match (builtin.group, builtin.kind) {
            ("", "Namespace" | "Service") => Self::Label,
            ("rbac.authorization.k8s.io", _) | (_, "APIService") => Self::PathSegment,
            _ => Self::Subdomain,
        }
    }

    fn most(self) -> usize {
        match self {
            Self::Label | Self::KindWord | Self::LabelPart => 63,
            Self::Subdomain => 253,
            Self::PathSegment => usize::MAX,
        }
    }

    fn allows(self, letter: char) -> bool {
        match self {
            Self::Subdomain => matches!(letter, 'a'..='z' | '0'..='9' | '-' | '.'),
            Self::Label => matches!(letter, 'a'..='z' | '0'..='9' | '-'),
            Self::KindWord => letter.is_ascii_alphanumeric() || letter == '-',
            Self::LabelPart => letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'),
            // Kubernetes lets control characters pass; they have no business in a log or an answer.
            Self::PathSegment => !matches!(letter, '/' | '%') && !letter.is_control(),
        }
    }

    fn allowed(self) -> &'static str {
        match self {
            Self::Subdomain => "lower case letters, digits, \"-\" and \".\" are allowed",
            Self::Label => "lower case letters, digits and \"-\" are allowed",
            Self::KindWord => "letters, digits and \"-\" are allowed",
            Self::LabelPart => "letters, digits, \"-\", \"_\" and \".\" are allowed",
            Self::PathSegment => "\"/\", \"%\" and control characters are not allowed",
        }
    }
}

/// Checks `name`. `what` is the word for it in a refusal, such as `namespace`.
pub(super) fn check(what: &'static str, name: Piece<'_>, rule: NameRule) -> Result<(), Flaw> {
    if name.is_empty() {
        return Err(name.flaw(Problem::Empty { what }));
    }
    find_fault(name.text, rule).map_or(Ok(()), |(at, fault)| {
        let text = name.text.to_owned();
        Err(name.flaw_at(at, Problem::Name { what, text, fault }))
    })
}

fn find_fault(text: &str, rule: NameRule) -> Option<(usize, NameFault)> {
    let allowed = rule.allowed();
    if let Some((at, letter)) = text.char_indices().find(|(_, it)| !rule.allows(*it)) {
        return Some((at, NameFault::Letter { letter, allowed }));
    }
    if text.len() > rule.most() {
        let (length, most) = (text.len(), rule.most());
        return Some((0, NameFault::TooLong { length, most }));
    }
    match rule {
        NameRule::PathSegment => matches!(text, "." | "..").then_some((0, NameFault::PathStep)),
        NameRule::LabelPart => label_fault(text, rule),
        NameRule::Subdomain | NameRule::Label | NameRule::KindWord => {
            let mut at = 0;
            text.split('.').find_map(|label| {
                let start = at;
                at += label.len() + 1;
                label_fault(label, rule).map(|(offset, fault)| (start + offset, fault))
            })
        }
    }
}

/// The fault at one of the ends of a label whose characters are all allowed (and therefore ASCII).
fn label_fault(label: &str, rule: NameRule) -> Option<(usize, NameFault)> {
    let (Some(first), Some(last)) = (label.chars().next(), label.chars().next_back()) else {
        return Some((0, NameFault::EmptyLabel));
    };
    let start = |allowed| {
        let letter = first;
        Some((0, NameFault::Start { letter, allowed }))
    };
    if rule == NameRule::KindWord && !first.is_ascii_alphabetic() {
        return start("a letter is allowed there");
    }
    let allowed = "a letter or a digit is allowed there";
    if !first.is_ascii_alphanumeric() {
        start(allowed)
    } else if !last.is_ascii_alphanumeric() {
        let letter = last;
        Some((label.len() - 1, NameFault::End { letter, allowed }))
    } else {
        None
    }
}
