//! The HTTP boundary of admission: a review in, a review out. [`crate::inject`] decides the answer.
//!
//! A review whose object cannot be gated is answered with a denial under the review's uid, never with an HTTP error.
//! An HTTP error answers a body that is no review, or a body for which the process has no memory. This module holds
//! no API client, and awaits nothing but the body and, for a held creation, the first look of the status service.

mod bodies;
mod callers;
mod creations;
mod known;
mod limits;
mod metrics;
mod refusal;
mod review;
mod room;
mod weight;

pub use callers::AddressBlock;
pub use creations::CreationHolds;
pub use known::Cached;
pub use limits::AdmissionLimits;
pub use metrics::AdmissionMetrics;

use crate::connections::{Certified, valid};
use crate::inject::{
    self, Action, Decision, Deny, GateParts, Operation, Options, Subject, Warning,
};
use crate::lean::About;
use crate::memory_alarm::MemoryAlarm;
use axum::Router;
use axum::body::HttpBody;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::Extensions;
use axum::response::IntoResponse;
use axum::routing::post;
use bodies::Bodies;
use futures::StreamExt;
use refusal::Refusal;
use review::{AdmissionRequest, Reply, Response, RetryDetails, Status, Unreadable};
use room::Sender;
use rules::advice::Seen;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use strum::IntoStaticStr;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tracing::info;

/// The most warnings in one answer: the API server passes on 4 KiB of them, and a user reads only the first few.
const MOST_WARNINGS: usize = 5;

/// The label `operation` in metrics of a request whose operation could not be read.
const NO_OPERATION: &str = "none";

/// The state that the admission handlers share.
#[derive(Debug)]
pub struct Admission {
    options: Options,
    parts: watch::Receiver<Option<Arc<GateParts>>>,
    bodies: Bodies,
    metrics: AdmissionMetrics,
    known: Arc<dyn Seen + Send + Sync>,
    creations: Option<CreationHolds>,
}

impl Admission {
    /// Returns the handlers, and the sender that tells them the parts of a gate. Until the first parts arrive, pods
    /// are refused with the advice to try again; workloads need no parts. Large reviews are refused where `alarm` tells
    /// that there is no memory for them.
    pub fn new(
        options: Options,
        limits: AdmissionLimits,
        alarm: MemoryAlarm,
        metrics: AdmissionMetrics,
    ) -> (Self, watch::Sender<Option<Arc<GateParts>>>) {
        let (sender, parts) = watch::channel(None);
        let admission = Self {
            options,
            parts,
            bodies: Bodies::new(limits, alarm),
            metrics,
            known: Arc::new(()),
            creations: None,
        };
        (admission, sender)
    }

    /// Makes admission give warnings that rest on the objects that `known` has in memory. Only a caller with a certificate of an API server gets
    /// such warnings.
    #[must_use]
    pub fn knowing(self, known: Arc<dyn Seen + Send + Sync>) -> Self {
        Self { known, ..self }
    }

    /// Makes admission hold the creation of objects with `sluice.dev/hold: create`. Without it, each request to `/admit/creations` is refused as
    /// one that came too early.
    #[must_use]
    pub fn holding(self, creations: CreationHolds) -> Self {
        Self {
            creations: Some(creations),
            ..self
        }
    }

    /// Returns the router of the webhooks, each a POST: `/admit/workloads` and `/admit/pods`; `/admit/every-pod` for namespaces that ask for a gate
    /// in every pod; `/admit/held-pods` for namespaces that ask for a hold of every gated pod; `/admit/creations` for objects whose creation is held.
    pub fn router(self: Arc<Self>) -> Router {
        let handler = |half: Half| {
            post(
                move |State(admission): State<Arc<Self>>, request: Request| async move {
                    admission.answer(half, request).await
                },
            )
        };
        Router::new()
            .route("/admit/workloads", handler(Half::Workloads))
            .route("/admit/pods", handler(Half::Pods))
            .route("/admit/every-pod", handler(Half::EveryPod))
            .route("/admit/held-pods", handler(Half::HeldPods))
            .route("/admit/creations", handler(Half::Creations))
            .with_state(self)
    }

    async fn answer(&self, half: Half, request: Request) -> axum::response::Response {
        let start = Instant::now();
        let (head, body) = request.into_parts();
        let announced = body.size_hint().lower();
        let mut chunks = body.into_data_stream();
        let until = start + self.bodies.limits.deadline;
        let certified = head.extensions.get::<Certified>().is_some();
        let sender = Sender {
            address: address(&head.extensions),
            certified,
        };
        let read = self.bodies.read(announced, sender, &mut chunks, until);
        let read = timeout_at(until, read).await;
        let reviewed = match read.unwrap_or(Err(Refusal::Slow)) {
            Ok((body, _held)) => {
                valid(&head.extensions);
                self.review(half, &body, sender).await
            }
            Err(refusal) => {
                // Read the rest first: a client that is still sending, such as the API server, would not see the
                // refusal.
                let rest = chunks.for_each(async |_| {});
                let _ = timeout_at(until, rest).await;
                refusal.into()
            }
        };
        let Reviewed {
            operation,
            outcome,
            response,
        } = reviewed;
        self.metrics
            .count(half.label(), operation, outcome, start.elapsed());
        response
    }

    /// Decides on the review in a body that has arrived whole, and logs the decision. A body that is no review is answered with an error, and not
    /// logged.
    async fn review(&self, half: Half, body: &[u8], sender: Sender) -> Reviewed {
        let request = match read(half, body) {
            Ok(request) => request,
            Err(unreadable) => return *unreadable,
        };
        let operation = Operation::read(&request.operation);
        let subject = subject(&request);
        let decision = match half {
            Half::Creations => match &self.creations {
                Some(holds) => {
                    let options = self.options;
                    holds
                        .decide(&request, operation, &subject, options, sender)
                        .await
                }
                None => Deny::Starting.into(),
            },
            _ => self.decide(half, &request, operation, &subject, sender.certified),
        };
        let outcome = decision.action.label();
        info!(
            client = %sender.address,
            namespace = subject.namespace,
            uid = quotable(&request.uid),
            half = half.label(),
            operation = operation.label(),
            %subject,
            outcome,
            "Answered"
        );
        let response = Reply::from(respond(request.uid, decision, &subject)).into_response();
        Reviewed {
            operation: operation.label(),
            outcome,
            response,
        }
    }

    fn decide(
        &self,
        half: Half,
        request: &AdmissionRequest,
        operation: Operation,
        subject: &Subject,
        certified: bool,
    ) -> Decision {
        let request = inject::Request {
            operation,
            subject,
            object: &request.object,
            old: &request.old_object,
        };
        let parts = self.parts.borrow().clone();
        let options = self.options.within(parts.as_deref());
        let mut decision = match half {
            Half::Workloads | Half::Creations => inject::workload::decide(&request, options),
            Half::Pods | Half::EveryPod | Half::HeldPods => {
                let holds = options.holds;
                let options = Options {
                    every_pod: matches!(half, Half::EveryPod),
                    holds: match half {
                        Half::HeldPods => holds.of_all(),
                        _ => holds,
                    },
                    ..options
                };
                inject::pod::decide(&request, options, parts.as_deref())
            }
        };
        // Another webhook call has already given the advice on a held pod.
        let advises = !matches!(half, Half::HeldPods);
        if advises && !matches!(decision.action, Action::Deny(_)) {
            // A request names its own namespace, and any client may send one. So only the API server is told more
            // than follows from the request alone.
            let known: &dyn Seen = if certified { &*self.known } else { &() };
            let hints = inject::hints(&request, self.options, decision.entries.take(), known);
            decision
                .warnings
                .extend(hints.into_iter().map(Warning::Advice));
            decision.warnings.truncate(MOST_WARNINGS);
        }
        decision
    }
}

/// Reads the review in a body. This function awaits nothing, so no more reviews are decoded at a time than there are threads.
///
/// # Errors
///
/// The answer to a body that is no review: a denial with code 400 where its request has a uid, else an HTTP error.
fn read(half: Half, body: &[u8]) -> Result<AdmissionRequest, Box<Reviewed>> {
    let unreadable = match AdmissionRequest::read(body, half.about()) {
        Ok(request) => return Ok(request),
        Err(Unreadable::Malformed { uid, error }) => {
            let message = format!("the request cannot be read: {error}");
            let response = Response {
                uid,
                status: Some(Status {
                    code: 400,
                    reason: "BadRequest",
                    message,
                    details: None,
                }),
                ..Response::default()
            };
            Reviewed {
                operation: NO_OPERATION,
                outcome: "unreadable",
                response: Reply::from(response).into_response(),
            }
        }
        Err(unreadable) => Refusal::Unreadable(unreadable).into(),
    };
    Err(unreadable.into())
}

/// Returns the address of a request's client, an IPv4 address in IPv6 form as IPv4; the unspecified address where there is no connection, as in a
/// test.
fn address(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(peer)| {
        peer.ip().to_canonical()
    })
}

/// An answered admission request: the labels under which the metrics count it, and the response.
struct Reviewed {
    operation: &'static str,
    outcome: &'static str,
    response: axum::response::Response,
}

impl From<Refusal> for Reviewed {
    fn from(refusal: Refusal) -> Self {
        Self {
            operation: NO_OPERATION,
            outcome: refusal.label(),
            response: refusal.into_response(),
        }
    }
}

/// The webhook of sluice that a request of the API server calls.
#[derive(Debug, Clone, Copy, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
enum Half {
    Workloads,
    Pods,
    EveryPod,
    HeldPods,
    Creations,
}

impl Half {
    fn about(self) -> About {
        match self {
            Self::Workloads | Self::Creations => About::Other,
            Self::Pods | Self::EveryPod | Self::HeldPods => About::Pod,
        }
    }

    fn label(self) -> &'static str {
        self.into()
    }
}

/// Returns a name for a message or the log, cut to 253 characters, the length of a Kubernetes name, and without control characters: the name is not
/// validated yet.
fn quotable(name: &str) -> String {
    const LONGEST: usize = 253; // of a Kubernetes name
    if name.len() <= LONGEST && !name.contains(char::is_control) {
        return name.to_owned();
    }
    name.chars()
        .filter(|char| !char.is_control())
        .take(LONGEST)
        .collect()
}

fn subject(request: &AdmissionRequest) -> Subject {
    let metadata = |key: &str| request.object["metadata"][key].as_str().unwrap_or_default();
    let name = match (
        request.name.as_str(),
        metadata("name"),
        metadata("generateName"),
    ) {
        ("", "", "") => String::new(),
        ("", "", prefix) => format!("{prefix}*"),
        ("", name, _) | (name, ..) => name.to_owned(),
    };
    Subject {
        group: request.kind.group.clone(),
        kind: quotable(&request.kind.kind),
        namespace: quotable(&request.namespace),
        name: quotable(&name),
    }
}

fn respond(uid: String, decision: Decision, subject: &Subject) -> Response {
    let outcome = decision.action.label();
    let mut response = Response {
        uid,
        allowed: true,
        warnings: decision
            .warnings
            .iter()
            .map(|warning| header(&warning.sentence(subject)))
            .collect(),
        audit_annotations: [("outcome", outcome)].into(),
        ..Response::default()
    };
    match decision.action {
        Action::Skip(_) => {}
        Action::Patch(_, patch) => {
            response.patch = patch;
        }
        Action::Deny(deny) => {
            let (code, reason) = deny.status();
            response.allowed = false;
            response.status = Some(Status {
                code,
                reason,
                message: deny.sentence(subject),
                details: deny.retry_after().map(|seconds| RetryDetails {
                    retry_after_seconds: seconds,
                }),
            });
        }
    }
    response
}

/// Returns a text for a `Warning` header, cut to 256 characters and with blanks in place of control characters: the API server drops a header with
/// these, and cuts a long one.
fn header(text: &str) -> String {
    const LONGEST: usize = 256;
    let clean = text
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char });
    clean.take(LONGEST).collect()
}
