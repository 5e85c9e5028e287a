//! The watch of the one webhook configuration that is ours.

use std::{future::pending, time::Duration};

use futures::{StreamExt, stream::BoxStream};
use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use kube::{
    Api, Error,
    api::{WatchEvent, WatchParams},
};
use tokio::time::{Instant, sleep_until};
use tracing::warn;

use super::{BREATH, POLL};

type Events = BoxStream<'static, Result<WatchEvent<MutatingWebhookConfiguration>, Error>>;

/// What becomes of it. The watch lasts from round to round.
pub(super) struct ConfigurationWatch {
    api: Api<MutatingWebhookConfiguration>,
    name: String,
    events: Option<Events>,
    /// When it was last asked for,
    began: Instant,
    /// and so long after it ended it is again.
    pause: Duration,
    ended: Instant,
    /// Whether it was told that there is none.
    told: bool,
}

impl ConfigurationWatch {
    pub(super) fn of(api: Api<MutatingWebhookConfiguration>, name: String) -> Self {
        let now = Instant::now();
        Self {
            api,
            name,
            events: None,
            began: now,
            pause: Duration::ZERO,
            ended: now,
            told: false,
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
                Ok(events) => events.next().await,
                Err(error) => Some(Err(error)),
            };
            match told {
                Some(Ok(WatchEvent::Deleted(_))) => return,
                Some(Ok(WatchEvent::Added(it) | WatchEvent::Modified(it))) => {
                    if version(&it).as_ref() != Some(&seen) {
                        return;
                    }
                }
                Some(Ok(WatchEvent::Bookmark(_))) => {}
                Some(Ok(WatchEvent::Error(status))) => self.end(Some(Error::Api(status))),
                Some(Err(error)) => self.end(Some(error)),
                None => self.end(None),
            }
        }
    }

    /// It has ended. The API server ends each after some minutes; one that does so at once, or refuses them all, must not keep us
    /// busy.
    fn end(&mut self, error: Option<Error>) {
        self.events = None;
        self.ended = Instant::now();
        if self.began.elapsed() >= POLL {
            (self.pause, self.told) = (Duration::ZERO, false);
        }
        self.pause = (self.pause * 2).clamp(BREATH, POLL);
        if let Some(error) = error
            && !std::mem::replace(&mut self.told, true)
        {
            warn!(
                %error,
                name = self.name,
                "Cannot watch the webhook configuration, so it is looked at each ten seconds only; the chart's ClusterRole grants watch"
            );
        }
    }

    /// How it is and what becomes of it. From no version on: the API server forgets them, and one that has not changed for long is
    /// of an old one.
    async fn events(&mut self) -> Result<&mut Events, Error> {
        let events = if let Some(events) = self.events.take() {
            events
        } else {
            sleep_until(self.ended + self.pause).await;
            self.began = Instant::now();
            let params = WatchParams::default().fields(&format!("metadata.name={}", self.name));
            self.api.watch(&params, "0").await?.boxed()
        };
        Ok(self.events.insert(events))
    }
}

pub(super) fn version(configuration: &MutatingWebhookConfiguration) -> Option<String> {
    configuration.metadata.resource_version.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::tests::Lines;
    use axum::{body::Body, http::Response};
    use kube::Client;
    use serde_json::json;
    use std::{
        convert::Infallible,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };
    use tokio::time::timeout;
    use tower::service_fn;

    /// As one of an older chart is, that grants no watch.
    #[tokio::test(start_paused = true)]
    async fn who_may_not_watch_asks_seldom() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let api_server = service_fn(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            let status = json!({"kind": "Status", "status": "Failure", "code": 403, "message": "no", "reason": "Forbidden"});
            let answer = Response::builder().status(403);
            let answer = answer.body(Body::from(status.to_string())).unwrap();
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let (log, _listens) = Lines::listen();
        let api = Api::all(Client::new(api_server, "default"));
        let mut watch = ConfigurationWatch::of(api, "sluice".to_owned());
        for _ in 0..360 {
            let changed = timeout(POLL, watch.after(Some("1".to_owned()))).await;
            assert!(changed.is_err());
        }
        let asked = asked.load(Ordering::Relaxed);
        assert!(asked < 370, "{asked} times within an hour");
        let told = log.text().matches("Cannot watch").count();
        assert_eq!(told, 1, "{}", log.text());
    }
}
