//! Finds the holders of slots that are finished. The API server itself is asked, because the known objects may lag behind.

use super::living_pods::has_no_pods;
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

/// The most holders of one namespace that are asked about at a time.
const OF_A_NAMESPACE: usize = 8;
/// The most holders of all namespaces that are asked about at a time. Further questions wait in the order in which they come.
const OF_ALL: usize = 64;

/// Asks the API server whether holders of slots have finished.
pub(super) struct HolderCheck {
    client: Client,
    at_a_time: Semaphore,
}

/// The holders of slots about which the API server was asked, by their answers.
#[derive(Default)]
pub(super) struct HolderAnswers {
    /// The holders that are done, or gone with all of their pods.
    pub(super) finished: Vec<Holder>,
    /// The holders that still need their slots.
    pub(super) at_work: Vec<Holder>,
    /// The holders about which the API server did not answer; they keep their slots.
    pub(super) unknown: Vec<Holder>,
    /// One of the errors of the questions to the API server.
    pub(super) error: Option<Error>,
}

impl HolderCheck {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            at_a_time: Semaphore::new(OF_ALL),
        }
    }

    /// Asks the API server whether these holders of one namespace have finished, [`OF_A_NAMESPACE`] at a time.
    pub(super) async fn about(
        &self,
        holders: Vec<Holder>,
        namespace: &str,
        view: &View,
        now: Timestamp,
    ) -> HolderAnswers {
        let ask = async |holder: Holder| {
            let is_finished = self.is_finished(namespace, &holder, view, now).await;
            (holder, is_finished)
        };
        let mut answers = stream::iter(holders)
            .map(ask)
            .buffer_unordered(OF_A_NAMESPACE);
        let mut asked = HolderAnswers::default();
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

    /// Whether a holder is done, or gone with all of its pods, by the word of the API server. `false` for one of a custom kind whose store is not
    /// believed.
    async fn is_finished(
        &self,
        namespace: &str,
        holder: &Holder,
        view: &View,
        now: Timestamp,
    ) -> Result<bool, Error> {
        // The semaphore is never closed.
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

    /// The object of a holder as it is now. An object of a custom kind is read from its store, since only the watch of the kind knows
    /// where the kind is served.
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

/// Whether the known objects say that a holder may have finished, so that the holder is worth a question to the API server: its object is
/// done, gone, or replaced by one with another UID. `false` where that is unknown.
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
