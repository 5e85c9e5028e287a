//! Gates that wait through a fault: the binary of the image, as processes of this machine, in the environment and with the
//! token of pods that the API server knows.

use crate::site::Site;
use anyhow::{Context, Result};
use harness::cluster::{LIMIT, await_until};
use harness::unscheduled::Unscheduled;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use serde_json::json;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use wire::{Decision, env};

/// The gates of one trial, which wait for one ConfigMap.
pub(crate) struct Crowd {
    dependency: String,
    gates: Vec<Gate>,
}

/// Gates that wait for an object that is never created. Dropping this kills them.
pub(crate) struct Waiting(Vec<Gate>);

struct Gate {
    pod: String,
    log: PathBuf,
    /// The task that waits for the end of the process, and returns the moment and the exit status. Ending the task kills the process.
    end: JoinHandle<(Instant, ExitStatus)>,
}

/// The fates of the gates of one trial.
#[derive(Debug, Default)]
pub(crate) struct Fates {
    /// The number of gates that opened before their dependency existed.
    pub(crate) early: usize,
    /// The number of gates that ended with another exit code than 0.
    pub(crate) failed: usize,
    /// The time from the dependency's creation to the end, for each gate that ended within the limit; zero for one that ended before.
    pub(crate) late: Vec<Duration>,
    /// The pod and the last line of the log of each gate that did not end within the limit.
    pub(crate) never: Vec<(String, String)>,
}

impl Crowd {
    /// Creates `count` pods that wait for the ConfigMap `dependency`, starts their gates, and returns when each gate waits.
    pub(crate) async fn gather(site: &Site<'_>, dependency: &str, count: usize) -> Result<Self> {
        let list = format!("configmap/{dependency}");
        let pods = Unscheduled::make(&site.client, &site.namespace, count, &list).await?;
        let started = pods.iter().map(|pod| Gate::start(site, pod));
        let crowd = Self {
            dependency: dependency.to_owned(),
            gates: started.collect::<Result<_>>()?,
        };
        all_wait(&crowd.gates).await;
        Ok(crowd)
    }

    /// Makes the dependency, notes how each gate ends, and deletes all pods of the namespace. Counts the gates that ended before, those that failed,
    /// and those that did not end in time.
    pub(crate) async fn release(self, site: &Site<'_>) -> Result<Fates> {
        let done = |gate: &&Gate| gate.end.is_finished();
        let mut fates = Fates {
            early: self.gates.iter().filter(done).count(),
            ..Fates::default()
        };
        let config_maps = Api::<ConfigMap>::namespaced(site.client.clone(), &site.namespace);
        let object = serde_json::from_value(json!({"metadata": {"name": self.dependency}}))?;
        if let Err(error) = config_maps.create(&PostParams::default(), &object).await {
            // A fault that goes on while gates open makes it itself.
            anyhow::ensure!(exists(&error), "failed to make the dependency: {error}");
        }
        let made = Instant::now();
        for mut gate in self.gates {
            let left = LIMIT.saturating_sub(made.elapsed());
            match timeout(left, &mut gate.end).await {
                Ok(ended) => {
                    let (at, status) = ended.context("a gate could not be waited for")?;
                    fates.late.push(at.saturating_duration_since(made));
                    fates.failed += usize::from(!status.success());
                }
                Err(_) => fates.never.push((gate.pod.clone(), gate.last_words())),
            }
        }
        let pods = Api::<Pod>::namespaced(site.client.clone(), &site.namespace);
        pods.delete_collection(
            &DeleteParams::default().grace_period(0),
            &ListParams::default(),
        )
        .await?;
        Ok(fates)
    }
}

impl Waiting {
    /// Starts a gate for each of these pods, and returns when each waits.
    pub(crate) async fn gather(site: &Site<'_>, pods: &[Unscheduled]) -> Result<Self> {
        let started = pods.iter().map(|pod| Gate::start(site, pod));
        let waiting = Self(started.collect::<Result<_>>()?);
        all_wait(&waiting.0).await;
        Ok(waiting)
    }

    /// Returns the number of gates that have ended although their dependency never comes.
    pub(crate) fn ended(&self) -> usize {
        let gates = self.0.iter();
        gates.filter(|gate| gate.end.is_finished()).count()
    }
}

async fn all_wait(gates: &[Gate]) {
    await_until("every gate waits", LIMIT, async || {
        let mut silent = gates.iter().filter(|gate| !gate.waits());
        silent.next().map_or(Ok(()), |gate| Err(gate.last_words()))
    })
    .await;
}

fn exists(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

impl Gate {
    fn start(site: &Site<'_>, pod: &Unscheduled) -> Result<Self> {
        let folder = site.scratch.path().join(&pod.name);
        let (token, log) = (folder.join("token"), folder.join("log"));
        fs::create_dir_all(&folder)?;
        fs::write(&token, &pod.token)?;
        let mut gate = Command::new(&site.gate)
            .env_clear()
            .envs(pod.environment.iter().cloned())
            .env(env::TOKEN_FILE, token)
            .env(env::STATE_DIR, folder)
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .kill_on_drop(true)
            .spawn()
            .context("failed to start a gate")?;
        let end = tokio::spawn(async move {
            let status = gate.wait().await.unwrap_or_default();
            (Instant::now(), status)
        });
        let pod = pod.name.clone();
        Ok(Self { pod, log, end })
    }

    fn waits(&self) -> bool {
        let said = wire::said::last(&self.log());
        said.is_some_and(|said| said.decision == Decision::Wait)
    }

    fn last_words(&self) -> String {
        let log = self.log();
        log.lines().next_back().unwrap_or_default().to_owned()
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.end.abort();
    }
}
