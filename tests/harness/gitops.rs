//! Runs `tests/cluster/gitops/gitops`, the script that starts Argo CD and Flux in the cluster of this machine and publishes git repositories for
//! them.

use crate::cluster::{Outcome, Program};
use serde_json::{Value, json};
use std::path::Path;

/// The script that starts the engines and publishes sources.
const GITOPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cluster/gitops/gitops");

/// The address of the server of git repositories and charts, as start.sh has it. The engines alone reach it, in the cluster's node.
pub const SERVER: &str = "http://127.0.0.1:19300";

/// The namespace of Argo CD and of its Applications.
pub const ARGO_CD: &str = "argocd";

/// The annotation that asks Argo CD to look again at the source of an Application. Argo CD removes it.
pub const REFRESH: &str = "argocd.argoproj.io/refresh";

/// Runs `tests/cluster/gitops/gitops` with these arguments.
pub async fn gitops(args: &[&str]) -> Outcome {
    Program::new(GITOPS).args(args).run().await
}

/// Commits a folder, as the whole content, to branch main of a repository, which is created where it is missing. The standard output is the name of
/// the commit.
pub async fn commit(repository: &str, folder: &Path) -> Outcome {
    gitops(&["repo", repository, &folder.to_string_lossy()]).await
}

/// Returns the address of a repository for the engines.
pub fn address(repository: &str) -> String {
    format!("{SERVER}/cgi-bin/git/{repository}.git")
}

/// Returns an Application of Argo CD, named after the namespace into which it deploys the objects at `path` of a repository. It
/// has no policy: Argo CD compares, and syncs when a user asks for it.
pub fn application(namespace: &str, repository: &str, path: &str) -> Value {
    let source = json!({"repoURL": address(repository), "targetRevision": "main", "path": path});
    let destination = json!({"server": "https://kubernetes.default.svc", "namespace": namespace});
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": namespace, "namespace": ARGO_CD},
        "spec": {"project": "default", "source": source, "destination": destination},
    })
}
