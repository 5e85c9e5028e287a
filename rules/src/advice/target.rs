//! Advice on each dependency of a workload: that it never comes, comes too late, goes away soon, or counts as ready too early.

use super::{Advice, Removal, Seen, Served, Target, Workload, is_here, is_itself};
use crate::dependency::{Dependency, ObjectRef, Part, Parts, Reference, Selection, State};
use crate::installer::{self, Late};
use crate::job;
use crate::kinds::Kind;
use crate::lookup::Lookup;
use crate::rollout;
use crate::selector::Selector;
use serde_json::Value;

/// The shortest time, in seconds, for which a Job should stay after its end, so that it is still there when a later pod asks.
const LONG_ENOUGH: i64 = 24 * 60 * 60;

/// Advice on one dependency of a workload; where it is the workload itself, that alone. Alternatives and addresses get no other advice. An optional
/// entry, and one in another namespace of which admission must not tell, gets none but that sluice may not watch its kind.
pub(super) fn of(
    workload: &Workload<'_>,
    dependency: &Dependency,
    known: &dyn Seen,
) -> Vec<Advice> {
    if is_itself(dependency, workload) {
        return vec![Advice::SelfReference];
    }
    let (kind, namespace) = match &dependency.reference {
        Reference::Object(it) => (&it.kind, it.namespace.as_ref()),
        Reference::Selected(it) => (&it.kind, it.namespace.as_ref()),
        Reference::Part(it) => return of_part(workload, it, known),
        // Another alternative may do in place of a bad one.
        Reference::Any(_) | Reference::Address(_) => return Vec::new(),
    };
    if known.is_forbidden(kind) {
        return vec![Advice::KindForbidden(kind.clone())];
    }
    // Where nothing is there, an optional one is satisfied: once it is gone, and where it never comes.
    if dependency.optional || !is_here(namespace, workload) && !known.tells_of_other_namespaces() {
        return Vec::new();
    }
    let asked = AskedOfTarget {
        workload,
        state: dependency.state,
        judged_by_kind: dependency.health.is_empty(),
        known,
    };
    match &dependency.reference {
        Reference::Object(named) => {
            let existence = asked.only_exists(named).into_iter();
            existence.chain(asked.named(named)).collect()
        }
        Reference::Selected(selection) => asked.selected(selection),
        _ => Vec::new(),
    }
}

/// Warns of a sub-chart whose objects the release has in another namespace: an entry without a namespace does not look there, so the sub-chart
/// counts as no part of the release.
fn of_part(workload: &Workload<'_>, parts: &Parts, known: &dyn Seen) -> Vec<Advice> {
    let (Part::SubChart(subchart), None) = (&parts.part, &parts.namespace) else {
        return Vec::new();
    };
    let namespaces = known.elsewhere(workload, &parts.part).into_iter();
    let elsewhere = namespaces.map(|namespace| Advice::PartElsewhere {
        subchart: subchart.clone(),
        namespace,
    });
    elsewhere.collect()
}

/// A workload, and the state that it asks of a dependency.
struct AskedOfTarget<'a> {
    workload: &'a Workload<'a>,
    state: State,
    /// No expression of the edge takes the place of the rule of the kind.
    judged_by_kind: bool,
    known: &'a dyn Seen,
}

impl AskedOfTarget<'_> {
    fn named(&self, named: &ObjectRef) -> Vec<Advice> {
        match self.known.object(self.workload, named) {
            Lookup::Found(target) => {
                let late = too_late(self.workload.object, named.to_string(), &target);
                let late = late.or_else(|| self.service(named, &target.object));
                late.into_iter()
                    .chain(self.job(named, &target.object))
                    .chain(self.of_workload(named, &target.object))
                    .collect()
            }
            Lookup::NotFound => self.absent(named).into_iter().collect(),
            Lookup::Unavailable(_) => Vec::new(),
        }
    }

    /// Advice on each object that a selector finds, since each of them has to be ready. With `min` some of them are enough, and there is none.
    fn selected(&self, selection: &Selection) -> Vec<Advice> {
        let Lookup::Found(targets) = self.known.selected(self.workload, selection) else {
            return Vec::new();
        };
        if selection.min.is_some() {
            return Vec::new();
        }
        let of = |target: &Target| {
            let named = ObjectRef {
                kind: selection.kind.clone(),
                namespace: selection.namespace.clone(),
                name: target.object["metadata"]["name"].as_str()?.to_owned(),
            };
            let late = too_late(self.workload.object, named.to_string(), target);
            let job = self.job(&named, &target.object);
            Some(late.into_iter().chain(job))
        };
        targets.iter().filter_map(of).flatten().collect()
    }

    /// Warns of a dependency that does not exist yet, where the workload is a hook that an installer runs before it makes any other object.
    /// Whether another tool makes the dependency is unknown here.
    fn absent(&self, named: &ObjectRef) -> Option<Advice> {
        let installer = installer::runs_first(self.workload.object)?;
        Some(Advice::RunsBefore {
            dependency: named.to_string(),
            installer,
        })
    }

    /// Warns of a Job that is suspended, or else removed soon after its end. A Job that sluice itself holds does not count as suspended, and an entry
    /// that asks only that it exists (`present`) is not warned of the suspension.
    fn job(&self, named: &ObjectRef, found: &Value) -> Option<Advice> {
        if !named.kind.is_job() {
            return None;
        }
        let suspended = found["spec"]["suspend"] == true && !job::is_held(found);
        let is_suspended = suspended && self.state != State::Present;
        if is_suspended {
            return Some(Advice::Suspended(named.to_string()));
        }
        removed(named.to_string(), found)
    }

    /// Whether the rule of the dependency's kind decides: the edge asks for `ready` or `available`, and has no expression.
    fn asks_the_kind(&self) -> bool {
        matches!(self.state, State::Ready | State::Available) && self.judged_by_kind
    }

    /// Warns of a CronJob, which counts as ready as soon as it exists, where the entry asks for `ready` or `available` and has no expression. The
    /// kind says enough, so the object need not be known.
    fn only_exists(&self, named: &ObjectRef) -> Option<Advice> {
        let is_cron = is_of(&named.kind, "batch", &["CronJob"]);
        (is_cron && self.asks_the_kind()).then(|| Advice::OnlyExists(named.to_string()))
    }

    /// Warns of a workload that counts as ready without a pod, since it is scaled to zero, or without a readiness probe. Only where the entry asks
    /// for `ready` or `available` and has no expression.
    fn of_workload(&self, named: &ObjectRef, found: &Value) -> Option<Advice> {
        let kinds = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"];
        let is_workload = is_of(&named.kind, "apps", &kinds)
            || is_of(&named.kind, "", &["ReplicationController"]);
        if !is_workload || !self.asks_the_kind() {
            return None;
        }
        if found["spec"]["replicas"] == 0 {
            return Some(Advice::ScaledToZero(named.to_string()));
        }
        rollout::is_unasked(found).then(|| Advice::NoReadinessProbe(named.to_string()))
    }

    /// Warns, where the state needs endpoints, of a Service that no pod ever serves or only the workload's own, of one whose workloads are scaled to
    /// zero, and of one without a selector, which counts as ready at once.
    fn service(&self, named: &ObjectRef, found: &Value) -> Option<Advice> {
        if !named.kind.is_service() || !self.asks_the_kind() {
            return None;
        }
        let selector = Selector::labels(&found["spec"]["selector"]);
        if selector.0.is_empty() {
            return Some(Advice::NoSelector(named.to_string()));
        }
        let own = is_here(named.namespace.as_ref(), self.workload)
            && selector.selects(self.workload.template);
        match self.known.served_by_others(self.workload, named) {
            Served::NotYet | Served::Stopped | Served::Never if own => {
                Some(Advice::OwnService(named.name.clone()))
            }
            Served::Never => Some(Advice::NoPods(named.to_string())),
            Served::Stopped => Some(Advice::NoReplicas(named.to_string())),
            Served::Yes | Served::NotYet | Served::Unknown => None,
        }
    }
}

/// Whether a kind is one of these built-in kinds of a group.
fn is_of(kind: &Kind, group: &str, kinds: &[&str]) -> bool {
    matches!(kind, Kind::Builtin(it) if it.group == group && kinds.contains(&it.kind))
}

/// Advice on a dependency, `target`, that an installer makes too late for its dependent, or not at all. `None` where it comes in time, or where the
/// two are of different releases. Where that is unknown, a dependent that is itself a hook gets no such advice for running before its dependency.
pub fn too_late(dependent: &Value, dependency: String, target: &Target) -> Option<Advice> {
    if target.same_release == Some(false) {
        return None;
    }
    Some(match installer::late(dependent, &target.object)? {
        Late::RunsAfterwards(hook) => Advice::RunsAfterwards { dependency, hook },
        Late::NeverMade { hook, by } => Advice::NeverMade {
            dependency,
            hook,
            by,
        },
        // A hook may well wait for another release, which is there.
        Late::RunsBefore(_) | Late::LaterHook { .. } if target.same_release.is_none() => {
            return None;
        }
        Late::RunsBefore(installer) => Advice::RunsBefore {
            dependency,
            installer,
        },
        Late::LaterHook { theirs, own } => Advice::LaterHook {
            dependency,
            theirs,
            own,
        },
        Late::LaterWave { theirs, own } => Advice::LaterWave {
            dependency,
            theirs,
            own,
        },
    })
}

/// Warns of a Job that is removed less than a day after its end, or as soon as it succeeds.
fn removed(dependency: String, found: &Value) -> Option<Advice> {
    let ttl = found["spec"]["ttlSecondsAfterFinished"].as_i64();
    let removal = match ttl {
        Some(seconds) if seconds < LONG_ENOUGH => Removal::Ttl(seconds),
        _ if installer::is_deleted_on_success(found) => Removal::HookSucceeded,
        _ => return None,
    };
    Some(Advice::Removed {
        dependency,
        removal,
    })
}
