//! Reads a kustomization together with the kustomizations that it refers to.

use super::kustomization::Kustomization;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

impl Kustomization {
    /// The paths of the files that the kustomization and those that it refers to list as resources, bases or components. A path begins with the
    /// folder that the user named; folders are left out.
    pub(crate) fn manifests(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for it in self.with_bases() {
            let files = it.resources().into_iter().filter(|path| path.is_file());
            found.extend(files);
        }
        found
    }

    /// The file of the first kustomization, of this one and those that it refers to, that gives names a prefix or a suffix; `None` where none does.
    pub(crate) fn affixes(&self) -> Option<String> {
        let mut all = self.with_bases().into_iter();
        let affixes = |it: &Self| {
            let keys = ["namePrefix", "nameSuffix"];
            keys.iter().any(|key| it.says(key).is_string())
        };
        let first = all.find(affixes)?;
        Some(first.file().display().to_string())
    }

    /// The kustomization itself, and those that it refers to, each once.
    fn with_bases(&self) -> Vec<Self> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut open: Vec<_> = Self::of(self.folder()).into_iter().collect();
        while let Some(it) = open.pop() {
            if seen.insert(it.folder().canonicalize().ok()) {
                let folders = it.resources();
                open.extend(folders.iter().rev().filter_map(|folder| Self::of(folder)));
                found.push(it);
            }
        }
        found
    }

    /// The paths that are listed as resources, bases or components.
    fn resources(&self) -> Vec<PathBuf> {
        let fields = ["resources", "bases", "components"];
        let entries = fields
            .iter()
            .filter_map(|field| self.says(field).as_array());
        let entries = entries.flatten().filter_map(|it| it.as_str());
        entries.map(|it| plain(&self.folder().join(it))).collect()
    }
}

/// A path without the steps that lead back: `base/all.yaml` for `prod/../base/all.yaml`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        let back = part == Component::ParentDir;
        match plain.components().next_back() {
            Some(Component::Normal(_)) if back => {
                plain.pop();
            }
            _ if part == Component::CurDir => {}
            _ => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_no_step_back_that_it_can_do_without() {
        for (path, expected) in [
            ("prod/../base/a.yaml", "base/a.yaml"),
            ("./prod/./a.yaml", "prod/a.yaml"),
            ("../prod/../../a.yaml", "../../a.yaml"),
            ("/a/b/../c", "/a/c"),
        ] {
            assert_eq!(plain(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
