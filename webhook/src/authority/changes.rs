//! Watches our webhook configuration.

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

/// A watch of one MutatingWebhookConfiguration by its name. It lasts over the rounds of upkeep, and begins again after an
/// end or an error.
pub(super) struct ConfigurationWatch {
    api: Api<MutatingWebhookConfiguration>,
    name: String,
    events: Option<Events>,
    /// The moment of the last request to watch the object.
    began: Instant,
    /// The pause between the end of a watch and the next request.
    pause: Duration,
    ended: Instant,
    /// Whether the log already says that the watch fails.
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

    /// Returns once the configuration has another `resourceVersion` than `seen`, or is deleted. Never returns where `seen`
    /// is `None`: the caller's next poll finds the configuration. Cancel-safe.
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

    /// Notes the end of a watch, and logs the first of several errors in a row. The API server ends each watch after some minutes. A watch that
    /// ends at once, or is refused, must not be repeated in a tight loop, so the pause doubles, up to [`POLL`]; it begins anew after a watch that
    /// lasted as long.
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

    /// Returns the running watch, or begins one after the pause, at version "0", which means any. A watch from a given
    /// version would fail: the API server forgets versions, and an object that has not changed for long has an old one.
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

    /// The API server refuses the watch of the configuration, as under a chart of an older version, whose ClusterRole grants none.
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
