//! Tests of the effects of sluice that users of Argo CD and Flux see: with the real engines, each in the ways in which it compares and writes.
//!
//! `SLUICE_GITOPS_SOAK` is the number of seconds for which nothing may change, 60 without it. `SLUICE_TEST_GITOPS` says that the engines have to be
//! there: without it, the tests are skipped where they are not.

mod created; // objects whose creation is held
mod held; // pods that are held, and a Job that is created suspended
mod held_on; // what holds them up is not there yet
mod in_sync; // order, and then no diff, through an upgrade of sluice
mod site; // the application in a namespace, deployed by one engine in one way
mod source; // what is deployed: a git repository and a chart
mod waiting; // a dependency that is not there
mod way; // how an engine compares and writes, and what it says

use futures::future::join_all;
use harness::cluster::{Manifest, Namespace, alone, finally, reported};
use harness::gitops::gitops;
use site::Site;
use source::Source;
use std::env;
use std::time::Duration;
use way::Way;

const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cluster/cluster");

/// Deploys an application in every way at once, and runs a test on it while no other test runs. Where the engines are not up, prints that the test is
/// skipped. Every deployed object is deleted with the test.
async fn everywhere(
    prefix: &str,
    manifests: &[Manifest],
    test: impl AsyncFnOnce(&Source, &[Site]),
) {
    under_engines(prefix, async |root| {
        deployed(root, &root.name, &Way::ALL, manifests, test).await;
    })
    .await;
}

/// Runs a test while no other test runs. Where the engines are not up, prints that the test is skipped, or fails if `SLUICE_TEST_GITOPS` is set.
async fn under_engines(prefix: &str, test: impl AsyncFnOnce(&Namespace)) {
    let up = gitops(&["status"]).await;
    if up.code == Some(0) {
        alone(prefix, test).await;
        return;
    }
    assert!(env::var_os("SLUICE_TEST_GITOPS").is_none(), "{up}");
    eprintln!("skipped: Argo CD and Flux are not up");
}

/// Publishes an application as `name`, deploys it in these ways at once, and runs a test on it. The test removes the application; where it fails,
/// this does so.
async fn deployed(
    root: &Namespace,
    name: &str,
    ways: &[Way],
    manifests: &[Manifest],
    test: impl AsyncFnOnce(&Source, &[Site]),
) {
    let source = Source::publish(name, manifests).await;
    let sites = join_all(ways.iter().map(|way| Site::new(root, *way))).await;
    finally(
        async || {
            each(&sites, async |site| site.deploy(&source).await).await;
            test(&source, &sites).await;
        },
        async |failed| {
            if failed {
                join_all(sites.iter().map(Site::abandon)).await;
            }
        },
    )
    .await;
}

/// Runs a step at all sites at once. Where it fails, prints the contents of that site's namespace.
async fn each(sites: &[Site], step: impl AsyncFn(&Site)) {
    let steps = sites
        .iter()
        .map(|site| reported(&site.ns, async || step(site).await));
    join_all(steps).await;
}

/// Returns the time for which nothing may change.
fn soak() -> Duration {
    let seconds = env::var("SLUICE_GITOPS_SOAK").ok();
    let seconds = seconds.map_or(60, |text| text.parse().expect("a number of seconds"));
    Duration::from_secs(seconds)
}
