//! The objects of a chart, rendered by Helm itself.

use super::object::Alias;
use crate::input;
use crate::manifest::Entries;
use crate::offline::put_into;
use anyhow::{Context, Result, bail, ensure};
use rules::keys;
use rules::scope;
use serde_json::{Value, json};
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

/// Whether a folder holds a Helm chart.
pub(super) fn is_chart(path: &Path) -> bool {
    path.join(FILE).is_file()
}

/// Whether a folder holds a library chart, which renders nothing.
pub(super) fn is_library(folder: &Path) -> bool {
    metadata(folder).is_ok_and(|chart| chart["type"] == "library")
}

/// The sub-charts to which a chart gives another name than their own.
pub(super) fn aliases(folder: &Path) -> Result<Vec<Alias>> {
    Ok(aliases_in(&metadata(folder)?))
}

fn aliases_in(chart: &Value) -> Vec<Alias> {
    let dependencies = chart["dependencies"].as_array().into_iter().flatten();
    let aliases = dependencies.filter_map(|it| {
        Some(Alias {
            chart: it["name"].as_str()?.to_owned(),
            alias: it["alias"].as_str()?.to_owned(),
        })
    });
    aliases.collect()
}

/// Reads the file Chart.yaml of a Helm chart.
fn metadata(folder: &Path) -> Result<Value> {
    let (name, text) = input::read(&folder.join(FILE))?;
    let chart = Entries::new(&text).next().transpose().context(name)?;
    Ok(chart.map(|entry| entry.object).unwrap_or_default())
}

impl Chart {
    /// Whether there are values to render a chart with.
    pub(super) fn has_values(&self) -> bool {
        !(self.values.is_empty() && self.set.is_empty())
    }

    /// The output of `helm template` for the folder.
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

    /// The name of the release; by default the chart's name.
    fn release(&self, folder: &Path) -> Result<String> {
        if let Some(release) = &self.release {
            return Ok(release.clone());
        }
        let chart = metadata(folder)?;
        let name = chart["name"].as_str().map(str::to_owned);
        name.with_context(|| format!("{}: it has no name", folder.join(FILE).display()))
    }

    fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or("default")
    }

    /// Puts an object that is of no chart into the namespace of `kubectl apply --namespace`. Without a namespace both kubectl and
    /// Helm use that of the context, so an object beside a chart goes with it.
    pub(super) fn settle(&self, object: &mut Value, beside_chart: bool) {
        if beside_chart || self.namespace.is_some() {
            put_into(object, self.namespace());
        }
    }

    /// Adds the fields that an installation adds and `helm template` leaves out: the namespace, and (except on hooks) the
    /// annotations with the release.
    pub(super) fn install(&self, folder: &Path, object: &mut Value) -> Result<()> {
        let release = self.release(folder)?;
        let is_hook = scope::is_hook(object);
        put_into(object, self.namespace());
        let metadata = object.pointer_mut("/metadata");
        let Some(metadata) = metadata.and_then(Value::as_object_mut) else {
            return Ok(());
        };
        if !is_hook {
            let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
            if annotations.is_null() {
                *annotations = json!({});
            }
            if let Some(annotations) = annotations.as_object_mut() {
                annotations.insert(keys::RELEASE_NAME.to_owned(), release.into());
                let home = self.namespace().into();
                annotations.insert(keys::RELEASE_NAMESPACE.to_owned(), home);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_stands_beside_the_name() {
        let chart = json!({"dependencies": [
            {"name": "redis", "alias": "cache", "version": "1"}, {"name": "postgresql"}, {"alias": "odd"},
        ]});
        let expected = Alias {
            chart: "redis".to_owned(),
            alias: "cache".to_owned(),
        };
        assert_eq!(aliases_in(&chart), [expected]);
        assert_eq!(aliases_in(&Value::Null), []);
    }
}
