//! Finds the things that a removed loop makes needless: the container, its image, and the rights that only the loop used.

use super::container::Container;
use super::object::{ChartObject, own_pods, text};
use super::outcome::ListEntry;
use super::survey::SeenContainer;
use super::target::{Form, Target};
use super::wait::{self, Asks};
use rules::keys;
use rules::ordinals;
use rules::selector::Selector;
use serde_json::Value;

/// The remarks about the parts of the chart that the user can delete once a list replaces the loop of the container.
pub(super) fn of(seen: &SeenContainer, workload: (&str, &str), objects: &[ChartObject]) -> String {
    let container = &seen.container;
    let more = seen.does.as_ref().filter(|_| container.init);
    let mut told = match more {
        Some(does) => format!(
            "delete the wait from the init container {}, which stays for {does}",
            container.name
        ),
        None if container.init => format!("delete the init container {}", container.name),
        None => format!("delete the loop of the container {}", container.name),
    };
    let others = images(objects).filter(|it| *it == container.image).count();
    let goes = container.init && more.is_none();
    if goes && !container.image.is_empty() && others <= 1 {
        let image = container.image.as_str();
        told.extend([" and its image ", image, ", which nothing else here has"]);
    }
    if asks_the_api(container) {
        let account = objects
            .iter()
            .find(|it| is(it, workload))
            .and_then(own_pods);
        let account = account.and_then(|it| it.pointer("/spec/serviceAccountName")?.as_str());
        let rights = rights_of(account.unwrap_or("default"), objects);
        let rights = if rights.is_empty() {
            "the rights of its ServiceAccount".to_owned()
        } else {
            rights.join(" and ")
        };
        told.extend([
            ", and ",
            rights.as_str(),
            ", unless the application asks the API server too",
        ]);
    }
    told
}

fn is(object: &ChartObject, (kind, name): (&str, &str)) -> bool {
    object.value["kind"] == kind && text(&object.value, "/metadata/name") == name
}

fn images(objects: &[ChartObject]) -> impl Iterator<Item = &str> {
    let pods = objects.iter().filter_map(own_pods);
    let lists = pods.flat_map(|it| [&it["spec"]["initContainers"], &it["spec"]["containers"]]);
    let containers = lists.filter_map(Value::as_array).flatten();
    containers.filter_map(|it| it["image"].as_str())
}

/// Whether a container asks the API server, so that its service account needs rights.
fn asks_the_api(container: &Container) -> bool {
    // The file with the pod's namespace needs no rights.
    let text = container.words.join(" ");
    let text = text.replace("serviceaccount/namespace", "");
    let marks = [
        "kubectl",
        "kubernetes.default",
        "ready.py",
        "job-wr",
        "pod-wr",
        "serviceaccount",
    ];
    let declared = container.env.keys().any(|it| it.starts_with("DEPENDENCY_"));
    let waiter = matches!(
        container.words.first().map(String::as_str),
        Some("job" | "pod" | "service" | "wait")
    );
    declared
        || waiter
        || container.image.contains("kubectl")
        || marks.iter().any(|it| text.contains(it))
}

/// The role bindings that give rights to an account, each with its role, as texts for a remark.
fn rights_of(account: &str, objects: &[ChartObject]) -> Vec<String> {
    let binds = |object: &&ChartObject| {
        let kind = text(&object.value, "/kind");
        let subjects = object.value["subjects"].as_array().into_iter().flatten();
        kind.ends_with("RoleBinding")
            && subjects
                .filter(|it| it["kind"] == "ServiceAccount")
                .any(|it| it["name"] == account)
    };
    let told = objects.iter().filter(binds).map(|it| {
        let role = (
            text(&it.value, "/roleRef/kind"),
            text(&it.value, "/roleRef/name"),
        );
        format!(
            "{} {} ({} {})",
            text(&it.value, "/kind"),
            text(&it.value, "/metadata/name"),
            role.0,
            role.1
        )
    });
    told.collect()
}

/// The remark about an entry in another namespace, which has to consent; `None` for an entry of the pods' own namespace.
pub(super) fn consent(target: &Target, entry: &ListEntry) -> Option<String> {
    target.namespace.as_ref()?;
    Some(format!(
        "{} is in another namespace; the list opens once that Namespace agrees by its annotation {}",
        entry.text,
        keys::ALLOW_DEPENDENTS_FROM
    ))
}

/// The remark about a loop that waits until a server has elected a leader, where the entry is an object; `None` for any other loop.
pub(super) fn leads(target: &Target, entry: &ListEntry, container: &Container) -> Option<String> {
    let mut words = container.words.iter();
    let asks = words.any(|it| it.to_lowercase().contains("leader"));
    let is_object = matches!(target.form, Form::Object { .. });
    (asks && is_object).then(|| {
        format!(
            "the loop asks for a leader, and {} for ready pods; let their readiness probe ask for it",
            entry.text
        )
    })
}

/// The remark about a loop that asks by HTTP for a path for which no readiness probe behind the target's Service asks. `what` is the loop's
/// command. `None` for any other loop, and where there is no probe at all.
pub(super) fn path(
    target: &Target,
    entry: &ListEntry,
    what: &str,
    objects: &[ChartObject],
) -> Option<String> {
    target.asks.filter(|it| *it == Asks::Http)?;
    let (_, address) = what.split_once("://")?;
    let address = address.split_whitespace().next()?;
    let path = address.find('/').map(|at| &address[at..])?;
    let path = path.split(['?', '#']).next()?.trim_end_matches('/');
    let selector = Selector::labels(objects[target.object?].value.pointer("/spec/selector")?);
    let pods = objects.iter().filter_map(own_pods);
    let containers = pods
        .filter(|it| selector.selects(it))
        .filter_map(|it| it["spec"]["containers"].as_array())
        .flatten();
    let probes = containers.filter_map(|it| it.get("readinessProbe"));
    let probes: Vec<&Value> = probes.filter(|it| !it.is_null()).collect();
    let asks = |it: &&Value| text(it, "/httpGet/path").trim_end_matches('/') == path;
    let is_other = !path.is_empty() && !probes.is_empty() && !probes.iter().any(asks);
    is_other.then(|| {
        format!(
            "the loop asks for {path}, and the readiness probe behind {} for something else; let it ask for the same",
            entry.text
        )
    })
}

/// The remark about an entry whose object was not rendered, or whose pods have no readiness probe. Such a list knows less than the loop.
/// `None` where there is nothing to remark.
pub(super) fn note(
    target: &Target,
    entry: &ListEntry,
    objects: &[ChartObject],
    missing: &[String],
) -> Option<String> {
    let entry = &entry.text;
    if let Some(set) = set_of(target, objects) {
        let of = format!("of the StatefulSet behind {entry}");
        return without_probe(&of, target.asks?, &[own_pods(set)?]);
    }
    let Some(at) = target.object else {
        let named = matches!(target.form, Form::Object { .. });
        let of_part = missing.iter().find(|it| target.name.contains(it.as_str()));
        return match of_part {
            _ if !named => None,
            Some(part) => Some(format!(
                "{entry} is not among these objects; the sub-chart {part} is not in charts/ (helm dependency build)"
            )),
            None => Some(format!(
                "{entry} is not among these objects; the list waits until something else makes it"
            )),
        };
    };
    let asks = target.asks?;
    if let Some(pods) = own_pods(&objects[at]) {
        return without_probe(&format!("of {entry}"), asks, &[pods]);
    }
    let selector = Selector::labels(objects[at].value.pointer("/spec/selector")?);
    let pods = objects.iter().filter_map(own_pods);
    let behind: Vec<&Value> = pods.filter(|it| selector.selects(it)).collect();
    without_probe(&format!("behind {entry}"), asks, &behind)
}

/// The StatefulSet that makes the pod with the target's name; `None` for a target that is no such pod.
fn set_of<'o>(target: &Target, objects: &'o [ChartObject]) -> Option<&'o ChartObject> {
    let is_pod = matches!(&target.form, Form::Object { kind, .. } if wait::is_pod(kind));
    let (set, ordinal) = ordinals::of(&target.name).filter(|_| is_pod)?;
    objects
        .iter()
        .find(|it| is(it, ("StatefulSet", set)) && ordinals::made_by(&it.value).contains(&ordinal))
}

/// The remark that the list knows less about pods without a readiness probe than the loop. `of` names the pods. `None` where a container has a
/// probe, and where there is no container.
fn without_probe(of: &str, asks: Asks, pods: &[&Value]) -> Option<String> {
    let containers = pods
        .iter()
        .filter_map(|it| it["spec"]["containers"].as_array())
        .flatten();
    let mut containers = containers.peekable();
    containers.peek()?;
    if containers.any(|it| it.get("readinessProbe").is_some_and(|it| !it.is_null())) {
        return None;
    }
    let lost = match asks {
        Asks::Port => {
            "the open port is all that the loop knew, and the list knows less: it opens as soon as a container runs"
        }
        Asks::Protocol => "what the loop asks is lost: give them one that asks the same",
        Asks::Http => {
            "the answer that the loop asks for is lost: give them one with the same address"
        }
    };
    let way = if asks == Asks::Port {
        "; give them one of that port"
    } else {
        ""
    };
    Some(format!(
        "the pods {of} have no readiness probe; {lost}{way}"
    ))
}
