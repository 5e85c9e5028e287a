//! Advice on limits of the workload itself that end the wait, or make it impossible.

use super::{Advice, Workload};
use crate::annotation;
use crate::dependency::Dependency;
use crate::gate;
use crate::keys;
use crate::path::get;
use crate::terms::{OnTimeout, Terms};
use serde_json::Value;
use std::cell::LazyCell;
use std::time::Duration;

/// The progress deadline, in seconds, of a Deployment or Rollout that sets none.
const DEFAULT_PROGRESS_DEADLINE: i64 = 600;

/// Advice on a name that the gate needs, on the deadlines that run while the gate is shut, and on a missing timeout.
pub(super) fn of(workload: &Workload<'_>) -> impl Iterator<Item = Advice> {
    let advice = [
        gate::taken(workload.template).map(|(what, name)| Advice::NameTaken { what, name }),
        progress_deadline(workload),
        active_deadline(workload).map(Advice::ActiveDeadline),
        lacks_timeout(workload).then_some(Advice::NoTimeout),
    ];
    advice.into_iter().flatten()
}

/// Advice on entries whose timeout is longer than that of the whole wait, where the latter ends the wait: such an entry's timeout
/// never passes. A wait that goes on after its timeout leaves room for it.
pub(super) fn of_entries(
    workload: &Workload<'_>,
    dependencies: &[Dependency],
) -> impl Iterator<Item = Advice> {
    let whole = LazyCell::new(move || {
        let terms = terms(workload);
        let ends = matches!(terms.on_timeout, Some(OnTimeout::Fail | OnTimeout::Proceed));
        terms.timeout.filter(|_| ends)
    });
    dependencies.iter().filter_map(move |dependency| {
        let timeout = dependency.patience?.timeout;
        let whole = (*whole)?;
        (timeout > whole).then(|| Advice::EntryTimeout {
            dependency: dependency.to_string(),
            timeout,
            whole,
        })
    })
}

/// Whether the annotations say that a timeout ends the wait (`fail` or `proceed`), and set no timeout. A wait that goes on after its timeout
/// (`wait`) needs none.
fn lacks_timeout(workload: &Workload<'_>) -> bool {
    let said = |key: &str| {
        let mut places = [workload.template, workload.object].into_iter();
        places.find_map(|it| it["metadata"]["annotations"][key].as_str())
    };
    let is_idle = said(keys::TIMEOUT).is_none();
    is_idle && matches!(said(keys::ON_TIMEOUT), Some("fail" | "proceed"))
}

/// Advises on a progress deadline that is shorter than the default of 600 s, or than the timeout of the wait. A default deadline alone is not the
/// author's choice: advice on every workload would hide the advice that matters. A deadline that aborts the update of a Rollout is always worth a
/// line. `None` for a workload without a deadline.
fn progress_deadline(workload: &Workload<'_>) -> Option<Advice> {
    let deadline = number(workload.object, &["spec", "progressDeadlineSeconds"]);
    let has_default = matches!(
        (workload.group, workload.kind),
        ("apps", "Deployment") | ("argoproj.io", "Rollout")
    );
    let seconds = deadline.or(has_default.then_some(DEFAULT_PROGRESS_DEADLINE))?;
    let abort = get(workload.object, &["spec", "progressDeadlineAbort"]);
    if workload.group == "argoproj.io" && abort == Some(&Value::Bool(true)) {
        return Some(Advice::ProgressAbort(seconds));
    }
    let longer =
        |timeout: Duration| i64::try_from(timeout.as_secs()).is_ok_and(|timeout| timeout > seconds);
    let timeout = terms(workload).timeout;
    let too_short = seconds < DEFAULT_PROGRESS_DEADLINE || timeout.is_some_and(longer);
    too_short.then_some(Advice::ProgressDeadline(seconds))
}

/// The terms of the wait, each from the pod template or else from the workload itself.
fn terms(workload: &Workload<'_>) -> Terms {
    let places =
        [workload.template, workload.object].map(|it| it["metadata"]["annotations"].as_object());
    let said = |key: &str| places.iter().flatten().find_map(|it| it.get(key));
    annotation::terms_by(said).terms
}

fn active_deadline(workload: &Workload<'_>) -> Option<i64> {
    // A Job that is suspended has not started.
    let of_job =
        number(workload.object, &["spec", "activeDeadlineSeconds"]).filter(|_| !suspends(workload));
    let deadlines = [
        of_job,
        number(
            workload.object,
            &["spec", "jobTemplate", "spec", "activeDeadlineSeconds"],
        ),
        number(workload.template, &["spec", "activeDeadlineSeconds"]),
    ];
    deadlines.into_iter().flatten().min()
}

/// Whether the workload asks to be created suspended.
fn suspends(workload: &Workload<'_>) -> bool {
    let annotations = workload.object["metadata"]["annotations"].as_object();
    workload.kind == "Job" && annotations.is_some_and(|it| annotation::suspends(it) == Ok(true))
}

fn number(value: &Value, path: &[&str]) -> Option<i64> {
    get(value, path)?.as_i64()
}

/// Whether a pod, or a pod template, is for Windows.
pub fn is_for_windows(pod: &Value) -> bool {
    let spec = &pod["spec"];
    let selected = |key: &str| spec["nodeSelector"][key] == "windows";
    spec["os"]["name"] == "windows"
        || selected("kubernetes.io/os")
        || selected("beta.kubernetes.io/os")
}
