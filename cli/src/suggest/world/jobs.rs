//! Finds the Job that a wait is for: which Job of the chart migrates, and whether Helm runs the Job in time.

use super::{World, workload};
use crate::suggest::container::Container;
use crate::suggest::environment;
use crate::suggest::image;
use crate::suggest::object::{ChartObject, own_pods, text};
use crate::suggest::reason::Reason;
use crate::suggest::scripts;
use crate::suggest::target::Target;
use crate::suggest::wait::{Address, Asks, Sought, StoreData};
use rules::keys;
use rules::scope;
use rules::selector::Selector;
use serde_json::Value;

impl World<'_> {
    /// The target for a wait for the migration: the one Job of the chart that migrates; else the one Deployment or StatefulSet whose name says that
    /// it does, or the one Job that sets up the database with the waiting container's own image. An error where none or several fit, where Helm runs
    /// the Job too early or too late, and for a waiting workload that itself migrates by its name.
    pub(super) fn migration(
        &self,
        container: &Container,
        own: &ChartObject,
    ) -> Result<Target, Reason> {
        // The workload that migrates looks only whether its database is there.
        if self.name_of(own).contains("migrat") {
            return Err(Reason::NoMigration);
        }
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
        let is_named = |it: &&(usize, &ChartObject)| self.name_of(it.1).contains("migrat");
        let migrates = |it: &&(usize, &ChartObject)| is_named(it) || says_migrate(&it.1.value);
        let mut found: Vec<_> = jobs.iter().filter(migrates).collect();
        if found.is_empty() {
            found = others.iter().filter(is_named).collect();
        }
        if found.len() != 1 {
            let prepares =
                |it: &&(usize, &ChartObject)| migrates(it) || sets_up(&self.name_of(it.1));
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
                let name =
                    |(at, object): &&(usize, &ChartObject)| workload(*at, object).plain().text;
                Err(Reason::ManyJobs(several.iter().map(name).collect()))
            }
        }
    }

    /// The target that makes data in a store: the Service of a server that makes the database itself, or else the one Job that migrates or that makes
    /// the data by its name, where it works on the same host. An error where none or several do, or where Helm runs the Job too early or too late.
    pub(super) fn writer(
        &self,
        data: &StoreData,
        container: &Container,
        own: &ChartObject,
    ) -> Result<Target, Reason> {
        let unknown = || Reason::Data(data.program.clone());
        let address = data.address.as_ref().ok_or_else(unknown)?;
        let host = container.known(&address.host).map_err(|_| unknown())?;
        if data.sought == Sought::Database
            && let Ok(Some(store)) = self.address(address, container, own)
            && self.makes_its_database(&store, data, container, own)
        {
            return Ok(store);
        }
        if data.sought == Sought::Table
            && let Ok(target) = self.migration(container, own)
            && target
                .object
                .is_some_and(|at| self.names(&self.objects[at], &host))
        {
            return Ok(target);
        }
        let jobs = self.objects.iter().enumerate();
        let jobs = jobs.filter(|it| it.1.value["kind"] == "Job" && !std::ptr::eq(it.1, own));
        let jobs = jobs.filter(|it| self.names(it.1, &host) && self.makes(it.1, &data.names));
        let found: Vec<_> = jobs.filter(|it| !is_of_upgrades(&it.1.value)).collect();
        let [(at, object)] = found.as_slice() else {
            return Err(unknown());
        };
        self.runs_in_time(*at, own)?;
        Ok(workload(*at, object))
    }

    /// The one Job that puts the mark for which a request asks: `http://store/shop_is_initialized`. `None` where the path ends in no such mark, where
    /// no Job or several put it, or where Helm runs the Job at another time than the waiting workload needs.
    pub(super) fn maker_of_a_mark(&self, address: &Address, own: &ChartObject) -> Option<Target> {
        let mark = address.path.rsplit('/').next()?;
        let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let is_mark = mark.len() > 8 && mark.contains('_') && mark.chars().all(is_letter);
        let jobs = self.objects.iter().enumerate().filter(|_| is_mark);
        let jobs = jobs.filter(|it| it.1.value["kind"] == "Job" && !std::ptr::eq(it.1, own));
        let mut makers = jobs.filter(|it| {
            let texts = self.texts_of(it.1).join("\n");
            texts.contains(mark) && texts.contains("PUT")
        });
        let (at, object) = makers.next()?;
        let is_one = makers.next().is_none() && self.runs_in_time(at, own).is_ok();
        is_one.then(|| workload(at, object))
    }

    /// Whether a Job works on one of the names, and says that it makes something.
    fn makes(&self, job: &ChartObject, names: &[String]) -> bool {
        const MAKES: [&str; 8] = [
            "create",
            "init",
            "setup",
            "schema",
            "provision",
            "import",
            "seed",
            "migrat",
        ];
        let texts = self.texts_of(job).join("\n").to_lowercase();
        let said = format!("{}\n{texts}", self.name_of(job));
        let is_letter = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.' | '_');
        let has = |name: &String| texts.split(|it| !is_letter(it)).any(|it| it == name);
        MAKES.iter().any(|it| said.contains(it)) && names.iter().any(has)
    }

    /// Whether the server behind a Service makes the database for which a container looks, when it first starts.
    fn makes_its_database(
        &self,
        store: &Target,
        data: &StoreData,
        container: &Container,
        own: &ChartObject,
    ) -> bool {
        const NAMES: [&str; 8] = [
            "POSTGRES_DB",
            "POSTGRES_USER",
            "POSTGRESQL_DATABASE",
            "MYSQL_DATABASE",
            "MARIADB_DATABASE",
            "MONGO_INITDB_DATABASE",
            "POSTGRESQL_USERNAME",
            "POSTGRES_DATABASE",
        ];
        let Some(service) = store.object.map(|at| &self.objects[at].value) else {
            return false;
        };
        let Some(selector) = service.pointer("/spec/selector").map(Selector::labels) else {
            return false;
        };
        let pods = self.objects.iter().filter_map(own_pods);
        let pods = pods.filter(|it| selector.selects(it));
        let containers = pods.filter_map(|it| it["spec"]["containers"].as_array());
        let variables = containers.flatten().filter_map(|it| it["env"].as_array());
        let mut made = variables.flatten().filter(|it| {
            let name = it["name"].as_str().unwrap_or_default();
            NAMES.contains(&name)
        });
        let definitions = own_pods(own).map_or(Vec::new(), |it| variables_of(it, &container.name));
        made.any(|it| {
            let value = it["value"].as_str().unwrap_or_default().to_lowercase();
            let is_same = |own: &&Value| own["valueFrom"] == it["valueFrom"];
            let is_copy = it["valueFrom"].is_object() && definitions.iter().any(is_same);
            data.names.contains(&value) || data.names.is_empty() && is_copy
        })
    }

    /// Whether a container of a Job has a host in its words or its environment.
    fn names(&self, job: &ChartObject, host: &str) -> bool {
        let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.' | '_');
        let texts = self.texts_of(job);
        let mut texts = texts.iter();
        texts.any(|it| it.split(|it| !is_name(it)).any(|it| it == host))
    }

    /// The words, the environment and the scripts of a Job's containers, without its init containers.
    fn texts_of(&self, job: &ChartObject) -> Vec<String> {
        let Some(pods) = own_pods(job) else {
            return Vec::new();
        };
        let own = Container::all(&pods["spec"])
            .into_iter()
            .filter(|it| !it.init);
        let texts = own.flat_map(|it| {
            let it = environment::completed(it, pods, self.objects, self.home);
            let script = scripts::followed(&it, self.objects);
            let script = script.map(|it| it.words).unwrap_or_default();
            let values: Vec<String> = it.env.into_values().collect();
            [it.words, script, values].concat()
        });
        texts.collect()
    }

    /// The name of an object in small letters, without that of the release, which may say anything.
    fn name_of(&self, object: &ChartObject) -> String {
        let name = text(&object.value, "/metadata/name");
        name.replace(self.release, "").to_lowercase()
    }

    /// Refuses a Job for which the workload `own` cannot wait: one that Helm runs before or after all other objects, or, if `own` is a hook,
    /// after that hook.
    pub(super) fn runs_in_time(&self, job: usize, own: &ChartObject) -> Result<(), Reason> {
        let value = &self.objects[job].value;
        let name = || text(value, "/metadata/name").to_owned();
        let hook = scope::hook(value).unwrap_or_default();
        if let Some(own_hook) = scope::hook(&own.value) {
            // Helm makes the next hook only once the one before has ended, and hooks of one weight in the order of their names.
            let place = |it: &Value| {
                let is_after = scope::hook(it).is_some_and(|it| !it.contains("pre-"));
                (is_after, weight(it), text(it, "/metadata/name").to_owned())
            };
            let is_later = if hook.is_empty() {
                !own_hook.contains("post-")
            } else {
                place(value) > place(&own.value)
            };
            return if is_later {
                Err(Reason::LaterHook(name()))
            } else {
                Ok(())
            };
        }
        if hook.is_empty() {
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

/// The weight of a hook of Helm; 0 without one that is a number.
fn weight(object: &Value) -> i64 {
    let weight = object["metadata"]["annotations"][keys::HOOK_WEIGHT].as_str();
    weight.and_then(|it| it.trim().parse().ok()).unwrap_or(0)
}

/// Whether the name of a Job says that it sets up a database: `shop-db-setup`. A Job may also set up something else: `shop-sync-users`.
fn sets_up(name: &str) -> bool {
    let words = [
        "setup",
        "init",
        "schema",
        "prepare",
        "bootstrap",
        "sync",
        "upgrade",
    ];
    let others = [
        "user", "users", "role", "roles", "admin", "bucket", "buckets", "topic", "topics",
        "secret", "secrets", "certs", "tokens",
    ];
    let mut parts = name.split('-');
    parts.clone().any(|it| words.contains(&it)) && !parts.any(|it| others.contains(&it))
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

/// The definitions of the variables of the container of this name, as its `env` has them.
fn variables_of<'p>(pods: &'p Value, container: &str) -> Vec<&'p Value> {
    let lists = ["initContainers", "containers"].map(|it| pods["spec"][it].as_array());
    let own = lists.into_iter().flatten().flatten();
    let own = own.filter(|it| it["name"] == container);
    let variables = own.filter_map(|it| it["env"].as_array());
    variables.flatten().collect()
}

/// Whether an object is a hook that Helm does not run at the installation, but at upgrades or other events.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_sets_up_users_sets_up_no_database() {
        for (name, expected) in [
            ("shop-db-setup", true),
            ("keystone-db-sync", true),
            ("shop-sync-users", false),
            ("shop-create-buckets", false),
            ("shop-setup-admin", false),
        ] {
            assert_eq!(sets_up(name), expected, "{name}");
        }
    }
}
