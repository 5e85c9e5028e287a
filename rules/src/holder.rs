//! The holders of slots, and their waves.

use crate::kinds::{self, Kind};
use crate::scope::Scope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// The objects of one weight in a scope.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Wave {
    /// The scope of the wave's objects.
    pub scope: Scope,
    /// The weight that the wave's objects have in common.
    pub weight: i64,
}

/// An object that may run: the topmost owner of the pods that it lets start, or the Job that made them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Holder {
    /// The API group of the holder, empty for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind of the holder: `Job`.
    pub kind: String,
    /// `metadata.name` of the holder.
    pub name: String,
    /// `metadata.uid` of the holder.
    pub uid: String,
    /// The revision of the dependent. Another revision of the same object is a second entry that shares its slot.
    pub revision: String,
    /// `metadata.uid` of the nearest owner of the holder's pods.
    pub pods_of: String,
    /// The cap that the object's own annotation states: how many objects of the wave may run at once.
    pub most: usize,
}

/// The holders without those that are a further revision of an object, which shares the object's slot: as many as there are taken slots.
pub(crate) fn objects(holders: &[Holder]) -> Vec<&Holder> {
    let mut seen = BTreeSet::new();
    let holders = holders.iter();
    holders.filter(|it| seen.insert(&it.uid)).collect()
}

/// The holders of a wave's slots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Running {
    /// The holders that are written down in the ConfigMap.
    pub holders: Vec<Holder>,
    /// Why no other holder can be written down, although there may be free slots.
    pub trouble: Option<Trouble>,
}

/// Why no holder of a slot can be written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The ConfigMap has no room: the namespace has filled its share, or as much as it leaves free for other namespaces.
    Full,
    /// The API server refuses the write of the ConfigMap.
    Refused,
}

impl Holder {
    /// Whether the same revision of the same object is among the holders.
    pub fn is_among(&self, holders: &[Self]) -> bool {
        let same = |it: &Self| it.uid == self.uid && it.revision == self.revision;
        holders.iter().any(same)
    }

    /// The holder's kind, as references name it.
    pub fn object_kind(&self) -> Kind {
        match kinds::builtin(&self.group, &self.kind) {
            Some(builtin) => Kind::Builtin(builtin),
            None => Kind::Custom {
                group: self.group.clone(),
                word: self.kind.clone(),
            },
        }
    }
}

/// Writes the holder's kind and name: `Job/seed-1`.
impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.kind, self.name)
    }
}
