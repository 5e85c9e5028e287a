//! The effect: follows the ConfigMap, looks at holders in the API server, and gives slots away.

mod claims;

use super::catalog::resource;
use super::config_map::{self, ConfigMapRef, Notice};
use crate::clock::Clock;
use crate::known::slots::{key, value};
use crate::known::{Known, View};
use claims::claims;
use futures::{Stream, StreamExt};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams};
use kube::{Client, Error};
use rules::holder::{Holder, Wave};
use rules::keys;
use rules::kinds::Kind;
use rules::lookup::Lookup;
use rules::slots::{allot, is_done};
use rules::world::Objects;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tracing::{debug, info, warn};

/// Changes of this long are looked at together.
const GATHER: Duration = Duration::from_millis(20);
/// After a failed read or write.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// Slots are looked through this often although nothing is known to have changed: a holder may be gone with its pods.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Gives slots away for as long as the process runs; until the first is asked for, nothing is read.
pub(crate) async fn keep(client: Client, stored: ConfigMapRef, known: Arc<Known>, clock: Clock) {
    let keeper = Keeper {
        api: Api::namespaced(client.clone(), &stored.namespace),
        client,
        name: stored.name,
        known,
        clock,
    };
    keeper.known.slots().wanted.notified().await;
    keeper.run().await;
}

struct Keeper {
    client: Client,
    api: Api<ConfigMap>,
    name: String,
    known: Arc<Known>,
    clock: Clock,
}

impl Keeper {
    async fn run(&self) {
        let changes = config_map::follow(self.api.clone(), self.name.clone());
        let mut changes = pin!(changes);
        // Waves that nobody comes back to are looked through after each reading, or the ConfigMap would grow for ever.
        let mut all = false;
        loop {
            let view = self.known.view();
            match self.round(&view, all).await {
                Ok(()) => all = false,
                Err(error) => {
                    warn!(%error, name = self.name, "Cannot read or write who may run");
                    tokio::time::sleep(TRY_AGAIN).await;
                }
            }
            tokio::select! {
                biased;
                // Each arm is cancel-safe: what is not taken here comes again.
                () = self.learn(&mut changes) => all = true,
                () = view.changed() => {}
                () = self.known.slots().wanted.notified() => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
            tokio::time::sleep(GATHER).await;
        }
    }

    /// Takes over what the API server says, until the ConfigMap has been read anew.
    async fn learn(&self, changes: &mut (impl Stream<Item = Notice> + Unpin)) {
        let slots = self.known.slots();
        while let Some(news) = changes.next().await {
            match news {
                Notice::Read(stored) => return slots.begin(&stored),
                Notice::Written(stored) => slots.learn(&stored),
                Notice::Sign => slots.heard(),
                Notice::Absent => warn!("There is no ConfigMap for slots; the chart makes one"),
                Notice::Refused => {}
            }
        }
    }

    /// Looks at every wave in which somebody waits, or at all of them, and writes what changes; on a conflict looks again at
    /// what the other replica has written.
    async fn round(&self, view: &View, all: bool) -> Result<(), Error> {
        let slots = self.known.slots();
        loop {
            let Some((version, waves)) = slots.waves(all) else {
                return Ok(());
            };
            let mut changes = BTreeMap::new();
            for (wave, holders) in waves {
                if let Some(changed) = self.changed(&wave, &holders, view).await? {
                    let value = value(&wave, &changed).map_err(Error::SerdeError)?;
                    changes.insert(key(&wave), value);
                }
            }
            if changes.is_empty() {
                return Ok(());
            }
            let metadata = json!({"resourceVersion": version});
            // With a version in it, a patch is refused where another write came first.
            let patch = Patch::Merge(json!({"metadata": metadata, "data": changes}));
            match self
                .api
                .patch(&self.name, &PatchParams::default(), &patch)
                .await
            {
                Ok(stored) => {
                    slots.learn(&stored);
                    return Ok(());
                }
                Err(Error::Api(status)) if status.code == 409 => {
                    debug!("Another replica has written who may run");
                    slots.learn(&self.api.get(&self.name).await?);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The holders of a wave, if they change.
    async fn changed(
        &self,
        wave: &Wave,
        holders: &[Holder],
        view: &View,
    ) -> Result<Option<Vec<Holder>>, Error> {
        let now = self.clock.now();
        let mut finished = Vec::new();
        for holder in holders {
            if looks_finished(wave, holder, view, now)
                && self.is_finished(wave, holder, view).await?
            {
                finished.push(holder.clone());
            }
        }
        let claims = claims(wave, holders, self.known.settings(), view, now);
        let is_finished = |holder: &Holder| holder.is_among(&finished);
        let changed = allot(holders.to_vec(), is_finished, claims.ready, claims.most);
        if changed == holders {
            return Ok(None);
        }
        for holder in changed.iter().filter(|it| !it.is_among(holders)) {
            info!(namespace = wave.scope.namespace, %holder, weight = wave.weight, "Slot given");
        }
        Ok(Some(changed))
    }

    /// What the API server itself says: done, or gone with all of its pods.
    async fn is_finished(&self, wave: &Wave, holder: &Holder, view: &View) -> Result<bool, Error> {
        let namespace = &wave.scope.namespace;
        let object = match self.object(namespace, holder, view).await? {
            Lookup::Found(object) => Some(object),
            Lookup::NotFound => None,
            Lookup::Unavailable(_) => return Ok(false),
        };
        let same = object.filter(|object| object["metadata"]["uid"] == holder.uid.as_str());
        match same {
            Some(object) => Ok(is_done(holder, &object, view, self.clock.now())),
            None => self.has_no_pods(namespace, holder).await,
        }
    }

    /// The object as it is now. Where a custom kind is served, only its watch knows.
    async fn object(
        &self,
        namespace: &str,
        holder: &Holder,
        view: &View,
    ) -> Result<Lookup<Value>, Error> {
        let Kind::Builtin(builtin) = holder.object_kind() else {
            return Ok(view.object(&holder.object_kind(), Some(namespace), &holder.name));
        };
        let resource = resource(builtin);
        let api = Api::<DynamicObject>::namespaced_with(self.client.clone(), namespace, &resource);
        let found = api.get_opt(&holder.name).await?;
        let found = found.and_then(|object| serde_json::to_value(object).ok());
        Ok(found.map_or(Lookup::NotFound, Lookup::Found))
    }

    async fn has_no_pods(&self, namespace: &str, holder: &Holder) -> Result<bool, Error> {
        let api = Api::<Pod>::namespaced(self.client.clone(), namespace);
        let gated = ListParams::default().labels(&format!("{}={}", keys::GATED, keys::GATED_VALUE));
        let pods = api.list(&gated).await?;
        let is_of = |pod: &&Pod| {
            let owners = pod.metadata.owner_references.iter().flatten();
            let mut uids = owners.map(|owner| &owner.uid).chain(&pod.metadata.uid);
            uids.any(|uid| *uid == holder.pods_of)
        };
        let phase = |pod: &Pod| pod.status.as_ref().and_then(|status| status.phase.clone());
        let ended = |pod: &Pod| matches!(phase(pod).as_deref(), Some("Succeeded" | "Failed"));
        Ok(pods.iter().filter(is_of).all(ended))
    }
}

/// Whether it is worth asking the API server: what is known may lag behind.
fn looks_finished(wave: &Wave, holder: &Holder, view: &View, now: Timestamp) -> bool {
    let kind = holder.object_kind();
    match view.object(&kind, Some(&wave.scope.namespace), &holder.name) {
        Lookup::Found(object) => {
            object["metadata"]["uid"] != holder.uid.as_str() || is_done(holder, &object, view, now)
        }
        Lookup::NotFound => true,
        Lookup::Unavailable(_) => false,
    }
}
