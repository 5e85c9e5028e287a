//! A chart of a test's own.

use super::manifest::{Manifest, yaml};
use super::namespace::Namespace;
use super::program::Outcome;
use tempfile::TempDir;

/// A chart in a folder that goes with it. The release is called `release`.
pub struct Chart {
    folder: TempDir,
    helm: &'static str,
}

impl Chart {
    /// `helm` is the program: `helm` or `helm3`. In the texts of the manifests templates are evaluated:
    /// `{{ .Release.Revision }}`; none of them may need a quote.
    pub fn new(helm: &'static str, manifests: &[Manifest]) -> Self {
        let folder = TempDir::new().expect("a folder for the chart");
        let templates = folder.path().join("templates");
        std::fs::create_dir(&templates).expect("the folder is new");
        let about = "apiVersion: v2\nname: release\nversion: 1.0.0\n";
        std::fs::write(folder.path().join("Chart.yaml"), about).expect("the folder is there");
        std::fs::write(templates.join("all.yaml"), yaml(manifests)).expect("the folder is there");
        Self { folder, helm }
    }

    /// `helm upgrade --install` with more arguments.
    pub async fn upgrade(&self, ns: &Namespace, args: &[&str]) -> Outcome {
        let chart = self.folder.path().to_string_lossy();
        let release = ["upgrade", "--install", "release", &chart, "--timeout", "2m"];
        let program = ns.program(self.helm).args(release).args(args);
        program.run().await
    }

    /// `helm rollback` to the release before, with more arguments.
    pub async fn rollback(&self, ns: &Namespace, args: &[&str]) -> Outcome {
        let release = ["rollback", "release", "--timeout", "2m"];
        ns.program(self.helm).args(release).args(args).run().await
    }
}
