//! Gates as processes of this machine: the binary of the image, in the environment that the webhook writes.

use crate::Paths;
use crate::controller::Controller;
use crate::running::Running;
use anyhow::{Context, Result, bail};
use harness::unscheduled::Unscheduled;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::time::timeout;
use wire::env;

/// The longest time that a program may take to end.
const LIMIT: Duration = Duration::from_mins(1);

/// The pods whose gates the bench starts as processes, with the program, the controller and the folder that the gates need.
pub(crate) struct Gates<'a> {
    binary: PathBuf,
    scratch: PathBuf,
    controller: &'a Controller,
    pods: &'a [Unscheduled],
    round: AtomicUsize,
}

impl<'a> Gates<'a> {
    /// Returns the gates of these pods, not started: they are to ask this controller, and keep tokens and markers in the scratch folder.
    pub(crate) fn new(paths: &Paths, controller: &'a Controller, pods: &'a [Unscheduled]) -> Self {
        Self {
            binary: paths.gate.clone(),
            scratch: paths.scratch.path().to_owned(),
            controller,
            pods,
            round: AtomicUsize::new(0),
        }
    }

    /// Starts the gates of the first `count` pods, each with an empty state folder, as if it had never opened before.
    pub(crate) fn start(&self, count: usize) -> Result<Running> {
        let round = self.round.fetch_add(1, Ordering::Relaxed);
        let started = self.pods.iter().take(count).map(|pod| {
            self.gate(pod, round)?
                .spawn()
                .context("failed to start a gate")
        });
        started.collect::<Result<_>>().map(Running)
    }

    /// Returns the command of one gate, not started: writes the token of its pod, and makes an empty state folder for this round.
    fn gate(&self, pod: &Unscheduled, round: usize) -> Result<Command> {
        let folder = self.scratch.join(&pod.name);
        let (token, state) = (folder.join("token"), folder.join(round.to_string()));
        fs::create_dir_all(&state)?;
        fs::write(&token, &pod.token)?;
        let Controller {
            status,
            name,
            bundle,
            ..
        } = self.controller;
        let mut command = Command::new(&self.binary);
        command
            .env_clear()
            .env(env::ADDRESSES, status.to_string())
            .env(env::SERVER_NAME, name)
            .env(env::CA_BUNDLE, bundle)
            .env(env::TOKEN_FILE, token)
            .env(env::STATE_DIR, state)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true);
        Ok(command)
    }

    /// Runs the gate of the first pod to its end, and returns the time from before the fork to after the exit.
    pub(crate) async fn once(&self) -> Result<Duration> {
        let round = self.round.fetch_add(1, Ordering::Relaxed);
        to_the_end(&mut self.gate(&self.pods[0], round)?).await
    }
}

/// Runs a program to its end, and returns the time from before the fork to after the exit. An exit code that is not 0, or a minute without an end, is
/// an error.
pub(crate) async fn to_the_end(command: &mut Command) -> Result<Duration> {
    let began = Instant::now();
    let ended = timeout(LIMIT, command.status()).await;
    let took = began.elapsed();
    let name = command.as_std().get_program().display();
    let status = ended.with_context(|| format!("{name} does not end"))??;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(took)
}
