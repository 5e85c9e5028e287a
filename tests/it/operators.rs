//! Tests with the real operators of other projects, on the statuses that they write while their objects come and change.
//!
//! `SLUICE_TEST_OPERATORS` says that the operators have to be there: without it, these tests are skipped where they are not.

mod cert_manager; // certificates that are issued anew
mod cnpg; // a database that its operator restarts
mod jobset; // Jobs that are done together
mod kueue; // pods that wait for quota
mod prometheus; // an operator that says ready too early, for a moment

use harness::cluster::{
    LIMIT, Manifest, Namespace, Pod, Program, await_until, config_map, deployment, with_namespace,
};
use jiff::Timestamp;
use serde_json::Value;
use std::env;

const OPERATORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cluster/operators/operators");
/// The number of upgrades in each test: an operator is not equally quick each time.
const UPGRADES: usize = 3;

/// Runs a test in a namespace of its own. Where the operators are not up, prints that it is skipped, or fails if `SLUICE_TEST_OPERATORS` is set.
async fn beside_operators(prefix: &str, test: impl AsyncFnOnce(&Namespace)) {
    let up = Program::new(OPERATORS).args(["status"]).run().await;
    if up.code == Some(0) {
        with_namespace(prefix, test).await;
        return;
    }
    assert!(env::var_os("SLUICE_TEST_OPERATORS").is_none(), "{up}");
    eprintln!("skipped: the operators are not up");
}

/// Changes an object [`UPGRADES`] times, each time while the gate of a dependent's new version already asks for it, and fails where the dependent
/// starts too early. `object` makes the object of a version. `true_since` returns the time since which that version is really ready, or why it is
/// not.
async fn upgraded(
    ns: &Namespace,
    list: &str,
    object: impl Fn(usize) -> Manifest,
    true_since: impl AsyncFn(usize) -> Result<Timestamp, String>,
) {
    let mut old: Option<Pod> = None;
    for version in 0..=UPGRADES {
        // Until it is written the gate waits for something else, so that it looks at the very moment of the write.
        let written = format!("written-{version}");
        let dependent = deployment("api")
            .depends_on(&format!("{list}, configmap/{written}"))
            .in_pod("/metadata/annotations/version", version.to_string());
        ns.apply([dependent]).await.ok();
        let pod = match &old {
            Some(old) => ns.next_pod_of("api", old).await,
            None => ns.pod_of("api").await,
        };
        pod.gate_says("ConfigMap/written").await;
        ns.apply([object(version), config_map(&written)]).await.ok();
        let started = pod.starts().await;
        let is_true = format!("version {version} is what it has to be");
        let ready = await_until(&is_true, LIMIT, async || true_since(version).await).await;
        // Kubernetes' times are whole seconds, rounded down.
        assert!(
            ready <= started,
            "version {version}: started at {started}, ready at {ready}"
        );
        old = Some(pod);
    }
}

/// Returns an object of any kind as it is now, by its reference for kubectl.
async fn read(ns: &Namespace, reference: &str) -> Value {
    let object = ns.kubectl(["get", reference, "--output=json"]).await.ok();
    serde_json::from_str(&object).expect("kubectl prints JSON")
}

/// Returns the time at a JSON pointer of an object; `None` where there is none.
fn time(object: &Value, pointer: &str) -> Option<Timestamp> {
    object.pointer(pointer)?.as_str()?.parse().ok()
}
