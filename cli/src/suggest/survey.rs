//! Surveys the containers of rendered workloads: the waits of each container, with every set of values that was tried.

use super::container::Container;
use super::environment;
use super::found::Found;
use super::object::ChartObject;
use super::object::{own_pods, text};
use super::reason::Reason;
use super::release::{NAMESPACE, RELEASE, RELEASE_NAME};
use super::render::MADE_UP;
use super::scripts;
use super::switches::{self, Switch};
use super::target::{Form, Target};
use super::waits::{self, Reading};
use super::whole_sets;
use super::world::World;
use rules::scope;
use serde_json::Value;
use std::cell::OnceCell;
use std::path::PathBuf;

/// A container of a workload, as one set of values renders it, with its waits.
#[derive(Debug)]
pub(super) struct SeenContainer {
    pub(super) source: PathBuf,
    /// Kind and name of the workload.
    pub(super) workload: (String, String),
    pub(super) container: Container,
    /// The number of the set of values that rendered the container.
    pub(super) set: usize,
    pub(super) found: Vec<Found>,
    /// The number of waits that were read from the container.
    pub(super) waits: usize,
    /// Whether the container looks like a wait by its name or by a loop, even if no wait was found in it.
    pub(super) looks: bool,
    /// The first command of the container that does something else than wait; `None` where all of them wait or are harmless.
    pub(super) does: Option<String>,
    /// The place of the container's text, once it was looked up: a text for messages, and the file and the line, from 0, where a text is like the
    /// container.
    pub(super) place: OnceCell<(String, Option<(PathBuf, usize)>)>,
}

impl SeenContainer {
    /// Whether `other` is the same container of the same workload, perhaps rendered with another set of values. The command of a hook is another
    /// container than the container itself.
    pub(super) fn is_the_same(&self, other: &Self) -> bool {
        self.source == other.source
            && self.workload == other.workload
            && self.container.name == other.container.name
            && self.container.after_start == other.container.after_start
    }

    /// Whether the container has waits, and a list can say all of them.
    pub(super) fn is_listed(&self) -> bool {
        let is_listed = |it: &Found| matches!(it.target, Ok(Some(_)));
        !self.found.is_empty() && self.found.iter().all(is_listed)
    }

    /// Whether each wait of `other` that no list can say is, in this container, a wait for an address of the user. Both are one container with
    /// different sets of values.
    pub(super) fn has_addresses(&self, other: &Self) -> bool {
        let is_address = |it: &Found| matches!(&it.target, Ok(Some(it)) if it.is_address());
        let mut pairs = self.found.iter().zip(&other.found);
        self.found.len() == other.found.len()
            && pairs.all(|(own, other)| other.target.is_ok() || is_address(own))
    }

    /// Whether an address of the container may come from values that the user has to set: one does, a wait has no target, or no wait was found
    /// at all.
    pub(super) fn is_open(&self) -> bool {
        let is_open = |it: &Found| match &it.target {
            Ok(Some(target)) => target.form == (Form::Address { of_values: true }),
            Ok(None) | Err(_) => true,
        };
        self.found.is_empty() || self.found.iter().any(is_open)
    }
}

/// The waits of the containers that were read so far. Most containers are equal with every set of values, so each is read once.
#[derive(Debug, Default)]
pub(super) struct Readings(Vec<(Container, Reading)>);

impl Readings {
    fn of(&mut self, container: &Container) -> Reading {
        if let Some((_, known)) = self.0.iter().find(|it| it.0 == *container) {
            return known.clone();
        }
        let reading = waits::of(container);
        self.0.push((container.clone(), reading.clone()));
        reading
    }
}

/// The containers that look like waits among the objects that the set of values number `set` renders, each with its waits. Tests of Helm are
/// left out. `values` are the chart's, and `switches` those of the set.
pub(super) fn of(
    readings: &mut Readings,
    set: usize,
    objects: &[ChartObject],
    missing: &[String],
    values: &Value,
    switches: &[Switch],
) -> Vec<SeenContainer> {
    // The chart's own text of a value that varies is no choice of the user any more.
    let mut values = values.clone();
    for switch in switches.iter().filter(|it| it.is_varied()) {
        let pointer = format!("/{}", switch.path.replace('.', "/"));
        if let Some(own) = values.pointer_mut(&pointer) {
            *own = Value::Null;
        }
    }
    let mut texts = Vec::new();
    leaves(&values, &mut texts);
    // A made-up host stands for a host that the user has to give.
    texts.push(MADE_UP.to_owned());
    let texts_of_set = switches.iter().filter(|it| it.is_text());
    texts.extend(texts_of_set.flat_map(|it| it.marks().into_iter().map(str::to_owned)));
    let mut named = switches.iter().filter(|it| it.path == RELEASE_NAME);
    let release = named.next().map_or(RELEASE, |it| it.value.as_str());
    let is_here = |it: &&Switch| {
        let part = it.path.split('.').next().unwrap_or_default();
        !missing.iter().any(|it| it == part)
    };
    let overrides = switches.iter().filter(|it| switches::is_override(&it.path));
    let overrides = overrides.filter(is_here).map(|it| it.value.as_str());
    let overrides: Vec<&str> = overrides.collect();
    let mut seen = Vec::new();
    for object in objects {
        let hook = scope::hook(&object.value);
        let Some(pods) = own_pods(object).filter(|_| !hook.is_some_and(scope::is_test)) else {
            continue;
        };
        let own = text(&object.value, "/metadata/namespace");
        let world = World {
            objects,
            missing,
            home: if own.is_empty() { NAMESPACE } else { own },
            release,
            overrides: &overrides,
            values: &texts,
            pods,
        };
        let completed = |it| environment::completed(it, pods, objects, world.home);
        let all = Container::all(&pods["spec"]).into_iter().map(completed);
        let mut all: Vec<Container> = all.collect();
        Container::join(&mut all);
        for container in all {
            let mut reading = readings.of(&container);
            // The script of a server holds the branches of its whole life. Only the script of a Job or of an init container runs from its
            // beginning to its end.
            let is_job = object.value["kind"] == "Job";
            if container.init || is_job {
                let script = scripts::followed(&container, objects);
                if let Some(script) = script {
                    reading.join(readings.of(&script));
                }
            }
            let reading = reading.of_job(is_job);
            if !reading.looks {
                continue;
            }
            let found = reading.waits.iter().enumerate().flat_map(|(number, wait)| {
                let all = world.resolve_all(wait, &container, object).into_iter();
                all.map(move |it| Found {
                    wait: number,
                    what: wait.what.clone(),
                    target: it.and_then(tried),
                })
            });
            seen.push(SeenContainer {
                source: object.source.clone(),
                workload: (
                    text(&object.value, "/kind").to_owned(),
                    text(&object.value, "/metadata/name").to_owned(),
                ),
                found: whole_sets::joined(found.collect(), objects, object),
                waits: reading.waits.len(),
                looks: reading.looks,
                does: reading.does,
                container,
                set,
                place: OnceCell::new(),
            });
        }
    }
    seen
}

/// The target, if the parser of admission accepts its entry; otherwise the reason why the parser refuses it. `None` stays `None`.
fn tried(target: Option<Target>) -> Result<Option<Target>, Reason> {
    if let Some(target) = &target {
        super::tried::entry(&target.plain().text)?;
    }
    Ok(target)
}

/// Adds the texts within a value to `texts`, but for commands, images and overrides of names, which are no hosts that a user chooses.
fn leaves(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.is_empty() => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|it| leaves(it, texts)),
        Value::Object(map) => {
            // A list of containers among the values holds scripts. These are texts of the chart's author, as those of a template are, and
            // no choices of the user.
            let is_script = |key: &str| matches!(key, "command" | "args");
            // An image may be called as the host of its server.
            let is_image = |key: &str| matches!(key, "image" | "repository" | "registry" | "tag");
            let is_choice =
                |key: &str| !is_script(key) && !is_image(key) && !switches::is_override(key);
            let items = map.iter().filter(|(key, _)| is_choice(key));
            items.for_each(|(_, it)| leaves(it, texts));
        }
        _ => {}
    }
}
