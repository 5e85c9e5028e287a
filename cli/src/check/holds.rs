//! Checks held pods and Jobs, and whether a controller releases them.

use super::Checked;
use super::controller::text;
use crate::held::Held;
use crate::installation::argument;
use crate::output::{counted, listed};
use rules::lookup::{Lookup, Unavailable};
use serde_json::Value;

const CHECK: &str = "holds";

/// The command that releases all holds before sluice is uninstalled.
const BEFORE: &str = "before an uninstall: kubectl sluice release --all-holds";

/// The controller's state, by which held pods and Jobs are released or stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeper {
    /// A replica of the controller is ready, and releases held pods and Jobs.
    Ready,
    /// The controller is there, and none of its replicas is ready.
    Down,
    /// Holds are off in this controller, so it releases no held pod and no suspended Job.
    Off,
    /// There is no controller that would release held pods and Jobs.
    Gone,
}

/// Checks whether the controller of this Deployment (`None`: the caller may not see it) releases the pods and Jobs that are held: a good line
/// where it does or nothing is held, a problem where holds are off or no replica is ready, a warning where the caller may not see enough.
pub(super) fn kept(deployment: Option<&Value>, held: &Held) -> Checked {
    let Some(deployment) = deployment else {
        return unkept(held);
    };
    let on = matches!(argument(deployment, "--holds"), Some(word) if word != "off");
    let ready = deployment.pointer("/status/readyReplicas");
    let keeper = match (on, ready.and_then(Value::as_u64)) {
        (false, _) => Keeper::Off,
        (true, None | Some(0)) => Keeper::Down,
        (true, Some(_)) => Keeper::Ready,
    };
    judge(keeper, held)
}

/// A problem that names the held pods and Jobs where there is no controller; `None` where nothing is known to be held.
pub(super) fn left_behind(held: &Held) -> Option<Checked> {
    let is_held =
        |found: &Lookup<Vec<Value>>| matches!(found, Lookup::Found(all) if !all.is_empty());
    (is_held(&held.pods) || is_held(&held.jobs)).then(|| judge(Keeper::Gone, held))
}

fn judge(keeper: Keeper, held: &Held) -> Checked {
    let [pods, jobs] = match all(held) {
        Ok(all) => all,
        Err(unseen) => return unseen,
    };
    if pods.is_empty() && jobs.is_empty() {
        return match keeper {
            Keeper::Off => Checked::ok(CHECK, "they are off, and nothing is held"),
            _ => nothing(),
        };
    }
    if keeper == Keeper::Ready {
        let told = format!("held now: {}; {BEFORE}", counts(pods, jobs));
        return Checked::ok(CHECK, told);
    }
    let names = pods.iter().map(|it| name("Pod", it));
    let names = names.chain(jobs.iter().map(|it| name("Job", it)));
    let told = format!(
        "{}: {}; {}",
        why(keeper),
        listed(names.collect()),
        way_out(keeper, !pods.is_empty(), !jobs.is_empty())
    );
    Checked::problem(CHECK, told)
}

/// The line about held pods and Jobs where the caller may not see the controller: a warning where there are any.
fn unkept(held: &Held) -> Checked {
    match all(held) {
        Ok([[], []]) => nothing(),
        Ok([pods, jobs]) => {
            let counts = counts(pods, jobs);
            let what = format!("held now: {counts}; the controller that lets these go");
            Checked::unseen(CHECK, &what, Unavailable::Forbidden)
        }
        Err(unseen) => unseen,
    }
}

/// The held pods and the held Jobs.
///
/// # Errors
///
/// The line of `check` that says that the caller may not see these.
fn all(held: &Held) -> Result<[&[Value]; 2], Checked> {
    Ok([seen("pods", &held.pods)?, seen("Jobs", &held.jobs)?])
}

fn seen<'h>(word: &str, all: &'h Lookup<Vec<Value>>) -> Result<&'h [Value], Checked> {
    match all {
        Lookup::Found(all) => Ok(all),
        Lookup::NotFound => Ok(&[]),
        Lookup::Unavailable(why) => {
            let what = format!("{word} that are held");
            Err(Checked::unseen(CHECK, &what, *why))
        }
    }
}

fn nothing() -> Checked {
    Checked::ok(CHECK, format!("nothing is held now; {BEFORE}"))
}

/// The numbers of held pods and Jobs in words, `2 pods, 1 Job`, without one that is zero.
fn counts(pods: &[Value], jobs: &[Value]) -> String {
    let counts = [(pods.len(), "pod"), (jobs.len(), "Job")].into_iter();
    let counts = counts.filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, word)| counted(count, word)).collect();
    counts.join(", ")
}

fn why(keeper: Keeper) -> &'static str {
    match keeper {
        Keeper::Ready | Keeper::Down => "no replica is ready to let these go",
        Keeper::Off => "holds are off in this installation, so nobody lets these go",
        Keeper::Gone => "without sluice nobody lets these go",
    }
}

/// The words that tell how to end the holds of pods, of Jobs or of both, by the state of the controller. A released pod still asks at its gate,
/// and without a controller nothing answers.
fn way_out(keeper: Keeper, pods: bool, jobs: bool) -> String {
    let release = "kubectl sluice release --all-holds";
    let made_anew = "(a pod that nobody owns has to be made again by hand)";
    let parts = match keeper {
        Keeper::Ready | Keeper::Down => {
            return "they wait until one is; see the controller above".to_owned();
        }
        Keeper::Off => [
            pods.then(|| format!("delete the pods, and their owners make others, which wait at their gates {made_anew}")),
            Some(format!("{release} has all of them start without waiting")),
            Some("the chart's value holds.enabled turns holds on again".to_owned()),
        ],
        Keeper::Gone => [
            pods.then(|| format!("delete the pods, and their owners make others, which do not wait {made_anew}")),
            jobs.then(|| format!("{release} resumes the Jobs")),
            Some("or install sluice again, with holds.enabled".to_owned()),
        ],
    };
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    parts.join("; ")
}

fn name(word: &str, object: &Value) -> String {
    let [namespace, name] = ["/metadata/namespace", "/metadata/name"].map(|at| text(object, at));
    format!("{word} {namespace}/{name}")
}
