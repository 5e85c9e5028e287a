//! The kinds that the API server serves, and what it calls them.

use super::served::{ServedGroup, ServedKind};
use super::{Question, Reader, Reply};
use kube::Error;
use rules::definition::Declared;
use rules::kinds::Kind;
use rules::lookup::{Lookup, Unavailable};

impl Reader {
    /// The served kind that a kind means, by the answers so far: `Syncing` where they do not tell yet, `NotServed` where there is none.
    pub(super) fn known_kind(&self, kind: &Kind) -> Lookup<&ServedKind> {
        let not_served = || Lookup::Unavailable(Unavailable::NotServed);
        let of_group = |group: &str| Question::Group(group.to_owned());
        let kinds = match self.known.get(&Question::Groups) {
            _ if kind.group().is_empty() => None,
            None => return Lookup::Unavailable(Unavailable::Syncing),
            Some(Lookup::Found(Reply::Groups(groups))) => match groups.get(kind.group()) {
                None => return not_served(),
                Some(ServedGroup::Told(kinds)) => Some(kinds),
                Some(ServedGroup::Untold) => None,
            },
            Some(Lookup::Unavailable(why)) => return Lookup::Unavailable(*why),
            Some(_) => return not_served(),
        };
        let kinds = match (kinds, self.known.get(&of_group(kind.group()))) {
            (Some(kinds), _) | (None, Some(Lookup::Found(Reply::Group(kinds)))) => kinds,
            (None, None) => return Lookup::Unavailable(Unavailable::Syncing),
            (None, Some(Lookup::Unavailable(why))) => return Lookup::Unavailable(*why),
            (None, Some(_)) => return not_served(),
        };
        kinds.find(kind).map_or_else(not_served, Lookup::Found)
    }

    /// The served kind that a kind means. Where that is not known yet, notes the question to the API server, and answers `Syncing`.
    pub(super) fn served(&self, kind: &Kind) -> Lookup<&ServedKind> {
        let found = self.known_kind(kind);
        match found {
            Lookup::Found(_) | Lookup::NotFound => {}
            Lookup::Unavailable(Unavailable::Syncing) => {
                let group = kind.group();
                let is_untold = group.is_empty() || self.known.contains_key(&Question::Groups);
                self.open(if is_untold {
                    Question::Group(group.to_owned())
                } else {
                    Question::Groups
                });
            }
            Lookup::Unavailable(_) => {
                self.unserved.borrow_mut().insert(kind.clone());
            }
        }
        found
    }

    /// The `apiVersion` and `kind` of a kind's objects; for a custom kind that is not known to be served, its group and its word.
    pub(super) fn type_of(&self, kind: &Kind) -> (String, String) {
        match (kind, self.known_kind(kind)) {
            (Kind::Builtin(builtin), _) if builtin.group.is_empty() => {
                (builtin.version.to_owned(), builtin.kind.to_owned())
            }
            (Kind::Builtin(builtin), _) => (
                format!("{}/{}", builtin.group, builtin.version),
                builtin.kind.to_owned(),
            ),
            (Kind::Custom { .. }, Lookup::Found(ServedKind { resource, .. })) => {
                (resource.api_version.clone(), resource.kind.clone())
            }
            (Kind::Custom { word, .. }, _) => (kind.group().to_owned(), word.clone()),
        }
    }

    /// The path of the API under which the objects of a kind are; an error for a custom kind that is not known to be served.
    pub(crate) fn path(&self, kind: &Kind, namespace: Option<&str>) -> Result<String, Error> {
        let (version, _) = self.type_of(kind);
        let plural = match (kind, self.known_kind(kind)) {
            (Kind::Builtin(builtin), _) => builtin.plural,
            (_, Lookup::Found(served)) => &served.resource.plural,
            _ => {
                return Err(Error::Discovery(kube::error::DiscoveryError::MissingKind(
                    kind.to_string(),
                )));
            }
        };
        let root = if kind.group().is_empty() {
            "/api"
        } else {
            "/apis"
        };
        let namespace = namespace
            .map(|name| format!("/namespaces/{name}"))
            .unwrap_or_default();
        Ok(format!("{root}/{version}{namespace}/{plural}"))
    }

    /// The API server's plural for a kind: `certificates`.
    pub(crate) fn plural(&self, kind: &Kind) -> Lookup<String> {
        self.served(kind).map(|it| it.resource.plural.clone())
    }

    /// The kind with the API server's own word for it, such as `Certificate` for `certificates`; unchanged where that is not known, and for a
    /// built-in kind.
    pub(crate) fn canonical(&self, kind: Kind) -> Kind {
        if let Kind::Builtin(_) = kind {
            return kind;
        }
        match self.served(&kind).map(|it| it.resource.kind.clone()) {
            Lookup::Found(word) => Kind::Custom {
                group: kind.group().to_owned(),
                word,
            },
            Lookup::NotFound | Lookup::Unavailable(_) => kind,
        }
    }

    /// The declaration about status in a custom kind's CustomResourceDefinition; `NotFound` for a kind without one, such as each built-in kind.
    pub(crate) fn declared(&self, kind: &Kind) -> Lookup<Declared> {
        if let Kind::Builtin(_) = kind {
            return Lookup::NotFound;
        }
        self.served(kind)
            .and_then(|_| self.reply(Question::Definition(kind.clone())))
            .and_then(|reply| match reply {
                Reply::Definition(declared) => declared.clone(),
                _ => Lookup::NotFound,
            })
    }

    /// Whether objects of a kind can be requested: `Found` for a built-in kind and a custom kind that is served; else why not, or not yet.
    pub(super) fn is_served(&self, kind: &Kind) -> Lookup<()> {
        match kind {
            Kind::Builtin(_) => Lookup::Found(()),
            Kind::Custom { .. } => self.served(kind).map(|_| ()),
        }
    }
}
