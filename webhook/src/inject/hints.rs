//! What is worth a warning although the request is fine: waits that end badly, or never.
//!
//! Beside the request, only what the process happens to know is looked at: a kind that nobody watches gives no warning, and
//! nothing is asked for. So a warning may be missing, and the patch never depends on any of this.

use super::lists::Lists;
use super::pod::windows;
use super::workload::{controller_owned, template};
use super::{Keys, Operation, Removal, Request, Warning, annotations};
use rules::dependency::{Dependency, ObjectRef, Reference};
use rules::kinds::Kind;
use rules::selector::Selector;
use serde_json::Value;

/// What is known of the cluster at this moment.
pub trait Known: std::fmt::Debug + Send + Sync {
    /// One object of a kind that is watched; `None` also where nobody knows.
    fn object(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Value>;

    /// Whether any endpoint stands behind a Service; `None` where nobody knows.
    fn has_endpoints(&self, namespace: &str, service: &str) -> Option<bool>;

    /// Whether the API server has forbidden sluice to watch the kind.
    fn is_forbidden(&self, kind: &Kind) -> bool;
}

/// Nothing is known.
impl Known for () {
    fn object(&self, _: &Kind, _: &str, _: &str) -> Option<Value> {
        None
    }

    fn has_endpoints(&self, _: &str, _: &str) -> Option<bool> {
        None
    }

    fn is_forbidden(&self, _: &Kind) -> bool {
        false
    }
}

/// The longest progress deadline that may be nobody's choice: the API server writes it where there is none.
const DEFAULT_PROGRESS_DEADLINE: i64 = 600;

/// A Job that stays at least this long after its end is there when a later pod asks.
const LONG_ENOUGH: i64 = 24 * 60 * 60;

/// The warnings of one request that is allowed.
pub fn hints(request: &Request<'_>, keys: Keys, known: &dyn Known) -> Vec<Warning> {
    let object = request.object;
    // What a controller makes, nobody reads the warnings of.
    if request.operation == Operation::Other || controller_owned(object) {
        return Vec::new();
    }
    let pod = request.subject.group.is_empty() && request.subject.kind == "Pod";
    let template = if pod {
        Some(object)
    } else {
        template(request.subject, object)
    };
    let Some(template) = template else {
        return Vec::new();
    };
    let lists = Lists::of(request);
    if !lists.asked(keys) || (request.operation == Operation::Update && !lists.changed(keys)) {
        return Vec::new();
    }
    let dependencies = lists
        .read(keys)
        .ok()
        .and_then(Result::ok)
        .unwrap_or_default();
    let dependent = Dependent {
        namespace: &request.subject.namespace,
        object,
        template,
        known,
    };
    if keys.skip_windows && windows(template) {
        return vec![Warning::Windows];
    }
    let of_dependencies = dependencies.iter().flat_map(|it| dependent.on(it));
    of_dependencies
        .chain(time_limits(object, template))
        .collect()
}

/// Limits that run while the gate is shut.
fn time_limits(object: &Value, template: &Value) -> impl Iterator<Item = Warning> {
    let number = |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_i64);
    let progress = number(object, "/spec/progressDeadlineSeconds")
        .filter(|seconds| *seconds <= DEFAULT_PROGRESS_DEADLINE)
        .map(Warning::ProgressDeadline);
    let active = [
        number(object, "/spec/activeDeadlineSeconds"),
        number(object, "/spec/jobTemplate/spec/activeDeadlineSeconds"),
        number(template, "/spec/activeDeadlineSeconds"),
    ];
    let active = active.into_iter().flatten().min();
    progress
        .into_iter()
        .chain(active.map(Warning::ActiveDeadline))
}

/// Who waits, and what is known around it.
struct Dependent<'a> {
    namespace: &'a str,
    object: &'a Value,
    template: &'a Value,
    known: &'a dyn Known,
}

impl Dependent<'_> {
    fn on(&self, dependency: &Dependency) -> Vec<Warning> {
        let kind = match &dependency.reference {
            Reference::Object(object) => &object.kind,
            Reference::Selected(selection) => &selection.kind,
            // One of the others may do.
            Reference::Any(_) | Reference::Part(_) | Reference::Wave(_) | Reference::Slot(_) => {
                return Vec::new();
            }
        };
        if self.known.is_forbidden(kind) {
            return vec![Warning::KindForbidden(kind.to_string())];
        }
        let Reference::Object(reference) = &dependency.reference else {
            return Vec::new();
        };
        // Of another namespace nothing is told, not even that an object is there.
        let here = |namespace: &String| namespace == self.namespace;
        if !reference.namespace.as_ref().is_none_or(here) {
            return Vec::new();
        }
        let found = self
            .known
            .object(&reference.kind, self.namespace, &reference.name);
        let Some(found) = found else {
            let before = (!dependency.optional).then(|| self.before_all(reference));
            return before.flatten().into_iter().collect();
        };
        let never = (!dependency.optional)
            .then(|| {
                self.after_wait(reference, &found)
                    .or_else(|| self.later_wave(reference, &found))
                    .or_else(|| self.own_service(reference, &found))
            })
            .flatten();
        never
            .into_iter()
            .chain(removed(reference, &found))
            .collect()
    }

    /// Helm creates what is no hook only after those that run before an installation. Nobody can tell here what of that is
    /// still to come and what somebody else will make.
    fn before_all(&self, reference: &ObjectRef) -> Option<Warning> {
        let hooks = note(self.object, "helm.sh/hook")?;
        let before = hooks.split(',').any(|hook| hook.trim() == "pre-install");
        before.then(|| Warning::RunsBefore(reference.to_string()))
    }

    /// A hook that its installer runs only once everything else is healthy, the dependent included.
    fn after_wait(&self, reference: &ObjectRef, found: &Value) -> Option<Warning> {
        const AFTER: [&str; 4] = ["post-install", "post-upgrade", "post-rollback", "PostSync"];
        const HOOKS: [&str; 2] = ["helm.sh/hook", "argocd.argoproj.io/hook"];
        let hooks = |object| {
            let values = HOOKS.into_iter().filter_map(move |key| note(object, key));
            values.flat_map(|value| value.split(',').map(str::trim))
        };
        let hook = hooks(found).find(|hook| AFTER.contains(hook))?;
        let itself_one = hooks(self.object).any(|hook| AFTER.contains(&hook));
        (!itself_one).then(|| Warning::RunsAfterwards {
            dependency: reference.to_string(),
            hook: hook.to_owned(),
        })
    }

    /// Argo CD applies a wave once the one before it is healthy.
    fn later_wave(&self, reference: &ObjectRef, found: &Value) -> Option<Warning> {
        let wave = |object| -> i64 {
            let wave = note(object, "argocd.argoproj.io/sync-wave");
            wave.and_then(|wave| wave.trim().parse().ok())
                .unwrap_or_default()
        };
        let instance = |object: &Value| {
            let label = object.pointer("/metadata/labels/app.kubernetes.io~1instance");
            label.and_then(Value::as_str).map(str::to_owned)
        };
        let (own, theirs) = (wave(self.object), wave(found));
        (theirs > own && instance(self.object) == instance(found)).then(|| Warning::LaterWave {
            dependency: reference.to_string(),
            theirs,
            own,
        })
    }

    /// A Service that has nobody behind it, and that selects the pods which would wait for it.
    fn own_service(&self, reference: &ObjectRef, found: &Value) -> Option<Warning> {
        let service = reference.kind.group().is_empty() && reference.kind.word() == "Service";
        let selector = Selector::labels(&found["spec"]["selector"]);
        let own = service && !selector.0.is_empty() && selector.selects(self.template);
        let served = self.known.has_endpoints(self.namespace, &reference.name);
        (own && served == Some(false)).then(|| Warning::OwnService(reference.name.clone()))
    }
}

/// A Job that is taken away after its end.
fn removed(reference: &ObjectRef, found: &Value) -> Option<Warning> {
    let ttl = found["spec"]["ttlSecondsAfterFinished"].as_i64();
    let policy = note(found, "helm.sh/hook-delete-policy").unwrap_or_default();
    let removal = match ttl {
        Some(seconds) if seconds < LONG_ENOUGH => Removal::Ttl(seconds),
        _ if policy.split(',').any(|it| it.trim() == "hook-succeeded") => Removal::HookSucceeded,
        _ => return None,
    };
    Some(Warning::Removed {
        dependency: reference.to_string(),
        removal,
    })
}

fn note<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    annotations(object)?.get(key)?.as_str()
}

#[cfg(test)]
mod tests;
