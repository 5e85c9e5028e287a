//! The pod that is tried.

use super::*;

#[test]
fn a_pod_that_is_tried_and_has_no_gate_in_the_end_is_told() {
    let tried = |answer: TrialOutcome| wrong(|seen| seen.tried.answer = answer);
    assert_line(
        &tried(TrialOutcome::Ungated),
        "problem  admission: the API server admits a pod in namespace default ",
        "and at the controller's log",
    );
    let refused = |why: &str| tried(TrialOutcome::Refused(why.to_owned()));
    assert_line(
        &refused("failed calling webhook \"pods.sluice.dev\": connection refused"),
        "problem  admission: the API server does not get an answer ",
        "whether the control plane reaches port 10250 of them",
    );
    assert_line(
        &refused("exceeded quota"),
        "warning  admission: another rule of the cluster refuses ",
        ": exceeded quota; name another namespace with -n",
    );
    assert_line(
        &tried(TrialOutcome::Forbidden),
        "warning  admission: not tried: you may not create pods in namespace default; ",
        "or name another namespace with -n",
    );
    assert_line(
        &tried(TrialOutcome::Excluded),
        "warning  admission: nothing is gated",
        "to try it",
    );
    assert_line(
        &tried(TrialOutcome::NoNamespace),
        "warning  admission: not tried: namespace default does not exist",
        "with -n",
    );
}
