//! An API server that is a script: one answer for each request, in order.

use super::*;
use axum::body::Body as Answer;
use axum::http::Response;
use std::collections::VecDeque;

/// A fake API server: returns the answer to a request for this URI; `None`: it never answers.
pub(super) type Api = Box<dyn Fn(String) -> Option<Reply> + Send>;

/// One answer of the scripted API server.
pub(super) enum Reply {
    List(Vec<Value>),
    /// A page of a list, and the token at which the next page begins.
    Page(Vec<Value>, String),
    /// The events of a watch, and whether the connection then stays open.
    Watch(Vec<Value>, bool),
    /// A watch that the server ends in order after its time.
    Ending,
    Status(u16),
}

pub(super) struct Script {
    replies: Mutex<VecDeque<Reply>>,
    pub(super) asked: Mutex<Vec<String>>,
}

/// An API server with one answer for each request, in this order; it never answers further ones. The script notes the answered requests.
pub(super) fn scripted(replies: Vec<Reply>) -> (Api, Arc<Script>) {
    let script = Arc::new(Script {
        replies: Mutex::new(replies.into()),
        asked: Mutex::default(),
    });
    let asked = Arc::clone(&script);
    let api = move |uri: String| {
        let reply = asked.replies.lock().unwrap().pop_front();
        reply.inspect(|_| asked.asked.lock().unwrap().push(uri))
    };
    (Box::new(api), script)
}

pub(super) fn respond(reply: Reply) -> Response<Answer> {
    let json = |code: u16, value: &Value| {
        let body = Answer::from(value.to_string());
        Response::builder().status(code).body(body).unwrap()
    };
    match reply {
        Reply::List(items) => json(
            200,
            &json!({"metadata": {"resourceVersion": "10"}, "items": items}),
        ),
        Reply::Page(items, next) => json(
            200,
            &json!({"metadata": {"resourceVersion": "10", "continue": next}, "items": items}),
        ),
        Reply::Status(code) => json(
            code,
            &json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "no", "code": code}),
        ),
        Reply::Ending => Response::new(Answer::from_stream(stream::once(async {
            tokio::time::sleep(Duration::from_secs(WATCH_FOR.into())).await;
            Ok::<_, Infallible>("\n")
        }))),
        Reply::Watch(events, open) => {
            let lines = events
                .into_iter()
                .map(|event| Ok::<_, Infallible>(line(&event)));
            let lines = futures::stream::iter(lines);
            let body = if open {
                Answer::from_stream(lines.chain(futures::stream::pending()))
            } else {
                Answer::from_stream(lines)
            };
            Response::new(body)
        }
    }
}

/// An event of a watch as a line of text, as the API server writes it: the type comes first.
fn line(event: &Value) -> String {
    format!(
        "{{\"type\":{},\"object\":{}}}\n",
        event["type"], event["object"]
    )
}

/// An API server that answers a list with `x`, and each watch as `watch` says.
pub(super) fn listing(watch: impl Fn() -> Option<Reply> + Send + 'static) -> Api {
    Box::new(move |uri| {
        if lists(&uri) {
            Some(Reply::List(vec![widget("x", "9")]))
        } else {
            watch()
        }
    })
}

/// An API server that answers the first list with `x` and the first watch without an event, and then nothing. `open`: that watch does not end.
pub(super) fn falls_silent(open: bool) -> Api {
    let (api, _) = scripted(vec![
        Reply::List(vec![widget("x", "9")]),
        Reply::Watch(vec![], open),
    ]);
    api
}

/// An API server that restarts after a minute: it refuses everything with this code for so many seconds.
pub(super) fn restarts(code: u16, seconds: u64) -> Api {
    let began = tokio::time::Instant::now();
    Box::new(move |uri| {
        let refuses = (60..60 + seconds).contains(&began.elapsed().as_secs());
        Some(match refuses {
            true => Reply::Status(code),
            false if lists(&uri) => Reply::List(vec![widget("x", "9")]),
            false => Reply::Ending,
        })
    })
}

/// Whether a request for this URI is a list, not a watch.
pub(super) fn lists(uri: &str) -> bool {
    !uri.contains("watch=true")
}
