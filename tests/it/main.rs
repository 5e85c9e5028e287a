//! Integration tests: one binary, because linking is what costs.

/// The admission webhook over its router, without a socket: answers, goldens, and the laws of its patches.
mod admission;
/// What custom resources are judged to be, measured against Argo CD's health checks.
mod argo;
/// Health rules in CEL, against Flux's own cases.
mod cel;
/// What Helm renders of charts/sluice.
mod chart;
/// kubectl-sluice's process, without a cluster.
mod cli;
/// What sluice does in a real cluster; ignored where none is asked for.
mod cluster;
/// The rules against the Go libraries that they follow, on generated manifests.
mod differential;
/// The documentation: what it shows is run, where it leads exists.
mod docs;
/// Custom health against files: the public suites of HIP-0025 and of the JSONPath of Kubernetes.
mod expressions;
/// Any object and any text: nothing panics, nothing takes long.
mod fuzz;
/// The gate's process: its environment, its log, its exit codes, over real TLS.
mod gate;
/// What users of Argo CD and Flux see; ignored where they are not asked for.
mod gitops;
/// kstatus against files: the public suites of the corpus, and a fixture of ours for each row of the rules.
mod kstatus;
/// Figures of a real cluster that take too long for every run.
mod measured;
/// What a power cycle of the cluster's node leaves; ignored where none is asked for.
mod node;
