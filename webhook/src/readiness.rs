//! The conditions under which this replica may be sent requests.
//!
//! Each part of the process creates a named [`Condition`] when it is assembled, and reports on it as long as it runs.
//! `/ready` is green while every condition is met. Create the conditions before the admin port is served: a readiness
//! without conditions is green.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// All conditions of this process's readiness, each met or unmet. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Readiness {
    conditions: Arc<Mutex<ConditionsByName>>,
}

/// The conditions by name: `None` is met, and a text is the reason why the condition is unmet.
type ConditionsByName = BTreeMap<Cow<'static, str>, Option<String>>;

/// A handle with which a part of the process reports whether one named condition of readiness is met. Clones report on one condition.
#[derive(Debug, Clone)]
pub struct Condition {
    name: Cow<'static, str>,
    conditions: Arc<Mutex<ConditionsByName>>,
}

/// An unmet condition and the reason; prints as one line of `/ready`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The name of the unmet condition.
    pub condition: String,
    /// The reason why the condition is unmet, in words for an administrator.
    pub reason: String,
}

impl Readiness {
    /// Adds a condition that is not met yet, for the given reason, and returns the handle that reports on it.
    pub fn condition(
        &self,
        name: impl Into<Cow<'static, str>>,
        reason: impl Into<String>,
    ) -> Condition {
        let condition = Condition {
            name: name.into(),
            conditions: Arc::clone(&self.conditions),
        };
        condition.unmet(reason);
        condition
    }

    /// Returns the unmet conditions, by name; empty when ready.
    pub fn missing(&self) -> Vec<Missing> {
        let describe = |(name, reason): (&Cow<'static, str>, &Option<String>)| {
            let reason = reason.clone()?;
            Some(Missing {
                condition: name.to_string(),
                reason,
            })
        };
        lock(&self.conditions).iter().filter_map(describe).collect()
    }
}

impl Condition {
    /// Reports that the condition of readiness holds.
    pub fn met(&self) {
        lock(&self.conditions).insert(self.name.clone(), None);
    }

    /// Reports that the condition does not hold, and the reason.
    pub fn unmet(&self, reason: impl Into<String>) {
        lock(&self.conditions).insert(self.name.clone(), Some(reason.into()));
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { condition, reason } = self;
        write!(f, "{condition}: {reason}")
    }
}

/// Locks the conditions. A panic cannot leave the map half written, so a poisoned lock is usable.
fn lock(conditions: &Mutex<ConditionsByName>) -> MutexGuard<'_, ConditionsByName> {
    conditions.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(readiness: &Readiness) -> Vec<String> {
        readiness
            .missing()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn is_ready_while_every_condition_is_met() {
        let readiness = Readiness::default();
        let pods = readiness.condition("watch pods", "the first list is not complete");
        let bundle = readiness.condition(String::from("caBundle"), "not seen yet");
        assert_eq!(
            lines(&readiness),
            [
                "caBundle: not seen yet",
                "watch pods: the first list is not complete"
            ]
        );
        pods.met();
        assert_eq!(lines(&readiness), ["caBundle: not seen yet"]);
        bundle.met();
        assert!(readiness.missing().is_empty());
        bundle.clone().unmet("somebody overwrote it");
        assert_eq!(
            lines(&readiness.clone()),
            ["caBundle: somebody overwrote it"]
        );
    }
}
