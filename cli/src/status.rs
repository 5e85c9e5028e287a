//! `status POD`: the verdict on one pod, by the rules of the status service.

use crate::output::{Output, printable};
use crate::reader::{Reader, SLOTS};
use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use kube::Client;
use rules::dependent::Dependent;
use rules::judged::Reason;
use rules::keys;
use rules::kinds::{self, Kind};
use rules::kstatus::Status;
use rules::lookup::Lookup;
use rules::verdict::{self, Policy};
use rules::world::World;
use serde_json::Value;
use std::fmt::Write;
use std::process::ExitCode;
use wire::{Answer, Decision, Report, env};

/// The exit code for "something holds the pod back".
const WAITS: u8 = 3;

/// The kinds beside the built-in ones that own pods, as the chart's defaults name them.
fn workloads() -> Vec<(String, String)> {
    vec![("argoproj.io".to_owned(), "Rollout".to_owned())]
}

pub(crate) async fn run(
    client: Client,
    namespace: &str,
    name: &str,
    output: Output,
) -> Result<ExitCode> {
    let mut reader = Reader::new(client);
    let found = reader.settle(|world| dependent(world, namespace, name));
    let (pod, _) = found.await?;
    let home = home(&pod);
    reader.installed_in(home.clone());
    let judged = reader.settle(|world| judge(world, namespace, name, Timestamp::now()));
    let (pod, mut answer) = judged.await?;
    if let Some(home) = home {
        name_missing_right(&mut answer, &home);
    }
    print(&pod, &answer, output)?;
    Ok(match answer.verdict {
        Decision::Open => ExitCode::SUCCESS,
        Decision::Wait | Decision::Refuse => ExitCode::from(WAITS),
    })
}

fn judge(
    world: &dyn World,
    namespace: &str,
    name: &str,
    now: Timestamp,
) -> Result<(Value, Answer)> {
    let (pod, dependent) = dependent(world, namespace, name)?;
    let dependencies = dependent.dependencies(true, world)?;
    let terms = dependent.terms().terms;
    let policy = Policy::default();
    let edges = verdict::judge(&dependent, dependencies, &policy, world, now).edges;
    let mut answer = verdict::answer(&edges);
    if let Some(place) = dependent.skipped_on() {
        answer.verdict = Decision::Open;
        answer.note = Some(format!("{} is \"true\" on {place}", keys::SKIP));
    } else if answer.verdict != Decision::Open {
        answer = verdict::rule(&terms, dependent.started, &edges, now).over(answer);
    }
    Ok((pod, answer))
}

/// The namespace of sluice, as the address says that the pod's gate asks at: `sluice.sluice-system.svc`.
fn home(pod: &Value) -> Option<String> {
    let by_name = |list: &Value, name: &str| {
        let found = list.as_array()?.iter().find(|it| it["name"] == name);
        found.cloned()
    };
    let gate = by_name(&pod["spec"]["initContainers"], keys::GATE_CONTAINER)?;
    let address = by_name(&gate["env"], env::SERVER_NAME)?;
    let mut labels = address["value"].as_str()?.split('.');
    labels.nth(1).map(ToOwned::to_owned)
}

/// Says what to ask for where the slots could not be read.
fn name_missing_right(answer: &mut Answer, home: &str) {
    let unread = |it: &&mut Report| {
        it.reason == Reason::NoSlot.label() && it.status == Status::Unknown.word()
    };
    for report in answer.dependencies.iter_mut().filter(unread) {
        let hint = format!("; that takes the right to get ConfigMap {SLOTS} in namespace {home}");
        report.message.get_or_insert_default().push_str(&hint);
    }
}

/// A pod, and the workload above it.
pub(crate) fn dependent(
    world: &dyn World,
    namespace: &str,
    name: &str,
) -> Result<(Value, Dependent)> {
    let pods = Kind::Builtin(kinds::builtin("", "Pod").context("Pod is a built-in kind")?);
    let pod = match world.object(&pods, Some(namespace), name) {
        Lookup::Found(pod) => pod,
        Lookup::NotFound => bail!("pod {name:?} not found in namespace {namespace:?}"),
        Lookup::Unavailable(why) => {
            bail!("cannot read pod {name:?} in namespace {namespace:?}: {why:?}")
        }
    };
    let dependent = match Dependent::resolve(&pod, &workloads(), world) {
        Lookup::Found(dependent) => dependent,
        Lookup::NotFound => bail!("the owner of pod {name:?} does not exist (any more)"),
        Lookup::Unavailable(why) => bail!("cannot read the owner of pod {name:?}: {why:?}"),
    };
    Ok((pod, dependent))
}

#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
fn print(pod: &Value, answer: &Answer, output: Output) -> Result<()> {
    match output {
        Output::Json => println!("{}", serde_json::to_string(answer)?),
        Output::Text => print!("{}", text(pod, answer)),
    }
    Ok(())
}

fn text(pod: &Value, answer: &Answer) -> String {
    let mut out = format!("{}\n", headline(pod, answer));
    let width = |cell: fn(&Report) -> &str| {
        answer
            .dependencies
            .iter()
            .map(|report| cell(report).chars().count())
            .max()
            .unwrap_or_default()
    };
    let (names, statuses) = (
        width(|report| &report.dependency),
        width(|report| &report.status),
    );
    for report in &answer.dependencies {
        let mark = if report.satisfied { "ok  " } else { "wait" };
        let why = report
            .message
            .as_deref()
            .map(|text| format!(": {text}"))
            .unwrap_or_default();
        let (name, status, reason) = (&report.dependency, &report.status, &report.reason);
        // Writing to a String cannot fail.
        let line = format!("  {mark}  {name:names$}  {status:statuses$}  {reason}{why}");
        let _ = writeln!(out, "{}", printable(&line));
    }
    if let Some(note) = &answer.note {
        let _ = writeln!(out, "  {}", printable(note));
    }
    out
}

fn headline(pod: &Value, answer: &Answer) -> String {
    let metadata = &pod["metadata"];
    let name = format!(
        "pod {}/{}",
        metadata["namespace"].as_str().unwrap_or_default(),
        metadata["name"].as_str().unwrap_or_default()
    );
    let unmet = answer
        .dependencies
        .iter()
        .filter(|report| !report.satisfied)
        .count();
    let total = answer.dependencies.len();
    if !metadata["labels"][keys::GATED].is_string() {
        return format!("{name} has no gate: it started when it was scheduled");
    }
    match (gate(pod), total) {
        (Gate::Passed(when), 0) => format!("{name} passed its gate at {when}; its list is empty"),
        (Gate::Passed(when), _) => {
            format!("{name} passed its gate at {when}; its dependencies now:")
        }
        (Gate::Refused(when), _) => {
            format!("{name} was refused by its gate at {when}; its dependencies now:")
        }
        (Gate::Waiting(_), 0) => format!("{name} is about to start: its list is empty"),
        (Gate::Waiting(since), _) if unmet > 0 => {
            format!("{name} waits for {unmet} of {total} dependencies, since {since}")
        }
        (Gate::Waiting(_), _) => {
            format!("{name} is about to start: all {total} dependencies are satisfied")
        }
        (Gate::NotStarted, _) => format!("{name}: its gate has not started yet; its dependencies:"),
    }
}

pub(crate) enum Gate {
    NotStarted,
    Waiting(String),
    Passed(String),
    Refused(String),
}

pub(crate) fn gate(pod: &Value) -> Gate {
    let statuses = pod
        .pointer("/status/initContainerStatuses")
        .and_then(Value::as_array);
    let gate = statuses
        .into_iter()
        .flatten()
        .find(|status| status["name"] == keys::GATE_CONTAINER);
    let text = |pointer: &str| gate?.pointer(pointer)?.as_str().map(ToOwned::to_owned);
    if let Some(when) = text("/state/terminated/finishedAt") {
        let code = gate.and_then(|gate| gate.pointer("/state/terminated/exitCode")?.as_i64());
        return if code.is_some_and(|code| code != 0) {
            Gate::Refused(when)
        } else {
            Gate::Passed(when)
        };
    }
    if let Some(since) = text("/state/running/startedAt") {
        return Gate::Waiting(since);
    }
    // Between two starts, while the kubelet pauses.
    text("/lastState/terminated/finishedAt").map_or(Gate::NotStarted, Gate::Refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(name: &str, satisfied: bool, reason: &str) -> Report {
        Report {
            dependency: format!("Job/{name}"),
            name: name.to_owned(),
            satisfied,
            status: if satisfied { "Current" } else { "InProgress" }.to_owned(),
            reason: reason.to_owned(),
            message: (!satisfied).then(|| "Job in progress".to_owned()),
        }
    }

    #[test]
    fn a_waiting_pod_names_each_dependency_and_why() {
        let pod = json!({
            "metadata": {"namespace": "shop", "name": "api-1", "labels": {"sluice.dev/gated": "true"}},
            "status": {"initContainerStatuses": [
                {"name": "sluice-gate", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}},
            ]},
        });
        let dependencies = vec![
            report("migrate", false, "JobNotComplete"),
            report("a", true, "Satisfied"),
        ];
        let answer = Answer {
            verdict: Decision::Wait,
            digest: String::new(),
            dependencies,
            note: None,
        };
        let expected = "pod shop/api-1 waits for 1 of 2 dependencies, since 2026-01-01T00:00:00Z\n  \
                        wait  Job/migrate  InProgress  JobNotComplete: Job in progress\n  \
                        ok    Job/a        Current     Satisfied\n";
        assert_eq!(text(&pod, &answer), expected);
    }

    #[test]
    fn a_message_moves_no_cursor() {
        let pod = json!({"metadata": {"namespace": "shop", "name": "api-1", "labels": {"sluice.dev/gated": "true"}}});
        let mut dependency = report("migrate", false, "JobNotComplete");
        dependency.message = Some("\u{1b}[2K\rgone\nhere".to_owned());
        let answer = Answer {
            verdict: Decision::Wait,
            digest: String::new(),
            dependencies: vec![dependency],
            note: Some("\u{9b}2J".to_owned()),
        };
        let expected = "pod shop/api-1: its gate has not started yet; its dependencies:\n  \
                        wait  Job/migrate  InProgress  JobNotComplete:  [2K gone here\n   2J\n";
        assert_eq!(text(&pod, &answer), expected);
    }

    #[test]
    fn a_gate_that_was_refused_is_not_said_to_have_passed() {
        let when = "2026-01-01T00:00:00Z";
        let ended = |code: u8| json!({"terminated": {"exitCode": code, "finishedAt": when}});
        let paused = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        let answer = Answer {
            verdict: Decision::Refuse,
            digest: String::new(),
            dependencies: vec![report("migrate", false, "JobNotComplete")],
            note: Some("the timeout of 10m has passed".to_owned()),
        };
        let told = |state: &Value, last: &Value| {
            let pod = json!({
                "metadata": {"namespace": "shop", "name": "api-1", "labels": {"sluice.dev/gated": "true"}},
                "status": {"initContainerStatuses": [
                    {"name": "sluice-gate", "state": state, "lastState": last},
                ]},
            });
            text(&pod, &answer)
        };
        let dependencies = "  wait  Job/migrate  InProgress  JobNotComplete: Job in progress\n  \
                            the timeout of 10m has passed\n";
        let refused = format!(
            "pod shop/api-1 was refused by its gate at {when}; its dependencies now:\n{dependencies}"
        );
        assert_eq!(told(&ended(1), &json!({})), refused);
        assert_eq!(told(&paused, &ended(1)), refused);
        let open = format!(
            "pod shop/api-1 passed its gate at {when}; its dependencies now:\n{dependencies}"
        );
        assert_eq!(told(&ended(0), &ended(1)), open);
    }

    #[test]
    fn a_pod_without_a_gate_is_told_apart() {
        let answer = Answer {
            verdict: Decision::Open,
            digest: String::new(),
            dependencies: vec![],
            note: None,
        };
        let pod = json!({"metadata": {"namespace": "shop", "name": "api-1"}});
        assert_eq!(
            text(&pod, &answer),
            "pod shop/api-1 has no gate: it started when it was scheduled\n"
        );
    }
}
