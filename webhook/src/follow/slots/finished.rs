//! Whether holders have done what they held their slots for: that is asked of the API server, since what is known may lag behind.

use super::gone::has_no_pods;
use crate::follow::served::resource;
use crate::known::View;
use futures::{StreamExt, stream};
use jiff::Timestamp;
use kube::api::{Api, DynamicObject};
use kube::{Client, Error};
use rules::holder::{Holder, Wave};
use rules::kinds::Kind;
use rules::lookup::Lookup;
use rules::slots::is_done;
use rules::world::Objects;
use serde_json::Value;
use tokio::sync::Semaphore;

/// So many holders of one namespace are asked about at a time,
const OF_A_NAMESPACE: usize = 8;
/// and so many of all namespaces, in the order in which they come.
const OF_ALL: usize = 64;

/// Who asks the API server about holders.
pub(super) struct Asking {
    client: Client,
    at_a_time: Semaphore,
}

/// What came of asking about some holders.
#[derive(Default)]
pub(super) struct Asked {
    /// Those that are done, or gone with all of their pods.
    pub(super) finished: Vec<Holder>,
    /// Those that are not.
    pub(super) at_work: Vec<Holder>,
    /// Those of which the API server did not say; they keep their slots.
    pub(super) unknown: Vec<Holder>,
    /// Why it did not, of one of them.
    pub(super) error: Option<Error>,
}

impl Asking {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            at_a_time: Semaphore::new(OF_ALL),
        }
    }

    /// Asks about holders of one namespace, some at a time.
    pub(super) async fn about(
        &self,
        holders: Vec<Holder>,
        namespace: &str,
        view: &View,
        now: Timestamp,
    ) -> Asked {
        let ask = async |holder: Holder| {
            let is_finished = self.is_finished(namespace, &holder, view, now).await;
            (holder, is_finished)
        };
        let mut answers = stream::iter(holders)
            .map(ask)
            .buffer_unordered(OF_A_NAMESPACE);
        let mut asked = Asked::default();
        while let Some((holder, answer)) = answers.next().await {
            match answer {
                Ok(true) => asked.finished.push(holder),
                Ok(false) => asked.at_work.push(holder),
                Err(error) => {
                    asked.unknown.push(holder);
                    asked.error = Some(error);
                }
            }
        }
        asked
    }

    /// What the API server itself says: done, or gone with all of its pods.
    async fn is_finished(
        &self,
        namespace: &str,
        holder: &Holder,
        view: &View,
        now: Timestamp,
    ) -> Result<bool, Error> {
        // It is never closed.
        let _turn = self.at_a_time.acquire().await;
        let object = match self.object(namespace, holder, view).await? {
            Lookup::Found(object) => Some(object),
            Lookup::NotFound => None,
            Lookup::Unavailable(_) => return Ok(false),
        };
        let same = object.filter(|object| object["metadata"]["uid"] == holder.uid.as_str());
        match same {
            Some(object) => Ok(is_done(holder, &object, view, now)),
            None => has_no_pods(&self.client, view, namespace, holder).await,
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
}

/// Whether it is worth asking about a holder, by what is known.
pub(super) fn looks_finished(wave: &Wave, holder: &Holder, view: &View, now: Timestamp) -> bool {
    let kind = holder.object_kind();
    match view.object(&kind, Some(&wave.scope.namespace), &holder.name) {
        Lookup::Found(object) => {
            object["metadata"]["uid"] != holder.uid.as_str() || is_done(holder, &object, view, now)
        }
        Lookup::NotFound => true,
        Lookup::Unavailable(_) => false,
    }
}
