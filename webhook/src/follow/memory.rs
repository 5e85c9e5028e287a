//! Reads the ConfigMap, follows it, and writes what changes here.

use super::config_map::{self, ConfigMapRef, Notice};
use crate::known::Known;
use crate::known::memory::Memory;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::memory::{Passed, owner_uid};
use rules::world::Objects;
use serde_json::json;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tracing::warn;

/// Changes of this long become one write.
const GATHER: Duration = Duration::from_millis(200);
/// After a failed write.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// How often what is no longer needed is removed.
const PRUNE: Duration = Duration::from_mins(5);

/// Keeps memory and ConfigMap alike for as long as the process runs.
pub(crate) async fn keep(client: Client, stored: ConfigMapRef, known: Arc<Known>) {
    let (memory, name) = (known.memory(), stored.name);
    let api = Api::<ConfigMap>::namespaced(client, &stored.namespace);
    let mut changes = pin!(config_map::follow(api.clone(), name.clone()));
    let mut prune = tokio::time::interval(PRUNE);
    loop {
        tokio::select! {
            biased;
            // Each arm is cancel-safe: news and ticks that are not taken come again, what is unwritten stays so.
            Some(news) = changes.next() => learn(&known, news),
            () = memory.changed.notified(), if memory.is_loaded() => write(&api, &name, memory).await,
            _ = prune.tick() => memory.prune(|key, passed| is_gone(&known, key, passed)),
        }
    }
}

/// Takes over what the API server says. A refusal is a sign too: it says nothing against what is remembered here.
fn learn(known: &Known, news: Notice) {
    match news {
        Notice::Read(stored) | Notice::Written(stored) => {
            known.memory().learn(stored.data.unwrap_or_default());
        }
        Notice::Absent => warn!("There is no ConfigMap that remembers; the chart makes one"),
        Notice::Refused | Notice::Sign => {}
    }
    if known.memory().heard() {
        known.wake_all();
    }
}

/// Writes what gathers in a moment; what cannot be written stays for the next time.
async fn write(api: &Api<ConfigMap>, name: &str, memory: &Memory) {
    tokio::time::sleep(GATHER).await;
    let changes = memory.unwritten();
    // A null in a merge patch removes the key (RFC 7396).
    let patch = json!({"data": &changes});
    match api
        .patch(name, &PatchParams::default(), &Patch::Merge(&patch))
        .await
    {
        Ok(_) => memory.written(&changes),
        Err(error) => {
            warn!(%error, name, "Cannot write what is to be remembered");
            tokio::time::sleep(TRY_AGAIN).await;
            memory.changed.notify_one();
        }
    }
}

/// Whether the owner of a revision no longer exists. In doubt it does.
fn is_gone(known: &Arc<Known>, key: &str, passed: &Passed) -> bool {
    let kind = match kinds::builtin(&passed.group, &passed.kind) {
        Some(builtin) => Kind::Builtin(builtin),
        None => Kind::Custom {
            group: passed.group.clone(),
            word: passed.kind.clone(),
        },
    };
    match known
        .view()
        .object(&kind, Some(&passed.namespace), &passed.name)
    {
        Lookup::Found(owner) => owner["metadata"]["uid"] != owner_uid(key),
        Lookup::NotFound => true,
        Lookup::Unavailable(_) => false,
    }
}
