//! The peers of the gate: init containers that users without sluice write. They wait for the same pod as gates do, in turns.

use crate::Paths;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::dependency::{Dependency, unready};
use crate::gates::{Gates, to_the_end};
use crate::measure::{Measure, Unit, as_number};
use crate::release;
use crate::running::Running;
use crate::step;
use crate::table::Table;
use crate::waiting::Window;
use anyhow::{Context, Result, bail};
use harness::samples::Samples;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::time::sleep;

/// The number of gates, and of waiting processes of each peer, whose requests and memory are measured.
const MANY: usize = 20;
/// The pause of a shell loop between two reads of its object.
const PAUSE: Duration = Duration::from_secs(2);
/// The most shell loops at a time: the processor has no room for more of their kubectl processes.
const LOOPS: usize = 20;
/// The time until a kubectl has read its object.
const SETTLED: Duration = Duration::from_secs(1);
/// The time that is added to [`SETTLED`] for each kubectl that starts at the same time.
const EACH: Duration = Duration::from_millis(100);

/// The name of `kubectl wait` in the table.
pub(crate) const WAIT: &str = "kubectl wait";

/// The number of starts of a `kubectl wait` that need not wait.
const STARTS: usize = 20;

/// The extent of the measurement of the gate beside the init containers that users write without sluice.
pub(crate) struct Waiters {
    /// Pairs: the number of waiting processes that are released at once, and the number of rounds.
    pub(crate) releases: &'static [(usize, usize)],
    /// The time over which requests and memory are measured.
    pub(crate) window: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Peer {
    Wait,
    Loop,
}

impl Peer {
    const ALL: [Self; 2] = [Self::Wait, Self::Loop];

    fn name(self) -> &'static str {
        match self {
            Self::Wait => WAIT,
            Self::Loop => "kubectl get every 2 s",
        }
    }

    /// Returns the shell script of the init container, which waits until the pod `dependency` is ready. Its arguments are further ones for kubectl.
    fn script(self) -> &'static str {
        match self {
            Self::Wait => {
                r#"exec kubectl "$@" wait --for=condition=Ready --timeout=10m pod/dependency"#
            }
            Self::Loop => {
                r#"ready='jsonpath={.status.conditions[?(@.type=="Ready")].status}'
                until [ "$(kubectl "$@" get pod dependency -o "$ready")" = True ]; do sleep 2; done"#
            }
        }
    }

    /// Starts `count` shells that each run the script of this sort in `namespace`, and returns when all of them wait. Each has a log file in `logs`,
    /// with a line for each request to the API server where `loud`.
    async fn start(
        self,
        namespace: &str,
        count: usize,
        logs: &Path,
        loud: bool,
    ) -> Result<Running> {
        fs::create_dir_all(logs)?;
        let mut running = Running(vec![]);
        for number in 0..count {
            let log = File::create(logs.join(number.to_string()))?;
            let mut command = Command::new("sh");
            command
                .args(["-c", self.script(), "sh", "--namespace", namespace])
                .args(loud.then_some("-v=6"))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log)
                .kill_on_drop(true);
            running
                .0
                .push(command.spawn().context("failed to start sh")?);
            // Their looks are spread over the pause.
            sleep(PAUSE / u32::try_from(count)?).await;
        }
        sleep(SETTLED + EACH * u32::try_from(count)?).await;
        Ok(running)
    }
}

/// Runs `kubectl wait --for=create` twenty times for an object that exists, and returns the times from its start to its exit.
pub(crate) async fn at_once(namespace: &str, object: &str) -> Result<Measure> {
    let mut took = vec![];
    for _ in 0..STARTS {
        let mut command = Command::new("kubectl");
        command.args(["--namespace", namespace, "wait", "--for=create", object]);
        took.push(to_the_end(command.stdout(Stdio::null())).await?);
    }
    Ok(Measure::from(&Samples::new(took)))
}

/// The requests to the API server and the memory of one waiting peer.
struct Cost {
    requests: Measure,
    memory: Measure,
}

/// Adds rows about gates beside `kubectl wait` and a loop of `kubectl get`: the time from the readiness of a pod to the exit of all that wait for it,
/// and their cost while they wait. A peer that cannot run gets a skipped figure.
pub(crate) async fn side_by_side(
    paths: &Paths,
    cluster: &Cluster,
    extent: &Waiters,
    table: &mut Table,
) -> Result<()> {
    let most = extent.releases.iter().map(|(count, _)| *count).max();
    let dependency = Dependency::Pod;
    unready(cluster).await?;
    let pods = cluster
        .pods(most.unwrap_or(MANY).max(MANY), dependency.list())
        .await?;
    let mut controller = Controller::start(paths, cluster).await?;
    let gates = Gates::new(paths, &controller, &pods);
    for &(count, rounds) in extent.releases {
        step(&format!(
            "{count} gates and their peers released, {rounds} times"
        ));
        let start = async |_| release::waiting(&gates, &controller, count).await;
        let own = release::rounds(cluster, dependency, rounds, start).await?;
        let what = format!("a Pod ready to {count} that wait for it gone");
        let how =
            format!("from the API server's answer to `waitid` of each process, {rounds} rounds");
        let mut others = vec![];
        for peer in Peer::ALL {
            let released = released(peer, paths, cluster, count, rounds).await;
            others.push((
                peer,
                released.unwrap_or_else(|error| Measure::skipped(&error)),
            ));
        }
        let row = table.row(&what, &own.known, &how);
        for (peer, measure) in others {
            row.beside(peer.name(), measure, None);
        }
    }
    costs(paths, cluster, &controller, &gates, extent.window, table).await?;
    drop(gates);
    controller.stop().await
}

async fn released(
    peer: Peer,
    paths: &Paths,
    cluster: &Cluster,
    count: usize,
    rounds: usize,
) -> Result<Measure> {
    if peer == Peer::Loop && count > LOOPS {
        bail!("so many loops take more processor time than there is");
    }
    let logs = paths.scratch.path().join("kubectl");
    let start = async |round: usize| {
        let running = peer.start(&cluster.namespace, count, &logs, false).await?;
        // One alone looks at another moment of its pause each time.
        sleep(PAUSE * u32::try_from(round)? / u32::try_from(rounds)?).await;
        Ok(running)
    };
    let released = release::rounds(cluster, Dependency::Pod, rounds, start).await?;
    Ok(Measure::from(&released.known))
}

async fn costs(
    paths: &Paths,
    cluster: &Cluster,
    controller: &Controller,
    gates: &Gates<'_>,
    window: Duration,
    table: &mut Table,
) -> Result<()> {
    step(&format!("{MANY} gates and their peers wait"));
    let alone = Window::of(controller, window).await?;
    let running = gates.start(MANY)?;
    controller.asked_by(MANY).await?;
    controller.quiet().await?;
    let waiting = Window::of(controller, window).await?;
    let own = Cost {
        requests: a_minute(waiting.excess(&alone).values().sum(), window),
        memory: Measure::bytes(running.memory()?),
    };
    running.stop().await;
    let mut others = vec![];
    for peer in Peer::ALL {
        let cost = cost(peer, paths, cluster, window).await;
        others.push((
            peer,
            cost.unwrap_or_else(|error| Cost {
                requests: Measure::skipped(&error),
                memory: Measure::skipped(&error),
            }),
        ));
    }
    let how = format!(
        "{MANY} of each over {window:?}: `sluice_api_requests_total` beyond that of no gates, and what kubectl logs with -v=6"
    );
    let row = table.row("API requests of one that waits", own.requests, &how);
    for (peer, cost) in &others {
        row.beside(peer.name(), cost.requests.clone(), None);
    }
    let how = format!(
        "mean of {MANY} over {window:?}: Private_Dirty in /proc/PID/smaps_rollup, with the programs that each runs"
    );
    let row = table.row("memory of one that waits", own.memory, &how);
    for (peer, cost) in &others {
        row.beside(peer.name(), cost.memory.clone(), None);
    }
    Ok(())
}

async fn cost(peer: Peer, paths: &Paths, cluster: &Cluster, window: Duration) -> Result<Cost> {
    let logs = paths.scratch.path().join("kubectl");
    let running = peer.start(&cluster.namespace, MANY, &logs, true).await?;
    let (before, end) = (responses(&logs)?, Instant::now() + window);
    let mut sizes = vec![];
    while Instant::now() < end {
        sizes.push(running.memory()?);
        sleep(Duration::from_millis(500)).await;
    }
    let requests = responses(&logs)? - before;
    running.stop().await;
    Ok(Cost {
        requests: a_minute(requests, window),
        memory: Measure::bytes(sizes.iter().sum::<u64>() / sizes.len() as u64),
    })
}

/// Counts the answers of the API server that kubectl has noted in all log files of the folder `logs`.
fn responses(logs: &Path) -> Result<u64> {
    let mut count = 0;
    for log in fs::read_dir(logs)? {
        count += fs::read_to_string(log?.path())?
            .matches("\"Response\"")
            .count() as u64;
    }
    Ok(count)
}

fn a_minute(requests: u64, window: Duration) -> Measure {
    let each = as_number(requests) * 60.0 / window.as_secs_f64() / as_number(MANY as u64);
    Measure::once(format!("{each:.1} a minute"), Unit::PerMinute, each)
}
