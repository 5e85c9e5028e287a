//! A chart, rendered by Helm itself.

use crate::input;
use crate::manifest::Entries;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The arguments for Helm to render charts with, beside the folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chart {
    /// The name of the release; by default that of the chart.
    pub(crate) release: Option<String>,
    /// The namespace of the release; by default Helm's, `default`.
    pub(crate) namespace: Option<String>,
    /// The files of Helm values, in their order.
    pub(crate) values: Vec<PathBuf>,
    /// Single Helm values, for Helm's `--set`.
    pub(crate) set: Vec<String>,
}

const FILE: &str = "Chart.yaml";

impl Chart {
    /// Whether a folder holds a Helm chart.
    pub(super) fn is_in(folder: &Path) -> bool {
        folder.join(FILE).is_file()
    }

    /// Whether a folder holds a library chart, which renders nothing.
    pub(crate) fn is_library(folder: &Path) -> bool {
        Self::metadata(folder).is_ok_and(|chart| chart["type"] == "library")
    }

    /// Reads the file Chart.yaml of a Helm chart.
    pub(crate) fn metadata(folder: &Path) -> Result<Value> {
        let (name, text) = input::read(&folder.join(FILE))?;
        let chart = Entries::new(&text).next().transpose().context(name)?;
        Ok(chart.map(|entry| entry.object).unwrap_or_default())
    }

    /// Whether the user has given values to render a chart with, as files or single values.
    pub(crate) fn has_values(&self) -> bool {
        !(self.values.is_empty() && self.set.is_empty())
    }

    /// The output of `helm template` for the folder. A chart that does not render, or no helm on the PATH, is an error.
    pub(super) fn render(&self, folder: &Path) -> Result<Vec<u8>> {
        let shown = folder.display();
        let mut helm = Command::new("helm");
        helm.arg("template")
            .arg(self.release(folder)?)
            .arg(folder)
            .args(["--namespace", self.namespace()]);
        for file in &self.values {
            helm.arg("--values").arg(file);
        }
        for pair in &self.set {
            helm.args(["--set", pair]);
        }
        let output = match helm.output() {
            Err(error) if error.kind() == ErrorKind::NotFound => bail!(
                "{shown} is a chart, and there is no helm on the PATH to render it; install Helm, or render it elsewhere and name the file"
            ),
            output => output.context("cannot run helm")?,
        };
        ensure!(
            output.status.success(),
            "helm cannot render {shown}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(output.stdout)
    }

    /// The name of the release; by default the name in the folder's Chart.yaml, and an error where that has none.
    pub(crate) fn release(&self, folder: &Path) -> Result<String> {
        if let Some(release) = &self.release {
            return Ok(release.clone());
        }
        let chart = Self::metadata(folder)?;
        let name = chart["name"].as_str().map(str::to_owned);
        name.with_context(|| format!("{}: it has no name", folder.join(FILE).display()))
    }

    /// The namespace of the release; by default `default`.
    pub(crate) fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or("default")
    }
}
