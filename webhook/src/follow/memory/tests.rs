//! The task that keeps the memory and its ConfigMaps alike, in front of an API server that refuses some writes.

use super::super::one_object::ConfigMapRef;
use super::super::shards::fake::ApiServer;
use super::*;
use crate::known::Settings;
use rules::lookup::Unavailable;
use rules::memory::Completing;
use rules::world::Remembered;
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/sluice-system/configmaps";

fn job(namespace: &str, name: &str) -> Value {
    let time = "2026-01-01T00:00:00Z";
    json!({
        "metadata": {"namespace": namespace, "name": name, "uid": name, "creationTimestamp": time},
        "status": {"completionTime": time, "conditions": [{"type": "Complete", "status": "True"}]},
    })
}

/// Starts the task that keeps the memory, beside a fake API server without ConfigMaps. Returns the server and the knowledge of the replica.
fn keeper() -> (Arc<ApiServer>, Arc<Known>) {
    let server = Arc::new(ApiServer::default());
    let service = json!({"metadata": {"name": "sluice"}});
    let path = "/api/v1/namespaces/sluice-system/services/sluice";
    server.lock().put(path, service);
    let (known, _) = Known::new(Settings::of_the_chart());
    let stored = ConfigMapRef {
        namespace: "sluice-system".to_owned(),
        name: "sluice-memory".to_owned(),
    };
    let shards = Shards::new(server.client(), &stored, "sluice");
    tokio::spawn(keep(shards, Arc::clone(&known), Losses::default()));
    (server, known)
}

/// The keys that the ConfigMaps of the memory hold in the API server.
fn stored(server: &ApiServer) -> Vec<String> {
    let server = server.lock();
    let maps = server
        .objects
        .iter()
        .filter(|(path, _)| path.starts_with(MAPS));
    let data = maps.filter_map(|(_, map)| map["data"].as_object());
    data.flat_map(|it| it.keys().cloned()).collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_of_one_job_holds_up_no_other() {
    let (server, known) = keeper();
    server.lock().refused = Some("poison");
    for name in ["first", "poison", "second"] {
        known.memory().saw_job(&job("shop", name));
    }
    known.memory().saw_job(&job("default", "third"));
    tokio::time::sleep(Duration::from_secs(60)).await;
    let keys = stored(&server);
    for key in ["job.shop.first", "job.shop.second", "job.default.third"] {
        assert!(keys.iter().any(|it| it == key), "{keys:?}");
    }
    assert!(!keys.iter().any(|it| it.contains("poison")));
    assert_eq!(server.lock().refusals, 2, "with the others, and by itself");
}

#[tokio::test(start_paused = true)]
async fn who_waits_hears_of_what_is_read_first_and_of_what_another_replica_writes() {
    let (server, known) = keeper();
    // Every gate reads its own pod.
    let waiting = || {
        let view = known.view();
        let _ = view.gated_pod("shop", "api-1");
        view
    };
    let (first, completed) = (
        waiting(),
        known.view().completed_job(Completing::Job, "shop", "other"),
    );
    assert_eq!(completed, Lookup::Unavailable(Unavailable::Syncing));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(known.memory().is_loaded() && first.has_changed());
    tokio::time::sleep(Duration::from_secs(60)).await;
    let second = waiting();
    known.memory().saw_job(&job("shop", "ours"));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!second.has_changed(), "it was known here");
    let entry = known
        .memory()
        .completed(Completing::Job, "shop", "ours")
        .unwrap();
    let text = rules::memory::text(&entry);
    for (path, map) in &mut server.lock().objects {
        if path.starts_with(MAPS) {
            map["data"]["job.shop.other"] = json!(text);
        }
    }
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert!(
        known
            .memory()
            .completed(Completing::Job, "shop", "other")
            .is_some()
    );
    assert!(second.has_changed());
}

#[tokio::test(start_paused = true)]
async fn a_config_map_that_goes_is_made_again_with_what_is_known() {
    let (server, known) = keeper();
    known.memory().saw_job(&job("shop", "migrate"));
    let migrate = || stored(&server).contains(&"job.shop.migrate".to_owned());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(migrate());
    server
        .lock()
        .objects
        .retain(|path, _| !path.starts_with(MAPS));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(migrate());
    for (path, map) in &mut server.lock().objects {
        if path.starts_with(MAPS) {
            map["data"] = json!({});
        }
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(migrate());
}
