//! What is written to end a wait takes its turn, so that a crowd does not fall upon the API server.
//!
//! Every replica writes whatever another has not written before it. So nothing is left undone by one that is gone, and they do not
//! have to know of each other.

use crate::known::View;
use axum::http::{Request, header};
use kube::{Client, Error};
use serde_json::Value;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use tokio::join;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// So much is being written at a time,
const AT_ONCE: usize = 16;
/// each for as long as this, at least: so a replica writes no more than 160 times a second.
const PACE: Duration = Duration::from_millis(100);
/// Each replica begins with each at another moment of so many milliseconds: it finds most done that another began with before.
const APART: u64 = 200;
/// What was not written is tried again after this long.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// Writes by turns.
pub(super) struct Writer {
    client: Client,
    turns: Semaphore,
    /// Has each replica write in an order of its own.
    order: RandomState,
}

/// What became of it.
pub(in crate::status) enum Written {
    /// It stands there.
    Done,
    /// Another replica was faster, or what was to be changed is gone.
    TooLate(Error),
    /// It is tried again.
    Failed(Error),
}

impl Writer {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            turns: Semaphore::new(AT_ONCE),
            order: RandomState::new(),
        }
    }

    /// Once it is its turn, patches what stands there where there still is something to change, and tells what became of it;
    /// returns when that is seen here.
    pub(super) async fn write(
        &self,
        view: &View,
        url: &str,
        patch: impl FnOnce() -> Option<Value>,
        told: impl FnOnce(Written),
    ) {
        sleep(Duration::from_millis(self.order.hash_one(url) % APART)).await;
        let turn = self.turns.acquire().await;
        let Some(patch) = patch() else {
            return;
        };
        let write = async { told(self.send(url, &patch).await.into()) };
        join!(write, sleep(PACE));
        drop(turn);
        let _ = timeout(TRY_AGAIN, view.changed()).await;
    }

    async fn send(&self, url: &str, patch: &Value) -> Result<Value, Error> {
        let request = Request::patch(url)
            .header(header::CONTENT_TYPE, "application/json-patch+json")
            .body(patch.to_string().into_bytes());
        let request = request.map_err(|error| Error::Service(error.into()))?;
        self.client.request(request).await
    }
}

impl From<Result<Value, Error>> for Written {
    fn from(written: Result<Value, Error>) -> Self {
        match written {
            Ok(_) => Self::Done,
            Err(Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => {
                Self::TooLate(Error::Api(status))
            }
            Err(error) => Self::Failed(error),
        }
    }
}
