//! A model of two replicas that give slots away. It covers every interleaving of delayed watch events, writes, lost races and crashes of
//! the replicas, and of a user that deletes or empties the ConfigMap. The decision is the real [`allot`]; only the world around it is
//! modelled.
//!
//! The walk over all states is of two objects and one slot; random walks look at more of both.

mod state;

use super::*;
use proptest::prelude::*;
use state::{State, Step, Way, kept, lost, steps};
use std::collections::{HashSet, VecDeque};

/// The sampling rate of the slow part: one of this many states is followed to its end. The random walks follow other states.
const SAMPLE: usize = 29;

/// Every state that the steps can reach; as an error, the first state in which too many objects run.
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

/// Fails a test if the steps lead to a state in which too many objects run, or, of every [`SAMPLE`]th state, to one in which a slot is lost. There
/// must be more than `least` states.
fn holds(steps: &[Step], least: usize) {
    let reached = explore(2, 1, steps, Way::Built);
    let reached = reached.unwrap_or_else(|state| panic!("too many run: {state:?}"));
    assert!(reached.len() > least, "{} states", reached.len());
    for state in reached.iter().step_by(SAMPLE) {
        assert!(state.ends(1), "a slot is lost: {state:?}");
    }
}

#[test]
#[ignore = "it takes 10 s: `make test` runs it"]
fn no_state_has_more_that_run_than_slots_and_none_has_lost_one() {
    holds(&kept(2), 100_000);
}

#[test]
#[ignore = "it takes 10 s: `make test` runs it"]
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
