//! The kinds that the API server serves, and what it calls them.

use super::served::{ServedGroup, ServedKind};
use super::{Question, Reader, Reply};
use kube::Error;
use rules::definition::Declared;
use rules::kinds::Kind;
use rules::lookup::{Lookup, Unavailable};

impl Reader {
    /// The served kind that a kind means, as far as the answers so far tell.
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

    /// The served kind that a kind means. Asks the API server if it is unknown.
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

    /// `apiVersion` and `kind` of a kind's objects.
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

    /// The path of the objects of a kind, once the rules have asked for one.
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

    /// How the API server names the objects of a kind: `certificates`.
    pub(crate) fn plural(&self, kind: &Kind) -> Lookup<String> {
        self.served(kind).map(|it| it.resource.plural.clone())
    }

    /// The kind with the API server's own word for it, once that is known.
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

    /// The facts of a custom kind's definition on its status; not found for a kind without a definition.
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

    /// Whether objects of a kind can be asked for.
    pub(super) fn is_served(&self, kind: &Kind) -> Lookup<()> {
        match kind {
            Kind::Builtin(_) => Lookup::Found(()),
            Kind::Custom { .. } => self.served(kind).map(|_| ()),
        }
    }
}
