//! Tests the line of `check` about the pod that is tried as a dry run.

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
        ": exceeded quota; the tried pod asks for 10m and 16Mi, and a gate for what its pod's smallest container asks for: pods that fit are \
         admitted with their gates, unless gate.resources of sluice's chart is set and does not fit; then leave it empty",
    );
    assert_line(
        &refused("minimum memory usage per Container is 32Mi, but request is 16Mi"),
        "warning  admission: another rule of the cluster refuses ",
        "then leave it empty",
    );
    assert_line(
        &refused("ValidatingAdmissionPolicy 'tags' denied request: no tag"),
        "warning  admission: another rule of the cluster refuses ",
        "let it admit that of the gate (gate.image of sluice's chart); or name another namespace with -n",
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
