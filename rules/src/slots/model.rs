//! A model of two replicas that give slots away: every interleaving of what they see late, write, lose a race for and
//! forget in a crash, and of somebody who deletes or empties the ConfigMap. The decision is the real [`allot`]; only the world around it is modelled.
//!
//! The walk over all states is of two objects and one slot; random walks look at more of both.

use super::*;
use crate::scope::Scope;
use proptest::prelude::*;
use std::collections::{HashSet, VecDeque};

/// Of how many states one is followed to its end, which is the slow part; the random walks look at others.
const SAMPLE: usize = 29;

/// What the API server has of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// Its gate asks.
    Waiting,
    Running,
    Finished,
    /// Deleted, and its pod still runs.
    Orphaned,
    Gone,
}

/// The content of the ConfigMap at a version; `None` where it says nothing, because it was lost.
type Content = Option<Vec<usize>>;

/// One replica. Its `known` is what it believes of the ConfigMap; `current` tells whether that is the latest.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Replica {
    known: Option<(Content, bool)>,
    /// A patch on its way, and whether nobody has written since the version that it was made for.
    patch: Option<(Vec<usize>, bool)>,
    /// What its caches hold of each object; `None` for not seen.
    seen: Vec<Option<Phase>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    objects: Vec<Phase>,
    holders: Content,
    replicas: [Replica; 2],
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// A replica's watch hears of an object.
    See(usize, usize),
    /// A replica's watch hears of the ConfigMap.
    Learn(usize),
    /// A replica works out who may run, and sends a patch.
    Decide(usize),
    /// The API server takes the patch, or refuses it.
    Write(usize),
    /// A gate hears from a replica.
    Ask(usize, usize),
    /// Somebody deletes or empties the ConfigMap.
    Lose,
    /// A replica no longer believes what it has not heard of for a while.
    Doubt(usize),
    /// A replica works out what runs, once it has been known to be lost for longer than anybody believes anything.
    Restore(usize),
    Crash(usize),
    Finish(usize),
    Delete(usize),
    EndPod(usize),
}

/// What a replica does. All but the first are wrong, and here to show that the model would notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As it is built.
    Built,
    /// It believes its cache of a holder that is done, and does not ask the API server.
    Cached,
    /// What was lost, it takes for what was written.
    Believing,
    /// What was lost, it restores at once.
    Hasty,
}

fn holder(index: usize, most: usize) -> Holder {
    Holder {
        group: "batch".to_owned(),
        kind: "Job".to_owned(),
        name: index.to_string(),
        uid: index.to_string(),
        revision: index.to_string(),
        pods_of: index.to_string(),
        most,
    }
}

fn claim(index: usize, most: usize) -> Claim {
    let scope = Scope {
        namespace: "shop".to_owned(),
        name: "r".to_owned(),
        kept_in: None,
    };
    let position = Position {
        weight: 0,
        created: None,
        kind: "Job".to_owned(),
        name: index.to_string(),
    };
    Claim {
        wave: Wave { scope, weight: 0 },
        position,
        holder: holder(index, most),
    }
}

impl State {
    fn new(objects: usize) -> Self {
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

    fn running(&self) -> usize {
        let runs = |phase: &&Phase| matches!(phase, Phase::Running | Phase::Orphaned);
        self.objects.iter().filter(runs).count()
    }

    /// The state after a step; the same where the step can do nothing.
    fn after(&self, step: Step, most: usize, way: Way) -> Self {
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
        // A success answers with what is there now, and a conflict is followed by a read.
        self.replicas[replica].known = Some((self.holders.clone(), true));
    }

    /// Whatever anybody knows is no longer the latest.
    fn outdate(&mut self) {
        for replica in &mut self.replicas {
            let known = replica.known.iter_mut().map(|(_, current)| current);
            let patch = replica.patch.iter_mut().map(|(_, current)| current);
            known.chain(patch).for_each(|current| *current = false);
        }
    }

    /// What it waits for: nobody believes any more what was written before, each gate that was told to open is seen to have,
    /// and nothing runs whose object is gone.
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

    /// Whether everything ends when nothing goes wrong any more.
    fn ends(&self, most: usize) -> bool {
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

fn steps(objects: usize) -> Vec<Step> {
    [kept(objects), lost(objects)].concat()
}

/// Everything that happens while the ConfigMap is kept.
fn kept(objects: usize) -> Vec<Step> {
    let mut steps = usual(objects);
    steps.extend((0..2).map(Step::Crash));
    for object in 0..objects {
        steps.extend([Step::Delete(object), Step::EndPod(object)]);
    }
    steps
}

/// The same with its loss, of objects that nobody deletes and replicas that stay.
fn lost(objects: usize) -> Vec<Step> {
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

/// Every state that can be reached, up to the first with too many that run.
fn explore(objects: usize, most: usize, steps: &[Step], way: Way) -> Result<HashSet<State>, State> {
    let mut reached = HashSet::from([State::new(objects)]);
    let mut open = VecDeque::from([State::new(objects)]);
    while let Some(state) = open.pop_front() {
        if state.running() > most {
            return Err(state);
        }
        for step in steps {
            let next = state.after(*step, most, way);
            if next != state && reached.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    Ok(reached)
}

/// Walks through every state; `least` so many there are.
fn holds(steps: &[Step], least: usize) {
    let reached = explore(2, 1, steps, Way::Built);
    let reached = reached.unwrap_or_else(|state| panic!("too many run: {state:?}"));
    assert!(reached.len() > least, "{} states", reached.len());
    for state in reached.iter().step_by(SAMPLE) {
        assert!(state.ends(1), "a slot is lost: {state:?}");
    }
}

#[test]
fn no_state_has_more_that_run_than_slots_and_none_has_lost_one() {
    holds(&kept(2), 100_000);
}

#[test]
fn nor_has_any_where_the_config_map_is_lost() {
    holds(&lost(2), 100_000);
}

#[test]
fn the_model_notices_a_replica_that_does_otherwise() {
    for way in [Way::Cached, Way::Believing, Way::Hasty] {
        assert!(explore(2, 1, &lost(2), way).is_err(), "{way:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_walks_find_neither(
        objects in 2..6_usize,
        most in 1..4_usize,
        walk in proptest::collection::vec(any::<prop::sample::Index>(), 1..200),
    ) {
        let steps = steps(objects);
        let mut state = State::new(objects);
        for index in walk {
            state = state.after(*index.get(&steps), most, Way::Built);
            prop_assert!(state.running() <= most, "too many run: {:?}", state);
        }
        prop_assert!(state.ends(most), "a slot is lost: {:?}", state);
    }
}

#[test]
fn the_first_in_turn_comes_first_and_the_smallest_cap_counts() {
    let names = |holders: Vec<Holder>| holders.into_iter().map(|it| it.name).collect::<Vec<_>>();
    let claims = vec![claim(2, 2), claim(0, 5), claim(1, 5)];
    assert_eq!(
        names(allot(
            Vec::new(),
            Vec::new(),
            |_| false,
            claims.clone(),
            usize::MAX
        )),
        ["0", "1"]
    );
    assert_eq!(
        names(allot(Vec::new(), Vec::new(), |_| false, claims, 1)),
        ["0"],
        "somebody whose turn it is not yet says 1"
    );
    let held = vec![holder(2, 1)];
    assert_eq!(
        names(allot(
            held.clone(),
            Vec::new(),
            |_| false,
            vec![claim(0, 5)],
            usize::MAX
        )),
        ["2"]
    );
    assert_eq!(
        names(allot(
            held.clone(),
            Vec::new(),
            |_| true,
            vec![claim(0, usize::MAX)],
            usize::MAX
        )),
        ["0"]
    );
    // What runs holds a slot, whatever is written down.
    assert_eq!(
        names(allot(
            Vec::new(),
            held,
            |_| false,
            vec![claim(0, 1)],
            usize::MAX
        )),
        ["2"]
    );
}

#[test]
fn no_more_is_written_down_than_there_is_room_for() {
    let names = |holders: &[Holder]| holders.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    let wave = claim(0, 9).wave;
    let entry = |holders: &[Holder]| {
        let (wave, holders) = (wave.clone(), holders.to_vec());
        serde_json::to_string(&Entry { wave, holders })
            .unwrap()
            .len()
    };
    let all: Vec<Holder> = (0..4).map(|index| holder(index, 9)).collect();
    let before = &all[1..2];
    let room = entry(&all[..2]) + 1;
    assert_eq!(names(&fit(&wave, before, all.clone(), room)), ["0", "1"]);
    assert_eq!(names(&fit(&wave, before, all.clone(), 0)), ["1"]);
    assert_eq!(fit(&wave, before, all.clone(), usize::MAX), all);
}
