//! One entry of a list, and alternatives, each of which is an entry itself.

use super::basis::Judge;
use super::finding::{EntryFinding, Lead};
use super::home::Home;
use super::judgement::Turn;
use super::several::{self, Member};
use super::stable;
use crate::dependency::{Alternatives, Dependency, Reference};
use crate::judged::{Judged, Reason};
use crate::kept;
use crate::kinds::Kind;
use crate::kstatus::Status;

impl Judge<'_> {
    /// Judges an entry with its `stable`, but without its timeout. Returns whether its objects are in another namespace, so that the message
    /// must not be shown; the finding; and when a satisfied entry will have been satisfied for long enough.
    pub(super) fn lasting(&self, entry: &Dependency) -> (bool, EntryFinding, Option<Turn>) {
        let (foreign, EntryFinding { judged, lead }) = self.entry(entry);
        let Some(takes) = entry.stable.filter(|takes| !takes.is_zero()) else {
            return (foreign, EntryFinding { judged, lead }, None);
        };
        // An entry that is held back only because it may change in a moment is not broken, so its time goes on.
        let lasts = judged.satisfied
            || stable::may_be_met(&judged) && self.at_once().entry(entry).1.judged.satisfied;
        let (judged, turn) = self.stable(judged, entry, takes, lasts);
        (foreign, EntryFinding { judged, lead }, turn)
    }

    /// Judges an entry without its `stable` and timeout. Returns whether its objects are in another namespace, so that the message must not be
    /// shown, and the finding.
    fn entry(&self, entry: &Dependency) -> (bool, EntryFinding) {
        match &entry.reference {
            Reference::Object(it) => {
                let named = |home| self.named(it, home, entry);
                let (foreign, mut found) =
                    self.in_its_home(&it.kind, it.namespace.as_deref(), entry, named);
                if found.judged.reason == Reason::NotPermitted && !kept::is_secret(&it.kind) {
                    found.lead = Some(Lead::NoSuchName(it.clone()));
                }
                (foreign, found)
            }
            Reference::Selected(it) => {
                self.in_its_home(&it.kind, it.namespace.as_deref(), entry, |home| {
                    self.selected(it, home, entry)
                })
            }
            Reference::Part(it) => self.part(it, entry),
            // An address is in no namespace, so its message may be shown.
            Reference::Address(it) => (false, self.address(it).into()),
            // Each alternative has a home of its own; `Member::alternative` leaves out the messages from other namespaces.
            Reference::Any(alternatives) => (false, self.any(alternatives, entry)),
        }
    }

    /// Judges the entry of a node rule. The administrator wrote the rule, so the namespace of the DaemonSet need not consent.
    pub(super) fn of_a_node_rule(&self, entry: &Dependency) -> EntryFinding {
        match &entry.reference {
            Reference::Object(it) => {
                let home = Home {
                    namespace: it.namespace.as_deref(),
                    foreign: true,
                };
                self.named(it, home, entry)
            }
            // The grammar of node rules has no other reference.
            Reference::Selected(_)
            | Reference::Part(_)
            | Reference::Any(_)
            | Reference::Address(_) => self.entry(entry).1,
        }
    }

    fn in_its_home<'h>(
        &'h self,
        kind: &Kind,
        written: Option<&'h str>,
        entry: &Dependency,
        judge: impl FnOnce(Home<'h>) -> EntryFinding,
    ) -> (bool, EntryFinding) {
        let home = match self.home(kind, written) {
            Ok(home) => home,
            Err(why) => return (false, self.unread(why, kind, entry.optional).into()),
        };
        // The consent is checked before the target is looked up, so that the answer cannot depend on whether the target exists.
        let refusal = self.consent(kind, home).refusal();
        let found = refusal.map_or_else(|| judge(home), Judged::into);
        (home.foreign, found)
    }

    fn any(&self, alternatives: &Alternatives, entry: &Dependency) -> EntryFinding {
        // All alternatives are judged, so that a change of each wakes the dependent.
        let parts: Vec<Member> = alternatives
            .of
            .iter()
            .map(|alternative| {
                let (foreign, found, _) = self.lasting(alternative);
                Member::alternative(alternative, foreign, found)
            })
            .collect();
        let absent = |part: &Member| part.judged.status == Status::NotFound;
        if entry.optional && parts.iter().all(absent) {
            return self.absent(true, "none of them has been created yet");
        }
        let needed = alternatives.min.map_or(1, |min| min.of(parts.len()));
        several::some(parts, needed)
    }
}
