use crate::docs::runner::{Setting, run};
use crate::docs::{Stage, has, pages};
use harness::cluster::with_sluice;
use std::path::PathBuf;

/// What a page shows is run as it stands there, in namespaces that the page makes and takes away.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_pages_hold_in_a_cluster() {
    let complaints = with_sluice(complaints).await;
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

fn complaints() -> Vec<String> {
    let kubeconfig = std::env::var_os("KUBECONFIG").map(PathBuf::from);
    let setting = Setting {
        stages: &[Stage::Offline, Stage::Cluster],
        kubeconfig: Some(&kubeconfig.expect("KUBECONFIG names a cluster")),
    };
    let only = std::env::var("SLUICE_PAGE").unwrap_or_default();
    let named = |page: &PathBuf| page.ends_with(&only) || only.is_empty();
    let in_cluster = |page: &PathBuf| has(page, Stage::Cluster);
    let pages = pages().into_iter().filter(named).filter(in_cluster);
    pages.flat_map(|page| run(&page, &setting)).collect()
}
