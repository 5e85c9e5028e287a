//! A copy of a chart, which is rendered again and again: with other values, and with the proposed lists.

mod copy;
mod needs;
mod stubs;

pub(super) use needs::MADE_UP;
pub(super) use stubs::Stubs;

use super::object::ChartObject;
use crate::manifest::Entries;
use anyhow::{Context, Result, bail};
use copy::Missing;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The comment that Helm prints before the objects of a template.
const SOURCE: &str = "# Source: ";
/// The most tries of a chart that does not render, each with one value more or one template less.
const TRIES: usize = 24;

/// After this many renders no further set of values is tried. What is tried is a matter of counts, not of the clock, so that a busy
/// machine proposes the same.
pub(super) const FOR_SETS: usize = 80;
/// After this many renders no further set of two switches is tried.
pub(super) const FOR_PAIRS: usize = 110;
/// After this many renders no further set is tried whose addresses are followed.
pub(super) const FOR_FOLLOWED: usize = 140;
/// After this many renders no further list is tried, and a list that was not tried is not proposed.
pub(super) const IN_ALL: usize = 180;

/// The number of sets of values that are rendered at once.
pub(super) const AT_ONCE: usize = 4;

/// The most tries of a set of values that does not render, each with one value more.
const TRIES_OF_A_SET: usize = 4;

/// The release that charts are rendered as: a name that is part of no other.
pub(super) const RELEASE: &str = "zqrelease";
pub(super) const NAMESPACE: &str = "zqnamespace";

/// A set of values beside the chart's own, as `--set` has them.
pub(super) type Values = Vec<String>;

/// A copy of a chart in a temporary folder.
#[derive(Debug)]
pub(super) struct Copy {
    root: PathBuf,
    chart: PathBuf,
    /// The declared sub-charts that are in no folder, so they are not rendered.
    pub(super) missing: Vec<String>,
    /// The made-up values without which the chart does not render.
    pub(super) needed: Values,
    /// The templates that do not render, each with the error; they are left out.
    pub(super) broken: Vec<(PathBuf, String)>,
    /// The helpers that no chart has, so they are made up.
    pub(super) stubs: Stubs,
    /// The options with the user's values.
    given: Vec<String>,
    /// The chart's own values.
    own: Value,
    /// The sets that were rendered, with the values that each needs besides; `None` for a set that does not render.
    completed: BTreeMap<Values, Option<Values>>,
    /// How often Helm has rendered it.
    renders: AtomicUsize,
}

impl Copy {
    /// Copies a chart, and takes the sub-charts that it lacks from the folders around it.
    pub(super) fn of(folder: &Path, given: Vec<String>) -> Result<Self> {
        let root = std::env::temp_dir().join(format!("kubectl-sluice-{}", std::process::id()));
        let chart = root.join("chart");
        let mut copy = Self {
            root,
            chart,
            missing: Vec::new(),
            needed: Values::new(),
            broken: Vec::new(),
            stubs: Stubs::default(),
            given,
            own: Value::Null,
            completed: BTreeMap::new(),
            renders: AtomicUsize::new(0),
        };
        let _ = fs::remove_dir_all(&copy.root);
        copy::tree(folder, &copy.chart)?;
        let Missing(missing) = copy::complete(folder, &copy.chart, 0)?;
        copy.missing = missing;
        Ok(copy)
    }

    /// Writes a file of the copy.
    pub(super) fn put(&self, below: &Path, text: &str) -> Result<()> {
        let path = self.chart.join(below);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Renders the chart with its own values, and finds the values that must be made up for that.
    pub(super) fn render_first(&mut self, own: &Value) -> Result<Vec<ChartObject>> {
        self.own = own.clone();
        if !self.missing.is_empty() {
            // A switch may bring the first use of such a helper in sight.
            self.stubs.write(&self.chart, "")?;
        }
        let mut last = String::new();
        for _ in 0..TRIES {
            let output = self.helm(RELEASE, &[])?;
            if output.status.success() {
                return Ok(objects(&output.stdout));
            }
            let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            if error.contains(stubs::NO_HELPER) && error != last {
                self.stubs.write(&self.chart, &error)?;
                last = error;
                continue;
            }
            let fault = needs::of(&error);
            let more = fault.values(&self.chart, own, &self.needed);
            if !more.is_empty() && error != last {
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

    /// Renders the chart with each of several sets of values; `None` for a set with which it does not render. The answer is
    /// shorter than `sets` once the chart has been rendered `limit` times in all.
    pub(super) fn render_all(
        &mut self,
        sets: &[Values],
        limit: usize,
    ) -> Vec<Option<Vec<ChartObject>>> {
        let mut all = Vec::new();
        for some in sets.chunks(AT_ONCE) {
            if self.renders.load(Ordering::Relaxed) >= limit {
                break;
            }
            let this = &*self;
            let found: Vec<_> = std::thread::scope(|scope| {
                let renders = some
                    .iter()
                    .map(|set| scope.spawn(move || this.rendered(set)));
                let renders: Vec<_> = renders.collect();
                let ended = renders.into_iter().map(|it| it.join().ok().flatten());
                ended.collect()
            });
            for (set, found) in some.iter().zip(found) {
                let (objects, values) = found.unzip();
                self.completed.entry(set.clone()).or_insert(values);
                all.push(objects);
            }
        }
        all
    }

    /// Renders the chart with a set of values, and with the values that this set needs besides: a database outside of the chart has
    /// to have a password.
    fn rendered(&self, set: &Values) -> Option<(Vec<ChartObject>, Values)> {
        match self.completed.get(set) {
            Some(known) => self.tried(known.clone()?),
            None => self
                .tried(set.clone())
                .or_else(|| self.tried(self.as_text(set)?)),
        }
    }

    /// A set of one value that the chart does not have, which need not be a switch.
    fn as_text(&self, set: &[String]) -> Option<Values> {
        let [pair] = set else { return None };
        let path = pair.strip_suffix("=true")?;
        let mut keys = path.split('.');
        let own = keys.try_fold(&self.own, |value, key| value.get(key));
        let is_absent = own.is_none_or(Value::is_null);
        is_absent.then(|| vec![format!("{path}={MADE_UP}")])
    }

    fn tried(&self, mut values: Values) -> Option<(Vec<ChartObject>, Values)> {
        for _ in 0..TRIES_OF_A_SET {
            let output = self.helm(RELEASE, &values).ok()?;
            if output.status.success() {
                return Some((objects(&output.stdout), values));
            }
            let error = String::from_utf8_lossy(&output.stderr);
            let mut more = needs::of(error.trim()).values(&self.chart, &self.own, &values);
            // A value of the set itself stays.
            let path = |it: &String| it.split('=').next().map(str::to_owned);
            more.retain(|it| values.iter().all(|own| path(own) != path(it)));
            if more.is_empty() {
                return None;
            }
            values.extend(more);
        }
        None
    }

    fn helm(&self, release: &str, values: &[String]) -> Result<Output> {
        self.renders.fetch_add(1, Ordering::Relaxed);
        let mut helm = Command::new("helm");
        helm.arg("template").arg(release).arg(&self.chart);
        helm.args(["--namespace", NAMESPACE]).args(&self.given);
        for pair in self.needed.iter().chain(values) {
            helm.args(["--set", pair]);
        }
        helm.output().context("there is no helm on the PATH")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // A folder of temporary files that stays does no harm.
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// The objects of what Helm prints.
fn objects(text: &[u8]) -> Vec<ChartObject> {
    let whole = String::from_utf8_lossy(text);
    let entries = Entries::new(whole.as_bytes()).filter_map(Result::ok);
    entries
        .map(|entry| {
            let head = &whole[..entry.origin.at];
            let source = head
                .rfind(SOURCE)
                .map_or("", |at| &head[at + SOURCE.len()..]);
            let source = source.lines().next().unwrap_or_default();
            // The first folder is called as the chart is.
            let source = source.split_once('/').map_or("", |(_, below)| below);
            ChartObject {
                source: source.into(),
                value: entry.object,
            }
        })
        .collect()
}
