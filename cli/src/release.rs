//! `release`: opens the gate of a pod (break-glass) with the annotation that the status service reads live, and takes its hold away.

mod all;
mod change;
mod free;

use crate::access;
use crate::installed::Installed;
use crate::status;
use anyhow::{Context, Result, anyhow, bail};
use free::{Freed, HeldKind, ReleaseOptions};
use kube::api::{Patch, PatchParams};
use kube::core::request::Request;
use kube::{Client, Error};
use rules::dependent::Dependent;
use rules::gate::{self, Gate};
use rules::keys;
use rules::kinds::{self, Kind};
use serde_json::{Value, json};
use std::process::ExitCode;

/// The object that gets the annotation which releases its pods.
#[derive(Debug, PartialEq, Eq)]
struct ReleaseTarget {
    kind: Kind,
    namespace: String,
    name: String,
}

#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) async fn run(
    client: Client,
    namespace: &str,
    name: &str,
    owner: bool,
    reason: Option<&str>,
) -> Result<ExitCode> {
    let (mut reader, pod, basis) = status::begin(&client, namespace, name).await?;
    if gate::is_held(&pod) && !owner {
        println!("{}", held(&client, &pod, reason).await?);
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
    let path = reader.path(&target.kind, Some(&target.namespace))?;
    let change = Patch::Merge(json!({"metadata": {"annotations": annotations(reason)}}));
    let request = Request::new(path).patch(&target.name, &PatchParams::default(), &change)?;
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
    println!("{}", done(&target, owner, reason));
    Ok(ExitCode::SUCCESS)
}

/// Releases everything that sluice holds, in one namespace or in all of them.
pub(crate) async fn all(
    client: Client,
    namespace: Option<&str>,
    reason: Option<&str>,
    dry_run: bool,
) -> Result<ExitCode> {
    all::run(&client, namespace, ReleaseOptions { reason, dry_run }).await
}

/// Releases a held pod, whether or not it has an owner, and whether or not a controller would release it.
async fn held(client: &Client, pod: &Value, reason: Option<&str>) -> Result<String> {
    let target = ReleaseTarget {
        kind: Kind::Builtin(kinds::POD),
        namespace: text(pod, "/metadata/namespace").to_owned(),
        name: text(pod, "/metadata/name").to_owned(),
    };
    let manner = ReleaseOptions {
        reason,
        dry_run: false,
    };
    let name = target.name();
    let freed = free::free(client, HeldKind::Pod, pod, manner).await;
    match freed.with_context(|| format!("cannot release {name}"))? {
        Freed::Now(now) => Ok(format!(
            "{name} is held no more{}.\n{}; the hold does not come back",
            free::kept_by_others(&now).unwrap_or_default(),
            done(&target, false, reason)
        )),
        Freed::Gone | Freed::Resumed => bail!("{name} is gone"),
    }
}

/// The annotations that open the gate, and the reason where one is given.
fn annotations(reason: Option<&str>) -> Value {
    let mut annotations = json!({keys::SKIP: "true"});
    if let Some(reason) = reason {
        annotations[keys::SKIP_REASON] = reason.into();
    }
    annotations
}

/// Why there is nothing to release, where that is so.
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
    })
}

impl ReleaseTarget {
    /// The object's kind and name: `Deployment shop/api`.
    fn name(&self) -> String {
        let Self {
            kind,
            namespace,
            name,
        } = self;
        format!("{kind} {namespace}/{name}")
    }

    /// The object as an argument of kubectl: `deployments.apps/api`.
    fn resource(&self) -> String {
        format!("{}/{}", access::resource(&self.kind), self.name)
    }
}

fn done(target: &ReleaseTarget, owner: bool, reason: Option<&str>) -> String {
    let key = keys::SKIP;
    let (name, resource, namespace) = (target.name(), target.resource(), &target.namespace);
    let effect = if owner {
        "every gate of its pods opens, those that wait and those to come"
    } else {
        "its gate opens, whatever it waits for"
    };
    let and = match reason {
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
        Ok(done(&target(&dependent, owner)?, owner, None))
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
