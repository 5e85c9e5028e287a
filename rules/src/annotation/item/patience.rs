//! `timeout`, `on-timeout` and `stable`: for how long an item is waited for, and has to stand.

use super::super::long::{self, Count};
use super::super::problem::{Flaw, Problem};
use super::super::yaml::{Node, Value};
use super::super::{duration, terms};
use super::Fields;
use crate::dependency::{Dependency, Patience};
use std::time::Duration;

impl Fields<'_> {
    /// `timeout` and `on-timeout`.
    pub(super) fn patience(&self) -> Result<Option<Patience>, Flaw> {
        let then = match self.find("on-timeout") {
            None => None,
            Some(field) => {
                let word = field.text("wait, fail or proceed")?;
                Some(terms::on_timeout(&word.content).map_err(|flaw| word.flaw(flaw))?)
            }
        };
        match (
            self.duration("timeout", duration::duration)?,
            self.find("on-timeout"),
        ) {
            (Some(timeout), _) => {
                let then = then.unwrap_or_default();
                Ok(Some(Patience { timeout, then }))
            }
            (None, Some(field)) => Err(Flaw::at(field.at, Problem::IdleOnTimeout)),
            (None, None) => Ok(None),
        }
    }

    /// `stable`; zero says that nothing has to last.
    pub(super) fn stable(&self) -> Result<Option<Duration>, Flaw> {
        self.duration("stable", duration::duration_or_zero)
    }

    fn duration(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<Duration, Flaw>,
    ) -> Result<Option<Duration>, Flaw> {
        let Some(field) = self.find(key) else {
            return Ok(None);
        };
        let text = field.text("a duration such as 90s, 10m or 1h30m")?;
        let duration = read(&text.content).map_err(|flaw| text.flaw(flaw))?;
        Ok(Some(duration))
    }
}

/// An alternative is waited for together with the others, so there is nothing to give up but all of them.
pub(super) fn alternative(node: &Node<'_>, count: &mut Count) -> Result<Dependency, Flaw> {
    let item = long::item(node, count)?;
    let timeout = match &node.value {
        Value::Mapping(pairs) => pairs.iter().map(|(key, _)| key).find(|key| is_timeout(key)),
        _ => None,
    };
    match timeout {
        Some(key) => Err(Flaw::at(key.at, Problem::TimeoutWithinAny)),
        None => Ok(item),
    }
}

fn is_timeout(key: &Node<'_>) -> bool {
    matches!(&key.value, Value::Text(key) if key.content == "timeout")
}
