//! Reads `timeout`, `on-timeout` and `stable` of an item: how long the gate waits for it, and how long it has to stay satisfied.

use super::super::piece::Piece;
use super::super::problem::{Flaw, Problem};
use super::super::{duration, terms};
use super::fields::Fields;
use crate::dependency::Patience;
use crate::terms::OnTimeout;
use std::time::Duration;
use strum::VariantNames;

impl Fields<'_> {
    /// Reads `timeout` and `on-timeout` of an item; `None` where it has neither. `on-timeout` without `timeout` is an error.
    pub(super) fn patience(&self) -> Result<Option<Patience>, Flaw> {
        let then = match self.find("on-timeout") {
            None => None,
            Some(field) => {
                let word = field.text("wait, fail or proceed")?;
                Some(terms::word(word, OnTimeout::VARIANTS)?)
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

    /// Reads `stable` of an item, which may be zero; `None` where the item does not have it.
    pub(super) fn stable(&self) -> Result<Option<Duration>, Flaw> {
        self.duration("stable", duration::duration_or_zero)
    }

    fn duration(
        &self,
        key: &'static str,
        read: impl Fn(Piece<'_>) -> Result<Duration, Flaw>,
    ) -> Result<Option<Duration>, Flaw> {
        let Some(field) = self.find(key) else {
            return Ok(None);
        };
        let text = field.text("a duration such as 90s, 10m or 1h30m")?;
        read(text).map(Some)
    }
}
