//! The health rules in force: those of the administrator and those of the library.
//!
//! Verdicts are judged where a gate's request is answered, on a thread of the async runtime. An evaluation is bounded (see
//! [`rules::health`]) but may take milliseconds, so the runtime moves its other work to another thread meanwhile. Remembered
//! results would save nothing: an object is judged when it has changed.

use super::freshness::{LastContact, WallClock};
use arc_swap::ArcSwapOption;
use rules::health::{self, Rules};
use rules::judged::{Judged, Reason};
use rules::kinds;
use rules::kstatus::Status;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Handle, RuntimeFlavor};

/// The sources of the health rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthSources {
    /// Whether the administrator names a ConfigMap with health rules.
    pub administrator: bool,
    /// Whether the built-in library of health rules is used.
    pub builtin: bool,
}

/// The health rules by which this process judges objects.
#[derive(Debug)]
pub struct HealthRules {
    /// The administrator's rules; `None` until their ConfigMap has been read.
    administrator: ArcSwapOption<Rules>,
    builtin: bool,
    heard: Mutex<LastContact>,
}

impl HealthRules {
    pub(super) fn new(sources: HealthSources, wall: WallClock) -> Self {
        let none = (!sources.administrator).then(|| Arc::new(Rules::default()));
        Self {
            administrator: ArcSwapOption::new(none),
            builtin: sources.builtin,
            heard: LastContact::none(wall).into(),
        }
    }

    /// Judges an object by the rule for its kind: that of the administrator, else that of the library. `None` if there is no rule. Until the
    /// administrator's rules have been read, every custom resource is unsatisfied. `statusless`: the kind is known to have no status.
    pub fn judge(&self, object: &Value, statusless: bool) -> Option<Judged> {
        let Some(administrator) = &*self.administrator.load() else {
            return is_custom(object).then(unread);
        };
        let judged = administrator.concerns(object) || self.builtin && health::is_builtin(object);
        let judge = || health::judge(administrator, self.builtin, object, statusless);
        judged.then(|| off_the_runtime(judge))?
    }

    /// Whether the health rule for the object's kind reads a generation, so that the rule tells by itself whether a status is new. `false`
    /// without a rule, and until the administrator's rules have been read.
    pub fn reads_a_generation(&self, object: &Value) -> bool {
        let administrator = self.administrator.load();
        administrator
            .as_ref()
            .is_some_and(|it| health::reads_a_generation(it, self.builtin, object))
    }

    /// Replaces the health rules of the administrator's ConfigMap. Wakes no view: the caller does.
    pub fn replace(&self, administrator: Rules) {
        self.administrator.store(Some(Arc::new(administrator)));
    }

    /// Notes a sign of life of the API server about the ConfigMap of the health rules. Returns whether the rules were
    /// no longer believed.
    pub(crate) fn heard(&self) -> bool {
        self.lock().note()
    }

    /// The last sign that the API server gave of the ConfigMap with the administrator's health rules.
    pub(crate) fn last_contact(&self) -> LastContact {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, LastContact> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_custom(object: &Value) -> bool {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    kinds::builtin(group, object["kind"].as_str().unwrap_or_default()).is_none()
}

/// The finding about an object before the administrator's health rules have been read.
fn unread() -> Judged {
    Judged {
        satisfied: false,
        status: Status::Unknown,
        reason: Reason::Syncing,
        message: "sluice is reading the administrator's health rules".to_owned(),
    }
}

/// Runs `evaluate` so that the runtime moves its other work to another thread. Outside of the runtime, as in a test, and on a runtime
/// with a single thread there is no work to move.
fn off_the_runtime<T>(evaluate: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(evaluate),
        _ => evaluate(),
    }
}

#[cfg(test)]
mod tests;
