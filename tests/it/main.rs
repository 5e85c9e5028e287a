//! Integration tests. They are one binary, because linking is their main cost.

/// The admission webhook over its router, without a socket: answers, goldens, and the laws of its patches.
mod admission;
/// The verdicts on custom resources, measured against Argo CD's health checks.
mod argo;
/// A real browser, for the page of `kubectl sluice ui`.
mod browser;
/// Health rules in CEL, against Flux's own cases.
mod cel;
/// The chart charts/sluice, rendered by Helm.
mod chart;
/// kubectl-sluice's process, without a cluster.
mod cli;
/// sluice in a real cluster; ignored unless the tests of a cluster are asked for.
mod cluster;
/// Reads the public test suites, where they are at hand.
mod corpus;
/// The rules against the Go libraries that they follow, on generated manifests.
mod differential;
/// The documentation: its commands are run, and its links lead somewhere.
mod docs;
/// Custom health against files: the public suites of HIP-0025 and of the JSONPath of Kubernetes.
mod expressions;
/// The rules on random objects and texts: nothing panics, and nothing takes long.
mod fuzz;
/// The gate's process: its environment, its log, its exit codes, over real TLS.
mod gate;
/// sluice under Argo CD and Flux; ignored where they are not asked for.
mod gitops;
/// kstatus against files: the public suites of the corpus, and a fixture of ours for each row of the rules.
mod kstatus;
/// Measurements in a real cluster that take too long for every run.
mod measured;
/// Failures on the cluster's node, such as a power cycle and lost packets; ignored where they are not asked for.
mod node;
/// The statuses that real operators write, and the gates that wait for them; ignored where they are not asked for.
mod operators;
/// The list of the crates in each image, which is a file beside the images.
mod sbom;
/// The verdicts on custom resources, measured against the waits of operators.
mod waited;

/// Fails with the number of complaints and the first 50 of them, if there are any, or if there was no case.
fn settle(cases: usize, complaints: &[String]) {
    assert!(cases > 0, "no case was found");
    let first: Vec<_> = complaints.iter().take(50).map(String::as_str).collect();
    let (count, first) = (complaints.len(), first.join("\n"));
    assert!(count == 0, "{count} of {cases} cases:\n{first}");
}
