//! The dependent's revision: its name, and the time at which it appeared.

use super::{Dependent, Owner, Times};
use crate::annotation;
use crate::gate;
use crate::keys;
use crate::kinds::{self, Kind};
use crate::lookup::{Lookup, Unavailable};
use crate::object::{created, time, written};
use crate::path::get;
use crate::scope;
use crate::world::World;
use jiff::Timestamp;
use serde_json::Value;

impl Dependent {
    /// A name for the version of the template that the pod was made from: a ReplicaSet, a controller revision, one Job. `None` where the pod
    /// asks each time: a pod without an owner or of a ReplicationController, a held creation, and a pod whose controller revision is unknown.
    ///
    /// A revision that a rollback brings back gets another name than before: its dependencies are rolled back as well.
    pub fn revision(&self) -> Option<String> {
        let nearest = self.owners.first().filter(|_| !self.to_create)?;
        let hash = &self.template_hash;
        match (&nearest.kind, nearest.kind.word()) {
            // Only the label tells which template a pod of a custom owner has: the owner outlives each template.
            (Kind::Custom { .. }, _) => Some(format!("{}.{}", nearest.uid, hash.as_ref()?)),
            (_, "StatefulSet" | "DaemonSet") => {
                // Without the ControllerRevision it is unknown whether a rollback has brought the revision back.
                if self.unread_revision().is_some() {
                    return None;
                }
                let name = format!("{}.{}", nearest.uid, hash.as_ref()?);
                Some(match self.returned() {
                    Some(returned) => format!("{name}.{}", returned.as_second()),
                    None => name,
                })
            }
            // A ReplicationController changes its template in place and leaves no trace of it on its pods.
            (_, "ReplicationController") => None,
            _ => Some(match nearest.rollout() {
                Some(number) => format!("{}.{number}", nearest.uid),
                None => nearest.uid.clone(),
            }),
        }
    }

    /// The pod's weight, from the pod or else from its topmost owner; `None` without an annotation that can be read, which counts as 0.
    pub fn weight(&self) -> Option<i64> {
        annotation::weight(self.said(keys::WEIGHT)?)
    }

    /// The weight below which every object of the scope comes first. A pod may be of an older template than its workload has now,
    /// and heavier than that template: the pod must not wait for its own workload, so the lower weight of the two counts.
    pub(super) fn waits_below(&self) -> i64 {
        let of_pod = self.weight().unwrap_or_default();
        let now = self
            .owners
            .last()
            .map(|owner| owner.weight.unwrap_or_default());
        now.map_or(of_pod, |now| now.min(of_pod))
    }

    /// The cap of the pod's wave, from the pod or else from its topmost owner: how many of the wave's objects may run at once; at least 1. `None`
    /// without a cap that can be read.
    pub fn parallelism(&self) -> Option<usize> {
        annotation::parallelism(self.said(keys::PARALLELISM)?)
    }

    /// Whether Helm runs the object in `helm test` alone.
    pub(super) fn is_test(&self) -> bool {
        self.said(keys::HELM_HOOK).is_some_and(scope::is_test)
    }

    /// The text of an annotation: the pod's, else the topmost owner's.
    pub(super) fn said(&self, key: &str) -> Option<&str> {
        let topmost = self.owners.last().map(|owner| &owner.annotations);
        [Some(&self.pod_annotations), topmost]
            .into_iter()
            .flatten()
            .find_map(|annotations| annotations.get(key)?.as_str())
    }

    /// The dependent's value of [`keys::REVISION`], which dependencies that carry this key must have too; `None` without the annotation.
    pub fn lockstep(&self) -> Option<&str> {
        self.said(keys::REVISION)
    }

    /// The time at which this version of the pod's template appeared: the creation of its `ReplicaSet`, its `ControllerRevision`
    /// or its Job; for a pod of its own, the pod's creation. An owner that changes its template in place and keeps no versions
    /// gives the earlier of two times: the pod's creation, and the owner's last write.
    ///
    /// A rollback brings an old `ReplicaSet` back, with the time of its first creation.
    ///
    /// # Errors
    ///
    /// The object that tells the time cannot be read, or has not been seen yet.
    pub fn revision_began(&self) -> Result<Timestamp, Unavailable> {
        let created = match (&self.controller_revision, self.owners.first()) {
            (Some(revision), _) => revision.map(|times| times.created)?,
            (None, Some(owner)) if owner.keeps_no_template() => {
                [self.created, owner.written].into_iter().flatten().min()
            }
            (None, Some(owner)) => owner.created,
            (None, None) => self.created,
        };
        created.ok_or(Unavailable::Syncing)
    }

    /// The time at which the revision appeared or, if a rollback brought it back, came back: from then on its dependencies may be
    /// rolled back as well.
    ///
    /// # Errors
    ///
    /// The object that tells the time cannot be read, or has not been seen yet.
    pub fn revision_returned(&self) -> Result<Timestamp, Unavailable> {
        self.returned().map_or_else(|| self.revision_began(), Ok)
    }

    /// The time at which the wait of this pod began: after a boot of its node the time at which its gate asked again; where the hold of its Job
    /// timed out, the creation of the Job; else the pod's start ([`started`]).
    pub fn wait_began(&self, pod: &Value) -> Option<Timestamp> {
        let asked = self.rebooted.as_ref().map(|reboot| reboot.asked);
        asked
            .or_else(|| waited_since(&self.owners))
            .or_else(|| started(pod))
    }

    /// The latest time at which a rollback can have brought the revision back; `None` for a revision that is there for the first
    /// time.
    fn returned(&self) -> Option<Timestamp> {
        match self.controller_revision {
            // Only a rollback writes an existing ControllerRevision: the controller gives it the next number.
            Some(revision) => {
                let Times { created, written } = revision.ok()?;
                written.filter(|written| Some(*written) > created)
            }
            None => self.owners.first()?.brought_back(),
        }
    }

    /// Why the name of the revision is unknown: sluice may not read the `ControllerRevision`. `None` where sluice has read it, and for owners
    /// that have none.
    pub fn unread_revision(&self) -> Option<Unavailable> {
        self.controller_revision?.err()
    }

    /// Finds the value of [`Dependent::controller_revision`]. A `ControllerRevision` that has not been seen yet is `NotFound`:
    /// until it is seen the revision has no name, and facts about another revision must not count for it.
    pub(super) fn look_up_controller_revision(
        &self,
        world: &dyn World,
    ) -> Lookup<Option<Result<Times, Unavailable>>> {
        let Some((kind, name)) = self.controller_revision_name() else {
            return Lookup::Found(None);
        };
        match world.object(&kind, Some(&self.namespace), &name) {
            // sluice may never get the right to read it, and the terms in the owner's annotations count meanwhile.
            Lookup::Unavailable(why @ (Unavailable::Forbidden | Unavailable::NotServed)) => {
                Lookup::Found(Some(Err(why)))
            }
            found => found.map(|revision| {
                Some(Ok(Times {
                    created: created(&revision),
                    written: written(&revision),
                }))
            }),
        }
    }

    /// The kind and name of the `ControllerRevision` in which the owner keeps the pod's template; `None` for other owners. A `StatefulSet`
    /// labels its pods with the name of that object, a `DaemonSet` with the last part of it.
    fn controller_revision_name(&self) -> Option<(Kind, String)> {
        let owner = self.owners.first()?;
        let hash = self.template_hash.as_deref()?;
        let name = match (owner.kind.group(), owner.kind.word()) {
            ("apps", "StatefulSet") => hash.to_owned(),
            ("apps", "DaemonSet") => format!("{}-{hash}", owner.name),
            _ => return None,
        };
        Some((Kind::Builtin(kinds::CONTROLLER_REVISION), name))
    }
}

/// The creation of the Job above a pod, where sluice suspended the Job until its timeout: the pod has waited since then. `None` for any other
/// pod.
pub(super) fn waited_since(owners: &[Owner]) -> Option<Timestamp> {
    let job = owners.first()?;
    let timed_out = job.annotations.get(keys::SUSPENDED)? == keys::TIMED_OUT;
    job.created.filter(|_| timed_out)
}

impl Owner {
    /// Whether the owner changes the template of its pods in place, and no object that sluice reads tells when.
    fn keeps_no_template(&self) -> bool {
        matches!(self.kind, Kind::Custom { .. }) || self.kind.word() == "ReplicationController"
    }

    /// The latest time at which a rollback can have brought a `ReplicaSet` back; `None` for one that is there for the first time.
    fn brought_back(&self) -> Option<Timestamp> {
        self.annotations.get(keys::ROLLOUT_HISTORY)?;
        self.written
    }

    /// The number of the rollout for which a `ReplicaSet` was made or, by a rollback, brought back; `None` without an annotation that has a number of
    /// at most 20 digits.
    fn rollout(&self) -> Option<&str> {
        let number = keys::ROLLOUT_NUMBERS
            .into_iter()
            .find_map(|key| self.annotations.get(key)?.as_str())?;
        // The number becomes part of a key, and on a ReplicaSet without a Deployment any user may have written it.
        let plain = number.len() <= 20 && number.bytes().all(|byte| byte.is_ascii_digit());
        plain.then_some(number)
    }
}

/// The start of a pod. For a pod that was held: its creation, because it has waited since then. For any other pod: `status.startTime`;
/// before the kubelet reports that, the time of scheduling, because the wait for a node is no part of the start; without either time, the
/// pod's creation.
pub fn started(pod: &Value) -> Option<Timestamp> {
    if gate::was_held(pod) {
        return created(pod);
    }
    let scheduled = || {
        let conditions = get(pod, &["status", "conditions"])?.as_array()?;
        let bound = |it: &&Value| it["type"] == "PodScheduled" && it["status"] == "True";
        time(conditions.iter().find(bound)?, &["lastTransitionTime"])
    };
    time(pod, &["status", "startTime"])
        .or_else(scheduled)
        .or_else(|| created(pod))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A pod with an owner of this kind that has these annotations.
    fn below(kind: Kind, annotations: Value) -> Dependent {
        let Value::Object(annotations) = annotations else {
            panic!("a mapping")
        };
        let owner = Owner {
            kind,
            name: "api-1".to_owned(),
            uid: "u".to_owned(),
            annotations,
            created: None,
            written: None,
            weight: None,
        };
        Dependent {
            namespace: "shop".to_owned(),
            pod: "api-1-x".to_owned(),
            owners: vec![owner],
            ..Dependent::default()
        }
    }

    /// The name of the revision of a pod whose ReplicaSet has these annotations.
    fn name(annotations: Value) -> Option<String> {
        let set = kinds::builtin("apps", "ReplicaSet").map(Kind::Builtin);
        below(set.unwrap(), annotations).revision()
    }

    fn clone_set() -> Kind {
        Kind::Custom {
            group: "apps.kruise.io".to_owned(),
            word: "CloneSet".to_owned(),
        }
    }

    /// A custom workload changes its template in place and keeps its UID, so the label on the pod tells its versions apart: the
    /// passed gate of one version must not open the gates of the next.
    #[test]
    fn a_custom_owner_has_as_many_revisions_as_its_label_says() {
        let named = |hash: Option<&str>| {
            let mut pod = below(clone_set(), json!({}));
            pod.template_hash = hash.map(str::to_owned);
            pod.revision()
        };
        assert_eq!(named(Some("web-1")).as_deref(), Some("u.web-1"));
        assert_eq!(named(Some("web-2")).as_deref(), Some("u.web-2"));
        assert_eq!(named(None), None, "it is asked each time");
    }

    #[test]
    fn a_template_that_changes_in_place_is_as_old_as_its_pod_or_its_last_change() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let controller = kinds::builtin("", "ReplicationController").map(Kind::Builtin);
        for kind in [clone_set(), controller.unwrap()] {
            let began = |written: i64, made: i64| {
                let mut pod = below(kind.clone(), json!({}));
                pod.owners[0].created = Some(at(10));
                pod.owners[0].written = Some(at(written));
                pod.created = Some(at(made));
                pod.revision_began().map(Timestamp::as_second)
            };
            assert_eq!(began(20, 30), Ok(20), "{kind}");
            assert_eq!(began(40, 30), Ok(30), "written for something else: {kind}");
        }
    }

    #[test]
    fn a_pod_that_was_held_has_waited_since_it_was_made() {
        let pod = |annotations: Value| {
            json!({
                "metadata": {"creationTimestamp": "2026-01-01T11:00:00Z", "annotations": annotations},
                "status": {"startTime": "2026-01-01T11:05:00Z"},
            })
        };
        let of = |pod: &Value| started(pod).map(|at| at.to_string());
        let held = pod(json!({"sluice.dev/held": "true"}));
        assert_eq!(of(&held).as_deref(), Some("2026-01-01T11:00:00Z"));
        // To ask for a hold is not to have one.
        let asked = pod(json!({"sluice.dev/hold": "true"}));
        assert_eq!(of(&asked).as_deref(), Some("2026-01-01T11:05:00Z"));
    }

    #[test]
    fn a_replica_set_that_is_brought_back_is_another_revision() {
        for key in keys::ROLLOUT_NUMBERS {
            assert_eq!(name(json!({key: "3"})).as_deref(), Some("u.3"));
        }
        assert_eq!(name(json!({})).as_deref(), Some("u"));
        let odd = json!({"deployment.kubernetes.io/revision": "a/b"});
        assert_eq!(name(odd).as_deref(), Some("u"));
    }
}
