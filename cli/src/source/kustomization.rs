//! A kustomization, and how it is told from other files.

use super::reads::{self, References};
use crate::manifest::Entries;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The names that kustomize looks for, in its order.
const FILES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The API group of kustomize's own files; Flux has a kind Kustomization in another one.
const GROUP: &str = "kustomize.config.k8s.io/";

/// A folder with a kustomization.
#[derive(Debug)]
pub(crate) struct Kustomization {
    folder: PathBuf,
    file: PathBuf,
    /// The content of the file; null where it cannot be read.
    says: Value,
}

impl Kustomization {
    /// Reads the kustomization of a folder, or the kustomization file that a path names; `None` where there is none of kustomize's own.
    pub(super) fn of(path: &Path) -> Option<Self> {
        if path.is_dir() {
            let mut files = FILES.iter().map(|name| path.join(name));
            return Self::at(files.find(|file| file.is_file())?);
        }
        let is_one = path
            .file_name()
            .is_some_and(|it| FILES.iter().any(|name| it == *name));
        is_one.then(|| Self::at(path.to_owned())).flatten()
    }

    fn at(file: PathBuf) -> Option<Self> {
        let text = fs::read(&file).unwrap_or_default();
        let first = Entries::new(&text).next().and_then(Result::ok);
        let says = first.map(|entry| entry.object).unwrap_or_default();
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        is_kustomize(&says).then_some(Self { folder, file, says })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file that makes the folder a kustomization.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the kustomization is of the kind Component: other kustomizations include it, and it builds nothing alone.
    pub(super) fn is_component(&self) -> bool {
        *self.says("kind") == "Component"
    }

    /// The files and folders that the kustomization reads, by their canonical paths.
    pub(super) fn reads(&self) -> Vec<PathBuf> {
        self.references().read
    }

    pub(super) fn says(&self, field: &str) -> &Value {
        &self.says[field]
    }

    pub(super) fn references(&self) -> References {
        reads::of(&self.folder, &self.says)
    }
}

/// Whether the content of a file named as kustomize names its files is really kustomize's, by its kind and apiVersion; both may be left out.
fn is_kustomize(says: &Value) -> bool {
    let word = |key: &str| says[key].as_str();
    let of_kind = matches!(word("kind"), None | Some("Kustomization" | "Component"));
    of_kind && word("apiVersion").is_none_or(|it| it.starts_with(GROUP))
}
