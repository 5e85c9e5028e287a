//! A chart that a test writes itself.

use super::await_until::TIMEOUT;
use super::manifest::{Manifest, yaml};
use super::namespace::Namespace;
use super::program::Outcome;
use std::path::Path;
use tempfile::TempDir;

/// A chart in a temporary folder. The release is called `release`, unless it is given another name.
pub struct Chart {
    folder: TempDir,
    helm: &'static str,
    release: &'static str,
}

impl Chart {
    /// Writes a chart of `manifests`. `helm` is the program: `helm` or `helm3`. Templates in the manifests' texts are evaluated, such as
    /// `{{ .Release.Revision }}`; none of them may need a quote.
    pub fn new(helm: &'static str, manifests: &[Manifest]) -> Self {
        let about = "apiVersion: v2\nname: release\nversion: 1.0.0\n";
        let files = [
            ("Chart.yaml", about),
            ("templates/all.yaml", &yaml(manifests)),
        ];
        Self::of(helm, &files)
    }

    /// Writes a chart of these files, each with its path in the chart. Sub-charts are below `charts/`.
    pub fn of(helm: &'static str, files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().expect("a folder for the chart");
        for (path, text) in files {
            let path = folder.path().join(path);
            let parent = path.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(parent).expect("the folder is ours");
            std::fs::write(path, text).expect("the folder is there");
        }
        Self {
            folder,
            helm,
            release: "release",
        }
    }

    /// Names the release `release`.
    #[must_use]
    pub fn called(mut self, release: &'static str) -> Self {
        self.release = release;
        self
    }

    /// Runs `helm upgrade --install` of this chart with further arguments; any exit code is a result.
    pub async fn upgrade(&self, ns: &Namespace, args: &[&str]) -> Outcome {
        let chart = self.folder.path().to_string_lossy();
        let release = ["upgrade", "--install", self.release, &chart];
        let program = ns.program(self.helm).args(release);
        program.args([TIMEOUT]).args(args).run().await
    }

    /// Runs `helm rollback` to the previous release, with further arguments.
    pub async fn rollback(&self, ns: &Namespace, args: &[&str]) -> Outcome {
        let release = ["rollback", self.release, TIMEOUT];
        ns.program(self.helm).args(release).args(args).run().await
    }

    /// Runs `helm uninstall`, and waits until every object is gone.
    pub async fn uninstall(&self, ns: &Namespace) -> Outcome {
        let release = ["uninstall", self.release, "--wait", TIMEOUT];
        ns.program(self.helm).args(release).run().await
    }

    /// Applies the output of `helm template` by kubectl, as an installer does that leaves no trace of a release but the
    /// chart's labels.
    pub async fn apply(&self, ns: &Namespace) -> Outcome {
        let chart = self.folder.path().to_string_lossy();
        let template = ns
            .program(self.helm)
            .args(["template", self.release, &chart]);
        let manifests = template.run().await.ok();
        let apply = ns.program("kubectl").args(["apply", "-f", "-"]);
        apply.input(manifests).run().await
    }
}
