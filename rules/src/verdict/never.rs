//! Dependencies that never come, and what to do about them: in the words of [`advice`], which says the same before it is too late.
//!
//! Nothing here decides; it finds the words. They stay within the dependent's namespace, as every message does.

use super::edge::Judge;
use crate::advice::{self, Advice, Target};
use crate::installer;
use crate::judged::{Judged, Reason, not_found, unavailable, unmet};
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::lookup::Unavailable;
use crate::scope::Scope;
use jiff::SignedDuration;
use serde_json::Value;

/// So long after the dependent was made, what its installer makes at once is there.
pub const MISSING_AFTER: SignedDuration = SignedDuration::from_secs(6);

impl Judge<'_> {
    /// What is not there. Nobody can tell an installer that is about to make it from one that never does, because it waits for
    /// the dependent; after a while that is worth a word.
    pub(super) fn absent(&self, optional: bool, what: &str) -> Judged {
        if optional {
            let coming = self.may_yet_come(what);
            return coming.unwrap_or_else(|| not_found(true, ""));
        }
        if !self.is_overdue() {
            return not_found(false, what);
        }
        let told = format!(
            "{what}; it may be a later hook or sync wave: if the installer waits for this workload, it never makes it"
        );
        not_found(false, &told)
    }

    /// What is found of something that is not there and need not be, while more of the dependent's release may be on its way.
    pub(super) fn may_yet_come(&self, what: &str) -> Option<Judged> {
        let scope = self.dependent.scope.as_ref().filter(|_| !self.at_once)?;
        let quiet = match self.returned() {
            Ok(began) => self.quiet_at(began, Some(scope)),
            Err(unknown) => return Some(unknown),
        };
        let message = || format!("{what}; it may be until {quiet}");
        (!self.reached(quiet)).then(|| unmet(Status::NotFound, Reason::Settling, message()))
    }

    /// What is found of a kind that cannot be looked at: one that is not served has no objects.
    pub(super) fn unread(&self, why: Unavailable, kind: &Kind, optional: bool) -> Judged {
        if optional && why == Unavailable::NotServed {
            return self.absent(true, &format!("the API server serves no kind {kind} yet"));
        }
        unavailable(why, kind, false)
    }

    /// Whether the dependent is of an installer that would have made by now what it makes at once.
    fn is_overdue(&self) -> bool {
        let installed =
            self.dependent.scope.is_some() || installer::is_addressed(&self.dependent.as_written());
        let made = self.dependent.created.filter(|_| installed);
        made.is_some_and(|made| self.reached(made + MISSING_AFTER))
    }

    /// Says of an object that is there, and that only its installer can mend, why the installer never does.
    pub(super) fn told_if_late(&self, name: String, object: &Value, mut judged: Judged) -> Judged {
        let only_by_installer = matches!(
            judged.reason,
            Reason::NotFresh | Reason::OtherRevision | Reason::JobFailed | Reason::FailedForGood
        );
        if judged.satisfied || !only_by_installer {
            return judged;
        }
        let own = self.dependent.scope.as_ref();
        let target = Target {
            object: object.clone(),
            same_release: own
                .zip(Scope::of(object))
                .map(|(own, it)| own.is_of_release(&it)),
        };
        let late = advice::too_late(&self.dependent.as_written(), name, &target);
        // It has been made before, so this is no reason why it does not come.
        if let Some(late) = late.filter(|it| !matches!(it, Advice::NeverMade { .. })) {
            judged.message = format!("{}; {late}", judged.message);
        }
        judged
    }
}

/// What to say of a cycle, by the names on its way.
pub(super) fn of_cycle(path: &[String]) -> String {
    if let [_, service, _] = path
        && let Some(name) = service.strip_prefix("Service/")
    {
        return Advice::OwnService(name.to_owned()).to_string();
    }
    format!("{}; take one entry out of a list", path.join(" -> "))
}
