//! Renders a copy of a chart again and again: with other values, and with the proposed lists in it.

mod copy;
mod first_render;
mod helm;
mod needs;
mod refused;
mod stubs;

pub(super) use needs::MADE_UP;
pub(super) use stubs::Stubs;

use super::budget::{RenderBudget, RenderShare};
use super::object::ObjectList;
use super::texts::value_at;
use anyhow::{Context, Result};
pub(super) use copy::ChartNames;
use copy::Missing;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The number of renders that run at the same time.
pub(super) const AT_ONCE: usize = 4;

/// The most tries to render one set of values. Each try adds made-up values.
const TRIES_OF_A_SET: usize = 4;

/// A set of values that differ from the chart's own, each in the form `PATH=VALUE` that `--set` takes.
pub(super) type Values = Vec<String>;

/// The answer of Helm for a set of values: the objects, or Helm's error. `None` before Helm has answered.
type Answer = Arc<Mutex<Option<Result<ObjectList, String>>>>;

/// A copy of a chart in a temporary folder.
#[derive(Debug)]
pub(super) struct Copy {
    root: PathBuf,
    chart: PathBuf,
    /// The folder of a second copy, without the objects of the sub-charts. It renders faster, and lists in the chart's own templates are tried
    /// in it.
    short: PathBuf,
    /// The declared sub-charts that no folder holds, so they are not rendered.
    pub(super) missing: Vec<String>,
    /// The made-up values that the chart needs in order to render.
    pub(super) needed: Values,
    /// The templates that do not render, each with Helm's error. The copy does not have them.
    pub(super) broken: Vec<(PathBuf, String)>,
    /// The made-up helpers, in place of helpers that templates use and no chart at hand defines.
    pub(super) stubs: Stubs,
    /// The options of Helm with the user's values.
    given: Vec<String>,
    /// The chart's own values.
    own: Value,
    /// The sets of values that were rendered, each with all values with which it renders, the made-up ones included; `None` for a set that does
    /// not render.
    completed: BTreeMap<Values, Option<Values>>,
    /// The number of renders of the chart so far.
    renders: AtomicUsize,
    budget: RenderBudget,
    /// The states of the copy so far. A state holds the texts of the files that differ from the chart's own.
    states: Vec<BTreeMap<PathBuf, String>>,
    /// The number of the present state.
    state: usize,
    /// The answers of Helm, by the number of the state and the values.
    answers: Mutex<BTreeMap<(usize, Values), Answer>>,
}

impl Copy {
    /// Copies a chart into a folder for temporary files, which is emptied before and goes with the value, and takes the sub-charts that it lacks from
    /// the folders around it. `given` are the options of Helm with the user's values. Renders nothing yet.
    pub(super) fn of(folder: &Path, given: Vec<String>, budget: RenderBudget) -> Result<Self> {
        let root = std::env::temp_dir().join(format!("kubectl-sluice-{}", std::process::id()));
        let chart = root.join("chart");
        let short = root.join("short");
        let mut copy = Self {
            root,
            chart,
            short,
            missing: Vec::new(),
            needed: Values::new(),
            broken: Vec::new(),
            stubs: Stubs::default(),
            given,
            own: Value::Null,
            completed: BTreeMap::new(),
            renders: AtomicUsize::new(0),
            budget,
            states: vec![BTreeMap::new()],
            state: 0,
            answers: Mutex::default(),
        };
        let _ = fs::remove_dir_all(&copy.root);
        copy::tree(folder, &copy.chart)?;
        let Missing(missing) = copy::complete(folder, &copy.chart, 0)?;
        copy.missing = missing;
        Ok(copy)
    }

    /// The names of the chart and of its sub-charts.
    pub(super) fn names(&self) -> ChartNames {
        copy::names(&self.chart, &self.missing)
    }

    /// Writes a file of the copy, so that further renders have this text. `own` is the chart's own text of the file.
    pub(super) fn put(&mut self, below: &Path, text: &str, own: &str) -> Result<()> {
        for path in [self.chart.join(below), self.short.join(below)] {
            copy::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let mut edited = self.states[self.state].clone();
        if text == own {
            edited.remove(below);
        } else {
            edited.insert(below.to_owned(), text.to_owned());
        }
        let known = self.states.iter().position(|it| *it == edited);
        self.state = known.unwrap_or(self.states.len());
        if known.is_none() {
            self.states.push(edited);
        }
        Ok(())
    }

    /// Takes a value, in the form `PATH=VALUE`, with which the chart is always rendered from now on.
    pub(super) fn need(&mut self, pair: String) {
        self.needed.push(pair);
        self.answers = Mutex::default();
        self.completed.clear();
    }

    /// Renders the chart with each of several sets of values; `None` for a set with which the chart does not render. The answer is shorter
    /// than `sets` once the renders of `share` are spent.
    pub(super) fn render_all(
        &mut self,
        sets: &[Values],
        share: RenderShare,
    ) -> Vec<Option<ObjectList>> {
        let limit = self.budget.limit(share);
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

    /// Renders the chart with a set of values, and with made-up values that the set also needs: a database outside of the chart needs a
    /// password. Returns the objects and all these values; `None` where the chart does not render.
    fn rendered(&self, set: &Values) -> Option<(ObjectList, Values)> {
        match self.completed.get(set) {
            Some(known) => self.tried(known.clone()?),
            None => self
                .tried(set.clone())
                .or_else(|| self.tried(self.as_text(set)?)),
        }
    }

    /// A set with a made-up text in place of `true`, where the set has one value that the chart does not define: the value may be a text,
    /// and no flag. `None` for any other set.
    fn as_text(&self, set: &[String]) -> Option<Values> {
        let [pair] = set else { return None };
        let path = pair.strip_suffix("=true")?;
        let own = value_at(&self.own, path);
        let is_absent = own.is_none_or(Value::is_null);
        is_absent.then(|| vec![format!("{path}={MADE_UP}")])
    }

    fn tried(&self, mut values: Values) -> Option<(ObjectList, Values)> {
        for _ in 0..TRIES_OF_A_SET {
            let error = match self.helm(&values).ok()? {
                Ok(objects) => return Some((objects, values)),
                Err(error) => error,
            };
            let mut more = needs::of(&error).values(&self.chart, &self.own, &values);
            // A made-up value never replaces a value of the set.
            let path = |it: &String| it.split('=').next().map(str::to_owned);
            more.retain(|it| values.iter().all(|own| path(own) != path(it)));
            if more.is_empty() {
                more.extend(refused::further(&error, &self.chart, &self.own, &values));
            }
            if more.is_empty() {
                return None;
            }
            values.extend(more);
        }
        None
    }

    /// The template that is no YAML with a set of values, below the chart's folder; `None` where the set renders, or fails in another way.
    pub(super) fn without_yaml(&self, set: &Values) -> Option<PathBuf> {
        let fault = needs::of(&self.helm(set).ok()?.err()?);
        fault.template.filter(|_| fault.is_no_yaml)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // A folder of temporary files that stays behind does no harm.
        let _ = fs::remove_dir_all(&self.root);
    }
}
