//! The watch of the one webhook configuration that is ours.

use std::future::pending;

use futures::{StreamExt, stream::BoxStream};
use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use kube::{
    Api, Error,
    api::{WatchEvent, WatchParams},
};
use tokio::time::sleep;

use super::BREATH;

type Events = BoxStream<'static, Result<WatchEvent<MutatingWebhookConfiguration>, Error>>;

/// What becomes of it. The watch lasts from round to round.
pub(super) struct ConfigurationWatch {
    api: Api<MutatingWebhookConfiguration>,
    name: String,
    events: Option<Events>,
}

impl ConfigurationWatch {
    pub(super) fn of(api: Api<MutatingWebhookConfiguration>, name: String) -> Self {
        Self {
            api,
            name,
            events: None,
        }
    }

    /// Returns once it is another than that of the version `seen`. Where nothing was seen of it, that is left to whoever looks
    /// again. Cancel-safe.
    pub(super) async fn after(&mut self, seen: Option<String>) {
        let Some(seen) = seen else {
            return pending().await;
        };
        loop {
            let told = match self.events().await {
                Some(events) => events.next().await,
                None => None,
            };
            match told {
                Some(Ok(WatchEvent::Deleted(_))) => return,
                Some(Ok(WatchEvent::Added(it) | WatchEvent::Modified(it))) => {
                    if version(&it).as_ref() != Some(&seen) {
                        return;
                    }
                }
                Some(Ok(WatchEvent::Bookmark(_))) => {}
                // The API server ends each watch after some minutes; one that does so at once must not keep us busy.
                None | Some(Ok(WatchEvent::Error(_)) | Err(_)) => {
                    self.events = None;
                    sleep(BREATH).await;
                }
            }
        }
    }

    /// How it is and what becomes of it; `None` where the API server does not tell. From no version on: it forgets them, and
    /// one that has not changed for long is of an old one.
    async fn events(&mut self) -> Option<&mut Events> {
        if self.events.is_none() {
            let params = WatchParams::default().fields(&format!("metadata.name={}", self.name));
            let opened = self.api.watch(&params, "0").await;
            self.events = opened.ok().map(StreamExt::boxed);
        }
        self.events.as_mut()
    }
}

pub(super) fn version(configuration: &MutatingWebhookConfiguration) -> Option<String> {
    configuration.metadata.resource_version.clone()
}
