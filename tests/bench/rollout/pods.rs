//! The pods of a release as they come up, and their logs.

use super::application::APPLICATION;
use super::course::Course;
use super::way::{APP, RELEASE, SERVING, STARTING};
use anyhow::{Context, Result};
use futures::TryStreamExt;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::ResourceExt;
use kube::api::{Api, ListParams, LogParams, WatchEvent, WatchParams};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;
use tokio::time::sleep;

/// The observed pods of one release.
#[derive(Debug, Default)]
pub(super) struct Release {
    number: String,
    /// The time, by the clock of the bench, at which the watch first showed a ready pod of each workload, by the workload's name.
    ready: BTreeMap<String, Timestamp>,
    /// The times at which containers ended with an exit code other than 0, as the pods' statuses tell it in whole seconds, by the workload's name.
    failures: BTreeMap<String, BTreeSet<Timestamp>>,
}

impl Release {
    /// A release of which no pod has been seen yet.
    pub(super) fn new(number: u32) -> Self {
        Self {
            number: number.to_string(),
            ..Self::default()
        }
    }

    /// Watches the pods, and notes when they become ready and fail, until each workload of the application has had a ready pod of this release. A
    /// watch that fails begins again.
    pub(super) async fn come_up(&mut self, pods: &Api<Pod>) -> Result<()> {
        while let Err(error) = self.watch(pods).await {
            eprintln!("bench: the watch of pods begins again: {error:#}");
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    async fn watch(&mut self, pods: &Api<Pod>) -> Result<()> {
        // From version 0 on, it begins with the pods that there are.
        let params = WatchParams::default().timeout(290);
        let mut events = pin!(pods.watch(&params, "0").await?);
        while let Some(event) = events.try_next().await? {
            match event {
                WatchEvent::Added(pod) | WatchEvent::Modified(pod) => self.see(&pod),
                WatchEvent::Error(error) => return Err((*error).into()),
                WatchEvent::Deleted(_) | WatchEvent::Bookmark(_) => {}
            }
            if self.ready.len() == APPLICATION.len() {
                return Ok(());
            }
        }
        anyhow::bail!("it came to its end")
    }

    fn see(&mut self, pod: &Pod) {
        let Some(app) = self.app(pod) else { return };
        if is_ready(pod) {
            self.ready.entry(app.clone()).or_insert_with(Timestamp::now);
        }
        let statuses = containers(pod);
        let states = statuses.flat_map(|it| [it.state.as_ref(), it.last_state.as_ref()]);
        let ended = states.flatten().filter_map(|it| it.terminated.as_ref());
        let failed = ended.filter(|it| it.exit_code != 0);
        let times = failed.filter_map(|it| Some(it.finished_at.as_ref()?.0));
        self.failures.entry(app).or_default().extend(times);
    }

    /// Returns the name of a pod's workload, its label `app`; `None` where the pod belongs to another release.
    fn app(&self, pod: &Pod) -> Option<String> {
        let is_of_it = pod.annotations().get(RELEASE) == Some(&self.number);
        is_of_it.then(|| pod.labels().get("app").cloned()).flatten()
    }

    /// Reads the log of the ready pod of each workload, and returns the course of each workload, in seconds since `sent`. A workload without a ready
    /// pod is an error.
    pub(super) async fn courses(&self, pods: &Api<Pod>, sent: Timestamp) -> Result<Vec<Course>> {
        let listed = pods.list(&ListParams::default()).await?;
        let mut courses = vec![];
        for workload in &APPLICATION {
            let name = workload.name;
            let is_it = |pod: &&Pod| self.app(pod).as_deref() == Some(name) && is_ready(pod);
            let pod = listed.iter().find(is_it);
            let pod = pod.with_context(|| format!("{name} has no ready pod any more"))?;
            let ready = self.ready.get(name).context("it was not seen")?;
            let since = |time: &Timestamp| time.duration_since(sent).as_secs_f64();
            let app = lines(pods, pod, APP).await?;
            let at = |word: &str| {
                let found = app.iter().find(|(_, text)| text == word);
                let (time, _) = found.with_context(|| format!("{name} did not say {word}"))?;
                Ok::<_, anyhow::Error>(since(time))
            };
            let spec = pod.spec.as_ref().context("a pod without spec")?;
            let init = spec.init_containers.iter().flatten().next();
            let released = match init {
                Some(init) => lines(pods, pod, &init.name).await?.pop(),
                None => None,
            };
            courses.push(Course {
                workload,
                released: released.map(|(time, _)| since(&time)),
                started: at(STARTING)?,
                serving: at(SERVING)?,
                ready: since(ready),
                failures: self.failures[name].iter().map(since).collect(),
                restarts: containers(pod).map(|it| it.restart_count).sum(),
            });
        }
        Ok(courses)
    }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|it| &it.conditions).flatten();
    let mut conditions = conditions;
    conditions.any(|it| it.type_ == "Ready" && it.status == "True")
}

/// Returns the statuses of all containers of a pod, init containers first.
fn containers(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    let statuses = pod.status.iter();
    statuses.flat_map(|it| {
        let (init, others) = (&it.init_container_statuses, &it.container_statuses);
        init.iter().chain(others).flatten()
    })
}

/// Returns the lines of a container's log, each with the time at which the container runtime read it.
async fn lines(pods: &Api<Pod>, pod: &Pod, container: &str) -> Result<Vec<(Timestamp, String)>> {
    let params = LogParams {
        container: Some(container.to_owned()),
        timestamps: true,
        ..LogParams::default()
    };
    let log = pods.logs(&pod.name_any(), &params).await?;
    let split = log.lines().filter_map(|line| line.split_once(' '));
    let lines = split.map(|(time, text)| Ok((time.parse()?, text.to_owned())));
    lines.collect()
}
