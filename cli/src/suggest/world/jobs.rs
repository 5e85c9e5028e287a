//! Finds the Job that a wait is for: which Job of the chart migrates, and whether Helm runs the Job in time.

use super::{World, workload};
use crate::suggest::container::Container;
use crate::suggest::environment;
use crate::suggest::image;
use crate::suggest::object::{ChartObject, own_pods, text};
use crate::suggest::reason::Reason;
use crate::suggest::target::Target;
use crate::suggest::wait::Asks;
use rules::scope;
use serde_json::Value;

impl World<'_> {
    /// The target for a wait for the migration: the one Job of the chart that migrates; else the one other workload whose name says that it
    /// does, or the one Job that sets up what the waiting container's own image runs on.
    pub(super) fn migration(
        &self,
        container: &Container,
        own: &ChartObject,
    ) -> Result<Target, Reason> {
        let all = self.objects.iter().enumerate();
        let others = all.filter(|it| !std::ptr::eq(it.1, own) && own_pods(it.1).is_some());
        // A pod that starts with the first revision waits for no hook of a later one.
        let others = others.filter(|it| !is_of_upgrades(&it.1.value));
        let (jobs, others): (Vec<_>, Vec<_>) = others.partition(|it| it.1.value["kind"] == "Job");
        // A pod of a CronJob is no state for which a list can wait.
        let is_kept = |it: &(usize, &ChartObject)| {
            matches!(text(&it.1.value, "/kind"), "Deployment" | "StatefulSet")
        };
        let others: Vec<_> = others.into_iter().filter(is_kept).collect();
        let is_named = |it: &&(usize, &ChartObject)| name_of(it.1).contains("migrat");
        let migrates = |it: &&(usize, &ChartObject)| is_named(it) || says_migrate(&it.1.value);
        let mut found: Vec<_> = jobs.iter().filter(migrates).collect();
        if found.is_empty() {
            found = others.iter().filter(is_named).collect();
        }
        if found.len() != 1 {
            let prepares = |it: &&(usize, &ChartObject)| migrates(it) || sets_up(&name_of(it.1));
            let of_image = jobs.iter().filter(|it| runs_image_of(it.1, container));
            let of_image: Vec<_> = of_image.filter(prepares).collect();
            if found.is_empty() || of_image.len() == 1 {
                found = of_image;
            }
        }
        match found.as_slice() {
            [] => Err(Reason::NoMigration),
            [(at, object)] => {
                self.runs_in_time(*at, own)?;
                // A Job says itself that it is done; of other pods only a readiness probe does.
                let is_job = object.value["kind"] == "Job";
                let asks = (!is_job).then_some(Asks::Protocol);
                Ok(Target {
                    asks,
                    ..workload(*at, object)
                })
            }
            several => {
                let name = |(at, object): &&(usize, &ChartObject)| {
                    workload(*at, object).plain().text
                };
                Err(Reason::ManyJobs(several.iter().map(name).collect()))
            }
        }
    }

    /// The target of a wait for a table, which `program` looks for at `host`: the Job that migrates, if it names the same host.
    pub(super) fn table(
        &self,
        program: &str,
        host: &str,
        container: &Container,
        own: &ChartObject,
    ) -> Result<Target, Reason> {
        let unknown = || Reason::Data(program.to_owned());
        let host = container.known(host).map_err(|_| unknown())?;
        let target = self.migration(container, own).map_err(|_| unknown())?;
        let job = target.object.map(|at| &self.objects[at]);
        let works_there = job.is_some_and(|it| self.names(it, &host));
        works_there.then_some(target).ok_or_else(unknown)
    }

    /// Whether a container of a Job has a host in its words or its environment.
    fn names(&self, job: &ChartObject, host: &str) -> bool {
        let Some(pods) = own_pods(job) else {
            return false;
        };
        let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.' | '_');
        let named = |text: &String| text.split(|it| !is_name(it)).any(|it| it == host);
        let mut own = Container::all(&pods["spec"]).into_iter();
        own.any(|it| {
            let it = environment::completed(it, pods, self.objects, self.home);
            !it.init && (it.words.iter().any(named) || it.env.values().any(named))
        })
    }

    /// Refuses a Job that Helm runs after all other objects, or before any other object.
    pub(super) fn runs_in_time(&self, job: usize, own: &ChartObject) -> Result<(), Reason> {
        let value = &self.objects[job].value;
        let name = || text(value, "/metadata/name").to_owned();
        let hook = scope::hook(value).unwrap_or_default();
        if hook.is_empty() || scope::is_hook(&own.value) {
            return Ok(());
        }
        if hook.contains("post-") {
            return Err(Reason::LateJob(name()));
        }
        if hook.contains("pre-") {
            return Err(Reason::EarlyJob(name()));
        }
        Ok(())
    }
}

fn name_of(object: &ChartObject) -> String {
    text(&object.value, "/metadata/name").to_lowercase()
}

/// Whether the name of a Job says that it sets up a database: `shop-db-setup`.
fn sets_up(name: &str) -> bool {
    let words = [
        "setup", "init", "schema", "prepare", "bootstrap", "sync", "upgrade",
    ];
    name.split('-').any(|it| words.contains(&it))
}

/// Whether a container of a workload runs the image of another container, in any version.
fn runs_image_of(object: &ChartObject, container: &Container) -> bool {
    let Some(pods) = own_pods(object) else {
        return false;
    };
    let own = image::repository(&container.image);
    let mut all = Container::all(&pods["spec"]).into_iter();
    !own.is_empty() && all.any(|it| image::repository(&it.image) == own)
}

/// Whether Helm runs an object at upgrades, and so on, and not at the installation.
fn is_of_upgrades(object: &Value) -> bool {
    let hook = scope::hook(object).filter(|it| !it.trim().is_empty());
    hook.is_some_and(|it| !it.contains("-install"))
}

/// Whether the commands of a Job migrate.
fn says_migrate(job: &Value) -> bool {
    let containers = job
        .pointer("/spec/template/spec/containers")
        .and_then(Value::as_array);
    containers.into_iter().flatten().any(|it| {
        let words = format!("{} {}", it["command"], it["args"]).to_lowercase();
        let migrates = ["migrat", "db upgrade", "upgradedb", "db:prepare"];
        migrates.iter().any(|it| words.contains(it))
    })
}
