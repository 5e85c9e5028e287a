//! Finds the Job that a wait is for: which Job of the chart migrates, and whether Helm runs the Job in time.

use super::{World, workload};
use crate::suggest::container::Container;
use crate::suggest::environment;
use crate::suggest::object::{ChartObject, own_pods, text};
use crate::suggest::reason::Reason;
use crate::suggest::target::Target;
use rules::scope;
use serde_json::Value;

impl World<'_> {
    /// The target of a wait for the migration: the one Job of the chart that migrates. `own` is the workload that waits.
    pub(super) fn migration(&self, own: &ChartObject) -> Result<Target, Reason> {
        let migrates = |(_, object): &(usize, &ChartObject)| {
            let is_job = object.value["kind"] == "Job" && !std::ptr::eq(*object, own);
            let name = text(&object.value, "/metadata/name").to_lowercase();
            let migrates = name.contains("migrat") || says_migrate(&object.value);
            // A hook of upgrades does not run at the installation, when the pods of the first revision wait.
            is_job && migrates && !is_of_upgrades(&object.value)
        };
        let found: Vec<_> = self.objects.iter().enumerate().filter(migrates).collect();
        match found.as_slice() {
            [] => Err(Reason::NoMigration),
            [(at, object)] => {
                self.runs_in_time(*at, own)?;
                Ok(workload(*at, object))
            }
            several => {
                let name = |(_, object): &(usize, &ChartObject)| {
                    format!("job/{}", text(&object.value, "/metadata/name"))
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
        let target = self.migration(own).map_err(|_| unknown())?;
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

/// Whether Helm runs an object at upgrades or other events, and not at the installation.
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
