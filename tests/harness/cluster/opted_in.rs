//! Tests of what is off by default, beside each other in one installation.

use super::sluice::{Release, others_are_gone};
use super::{Namespace, SLUICE, creations, finally, run};
use tokio::sync::{Mutex, RwLockWriteGuard};

/// The value of the chart that turns holds on.
const HOLDS: [&str; 2] = ["--set", "holds.enabled=true"];

/// The number of running tests of [`opted_in`], and the lock and the former release that the first of them has taken for all.
static OPTED: Mutex<Opted> = Mutex::const_new(Opted {
    tests: 0,
    taken: None,
});

struct Opted {
    tests: usize,
    taken: Option<(RwLockWriteGuard<'static, ()>, Release)>,
}

/// Runs a test like [`super::alone`], with holds and held creations turned on, but beside the other tests that call this function: the first installs
/// the values, the last restores the former ones. A new installation for each would take longer than most of these tests.
pub async fn opted_in(prefix: &str, test: impl AsyncFnOnce(&Namespace)) {
    let mut opted = OPTED.lock().await;
    if opted.tests == 0 {
        let lock = SLUICE.write().await;
        let release = Release::of_now().await;
        let values = [&HOLDS[..], &creations::ON].concat();
        release.install_with(&values).await;
        others_are_gone().await;
        opted.taken = Some((lock, release));
    }
    opted.tests += 1;
    drop(opted);
    finally(
        async || run(prefix, test).await,
        async |_| {
            let mut opted = OPTED.lock().await;
            opted.tests -= 1;
            if opted.tests == 0
                && let Some((_lock, release)) = opted.taken.take()
            {
                release.install().await;
                others_are_gone().await;
            }
        },
    )
    .await;
}
