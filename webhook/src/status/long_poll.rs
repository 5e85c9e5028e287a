//! An open request of a gate: answered at once, or as soon as there is news for the gate.

use super::answer::{PodVerdict, answer};
use super::gate_report::GateReport;
use super::remembered_tokens::Identity;
use super::rounds::Round;
use super::service::Service;
use super::tell::{GatedPod, SETTLE, begins};
use super::unidentified::Unidentified;
use super::wait::{Look, WaitStep, WaitSubject, instant, reason, wait};
use super::wait_registry::{Wait, WaitEntry};
use jiff::Timestamp;
use rules::verdict::Verdict;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use wire::{Answer, Decision};

/// The longest time that a gate's request stays open.
const LONGEST: Duration = Duration::from_secs(300);

/// The time for which a request stays open even if its token ends sooner, and the longest time at a replica that hears nothing of the API server.
/// It is shorter than the pause before the first sign of life, so the head of the response can still send the gate to another replica.
pub(super) const SHORTEST: Duration = Duration::from_secs(15);

/// The word in metrics for a gate that is told at once to wait, because this replica has no place for one more request of its namespace.
const NO_PLACE: &str = "no_place";

/// The query of a gate's request.
#[derive(Debug, Deserialize)]
pub(super) struct Ask {
    /// The digest of the answer that the gate got last; empty for its first question.
    #[serde(default)]
    seen: String,
    /// The longest time, in seconds, for which the gate waits for a response; the service waits for five minutes at most.
    #[serde(default)]
    wait: u64,
    /// The facts that only the gate can tell, from headers.
    #[serde(skip)]
    pub(super) report: GateReport,
}

/// The status service's response to a gate.
pub(super) struct GateReply {
    pub(super) answer: Answer,
    /// Whether the response closes the connection, so that the gate asks another replica next time: this one has not heard of the API server for
    /// long.
    pub(super) elsewhere: bool,
}

/// Keeps the request of a pod open until there is news for its gate, or until its time is over or its place is needed. Returns the answer, and counts
/// it in the metrics.
///
/// # Errors
///
/// [`Unidentified::AnotherPod`]: the pod's name belongs to a pod with another UID by now.
pub(super) fn until_news(
    service: Arc<Service>,
    identity: Identity,
    ask: Ask,
    entry: WaitEntry,
) -> impl Future<Output = Result<GateReply, Unidentified>> {
    let asking = service.tell.metrics.asking();
    // An `async fn` would keep each of its arguments twice while the request is open.
    async move {
        let mut poll = LongPoll::new(&service, &identity, &ask, &entry);
        let (answer, _) = wait(&service, &identity.pod, &mut poll).await;
        drop(asking);
        let answer = answer?;
        if answer.verdict == Decision::Wait && !entry.has_place() {
            service.tell.metrics.refused(NO_PLACE);
        } else {
            service.tell.metrics.answered(answer.verdict);
        }
        let elsewhere = service.is_cut_off();
        Ok(GateReply { answer, elsewhere })
    }
}

/// An open request of a gate.
struct LongPoll<'a> {
    ask: &'a Ask,
    entry: &'a WaitEntry,
    began: Instant,
    /// The moment at which the request is answered even without news.
    deadline: Instant,
}

impl<'a> LongPoll<'a> {
    fn new(service: &Service, identity: &Identity, ask: &'a Ask, entry: &'a WaitEntry) -> Self {
        let began = Instant::now();
        let accepted = instant(identity.expires, service.clock.now()).unwrap_or(began);
        let most = Duration::from_secs(ask.wait).min(LONGEST);
        let latest = (began + most).min(accepted.max(began + SHORTEST));
        Self {
            ask,
            entry,
            began,
            deadline: if entry.has_place() { latest } else { began },
        }
    }

    /// The step after a look at a gate that has to wait: the answer, if it is news for the gate or the request is over; else a rest. Tells the user
    /// the news. `since`: the start of the wait.
    fn waits(
        &mut self,
        look: &Look<'_>,
        verdict: Verdict,
        since: Timestamp,
        round: Option<Arc<Round>>,
    ) -> WaitStep<Result<Answer, Unidentified>> {
        let Look {
            service,
            waiter,
            now,
            settled,
            ..
        } = *look;
        let above = round.as_ref().and_then(|round| round.above());
        let subject = GatedPod { pod: waiter, above };
        let Verdict {
            answer,
            why,
            provisional,
            again,
            ..
        } = verdict;
        let reason = reason(&answer);
        self.entry.waits(Wait { reason, since });
        let news = answer.digest != self.ask.seen && (settled || !provisional);
        // The request of a gate without a place never settles, but its gate was told the same before.
        let lasts = !self.entry.has_place() && answer.digest == self.ask.seen;
        let tell = (!news && (settled || lasts))
            .then(|| service.tell.waiting(&subject, &answer, why.is_late()));
        if service.is_cut_off() {
            self.deadline = self.deadline.min(self.began + SHORTEST);
        }
        if news {
            service.tell.waits(waiter, reason, &answer, since);
        }
        if news || Instant::now() >= self.deadline {
            if self.ask.seen.is_empty() {
                begins(waiter, &answer);
            }
            return WaitStep::Over(Ok(answer));
        }
        let next = [
            (!settled).then_some(self.began + SETTLE),
            again.and_then(|at| instant(at, now)),
            tell.flatten(),
        ];
        let next = next.into_iter().flatten();
        WaitStep::Rest(Some(next.fold(self.deadline, Instant::min)), round)
    }
}

impl WaitSubject for LongPoll<'_> {
    type End = Result<Answer, Unidentified>;

    fn began(&self) -> Instant {
        self.began
    }

    fn look(&mut self, look: &Look<'_>) -> WaitStep<Self::End> {
        let Look {
            service,
            waiter,
            view,
            now,
            settled,
        } = *look;
        let report = &self.ask.report;
        let judged = answer(waiter, &service.rounds, view, report, now, !settled);
        let PodVerdict {
            verdict,
            started,
            was_held,
            round,
        } = match judged {
            Ok(judged) => judged,
            Err(refusal) => return WaitStep::Over(Err(refusal)),
        };
        let above = round.as_ref().and_then(|round| round.above());
        let subject = GatedPod { pod: waiter, above };
        // A gate that its first question lets through has not waited here.
        let since = started.filter(|_| !self.ask.seen.is_empty());
        match verdict.why.decision() {
            Decision::Wait => return self.waits(look, verdict, started.unwrap_or(now), round),
            Decision::Open => {
                let since = since.or(started.filter(|_| was_held));
                let dependent = round.as_ref().and_then(|round| round.dependent());
                service.tell.opened(&subject, &verdict, dependent, since);
            }
            Decision::Refuse => {
                service.tell.refused(&subject, &verdict, since);
                let (reason, since) = (verdict.why.label(), started.unwrap_or(now));
                service.tell.waits(waiter, reason, &verdict.answer, since);
            }
        }
        WaitStep::Over(Ok(verdict.answer))
    }

    /// Returns when the gate has to get its present answer at once: the process drains, or a gate of another namespace needs the place. The next look
    /// then ends the request, and the gate asks again.
    async fn interrupted(&mut self, service: &Service) {
        tokio::select! {
            biased;
            // Both arms are cancel-safe.
            () = service.shutdown.draining() => {}
            () = self.entry.has_to_end() => {}
        }
        self.deadline = Instant::now();
    }
}
