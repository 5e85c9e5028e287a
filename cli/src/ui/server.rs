//! The server: the page, and the data that it asks for.

use super::feed::{Feeds, PageUpdate};
use super::guard::{Guard, Refusal};
use super::news::{self, Selected};
use super::subject::PageSubject;
use super::{page, random};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{Html, IntoResponse, Response, Sse};
use axum::routing::get;
use axum::{Json, Router};
use futures::stream;
use serde::Deserialize;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::watch;

/// The headers of every answer: it is for this page alone, and not to be kept.
const HEADERS: [(header::HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        header::HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// The state of the page's server, from which it makes answers.
struct Site {
    feeds: Feeds,
    /// The subject of a question that names no namespace.
    shown: PageSubject,
}

pub(super) fn router(guard: Guard, feeds: Feeds, shown: PageSubject) -> Router {
    let site = Arc::new(Site { feeds, shown });
    Router::new()
        .route("/{secret}/", get(page))
        .route("/{secret}/api/graph", get(graph))
        .route("/{secret}/api/live", get(live))
        .route("/{secret}/api/mermaid", get(mermaid))
        .route("/{secret}/api/news", get(news))
        .route("/{secret}/api/namespaces", get(namespaces))
        .fallback(|| async { (StatusCode::NOT_FOUND, "there is nothing here\n") })
        .layer(middleware::from_fn_with_state(Arc::new(guard), guarded))
        .with_state(site)
}

async fn guarded(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let mut answer = match guard.admit(&head) {
        Ok(()) => next.run(Request::from_parts(head, body)).await,
        Err(refusal) => refused(refusal),
    };
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        answer.headers_mut().insert(name, value);
    }
    answer
}

fn refused(refusal: Refusal) -> Response {
    (refusal.status(), format!("{refusal}\n")).into_response()
}

/// Answers with the page and a new nonce: the browser runs only parts with the nonce of this very answer.
async fn page() -> Response {
    let nonce = match random() {
        Ok(nonce) => nonce,
        Err(error) => {
            return (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
        }
    };
    let policy = [(header::CONTENT_SECURITY_POLICY, page::policy(&nonce))];
    (policy, Html(page::page(&nonce))).into_response()
}

/// The answer to a question about a subject, or a refusal of the subject.
type Answered = Result<Response, Response>;

/// The subject of a question; a missing namespace means the command's own subject.
#[derive(Deserialize)]
struct Asked {
    namespace: Option<String>,
    release: Option<String>,
}

impl Asked {
    fn about(self, site: &Site) -> Result<PageSubject, Response> {
        let Some(namespace) = self.namespace else {
            return Ok(site.shown.clone());
        };
        // The namespace becomes a part of paths.
        let letter = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
        if namespace.is_empty() || !namespace.chars().all(letter) {
            let why = "a namespace has lower case letters, digits and hyphens in its name; choose another\n";
            return Err((StatusCode::BAD_REQUEST, why).into_response());
        }
        Ok(PageSubject {
            namespace,
            release: self.release.filter(|name| !name.is_empty()),
        })
    }
}

async fn graph(State(site): State<Arc<Site>>, Query(asked): Query<Asked>) -> Answered {
    let subject = asked.about(&site)?;
    let answer = Live::of(site, subject).await.next().await;
    let status = if answer.failed {
        StatusCode::BAD_GATEWAY
    } else {
        StatusCode::OK
    };
    let json = [(header::CONTENT_TYPE, "application/json")];
    Ok((status, json, answer.json.to_string()).into_response())
}

/// Answers with the graph of the asked subject, as `graph -o mermaid` prints it; with 502 where the cluster cannot be read.
async fn mermaid(State(site): State<Arc<Site>>, Query(asked): Query<Asked>) -> Answered {
    let subject = asked.about(&site)?;
    let answer = Live::of(site, subject).await.next().await;
    let why = "the cluster cannot be read; the page says why\n";
    let refusal = || (StatusCode::BAD_GATEWAY, why).into_response();
    let text = answer.mermaid.ok_or_else(refusal)?;
    Ok(text.to_string().into_response())
}

async fn news(State(site): State<Arc<Site>>, Query(selected): Query<Selected>) -> Response {
    if !selected.is_plain() {
        let why = "a namespace, a kind and a name have letters, digits, hyphens and dots; select an object of the page\n";
        return (StatusCode::BAD_REQUEST, why).into_response();
    }
    match news::read(site.feeds.client(), &selected).await {
        Ok(news) => Json(news).into_response(),
        Err(error) => (StatusCode::BAD_GATEWAY, format!("{error:#}\n")).into_response(),
    }
}

async fn live(State(site): State<Arc<Site>>, Query(asked): Query<Asked>) -> Answered {
    let subject = asked.about(&site)?;
    let answers = stream::unfold(Live::of(site, subject).await, |mut live| async {
        let answer = live.next().await;
        let event = Event::default().data(&answer.json);
        Some((Ok::<_, Infallible>(event), live))
    });
    let answers = Sse::new(answers).keep_alive(KeepAlive::default());
    Ok(answers.into_response())
}

async fn namespaces(State(site): State<Arc<Site>>) -> Response {
    // A user who may not list namespaces can still type a name.
    let names = site.feeds.namespaces().await.unwrap_or_default();
    Json(names).into_response()
}

/// The answers on one subject, one after the other.
struct Live {
    site: Arc<Site>,
    subject: PageSubject,
    answers: watch::Receiver<Option<PageUpdate>>,
}

impl Live {
    async fn of(site: Arc<Site>, subject: PageSubject) -> Self {
        let mut answers = site.feeds.follow(&subject).await;
        // The known answer is the first one.
        answers.mark_changed();
        Self {
            site,
            subject,
            answers,
        }
    }

    async fn next(&mut self) -> PageUpdate {
        loop {
            match self.answers.changed().await {
                Ok(()) => {
                    let answer = self.answers.borrow_and_update().clone();
                    if let Some(answer) = answer {
                        return answer;
                    }
                }
                // The task that fed them has ended.
                Err(_) => self.answers = self.site.feeds.follow(&self.subject).await,
            }
        }
    }
}
