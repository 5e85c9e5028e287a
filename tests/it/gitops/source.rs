use super::GITOPS;
use super::way::Way;
use harness::cluster::{Manifest, Program, yaml};
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The server of the repositories and charts that the engines deploy.
const SERVER: &str = "http://127.0.0.1:19300";

/// The charts of every source.
pub(super) const CHARTS: &str = "http://127.0.0.1:19300/charts";

/// A git repository and a chart with the same objects.
pub(super) struct Source {
    /// The name of both.
    pub(super) name: String,
}

impl Source {
    /// The first version.
    pub(super) async fn publish(name: &str, manifests: &[Manifest]) -> Self {
        let source = Self {
            name: name.to_owned(),
        };
        source.publish_again("1.0.0", manifests).await;
        source
    }

    /// Publishes another version of the objects: the next commit, and a chart of this version.
    pub(super) async fn publish_again(&self, version: &str, manifests: &[Manifest]) {
        let folder = TempDir::new().expect("a folder for the source");
        for way in Way::ALL {
            let manifests: Vec<_> = manifests.iter().map(|it| way.adapt(it)).collect();
            write(&folder.path().join(way.label()), &yaml(&manifests));
        }
        let path = folder.path().to_string_lossy();
        gitops(&["repo", &self.name, &path]).await;

        let chart = folder.path().join("chart");
        write(&chart.join("templates"), &yaml(manifests));
        let about = json!({"apiVersion": "v2", "name": self.name, "version": version}).to_string();
        fs::write(chart.join("Chart.yaml"), about).expect("the folder is there");
        gitops(&["chart", &chart.to_string_lossy()]).await;
    }

    /// The address of the git repository.
    pub(super) fn repository(&self) -> String {
        format!("{SERVER}/cgi-bin/git/{}.git", self.name)
    }
}

fn write(folder: &Path, manifests: &str) {
    fs::create_dir_all(folder).expect("a folder of ours");
    fs::write(folder.join("all.yaml"), manifests).expect("the folder is there");
}

async fn gitops(args: &[&str]) {
    Program::new(GITOPS).args(args).run().await.ok();
}
