//! The namespace of an entry's objects, and whether the dependent may be told of objects there.

use super::basis::Judge;
use super::consent::Consent;
use crate::kinds::Kind;
use crate::lookup::{Lookup, Unavailable};

/// The namespace of an entry's objects, and whether it is another than the dependent's.
#[derive(Clone, Copy)]
pub(super) struct Home<'a> {
    /// The namespace of the objects; `None` for a cluster-scoped kind.
    pub(super) namespace: Option<&'a str>,
    /// Whether the objects are outside of the dependent's namespace; also true for a cluster-scoped kind.
    pub(super) foreign: bool,
}

impl Judge<'_> {
    /// The namespace of an entry's objects of a kind: `written` in the list, else the dependent's own; none for a cluster-scoped kind.
    ///
    /// # Errors
    ///
    /// Why it is not known whether objects of this kind live in a namespace.
    pub(super) fn home<'h>(
        &'h self,
        kind: &Kind,
        written: Option<&'h str>,
    ) -> Result<Home<'h>, Unavailable> {
        let namespaced = match kind {
            Kind::Builtin(builtin) => builtin.namespaced,
            Kind::Custom { .. } => match self.world.namespaced(kind) {
                Lookup::Found(namespaced) => namespaced,
                Lookup::NotFound => return Err(Unavailable::NotServed),
                Lookup::Unavailable(why) => return Err(why),
            },
        };
        let own = self.dependent.namespace.as_str();
        let namespace = namespaced.then_some(written.unwrap_or(own));
        Ok(Home {
            namespace,
            foreign: namespace != Some(own),
        })
    }

    pub(super) fn consent(&self, kind: &Kind, home: Home<'_>) -> Consent {
        let own = self.dependent.namespace.as_str();
        match home.namespace {
            _ if !home.foreign => Consent::Given,
            Some(other) => Consent::of_namespace(own, other, self.policy, self.world),
            None => Consent::of_cluster(own, kind, self.policy, self.world),
        }
    }
}
