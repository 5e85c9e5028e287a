//! Makes up the values and the helpers without which a chart does not render.

use super::{Copy, copy, needs, stubs};
use anyhow::{Result, bail};
use serde_json::Value;
use std::fs;
use std::sync::Mutex;

/// The most tries to render a chart with its own values. Each try adds a made-up value, or leaves out a template.
const TRIES: usize = 24;

impl Copy {
    /// Renders the chart with its own values. Makes up the values and helpers that the chart needs for that, and leaves out the templates that
    /// do not render. Then makes the second copy, without the objects of the sub-charts. Fails where the chart still does not render.
    pub(in crate::suggest) fn render_first(&mut self, own: &Value) -> Result<()> {
        self.complete(own)?;
        copy::tree(&self.chart, &self.short)?;
        copy::shorten(&self.short)
    }

    fn complete(&mut self, own: &Value) -> Result<()> {
        self.own = own.clone();
        if !self.missing.is_empty() {
            // A template may use such a helper only with a switch, so all of them are made up at once.
            self.stubs.write(&self.chart, "")?;
        }
        let mut last = String::new();
        for _ in 0..TRIES {
            let Err(error) = self.helm(&[])? else {
                return Ok(());
            };
            // The former answers do not hold for the chart with one value more or one template less.
            self.answers = Mutex::default();
            if error.contains(stubs::NO_HELPER) && error != last {
                self.stubs.write(&self.chart, &error)?;
                last = error;
                continue;
            }
            let fault = needs::of(&error);
            let mut more = fault.values(&self.chart, own, &self.needed);
            if more.is_empty() {
                more = fault.values_of_helpers(&self.chart, own, &self.needed);
            }
            if !more.is_empty() {
                self.needed.extend(more);
            } else if let Some(template) = fault.template.filter(|it| self.chart.join(it).is_file())
            {
                fs::remove_file(self.chart.join(&template))?;
                self.broken.push((template, needs::shown(&error)));
            } else {
                bail!("{}", needs::shown(&error));
            }
            last = error;
        }
        bail!("{}", needs::shown(&last))
    }
}
