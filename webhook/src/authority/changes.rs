//! The watch of the one webhook configuration that is ours.

use std::future::pending;

use futures::{StreamExt, stream::BoxStream};
use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use kube::{
    Api, Error,
    api::{WatchEvent, WatchParams},
};

type Event = WatchEvent<MutatingWebhookConfiguration>;

/// What becomes of it. The watch lasts from round to round.
pub(super) struct ConfigurationWatch {
    api: Api<MutatingWebhookConfiguration>,
    name: String,
    events: Option<BoxStream<'static, Result<Event, Error>>>,
}

impl ConfigurationWatch {
    pub(super) fn of(api: Api<MutatingWebhookConfiguration>, name: String) -> Self {
        Self {
            api,
            name,
            events: None,
        }
    }

    /// Returns once it is another than that of the version `seen`. Where its watch ends, or nothing was seen of it, that is
    /// left to whoever looks again. Cancel-safe.
    pub(super) async fn after(&mut self, seen: Option<String>) {
        let Some(seen) = seen else {
            return pending().await;
        };
        if self.events.is_none() {
            let params = WatchParams::default().fields(&format!("metadata.name={}", self.name));
            let opened = self.api.watch(&params, &seen).await;
            self.events = opened.ok().map(StreamExt::boxed);
        }
        while let Some(events) = &mut self.events {
            match events.next().await {
                Some(Ok(WatchEvent::Deleted(_))) => return,
                Some(Ok(WatchEvent::Added(it) | WatchEvent::Modified(it))) => {
                    if version(&it).as_ref() != Some(&seen) {
                        return;
                    }
                }
                Some(Ok(WatchEvent::Bookmark(_))) => {}
                Some(Ok(WatchEvent::Error(_)) | Err(_)) | None => self.events = None,
            }
        }
        pending::<()>().await;
    }
}

pub(super) fn version(configuration: &MutatingWebhookConfiguration) -> Option<String> {
    configuration.metadata.resource_version.clone()
}
