//! `bench rollout`: how long it takes until a whole application serves, and what that costs, by several ways in turns.

mod application;
mod argo;
mod course;
mod meter;
mod pace;
mod picture;
mod pods;
mod report;
mod stage;
mod way;

use crate::step;
use anyhow::{Context, Result, bail};
use course::Courses;
use jiff::Timestamp;
use kube::Client;
use meter::{Cost, Meter};
use pace::Pace;
use pods::Release;
use report::{Phase, Run};
use stage::Stage;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use way::Way;

/// The longest time that a release may take.
const LONGEST: Duration = Duration::from_mins(10);
/// The time after which the cluster has done what follows from a release, or from its end.
const SETTLED: Duration = Duration::from_secs(5);

/// The way by sync waves, with its name: the one that needs Argo CD.
const WAVES: (&str, Way) = ("waves", Way::Waves);

/// Measures `rounds` releases and upgrades by each way of these names, or by every way, prints the tables, and writes tables and picture into
/// `folder`; after an error or Ctrl-C those of the runs until then. The way by sync waves is left out where there is no Argo CD.
pub(crate) async fn measure(folder: &Path, rounds: usize, names: &[&str]) -> Result<()> {
    let mut ways = chosen(names)?;
    let client = Client::try_default().await;
    let client = client.context("failed to find the API server")?;
    let mut skipped = vec![];
    if ways.contains(&WAVES) && !argo::is_up(&client).await? {
        step(&format!("{}: {}", WAVES.0, argo::MISSING));
        ways.retain(|it| *it != WAVES);
        skipped.push((WAVES.1, argo::MISSING));
    }
    let mut runs = vec![];
    let measured = in_turns(&client, rounds, &ways, &mut runs).await;
    let version = client.apiserver_version().await?.git_version;
    let mut text = format!(
        "{}; Kubernetes {version}; {rounds} rounds\n\n",
        harness::machine::describe()
    );
    for phase in Phase::ALL {
        text.push_str(&report::tables(&runs, &skipped, phase));
    }
    // A reader that has gone is no error.
    let _ = std::io::stdout().write_all(text.as_bytes());
    fs::write(folder.join("bench-release.md"), text)?;
    let ways = Way::ALL.into_iter();
    let drawn = ways.filter_map(|(_, way)| report::typical(&runs, way, Phase::Cold));
    let picture = picture::draw(&drawn.collect::<Vec<_>>());
    fs::write(folder.join("bench-release.svg"), picture)?;
    measured
}

fn chosen(names: &[&str]) -> Result<Vec<(&'static str, Way)>> {
    let known = |name: &&str| Way::ALL.iter().any(|(known, _)| known == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let known = Way::ALL.map(|(name, _)| name).join(", ");
        bail!("no way is called {unknown}; the ways are {known}");
    }
    let ways = Way::ALL.into_iter();
    let chosen = ways.filter(|(name, _)| names.is_empty() || names.contains(name));
    Ok(chosen.collect())
}

/// Runs each way once in each round, and adds every release and upgrade to `runs`. Only the first round has the way without order: its releases take
/// minutes, which are pauses of the kubelet and stray little.
async fn in_turns(
    client: &Client,
    rounds: usize,
    ways: &[(&str, Way)],
    runs: &mut Vec<Run>,
) -> Result<()> {
    step("the cluster by itself");
    let alone = Meter::alone(client).await?;
    let mut interrupted = pin!(tokio::signal::ctrl_c());
    for round in 1..=rounds {
        for (name, way) in ways {
            if round > 1 && *way == Way::Nothing {
                continue;
            }
            step(&format!("{name}, round {round} of {rounds}"));
            let stage = Stage::create(client, name, *way).await?;
            let measured = tokio::select! {
                measured = both(client, &stage, *way, &alone) => measured,
                _ = &mut interrupted => Err(anyhow::anyhow!("interrupted")),
            };
            stage.remove().await?;
            runs.extend(measured.with_context(|| format!("{name} failed"))?);
            sleep(SETTLED).await;
        }
    }
    Ok(())
}

/// Makes the first release of the application and an upgrade of it, and returns the measured course and cost of both.
async fn both(client: &Client, stage: &Stage, way: Way, alone: &Cost) -> Result<Vec<Run>> {
    let mut runs = vec![];
    for phase in Phase::ALL {
        sleep(SETTLED).await;
        let prepared = stage.prepare(way, phase.number()).await?;
        let pace = Pace::read(client).await?;
        let before = Meter::read(client).await?;
        let (pods, mut release) = (stage.pods(), Release::new(phase.number()));
        let sent = Timestamp::now();
        let up = async { tokio::try_join!(stage.release(&prepared), release.come_up(&pods)) };
        timeout(LONGEST, up).await.context("it takes too long")??;
        let cost = before.until(&Meter::read(client).await?, alone);
        let pace = pace.until(&Pace::read(client).await?);
        let courses = Courses(release.courses(&pods, sent).await?);
        eprintln!("    {phase:?}: {:.1} s", courses.whole());
        runs.push(Run {
            way,
            phase,
            courses,
            cost,
            pace,
        });
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_is_not_known_is_refused_with_those_that_are() {
        assert_eq!(chosen(&[]).unwrap().len(), Way::ALL.len());
        assert_eq!(chosen(&["hooks"]).unwrap(), [("hooks", Way::Hooks)]);
        assert_eq!(chosen(&["waves"]).unwrap(), [WAVES]);
        let error = chosen(&["hooks", "wave"]).unwrap_err().to_string();
        assert!(
            error.starts_with("no way is called wave; the ways are nothing, "),
            "{error}"
        );
    }
}
