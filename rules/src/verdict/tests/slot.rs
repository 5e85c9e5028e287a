//! Tests the edge that is a slot.

use super::wave::of_release;
use super::*;

/// The reports about the entry and the slot of a capped pod with a list, in a cluster that hides the holders. `turned`: the slot comes
/// first.
fn told(cluster: &Cluster, turned: bool) -> Vec<String> {
    let mut pod = of_release(pod("configmap/a"), None, -1);
    pod["metadata"]["annotations"]["sluice.dev/parallelism"] = json!("3");
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], cluster) else {
        panic!("resolved")
    };
    let mut edges = dependent.edges(true, cluster).unwrap();
    if turned {
        edges.reverse();
    }
    let policy = Policy::of_the_chart();
    let judgement = judge(&dependent, edges, &policy, cluster, Timestamp::UNIX_EPOCH);
    let told = |it: &wire::Report| format!("{} {}: {:?}", it.dependency, it.reason, it.message);
    let answer = answer(&judgement.edges);
    answer.dependencies.iter().map(told).collect()
}

#[test]
fn a_slot_is_asked_for_once_everything_else_is_satisfied_in_whichever_order() {
    for turned in [false, true] {
        assert_eq!(
            told(&Cluster::of(Vec::new()), turned),
            [
                "ConfigMap/a NotFound: Some(\"not created yet, or misspelt\")",
                "one of 3 slots NoSlot: Some(\"its turn comes once everything else is satisfied\")"
            ]
        );
        let cluster = Cluster::of(vec![of_release(config_map("shop", "a"), None, -1)]);
        assert_eq!(
            told(&cluster, turned)[1],
            "one of 3 slots NoSlot: Some(\"who holds the 3 slots cannot be seen from here\")"
        );
    }
}
