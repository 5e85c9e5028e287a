//! Finds the sources of manifests in folders.

use super::chart::Chart;
use super::kustomization::Kustomization;
use super::manifest::ManifestSource;
use crate::input;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// A source, and how it was found.
#[derive(Debug)]
pub(crate) struct FoundSource {
    pub(crate) source: ManifestSource,
    pub(crate) by: FoundBy,
}

/// How a source was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundBy {
    /// The user named the source itself.
    Name,
    /// The user named a folder above the source.
    Folder,
}

/// The sources at these paths, in the order of the paths and then of the names (`recursive`: also those of the folders inside).
///
/// A source that is named is always one of them, unless the folders inside are read too. Any other is left out where a
/// kustomization among the found ones reads it, and so is a component that no kustomization refers to: it builds nothing alone.
///
/// # Errors
///
/// A folder that cannot be read.
pub(crate) fn find(paths: &[PathBuf], recursive: bool) -> Result<Vec<FoundSource>> {
    let mut found = Vec::new();
    for path in paths {
        at(path, recursive, &mut found)?;
    }
    let mut read = BTreeSet::new();
    for it in &found {
        if let ManifestSource::Kustomization(it) = &it.source {
            read.extend(it.reads());
        }
    }
    found.retain(|it| it.by == FoundBy::Name && !recursive || !is_part(it, &read));
    Ok(found)
}

/// Whether a source is only a part of a kustomization: it is among the paths `read` by one, or a component that the user did not name.
fn is_part(FoundSource { source, by }: &FoundSource, read: &BTreeSet<PathBuf>) -> bool {
    let path = match source {
        ManifestSource::File(path) | ManifestSource::Chart(path) => path.as_path(),
        ManifestSource::Kustomization(it) if it.is_component() && *by == FoundBy::Folder => {
            return true;
        }
        ManifestSource::Kustomization(it) => it.folder(),
    };
    !read.is_empty() && path.canonicalize().is_ok_and(|path| read.contains(&path))
}

/// Adds the sources at a path that the user named: the file, chart or kustomization itself; for any other folder, the sources in it. With
/// `recursive` those in the folder of a kustomization are added too.
fn at(path: &Path, recursive: bool, found: &mut Vec<FoundSource>) -> Result<()> {
    let source = ManifestSource::of(path);
    let is_plain_folder = matches!(source, ManifestSource::File(_)) && path.is_dir();
    let is_kustomization = matches!(source, ManifestSource::Kustomization(_)) && path.is_dir();
    if !is_plain_folder {
        let by = FoundBy::Name;
        found.push(FoundSource { source, by });
    }
    if is_plain_folder || recursive && is_kustomization {
        inside(path, recursive, found)?;
    }
    Ok(())
}

/// Adds the sources in a folder. Charts and kustomizations in it are sources even where folders inside are not read: they are one
/// thing, like a file.
fn inside(folder: &Path, recursive: bool, found: &mut Vec<FoundSource>) -> Result<()> {
    let own = Kustomization::of(folder);
    let is_own = |path: &Path| own.as_ref().is_some_and(|it| it.file() == path);
    for path in input::inside(folder)? {
        if path.is_dir() {
            folder_in(path, recursive, found)?;
            continue;
        }
        let extension = path.extension().and_then(|it| it.to_str());
        if extension.is_some_and(|it| EXTENSIONS.contains(&it)) && !is_own(&path) {
            let source = ManifestSource::File(path);
            let by = FoundBy::Folder;
            found.push(FoundSource { source, by });
        }
    }
    Ok(())
}

/// Adds the sources at a folder within a folder: it as a chart or a kustomization, and with `recursive` those inside, except in a chart.
fn folder_in(path: PathBuf, recursive: bool, found: &mut Vec<FoundSource>) -> Result<()> {
    let by = FoundBy::Folder;
    if Chart::is_in(&path) {
        let source = ManifestSource::Chart(path);
        found.push(FoundSource { source, by });
        return Ok(());
    }
    if let Some(it) = Kustomization::of(&path) {
        let source = ManifestSource::Kustomization(it);
        found.push(FoundSource { source, by });
    }
    if recursive {
        inside(&path, recursive, found)?;
    }
    Ok(())
}
