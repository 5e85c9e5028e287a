use super::way::Way;
use harness::cluster::{Manifest, yaml};
use harness::gitops::{SERVER, commit, gitops};
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A git repository and a chart, both with one set of manifests.
pub(super) struct Source {
    /// The name of the repository and of the chart.
    pub(super) name: String,
}

impl Source {
    /// Publishes the first version, 1.0.0, of a repository and a chart with these manifests.
    pub(super) async fn publish(name: &str, manifests: &[Manifest]) -> Self {
        let source = Self {
            name: name.to_owned(),
        };
        source.publish_again("1.0.0", manifests).await;
        source
    }

    /// Publishes another version of the manifests: the next commit of the repository, with a folder for each way, and a chart of this version.
    pub(super) async fn publish_again(&self, version: &str, manifests: &[Manifest]) {
        let folder = TempDir::new().expect("a folder for the source");
        for way in Way::ALL {
            let manifests: Vec<_> = manifests.iter().map(|it| way.adapt(it)).collect();
            write(&folder.path().join(way.label()), &yaml(&manifests));
        }
        commit(&self.name, folder.path()).await.ok();

        let chart = folder.path().join("chart");
        write(&chart.join("templates"), &yaml(manifests));
        let about = json!({"apiVersion": "v2", "name": self.name, "version": version}).to_string();
        fs::write(chart.join("Chart.yaml"), about).expect("the folder is there");
        gitops(&["chart", &chart.to_string_lossy()]).await.ok();
    }
}

/// Returns the address of the folder with the charts of all sources.
pub(super) fn charts() -> String {
    format!("{SERVER}/charts")
}

fn write(folder: &Path, manifests: &str) {
    fs::create_dir_all(folder).expect("a folder of ours");
    fs::write(folder.join("all.yaml"), manifests).expect("the folder is there");
}
