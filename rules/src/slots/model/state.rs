//! The world around a decision: the objects, the ConfigMap, the beliefs of each replica, and every possible next step.

use super::*;
use crate::slots::tests::{claim, holder};

/// The state of an object in the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// The object waits: its gate asks for a slot.
    Waiting,
    Running,
    Finished,
    /// The object is deleted, and its pod still runs.
    Orphaned,
    Gone,
}

/// The numbers of the objects that hold a slot by one version of the ConfigMap; `None` after the ConfigMap was lost.
type Content = Option<Vec<usize>>;

/// One replica. `known` is the content of the ConfigMap that the replica believes, and whether that is the latest content.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Replica {
    known: Option<(Content, bool)>,
    /// A patch on its way, and whether it is for the current version of the ConfigMap.
    patch: Option<(Vec<usize>, bool)>,
    /// The state of each object as the watches of the replica have shown it; `None` for an object that the replica has not seen.
    seen: Vec<Option<Phase>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    objects: Vec<Phase>,
    holders: Content,
    replicas: [Replica; 2],
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// A watch shows a replica (the first number) the state of an object (the second number).
    See(usize, usize),
    /// A watch shows a replica, by its number, the latest ConfigMap of the slots.
    Learn(usize),
    /// A replica decides which objects may run, and sends a patch.
    Decide(usize),
    /// The API server takes the patch, or refuses it.
    Write(usize),
    /// The gate of an object (the second number) asks a replica (the first number), and opens if the replica knows the object as a holder.
    Ask(usize, usize),
    /// A user deletes or empties the ConfigMap of the slots.
    Lose,
    /// A replica no longer believes a content that it has not heard of for a while.
    Doubt(usize),
    /// A replica restores a lost ConfigMap from the running objects, once no replica believes the old content.
    Restore(usize),
    Crash(usize),
    Finish(usize),
    Delete(usize),
    EndPod(usize),
}

/// The behaviour of a replica. Every behaviour but [`Way::Built`] is wrong: tests show that the model notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The replica behaves as sluice is built.
    Built,
    /// The replica trusts its cache that a holder is done, and does not ask the API server.
    Cached,
    /// The replica takes a lost ConfigMap for an empty one, which no object holds a slot in.
    Believing,
    /// The replica restores a lost ConfigMap at once, while another replica may still believe the old content.
    Hasty,
}

impl State {
    pub(super) fn new(objects: usize) -> Self {
        let replica = Replica {
            seen: vec![None; objects],
            ..Replica::default()
        };
        Self {
            objects: vec![Phase::Waiting; objects],
            holders: Some(Vec::new()),
            replicas: [replica.clone(), replica],
        }
    }

    pub(super) fn running(&self) -> usize {
        let runs = |phase: &&Phase| matches!(phase, Phase::Running | Phase::Orphaned);
        self.objects.iter().filter(runs).count()
    }

    /// The state after a step; the same where the step can do nothing.
    pub(super) fn after(&self, step: Step, most: usize, way: Way) -> Self {
        let mut next = self.clone();
        match step {
            Step::See(replica, object) => {
                next.replicas[replica].seen[object] = Some(self.objects[object]);
            }
            Step::Learn(replica) => {
                next.replicas[replica].known = Some((self.holders.clone(), true));
            }
            Step::Decide(replica) => next.decide(replica, most, way),
            Step::Write(replica) => next.write(replica),
            Step::Ask(replica, object) => {
                let known = self.replicas[replica].known.as_ref();
                let holders = known.and_then(|(content, _)| content.as_ref());
                let holds = holders.is_some_and(|holders| holders.contains(&object));
                if holds && self.objects[object] == Phase::Waiting {
                    next.objects[object] = Phase::Running;
                }
            }
            Step::Lose => {
                next.outdate();
                next.holders = (way == Way::Believing).then(Vec::new);
            }
            Step::Doubt(replica) if self.holders.is_none() => next.replicas[replica].known = None,
            Step::Restore(replica) => next.restore(replica, way),
            Step::Crash(replica) => {
                let seen = vec![None; self.objects.len()];
                next.replicas[replica] = Replica {
                    seen,
                    ..Replica::default()
                };
            }
            Step::Finish(object) if self.objects[object] == Phase::Running => {
                next.objects[object] = Phase::Finished;
            }
            Step::Delete(object) => {
                next.objects[object] = match self.objects[object] {
                    Phase::Running => Phase::Orphaned,
                    Phase::Waiting | Phase::Finished => Phase::Gone,
                    gone => gone,
                };
            }
            Step::EndPod(object) if self.objects[object] == Phase::Orphaned => {
                next.objects[object] = Phase::Gone;
            }
            Step::Finish(_) | Step::EndPod(_) | Step::Doubt(_) => {}
        }
        next
    }

    fn decide(&mut self, replica: usize, most: usize, way: Way) {
        let Replica { known, seen, .. } = &self.replicas[replica];
        let Some((Some(holders), current)) = known else {
            return;
        };
        let ended = |object: usize| matches!(self.objects[object], Phase::Finished | Phase::Gone);
        let done = |holder: &Holder| {
            let object: usize = holder.uid.parse().unwrap();
            let seen = matches!(
                seen[object],
                None | Some(Phase::Finished | Phase::Orphaned | Phase::Gone)
            );
            seen && (ended(object) || way == Way::Cached)
        };
        let runs = |object: &usize| seen[*object] == Some(Phase::Running) && !ended(*object);
        let running = (0..seen.len()).filter(runs);
        let claims = (0..seen.len())
            .filter(|object| seen[*object] == Some(Phase::Waiting))
            .map(|object| claim(object, most));
        let before = holders.iter().map(|object| holder(*object, most));
        let running = running.map(|object| holder(object, most));
        let after = allot(
            before.collect(),
            running.collect(),
            done,
            claims.collect(),
            usize::MAX,
        );
        let after: Vec<usize> = after.iter().map(|it| it.uid.parse().unwrap()).collect();
        if after != *holders {
            self.replicas[replica].patch = Some((after, *current));
        }
    }

    fn write(&mut self, replica: usize) {
        let Some((after, current)) = self.replicas[replica].patch.take() else {
            return;
        };
        if current {
            self.outdate();
            self.holders = Some(after);
        }
        // A success answers with the present content, and a conflict is followed by a read.
        self.replicas[replica].known = Some((self.holders.clone(), true));
    }

    /// Marks the content that every replica believes, and the patch that it has sent, as out of date.
    fn outdate(&mut self) {
        for replica in &mut self.replicas {
            let known = replica.known.iter_mut().map(|(_, current)| current);
            let patch = replica.patch.iter_mut().map(|(_, current)| current);
            known.chain(patch).for_each(|current| *current = false);
        }
    }

    /// Restores a lost ConfigMap from the running objects. The replica of [`Way::Built`] waits until no replica believes the old content,
    /// and no pod runs whose object is gone.
    fn restore(&mut self, replica: usize, way: Way) {
        let believed = |it: &Replica| {
            it.known
                .as_ref()
                .is_some_and(|(content, _)| content.is_some())
        };
        let too_early =
            self.replicas.iter().any(believed) || self.objects.contains(&Phase::Orphaned);
        let Some((None, current)) = self.replicas[replica].known else {
            return;
        };
        if way == Way::Hasty || !too_early {
            let runs = |object: &usize| self.objects[*object] == Phase::Running;
            let running = (0..self.objects.len()).filter(runs).collect();
            self.replicas[replica].patch = Some((running, current));
        }
    }

    /// Whether every object finishes when nothing goes wrong any more.
    pub(super) fn ends(&self, most: usize) -> bool {
        let mut state = self.clone();
        let objects = 0..self.objects.len();
        for _ in 0..2 * self.objects.len() + 2 {
            for replica in 0..2 {
                for object in objects.clone() {
                    state = state.after(Step::See(replica, object), most, Way::Built);
                }
                for step in [
                    Step::Write(replica),
                    Step::Learn(0),
                    Step::Learn(1),
                    Step::Restore(replica),
                    Step::Decide(replica),
                    Step::Write(replica),
                ] {
                    state = state.after(step, most, Way::Built);
                }
            }
            for object in objects.clone() {
                for step in [
                    Step::Ask(0, object),
                    Step::Finish(object),
                    Step::EndPod(object),
                ] {
                    state = state.after(step, most, Way::Built);
                }
            }
        }
        let ended = |phase: &Phase| matches!(phase, Phase::Finished | Phase::Gone);
        state.objects.iter().all(ended)
    }
}

pub(super) fn steps(objects: usize) -> Vec<Step> {
    [kept(objects), lost(objects)].concat()
}

/// Every step of the model in which the ConfigMap of the slots is kept.
pub(super) fn kept(objects: usize) -> Vec<Step> {
    let mut steps = usual(objects);
    steps.extend((0..2).map(Step::Crash));
    for object in 0..objects {
        steps.extend([Step::Delete(object), Step::EndPod(object)]);
    }
    steps
}

/// Every step with a loss of the ConfigMap, for objects that no user deletes and replicas that stay.
pub(super) fn lost(objects: usize) -> Vec<Step> {
    let mut steps = usual(objects);
    steps.push(Step::Lose);
    for replica in 0..2 {
        steps.extend([Step::Doubt(replica), Step::Restore(replica)]);
    }
    steps
}

fn usual(objects: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    for replica in 0..2 {
        steps.extend([
            Step::Learn(replica),
            Step::Decide(replica),
            Step::Write(replica),
        ]);
        for object in 0..objects {
            steps.extend([Step::See(replica, object), Step::Ask(replica, object)]);
        }
    }
    steps.extend((0..objects).map(Step::Finish));
    steps
}
