//! The health rules that count at the moment: the administrator's and the library's.
//!
//! Verdicts are judged where a gate's request is answered, on a thread of the async runtime. An evaluation is bounded
//! (see [`rules::health`]) but may take milliseconds, so the runtime is told to move its other work elsewhere for as
//! long. Remembering results instead would save nothing: an object is judged when it has changed.

use super::Heard;
use arc_swap::ArcSwapOption;
use rules::health::{self, Rules};
use rules::judged::{Judged, Reason};
use rules::kinds;
use rules::kstatus::Status;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Where the rules come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthSources {
    /// Whether a ConfigMap of the administrator is named.
    pub administrator: bool,
    /// Whether the library counts.
    pub builtin: bool,
}

/// The rules that count at the moment.
#[derive(Debug)]
pub struct HealthRules {
    /// `None` until the ConfigMap that is named has been read.
    administrator: ArcSwapOption<Rules>,
    builtin: bool,
    heard: Mutex<Heard>,
}

impl HealthRules {
    pub(super) fn new(sources: HealthSources) -> Self {
        let none = (!sources.administrator).then(|| Arc::new(Rules::default()));
        Self {
            administrator: ArcSwapOption::new(none),
            builtin: sources.builtin,
            heard: Mutex::default(),
        }
    }

    /// What the rule for the object's kind says: the administrator's, else the library's.
    pub fn judge(&self, object: &Value, statusless: bool) -> Option<Judged> {
        let Some(administrator) = &*self.administrator.load() else {
            return is_custom(object).then(unread);
        };
        let judged = administrator.concerns(object) || self.builtin && health::is_builtin(object);
        let judge = || health::judge(administrator, self.builtin, object, statusless);
        judged.then(|| off_the_runtime(judge))?
    }

    /// Whether that rule reads a generation.
    pub fn reads_a_generation(&self, object: &Value) -> bool {
        let administrator = self.administrator.load();
        administrator
            .as_ref()
            .is_some_and(|it| health::reads_a_generation(it, self.builtin, object))
    }

    /// Puts what the administrator's ConfigMap says in the place of what it said before.
    pub fn replace(&self, administrator: Rules) {
        self.administrator.store(Some(Arc::new(administrator)));
    }

    /// The API server gave a sign of the ConfigMap. Returns whether the rules were no longer believed.
    pub(crate) fn heard(&self) -> bool {
        self.lock().note()
    }

    /// When it last did.
    pub(crate) fn last_heard(&self) -> Heard {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_custom(object: &Value) -> bool {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    kinds::builtin(group, object["kind"].as_str().unwrap_or_default()).is_none()
}

/// The moment between the start and the first reading.
fn unread() -> Judged {
    Judged {
        satisfied: false,
        status: Status::Unknown,
        reason: Reason::Syncing,
        message: "sluice is reading the administrator's health rules".to_owned(),
    }
}

/// Outside of the runtime (in a test), and on one with a single thread, there is nothing to move.
fn off_the_runtime<T>(evaluate: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(evaluate),
        _ => evaluate(),
    }
}

#[cfg(test)]
mod tests;
