//! Renders a copy of a chart again and again: with other values, and with the proposed lists in it.

mod copy;
mod needs;
mod stubs;

pub(super) use needs::MADE_UP;
pub(super) use stubs::Stubs;

use super::budget::{RenderBudget, RenderShare};
use super::object::{ChartObject, ObjectList};
use super::release::{NAMESPACE, RELEASE, RELEASE_NAME};
use super::texts::value_at;
use crate::manifest::Entries;
use anyhow::{Context, Result, bail};
pub(super) use copy::ChartNames;
use copy::Missing;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The comment that Helm prints before each object, with the path of its template.
const SOURCE: &str = "# Source: ";
/// The most tries to render a chart with its own values. Each try adds a made-up value, or leaves out a template.
const TRIES: usize = 24;

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
    /// The copy without the objects of the sub-charts, which renders faster: lists in the chart's own templates are tried in it.
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
    /// The sets of values that were rendered, each with the made-up values that the set also needs; `None` for a set that does not render.
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
    /// Copies a chart, and takes the sub-charts that it lacks from the folders around it. `given` are the options of Helm with the user's
    /// values.
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

    /// Writes a file of the copy. `own` is the chart's own text of the file.
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

    /// Renders the chart with its own values. Makes up the values and helpers that the chart needs for that, and leaves out the templates
    /// that do not render.
    pub(super) fn render_first(&mut self, own: &Value) -> Result<()> {
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

    /// Renders the chart with a set of values, and with the values that the set also needs: a database outside of the chart needs a
    /// password.
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

    /// Renders the chart, or returns the former answer where Helm has rendered the same texts with the same values. The inner error is
    /// Helm's.
    fn helm(&self, values: &[String]) -> Result<Result<ObjectList, String>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = Arc::clone(answers.entry((self.state, question(values))).or_default());
        drop(answers);
        let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*answer {
            return Ok(known.clone());
        }
        self.renders.fetch_add(1, Ordering::Relaxed);
        let release = values
            .iter()
            .find_map(|it| release_of(it))
            .unwrap_or(RELEASE);
        let mut helm = Command::new("helm");
        // Helm lives for a tenth of a second, and collects less garbage in a quarter less time.
        helm.env("GOGC", "400");
        let mut edited = self.states[self.state].keys();
        let is_short = self.state != 0 && edited.all(|it| it.starts_with("templates"));
        let chart = if is_short { &self.short } else { &self.chart };
        helm.arg("template").arg(release).arg(chart);
        helm.args(["--namespace", NAMESPACE]).args(&self.given);
        let values = values.iter().filter(|it| release_of(it).is_none());
        for pair in self.needed.iter().chain(values) {
            helm.args(["--set", pair]);
        }
        let output = helm.output().context("there is no helm on the PATH")?;
        let found: Result<ObjectList, String> = if output.status.success() {
            let text = String::from_utf8_lossy(&output.stdout);
            // An edited chart only tells whether its lists are right, so its other objects are not read.
            let found = if self.state == 0 {
                objects(&text)
            } else {
                objects(&with_pods(&text))
            };
            Ok(found.into())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        };
        *answer = Some(found.clone());
        Ok(found)
    }
}

/// The name of the release that a pair of a set says; `None` for a pair with a value of the chart.
fn release_of(pair: &str) -> Option<&str> {
    pair.strip_prefix(RELEASE_NAME)?.strip_prefix('=')
}

/// A set of values in a fixed order, since Helm answers every order alike. The order stays where the path of one value is a part of
/// another's path, because then the order counts.
fn question(values: &[String]) -> Values {
    let paths = values.iter().filter_map(|it| it.split('=').next());
    let paths: Vec<&str> = paths.collect();
    let is_within = |path: &str, other: &str| {
        let behind = path.strip_prefix(other);
        behind.is_some_and(|it| it.is_empty() || it.starts_with('.'))
    };
    let within = |path: &&str| paths.iter().filter(|it| is_within(path, it)).count();
    // A path is within itself, so a count of 1 means that it is within no other.
    let are_apart = paths.iter().all(|it| within(it) == 1);
    let mut question = values.to_vec();
    if are_apart {
        question.sort();
    }
    question
}

impl Drop for Copy {
    fn drop(&mut self) {
        // A folder of temporary files that stays behind does no harm.
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// The documents in Helm's output that have containers of a pod. Only the beginning of a document has `---` at the beginning of a line.
fn with_pods(text: &str) -> String {
    let documents = text.split("\n---");
    let with_pods = documents.filter(|it| it.contains("containers:"));
    with_pods.collect::<Vec<_>>().join("\n---")
}

/// The objects in Helm's output.
fn objects(whole: &str) -> Vec<ChartObject> {
    let entries = Entries::new(whole.as_bytes()).filter_map(Result::ok);
    entries
        .map(|entry| {
            let head = &whole[..entry.origin.at];
            let source = head
                .rfind(SOURCE)
                .map_or("", |at| &head[at + SOURCE.len()..]);
            let source = source.lines().next().unwrap_or_default();
            // Helm begins each path with a folder that has the chart's name.
            let source = source.split_once('/').map_or("", |(_, below)| below);
            ChartObject {
                source: source.into(),
                value: entry.object,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_edited_chart_the_workloads_are_read() {
        let text = "---\n# Source: shop/templates/a.yaml\nkind: Service\n---\n# Source: shop/templates/b.yaml\nkind: Deployment\n\
                    spec: {template: {spec: {containers: []}}}\n---\n# Source: shop/templates/c.yaml\nkind: Secret\n";
        let found = objects(&with_pods(text));
        let [only] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(only.source, Path::new("templates/b.yaml"));
        assert_eq!(only.value["kind"], "Deployment");
        assert_eq!(objects(text).len(), 3);
    }

    #[test]
    fn the_order_of_values_makes_another_question_only_where_one_is_within_another() {
        for (one, other, is_same) in [
            (["a.b=1", "c=2"], ["c=2", "a.b=1"], true),
            (["a=1", "ab=2"], ["ab=2", "a=1"], true),
            (["a=1", "a.b=2"], ["a.b=2", "a=1"], false),
            (["a=1", "a=2"], ["a=2", "a=1"], false),
        ] {
            let [one, other] = [one, other].map(|it| question(&it.map(str::to_owned)));
            assert_eq!(one == other, is_same, "{one:?}");
        }
    }
}
