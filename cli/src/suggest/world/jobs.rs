//! The Jobs that are waited for: which one migrates, and whether Helm runs it in time.

use super::{World, workload};
use crate::suggest::object::{ChartObject, text};
use crate::suggest::reason::Reason;
use crate::suggest::target::Target;
use rules::scope;
use serde_json::Value;

impl World<'_> {
    /// The Job that migrates.
    pub(super) fn migration(&self, own: &ChartObject) -> Result<Target, Reason> {
        let migrates = |(_, object): &(usize, &ChartObject)| {
            let is_job = object.value["kind"] == "Job" && !std::ptr::eq(*object, own);
            let name = text(&object.value, "/metadata/name").to_lowercase();
            is_job && (name.contains("migrat") || says_migrate(&object.value))
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

    /// Refuses a Job that Helm runs after everything else, or that it has run before.
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

/// Whether a Job's own command migrates.
fn says_migrate(job: &Value) -> bool {
    let containers = job
        .pointer("/spec/template/spec/containers")
        .and_then(Value::as_array);
    containers.into_iter().flatten().any(|it| {
        let words = format!("{} {}", it["command"], it["args"]).to_lowercase();
        words.contains("migrat")
    })
}
