//! Reads the ConfigMap, follows it, and writes what changes here.

use super::config_map::{self, News};
use crate::known::Known;
use crate::known::memory::{Memory, Passed, owner_uid};
use futures::TryStreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Error};
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::world::World;
use serde_json::json;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tracing::{debug, warn};

/// Changes of this long become one write.
const GATHER: Duration = Duration::from_millis(200);
/// After a failed read or write.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// How often what is no longer needed is removed.
const PRUNE: Duration = Duration::from_mins(5);

/// Where the memory is kept.
#[derive(Debug, Clone)]
pub struct Config {
    /// Our own namespace.
    pub namespace: String,
    /// The ConfigMap's name.
    pub name: String,
}

/// Keeps memory and ConfigMap alike for as long as the process runs.
pub async fn keep(client: Client, config: Config, known: Arc<Known>) {
    let memory = known.memory();
    let api = Api::<ConfigMap>::namespaced(client, &config.namespace);
    let mut prune = tokio::time::interval(PRUNE);
    prune.tick().await;
    loop {
        let loaded = load(&api, &config.name, memory).await;
        // A refusal is a sign too: it says nothing against what is remembered here.
        if matches!(loaded, Ok(_) | Err(Error::Api(_))) {
            heard(&known);
        }
        let version = match loaded {
            Ok(version) => version,
            Err(error) => {
                warn!(%error, name = config.name, "Cannot read what is remembered");
                tokio::time::sleep(TRY_AGAIN).await;
                continue;
            }
        };
        let mut watched = pin!(follow(&api, &config.name, version, &known));
        loop {
            tokio::select! {
                // Each arm is cancel-safe: the stream keeps what is not taken, what is unwritten stays so, a tick comes again.
                ended = &mut watched => {
                    if let Err(error) = ended {
                        debug!(%error, "The watch of what is remembered ended");
                        tokio::time::sleep(TRY_AGAIN).await;
                    }
                    break;
                }
                () = memory.changed.notified() => write(&api, &config.name, memory).await,
                _ = prune.tick() => memory.prune(|key, passed| is_gone(&known, key, passed)),
            }
        }
    }
}

async fn load(api: &Api<ConfigMap>, name: &str, memory: &Memory) -> Result<String, Error> {
    let stored = api.get(name).await?;
    memory.learn(stored.data.unwrap_or_default());
    Ok(stored.metadata.resource_version.unwrap_or_default())
}

async fn follow(
    api: &Api<ConfigMap>,
    name: &str,
    version: String,
    known: &Known,
) -> Result<(), Error> {
    let changes = config_map::follow(api.clone(), name.to_owned(), version);
    let mut changes = pin!(changes);
    while let Some(news) = changes.try_next().await? {
        if let News::Written(stored) = news {
            known.memory().learn(stored.data.unwrap_or_default());
        }
        heard(known);
    }
    Ok(())
}

fn heard(known: &Known) {
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
