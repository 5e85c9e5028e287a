//! Addresses outside of the cluster: the addresses that a gate is told to try, and the verdict on its report.

use super::desk::Desk;
use super::tokens::its_own;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::json;
use std::sync::Arc;
use tower::ServiceExt;
use wire::{Answer, Decision, probe};

impl Desk {
    /// The answer to a gate that has `seen` the answer with that digest and reports the outcomes `probed`; `None` for an older gate,
    /// which cannot try an address.
    async fn ask_probing(&self, seen: &str, probed: Option<&str>) -> Answer {
        let uri = format!("{}?seen={seen}&wait=25", wire::PATH);
        let request = Request::get(uri).header("authorization", format!("Bearer {}", its_own()));
        let request = match probed {
            Some(probed) => request.header(probe::HEADER, probed),
            None => request,
        };
        let request = request.body(Body::empty()).unwrap();
        let response = crate::status::router(Arc::clone(&self.service))
            .oneshot(request)
            .await;
        let body = response.unwrap().into_body().collect().await.unwrap();
        serde_json::from_slice(&body.to_bytes()).unwrap()
    }
}

fn reason(answer: &Answer) -> &str {
    &answer.dependencies[0].reason
}

#[tokio::test(start_paused = true)]
async fn a_gate_is_told_what_to_try_and_its_word_opens_it() {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": "tcp://db.example.com:5432"}));
    let first = desk.ask_probing("", Some("")).await;
    assert_eq!(
        (first.verdict, reason(&first)),
        (Decision::Wait, "NotProbed")
    );
    let [wanted] = &first.probes[..] else {
        panic!("{first:?}")
    };
    assert_eq!(
        (wanted.what.as_str(), wanted.to.as_str()),
        ("tcp", "db.example.com:5432")
    );
    let refused = format!("{}=refused", wanted.id);
    let second = desk.ask_probing(&first.digest, Some(&refused)).await;
    assert_eq!(
        (second.verdict, reason(&second)),
        (Decision::Wait, "ConnectionRefused")
    );
    assert_eq!(second.probes, first.probes, "it goes on trying");
    let connected = format!("{}=connected", wanted.id);
    let last = desk.ask_probing(&second.digest, Some(&connected)).await;
    assert_eq!(last.verdict, Decision::Open);
    assert!(last.probes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_gate_of_an_older_version_waits_and_says_so() {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": "tcp://db.example.com:5432"}));
    let first = desk.ask_probing("", None).await;
    assert_eq!(
        (first.verdict, reason(&first)),
        (Decision::Wait, "CannotProbe")
    );
    let message = first.dependencies[0].message.as_deref().unwrap();
    assert!(message.contains("delete the pod"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn an_event_names_what_came_of_it_and_no_value() {
    let list = "- tcp: $(DATABASE_URL)";
    let desk = Desk::new(&json!({"sluice.dev/depends-on": list}));
    let first = desk.ask_probing("", Some("")).await;
    let wanted = &first.probes[0];
    assert_eq!(
        wanted.to, "$(DATABASE_URL)",
        "only the gate knows what is in it"
    );
    let told = format!("{}=no-variable", wanted.id);
    let second = desk.ask_probing(&first.digest, Some(&told)).await;
    assert_eq!(reason(&second), "NoVariable");
    desk.ask_probing(&second.digest, Some(&told)).await;
    let events = desk.told().await;
    let text = format!("{events:?}");
    assert!(
        text.contains("NoVariable: $(DATABASE_URL) was not given"),
        "{text}"
    );
}
