//! The cluster that a command asks, by the variables of its environment.

use super::Ran;
use super::server::{Server, list};
use harness::process::binary;
use serde_json::json;
use std::process::Command;

/// The command finds its cluster as kubectl does: of several files that KUBECONFIG names one may be missing, and a proxy is used where NO_PROXY does
/// not exclude the server.
#[test]
fn the_environment_says_which_cluster_and_by_which_way() {
    let shop = json!({"metadata": {"name": "shop"}});
    let server = Server::start(&[
        ("/api/v1/namespaces/shop", shop),
        ("/api/v1/namespaces/shop/pods", list(&[])),
    ]);
    let by = |no_proxy: &str| {
        let mut command = Command::new(binary("kubectl-sluice"));
        command
            .arg("status")
            .env_clear()
            .env("HOME", "/nonexistent");
        let several = format!("/nonexistent:{}", server.kubeconfig());
        command.env("KUBECONFIG", several).env("NO_PROXY", no_proxy);
        Ran::of(command.env("HTTPS_PROXY", "http://127.0.0.1:1"), "")
    };
    let ran = by("127.0.0.1");
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    let ran = by("");
    assert_eq!(ran.code, Some(1), "nobody is behind it");
}
