//! The needs of a kustomization beyond the files of this machine.

use super::kustomization::Kustomization;
use super::reads::{CHARTS, PLUGINS};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Something that a build needs beyond files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Need {
    /// A base or a file on another machine, as the kustomization names it.
    Network(String),
    /// Charts that kustomize renders only where it is told to.
    Helm,
    /// Plugins, which kustomize runs only where it is told to.
    Plugin,
}

impl Kustomization {
    /// The first need of the kustomization, or of one that it refers to; `None` where files alone are enough to build it.
    pub(crate) fn needs(&self) -> Option<Need> {
        of(self, &mut BTreeSet::new())
    }
}

/// The first need of a kustomization, or of one that it refers to. `seen`: the folders that were looked at, so that a circle of references ends.
fn of(kustomization: &Kustomization, seen: &mut BTreeSet<PathBuf>) -> Option<Need> {
    let mut references = kustomization.references();
    let has = |field: &str| {
        let list = kustomization.says(field).as_array();
        list.is_some_and(|it| !it.is_empty())
    };
    if references.renders || has(CHARTS) || has("helmChartInflationGenerator") {
        return Some(Need::Helm);
    }
    if let Some(remote) = references.remote.pop() {
        return Some(Need::Network(remote));
    }
    if PLUGINS.into_iter().any(has) {
        return Some(Need::Plugin);
    }
    let folders = references.folders.into_iter();
    let folders: Vec<_> = folders.filter(|it| seen.insert(it.clone())).collect();
    let mut below = folders.iter().filter_map(|it| Kustomization::of(it));
    below.find_map(|it| of(&it, seen))
}
