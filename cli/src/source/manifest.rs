//! One source of manifests: a file or standard input, a Helm chart, or a kustomization.

use super::chart::Chart;
use super::kustomization::Kustomization;
use crate::input;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// A source of manifests: a file or standard input, the folder of a Helm chart, or a kustomization.
#[derive(Debug)]
pub(crate) enum ManifestSource {
    /// A file, or standard input.
    File(PathBuf),
    /// The folder of a Helm chart.
    Chart(PathBuf),
    Kustomization(Kustomization),
}

impl ManifestSource {
    /// The source that a path names; a folder that holds neither a chart nor a kustomization is taken for a file.
    pub(crate) fn of(path: &Path) -> Self {
        if Chart::is_in(path) {
            return Self::Chart(path.to_owned());
        }
        let kustomization = Kustomization::of(path);
        kustomization.map_or_else(|| Self::File(path.to_owned()), Self::Kustomization)
    }

    /// The name of the source in findings, and the bytes of its manifest.
    ///
    /// # Errors
    ///
    /// Why the file cannot be read, the chart cannot be rendered, or the kustomization cannot be built, and the way out.
    pub(crate) fn text(&self, chart: &Chart) -> Result<(String, Vec<u8>)> {
        match self {
            Self::File(path) => input::read(path),
            Self::Chart(folder) => Ok((self.name(), chart.render(folder)?)),
            Self::Kustomization(it) => Ok((self.name(), it.build()?)),
        }
    }

    /// The name of the source in findings.
    pub(crate) fn name(&self) -> String {
        let path = match self {
            Self::File(path) | Self::Chart(path) => path,
            Self::Kustomization(it) => it.file(),
        };
        path.display().to_string()
    }

    pub(crate) fn is_chart(&self) -> bool {
        matches!(self, Self::Chart(_))
    }
}
