//! Adds to rendered objects the namespace and the release that an installation by Helm would give them.

use super::object::Alias;
use crate::offline::put_into;
use crate::source::Chart;
use anyhow::Result;
use rules::keys;
use rules::scope;
use serde_json::{Value, json};
use std::path::Path;

/// The sub-charts to which a chart gives an alias, from the dependencies in the Chart.yaml of its folder; an error where that cannot be read.
pub(super) fn aliases(folder: &Path) -> Result<Vec<Alias>> {
    Ok(aliases_in(&Chart::metadata(folder)?))
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

impl Chart {
    /// Puts an object that is of no chart, and names no namespace, into that of `--namespace`; where charts are read beside it, into that of the
    /// charts, since kubectl and Helm both use the namespace of the context. In any other case it stays unchanged.
    pub(super) fn settle(&self, object: &mut Value, beside_chart: bool) {
        if beside_chart || self.namespace.is_some() {
            put_into(object, self.namespace());
        }
    }

    /// Adds the fields that an installation adds and `helm template` leaves out: the namespace, where the object names none, and (except on hooks)
    /// the annotations with the release. An error where neither the user nor Chart.yaml names the release.
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
