use super::installers::helm::missing;
use crate::docs::runner::{Setting, run};
use crate::docs::{Stage, has, pages};
use harness::cluster::with_sluice;
use std::path::PathBuf;

/// The chart whose pods need an image that the node gets from the test.
const SHOP: &str = "examples/shop/chart";

/// The commands of the documentation's pages give their printed output in a cluster, in namespaces that each page makes and deletes.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_pages_hold_in_a_cluster() {
    let mut pages = with(Stage::Cluster);
    if pages.iter().any(installs_the_shop)
        && let Some(reason) = missing().await
    {
        eprintln!("skipped what installs {SHOP}: {reason}");
        pages.retain(|page| !installs_the_shop(page));
    }
    let complaints = with_sluice(move || complaints(Stage::Cluster, &pages)).await;
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// Returns the pages that have commands for a stage; where `SLUICE_PAGE` is set, only the page whose path ends with it.
pub(super) fn with(stage: Stage) -> Vec<PathBuf> {
    let only = std::env::var("SLUICE_PAGE").unwrap_or_default();
    let named = |page: &PathBuf| page.ends_with(&only) || only.is_empty();
    let pages = pages().into_iter().filter(named);
    pages.filter(|page| has(page, stage)).collect()
}

fn installs_the_shop(page: &PathBuf) -> bool {
    let text = std::fs::read_to_string(page).expect("a page");
    text.contains(&format!("helm install shop {SHOP}"))
}

/// Runs the offline commands of these pages and those of the stage, and returns the differences from their printed output.
pub(super) fn complaints(stage: Stage, pages: &[PathBuf]) -> Vec<String> {
    let kubeconfig = std::env::var_os("KUBECONFIG").map(PathBuf::from);
    let setting = Setting {
        stages: &[Stage::Offline, stage],
        kubeconfig: Some(&kubeconfig.expect("KUBECONFIG names a cluster")),
    };
    pages.iter().flat_map(|page| run(page, &setting)).collect()
}
