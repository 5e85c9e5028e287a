//! Writes the patches that end holds, by turns, so that a crowd of released waiters does not fall upon the API server.
//!
//! Every replica writes each patch that no other replica has written before. So the work of a replica that is gone is done, and the
//! replicas need not know of each other.

use super::turns::Turns;
use crate::known::View;
use axum::http::{Request, header};
use kube::{Client, Error};
use serde_json::Value;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use tokio::join;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// The most patches that are written at a time.
const AT_ONCE: usize = 16;
/// The shortest time for which a patch occupies its turn, so that a replica writes at most 160 patches a second.
const PACE: Duration = Duration::from_millis(100);
/// The longest random pause before a replica writes to an object, in milliseconds. The replica with the shorter pause writes, and the
/// other one mostly finds the patch written.
const APART: u64 = 200;
/// The pause after the first failed patch of an object, and the longest wait to see a patch that succeeded. After each further failure the pause is
/// twice as long as before.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// The longest pause after a patch that failed.
const LATEST: Duration = Duration::from_secs(30);

/// Writes the patches that release held pods and suspended Jobs, by turns of their namespaces and at a bounded pace.
pub(super) struct HoldWriter {
    client: Client,
    /// The turns of the namespaces. A namespace has at most [`AT_ONCE`] objects in the queue; its other objects wait outside of it.
    namespaces: Turns,
    turns: Semaphore,
    /// The seed of the random pauses, so that each replica has its own order of objects.
    order: RandomState,
}

/// The result of a patch that ends a hold.
pub(super) enum Written {
    /// The API server has applied the patch.
    Done,
    /// The patch failed because another replica was faster, or the object is gone: this replica has seen a change since.
    TooLate(Error),
    /// The patch failed, with another error than before or for the first time; it is tried again after a pause.
    Failed(Error),
    /// The patch failed again, with the error of the last time; it is tried again after a pause.
    FailsStill(Error),
}

/// The failures so far of the patch that ends one object's hold: the last error and the last pause.
#[derive(Default)]
pub(super) struct Trouble {
    told: String,
    pause: Duration,
}

impl Trouble {
    /// Notes a failure, makes the next pause longer, and returns the failure as [`Written::FailsStill`] if its text is that of the last one, else
    /// as [`Written::Failed`].
    fn next(&mut self, error: Error) -> Written {
        self.pause = (self.pause * 2).clamp(TRY_AGAIN, LATEST);
        let text = error.to_string();
        if self.told == text {
            return Written::FailsStill(error);
        }
        self.told = text;
        Written::Failed(error)
    }
}

impl HoldWriter {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            namespaces: Turns::new(AT_ONCE),
            turns: Semaphore::new(AT_ONCE),
            order: RandomState::new(),
        }
    }

    /// Waits for a short random time and for the turn of the namespace, then calls `patch` and sends the result to `url`, or returns at once if it is
    /// `None`. Passes the outcome to `told`. After a patch, returns when the view sees a change, or after a pause, when the patch is to be tried
    /// again.
    pub(super) async fn write(
        &self,
        view: &View,
        (namespace, url): (&str, &str),
        patch: impl FnOnce() -> Option<Value>,
        trouble: &mut Trouble,
        told: impl FnOnce(Written),
    ) {
        sleep(Duration::from_millis(self.order.hash_one(url) % APART)).await;
        let in_namespace = self.namespaces.take(namespace).await;
        let turn = self.turns.acquire().await;
        let Some(patch) = patch() else {
            return;
        };
        let (sent, ()) = join!(self.send(url, &patch), sleep(PACE));
        drop((turn, in_namespace));
        let seen = async |pause| timeout(pause, view.changed()).await.is_ok();
        let pause = match sent {
            Ok(_) => {
                *trouble = Trouble::default();
                told(Written::Done);
                TRY_AGAIN
            }
            // A policy of the cluster may deny in these words too, and then nothing is seen.
            Err(error) if may_be_late(&error) && seen(TRY_AGAIN).await => {
                return told(Written::TooLate(error));
            }
            Err(error) => {
                told(trouble.next(error));
                trouble.pause
            }
        };
        seen(pause).await;
    }

    async fn send(&self, url: &str, patch: &Value) -> Result<Value, Error> {
        let request = Request::patch(url)
            .header(header::CONTENT_TYPE, "application/json-patch+json")
            .body(patch.to_string().into_bytes());
        let request = request.map_err(|error| Error::Service(error.into()))?;
        self.client.request(request).await
    }
}

/// Whether an error may mean that another replica was faster, or that the object is gone: the codes 404, 409 and 422.
fn may_be_late(error: &Error) -> bool {
    matches!(error, Error::Api(status) if matches!(status.code, 404 | 409 | 422))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::{Known, Settings};
    use axum::body::Body;
    use axum::http::Response;
    use rules::kinds::{JOB, Kind};
    use rules::world::Objects;
    use serde_json::json;
    use std::convert::Infallible;
    use tokio::time::Instant;
    use tower::service_fn;

    /// A writer in front of an API server that answers with this code.
    fn refused(code: u16) -> HoldWriter {
        let status = json!({"kind": "Status", "status": "Failure", "code": code, "message": "denied", "reason": "x"});
        let answer = service_fn(move |_| {
            let response = Response::builder().status(code);
            let response = response.body(Body::from(status.to_string())).unwrap();
            std::future::ready(Ok::<_, Infallible>(response))
        });
        HoldWriter::new(Client::new(answer, "default"))
    }

    fn word(written: &Written) -> &'static str {
        match written {
            Written::Done => "done",
            Written::TooLate(_) => "too late",
            Written::Failed(_) => "failed",
            Written::FailsStill(_) => "fails still",
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_denied_is_told_once_and_tried_ever_more_seldom() {
        for code in [403, 422] {
            let (known, _) = Known::new(Settings::of_the_chart());
            let (writer, mut trouble, mut told) = (refused(code), Trouble::default(), Vec::new());
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(600) {
                let view = known.view();
                let note = |written| told.push(word(&written));
                let patch = || Some(json!([]));
                let write = writer.write(&view, ("shop", "/x"), patch, &mut trouble, note);
                write.await;
            }
            assert_eq!(told[0], "failed", "{code}");
            assert!(told[1..].iter().all(|it| *it == "fails still"), "{told:?}");
            assert!((18..=25).contains(&told.len()), "{code}: {}", told.len());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_sees_what_another_has_done_was_only_too_late() {
        let (known, _) = Known::new(Settings::of_the_chart());
        let (view, mut told) = (known.view(), Vec::new());
        let kind = Kind::Builtin(JOB);
        let _ = view.object(&kind, Some("shop"), "seed");
        let another = async {
            sleep(Duration::from_secs(1)).await;
            let seed = json!({"metadata": {"namespace": "shop", "name": "seed"}});
            known.want(&kind).apply(&seed);
        };
        let (writer, mut trouble) = (refused(422), Trouble::default());
        let note = |written| told.push(word(&written));
        let write = writer.write(
            &view,
            ("shop", "/x"),
            || Some(json!([])),
            &mut trouble,
            note,
        );
        join!(write, another);
        assert_eq!(told, ["too late"]);
    }

    /// A thousand pods of one namespace are let go at once, and then one of another namespace.
    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_one_namespace_holds_up_no_other() {
        let (known, _) = Known::new(Settings::of_the_chart());
        let writer = std::sync::Arc::new(refused(404));
        for number in 0..1_000 {
            let (writer, known) = (
                std::sync::Arc::clone(&writer),
                std::sync::Arc::clone(&known),
            );
            tokio::spawn(async move {
                let (view, mut trouble) = (known.view(), Trouble::default());
                let place = ("crowd", format!("/{number}"));
                let patch = || Some(json!([]));
                let place = (place.0, &*place.1);
                writer.write(&view, place, patch, &mut trouble, drop).await;
            });
        }
        sleep(Duration::from_millis(APART)).await;
        let (view, mut trouble, began) = (known.view(), Trouble::default(), Instant::now());
        let mut after = None;
        let patch = || {
            after = Some(began.elapsed());
            None
        };
        let told = |_| ();
        writer
            .write(&view, ("shop", "/x"), patch, &mut trouble, told)
            .await;
        assert!(
            after < Some(Duration::from_millis(APART) + PACE * 3),
            "{after:?}"
        );
    }
}
