//! `release`: opens the gate of a pod (break-glass) with the annotation that the status service reads live, and takes its hold away.

mod all;
mod change;
mod free;

pub(crate) use free::ReleaseOptions;

use crate::installation::Installation;
use crate::installed::Installed;
use crate::reader::Reader;
use crate::{access, status, subject};
use anyhow::{Context, Result, anyhow, bail};
use free::{Freed, HeldKind};
use kube::api::{Patch, PatchParams};
use kube::core::request::Request;
use kube::{Client, Error};
use rules::dependent::Dependent;
use rules::gate::{self, Gate};
use rules::keys;
use rules::kinds::{self, Kind};
use rules::scope;
use serde_json::{Value, json};
use std::process::ExitCode;

/// The object that gets the annotation which releases its pods.
#[derive(Debug, PartialEq, Eq)]
struct ReleaseTarget {
    kind: Kind,
    namespace: String,
    name: String,
    /// Whether the annotation opens the gates of the object's pods, and not that of the object itself.
    is_workload: bool,
}

/// Releases one pod, its hold too where it is held, or with `owner` every pod of the topmost workload above it, and prints the result. Without
/// `owner` a pod that has no gate, or has passed it, is left unchanged.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) async fn pod(
    client: Client,
    namespace: &str,
    name: &str,
    owner: bool,
    manner: ReleaseOptions<'_>,
) -> Result<ExitCode> {
    let (mut reader, pod, basis) = status::begin(&client, namespace, name).await?;
    if gate::is_held(&pod) && !owner {
        println!("{}", held(&client, &pod, manner).await?);
        return Ok(ExitCode::SUCCESS);
    }
    let found =
        reader.settle(|reader| status::dependent(&Installed::of_pod(reader, &basis, &pod), &pod));
    let dependent = found.await?;
    if let Some(told) = nothing_to_do(&pod).filter(|_| !owner) {
        println!("{told}");
        return Ok(ExitCode::SUCCESS);
    }
    let target = target(&dependent, owner)?;
    annotate(&client, &reader, &target, manner).await
}

/// Opens the gates of every pod of a workload, those that wait and those to come, and prints the result. `word` is the user's word for its
/// kind. An error for a kind that makes no pods.
pub(crate) async fn workload(
    client: Client,
    namespace: &str,
    (word, name): (&str, &str),
    manner: ReleaseOptions<'_>,
) -> Result<ExitCode> {
    let mut reader = Reader::new(client.clone());
    let basis = Installation::basis(&client, None).await?;
    let kind = subject::kind(word, &basis.settings.workloads)?;
    if !may_make_pods(&kind) {
        bail!(
            "{kind} {namespace}/{name} makes no pods, so it has no gate to open; name the pod that waits, or the workload above it: kubectl \
             sluice status -n {namespace} shows them"
        );
    }
    let there = reader.settle(|reader| status::is_there(reader, &kind, namespace, name));
    there.await?;
    let target = ReleaseTarget {
        kind: reader.canonical(kind),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        is_workload: true,
    };
    annotate(&client, &reader, &target, manner).await
}

/// Whether objects of a kind may make pods. Every custom kind may: this command cannot know, and trusts the user.
fn may_make_pods(kind: &Kind) -> bool {
    let cron_job = kinds::builtin("batch", "CronJob").map(Kind::Builtin);
    let mut making = scope::workloads().chain(cron_job);
    matches!(kind, Kind::Custom { .. }) || making.any(|it| it == *kind)
}

/// Writes the annotation that opens gates onto the target and prints the result; in a dry run the API server only tries it.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
async fn annotate(
    client: &Client,
    reader: &Reader,
    target: &ReleaseTarget,
    manner: ReleaseOptions<'_>,
) -> Result<ExitCode> {
    let path = reader.path(&target.kind, Some(&target.namespace))?;
    let annotations = annotations(manner.reason);
    let change = Patch::Merge(json!({"metadata": {"annotations": annotations}}));
    let params = PatchParams {
        dry_run: manner.dry_run,
        ..PatchParams::default()
    };
    let request = Request::new(path).patch(&target.name, &params, &change)?;
    let patched = client.request::<Value>(request).await;
    patched.map_err(|error| match error {
        Error::Api(status) if status.message.contains("cannot patch resource") => anyhow!(
            "cannot annotate {}: {}",
            target.name(),
            access::missing(
                "patch",
                &access::resource(&target.kind),
                Some(&target.namespace)
            )
        ),
        error => access::failed(error).context(format!("cannot annotate {}", target.name())),
    })?;
    println!("{}", done(target, manner));
    Ok(ExitCode::SUCCESS)
}

/// Releases every pod and Job that sluice holds, in one namespace or in all of them.
pub(crate) async fn all(
    client: Client,
    namespace: Option<&str>,
    manner: ReleaseOptions<'_>,
) -> Result<ExitCode> {
    all::run(&client, namespace, manner).await
}

/// Takes sluice's scheduling gate from a held pod and opens its gate, whether or not a controller runs. Returns the text to print; a pod that is
/// gone is an error.
async fn held(client: &Client, pod: &Value, manner: ReleaseOptions<'_>) -> Result<String> {
    let target = ReleaseTarget {
        kind: Kind::Builtin(kinds::POD),
        namespace: text(pod, "/metadata/namespace").to_owned(),
        name: text(pod, "/metadata/name").to_owned(),
        is_workload: false,
    };
    let name = target.name();
    let freed = free::free(client, HeldKind::Pod, pod, manner).await;
    match freed.with_context(|| format!("cannot release {name}"))? {
        Freed::Now(now) => {
            let others = free::kept_by_others(&now).unwrap_or_default();
            let done = done(&target, manner);
            Ok(if manner.dry_run {
                format!("{name} would be held no more{others}.\n{done}")
            } else {
                format!("{name} is held no more{others}.\n{done}; the hold does not come back")
            })
        }
        Freed::Gone | Freed::Resumed => bail!("{name} is gone"),
    }
}

/// The annotation that opens a gate, and that with the reason where one is given, as JSON.
fn annotations(reason: Option<&str>) -> Value {
    let mut annotations = json!({keys::SKIP: "true"});
    if let Some(reason) = reason {
        annotations[keys::SKIP_REASON] = reason.into();
    }
    annotations
}

/// The message that a pod has no gate, or has passed it, so that there is nothing to release; `None` for a pod whose gate is still shut.
fn nothing_to_do(pod: &Value) -> Option<String> {
    let [namespace, name] = ["/metadata/namespace", "/metadata/name"].map(|at| text(pod, at));
    let name = format!("pod {namespace}/{name}");
    if pod["metadata"]["labels"][keys::GATED].is_null() {
        return Some(format!("{name} has no gate: there is nothing to release"));
    }
    match Gate::of(pod) {
        Gate::Passed { at: when, .. } => Some(format!(
            "{name} passed its gate at {when}: there is nothing to release"
        )),
        Gate::NotStarted | Gate::Waiting { .. } | Gate::Refused { .. } => None,
    }
}

fn text<'p>(pod: &'p Value, pointer: &str) -> &'p str {
    pod.pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn target(dependent: &Dependent, owner: bool) -> Result<ReleaseTarget> {
    let namespace = dependent.namespace.clone();
    if !owner {
        return Ok(ReleaseTarget {
            kind: Kind::Builtin(kinds::POD),
            namespace,
            name: dependent.pod.clone(),
            is_workload: false,
        });
    }
    let Some(topmost) = dependent.owners.last() else {
        let pod = &dependent.pod;
        bail!(
            "no workload is above pod {namespace}/{pod}; leave --owner out to release the pod itself"
        );
    };
    Ok(ReleaseTarget {
        kind: topmost.kind.clone(),
        namespace,
        name: topmost.name.clone(),
        is_workload: true,
    })
}

impl ReleaseTarget {
    /// The object's kind and name: `Deployment shop/api`.
    fn name(&self) -> String {
        let Self {
            kind,
            namespace,
            name,
            ..
        } = self;
        format!("{kind} {namespace}/{name}")
    }

    /// The object as an argument of kubectl: `deployments.apps/api`.
    fn resource(&self) -> String {
        format!("{}/{}", access::resource(&self.kind), self.name)
    }
}

fn done(target: &ReleaseTarget, manner: ReleaseOptions<'_>) -> String {
    let key = keys::SKIP;
    let (name, resource, namespace) = (target.name(), target.resource(), &target.namespace);
    let effect = if target.is_workload {
        "every gate of its pods opens, those that wait and those to come"
    } else {
        "its gate opens, whatever it waits for"
    };
    if manner.dry_run {
        return format!(
            "{name} would be annotated with {key}: \"true\": {effect}.\nNothing was changed; leave out --dry-run to do it"
        );
    }
    let and = match manner.reason {
        Some(_) => format!(" {}-", keys::SKIP_REASON),
        None => String::new(),
    };
    format!(
        "{name} is annotated with {key}: \"true\": {effect}.\nTo undo it: kubectl annotate {resource} --namespace {namespace} {key}-{and}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::lookup::Lookup;
    use rules::world::{Objects, Only};
    use std::borrow::Cow;

    fn pod() -> Value {
        json!({
            "metadata": {"namespace": "shop", "name": "api-1", "labels": {"sluice.dev/gated": "true"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "api-6c", "controller": true}]},
        })
    }

    /// Finds the ReplicaSet of a pod, and the Deployment above it.
    struct Owners;

    impl Objects for Owners {
        fn object(&self, _: &Kind, _: Option<&str>, name: &str) -> Lookup<Value> {
            let above = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "api", "controller": true}]);
            let owners = if name == "api" { json!([]) } else { above };
            Lookup::Found(json!({"metadata": {"name": name, "ownerReferences": owners}}))
        }

        fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
            Lookup::Found(Cow::Borrowed(object))
        }

        fn list(
            &self,
            _: &Kind,
            _: Option<&str>,
            _: &rules::selector::Selector,
        ) -> Lookup<Vec<Value>> {
            Lookup::NotFound
        }

        fn namespaced(&self, _: &Kind) -> Lookup<bool> {
            Lookup::Found(true)
        }
    }

    fn released(pod: &Value, owner: bool) -> Result<String> {
        let Lookup::Found(dependent) = Dependent::resolve(pod, &[], &Only::of(Owners)) else {
            bail!("the owners are there");
        };
        let manner = ReleaseOptions {
            reason: None,
            dry_run: false,
        };
        Ok(done(&target(&dependent, owner)?, manner))
    }

    #[test]
    fn a_pod_is_released_and_the_undoing_told() {
        let expected = "Pod shop/api-1 is annotated with sluice.dev/skip: \"true\": its gate opens, whatever it waits for.\n\
                        To undo it: kubectl annotate pods/api-1 --namespace shop sluice.dev/skip-";
        assert_eq!(released(&pod(), false).unwrap(), expected);
    }

    #[test]
    fn the_owner_is_the_topmost() {
        let expected = "Deployment shop/api is annotated with sluice.dev/skip: \"true\": every gate of its pods opens, those \
                        that wait and those to come.\n\
                        To undo it: kubectl annotate deployments.apps/api --namespace shop sluice.dev/skip-";
        assert_eq!(released(&pod(), true).unwrap(), expected);
        let alone = json!({"metadata": {"namespace": "shop", "name": "p"}});
        let error = released(&alone, true).unwrap_err().to_string();
        assert!(
            error.ends_with("leave --owner out to release the pod itself"),
            "{error}"
        );
    }

    #[test]
    fn what_makes_no_pods_has_no_gate() {
        let makes = |word: &str| may_make_pods(&subject::kind(word, &[]).unwrap());
        for word in ["deploy", "sts", "ds", "job", "cronjob", "rs", "rc"] {
            assert!(makes(word), "{word}");
        }
        assert!(makes("rollouts.argoproj.io"));
        for word in ["svc", "configmap", "pvc", "namespace"] {
            assert!(!makes(word), "{word}");
        }
    }

    #[test]
    fn a_pod_that_does_not_wait_is_left_alone() {
        assert_eq!(nothing_to_do(&pod()), None);
        let mut passed = pod();
        let ended = json!([{"name": "sluice-gate", "state": {"terminated": {"finishedAt": "2026-01-01T00:00:00Z"}}}]);
        passed["status"] = json!({"initContainerStatuses": ended});
        let told =
            "pod shop/api-1 passed its gate at 2026-01-01T00:00:00Z: there is nothing to release";
        assert_eq!(nothing_to_do(&passed).as_deref(), Some(told));
        let bare = json!({"metadata": {"namespace": "shop", "name": "p"}});
        let told = "pod shop/p has no gate: there is nothing to release";
        assert_eq!(nothing_to_do(&bare).as_deref(), Some(told));
    }
}
