//! The health rule of one kind: three CEL expressions, evaluated in Flux's order.

use super::expression::{Broken, CelExpression};
use super::{broken, unwritten};
use crate::judged::{Judged, Reason};
use crate::kstatus::Status;
use crate::path::get;
use crate::profile;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::OnceLock;

/// The three CEL expressions of a health rule, as Flux has them.
#[derive(Debug)]
pub struct Rule {
    current: Lazy,
    in_progress: Option<Lazy>,
    failed: Option<Lazy>,
}

/// The texts of a health rule's three expressions.
#[cfg(test)]
pub(super) type Texts<'r> = (&'r str, Option<&'r str>, Option<&'r str>);

/// A CEL expression that is compiled on first use: a command looks at a few of the library's hundreds of rules.
#[derive(Debug)]
struct Lazy {
    text: Cow<'static, str>,
    compiled: OnceLock<Result<CelExpression, Broken>>,
}

impl Lazy {
    fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            text: text.into(),
            compiled: OnceLock::new(),
        }
    }

    fn compiled(&self) -> Result<&CelExpression, Broken> {
        let compiled = self
            .compiled
            .get_or_init(|| CelExpression::compile(&self.text));
        compiled.as_ref().map_err(Broken::clone)
    }

    fn holds(&self, object: &Value) -> Result<bool, String> {
        self.compiled()
            .map_err(|broken| broken.to_string())?
            .holds(object)
    }
}

impl Rule {
    /// A rule from the texts of its expressions, which are compiled when they are first needed.
    pub fn new(current: &str, in_progress: Option<&str>, failed: Option<&str>) -> Self {
        let owned = |text: &str| Lazy::new(text.to_owned());
        Self {
            current: owned(current),
            in_progress: in_progress.map(owned),
            failed: failed.map(owned),
        }
    }

    /// A rule of the built-in library. Its texts are part of the program, so they are not copied.
    pub(super) fn fixed(
        current: &'static str,
        in_progress: Option<&'static str>,
        failed: Option<&'static str>,
    ) -> Self {
        Self {
            current: Lazy::new(current),
            in_progress: in_progress.map(Lazy::new),
            failed: failed.map(Lazy::new),
        }
    }

    /// Compiles all expressions, and returns the first field and text that are broken.
    pub fn check(&self) -> Result<(), (&'static str, Broken)> {
        for (name, lazy) in [
            ("inProgress", self.in_progress.as_ref()),
            ("failed", self.failed.as_ref()),
            ("current", Some(&self.current)),
        ] {
            if let Some(lazy) = lazy {
                lazy.compiled().map_err(|broken| (name, broken))?;
            }
        }
        Ok(())
    }

    /// Whether one of the rule's expressions reads a generation of any part of the object: its text has the word in it.
    pub(super) fn reads_a_generation(&self) -> bool {
        let more = [&self.in_progress, &self.failed];
        let all = more.into_iter().flatten().chain([&self.current]);
        all.into_iter()
            .any(|lazy| lazy.text.to_ascii_lowercase().contains("generation"))
    }

    /// The texts of the rule's `current`, `inProgress` and `failed`.
    #[cfg(test)]
    pub(super) fn texts(&self) -> Texts<'_> {
        (
            &self.current.text,
            self.in_progress.as_ref().map(|lazy| &*lazy.text),
            self.failed.as_ref().map(|lazy| &*lazy.text),
        )
    }

    /// The status of an object, as Flux's evaluator gives it: in progress while its generations differ, else by the first expression that is true,
    /// else in progress. The error is the sentence for an expression that cannot be evaluated, for which Flux says `Unknown`.
    pub fn evaluate(&self, object: &Value) -> Result<Status, String> {
        // Numbers of another type are left to the expressions, as in Flux.
        let int = |path: &[&str]| get(object, path).and_then(Value::as_i64);
        let generation = int(&["metadata", "generation"]);
        let observed = int(&["status", "observedGeneration"]);
        if let (Some(generation), Some(observed)) = (generation, observed)
            && generation != observed
        {
            return Ok(Status::InProgress);
        }
        let holds = |lazy: Option<&Lazy>| lazy.map_or(Ok(false), |lazy| lazy.holds(object));
        if holds(self.in_progress.as_ref())? {
            return Ok(Status::InProgress);
        }
        if holds(self.failed.as_ref())? {
            return Ok(Status::Failed);
        }
        Ok(if self.current.holds(object)? {
            Status::Current
        } else {
            Status::InProgress
        })
    }

    /// Judges an object by the rule. Each object is new for a moment, so an object without a status waits where the rule cannot be
    /// evaluated without one; unless its kind is known to have none (`statusless`).
    pub(super) fn judge(&self, object: &Value, statusless: bool) -> Judged {
        match self.evaluate(object) {
            Ok(status) => Self::told(object, status),
            Err(why) if !statusless && profile::has_no_status(object) => {
                let sentence = Reason::NoStatusYet.sentence();
                unwritten(format!(
                    "{sentence} (without one the health rule of its kind says: {why})"
                ))
            }
            Err(why) => broken(why),
        }
    }

    /// The finding that the rule gives `object` this status. Unless the status is current, the message quotes the object's own message, and names the
    /// field that pauses the object.
    pub(super) fn told(object: &Value, status: Status) -> Judged {
        let (reason, says) = match status {
            Status::Current => (Reason::Satisfied, "current"),
            Status::Failed => (Reason::Failed, "failed"),
            _ => (Reason::InProgress, "in progress"),
        };
        let mut message = format!("by the health rule of its kind it is {says}");
        if let Some(told) = profile::told(object, status).filter(|_| status != Status::Current) {
            message.push_str(": ");
            message.push_str(&told);
        }
        if let Some(field) = paused(object).filter(|_| status != Status::Current) {
            message = format!("{message}; it is paused: {field} is true");
        }
        Judged {
            satisfied: status == Status::Current,
            status,
            reason,
            message,
        }
    }
}

/// The path of the field that pauses the object, such as `spec.paused`, so that its controller leaves it as it is; `None` where none is true.
fn paused(object: &Value) -> Option<String> {
    const FIELDS: [&[&str]; 4] = [
        &["spec", "paused"],
        &["spec", "suspend"],
        &["spec", "updateStrategy", "paused"],
        &["spec", "updateStrategy", "rollingUpdate", "paused"],
    ];
    let is_set = |path: &&&[&str]| get(object, path) == Some(&Value::Bool(true));
    FIELDS.iter().find(is_set).map(|path| path.join("."))
}
