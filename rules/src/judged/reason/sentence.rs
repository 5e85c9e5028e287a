//! The sentence that explains each reason to a user.

use super::Reason;

impl Reason {
    /// The meaning of the reason, in words that follow the name of the object, with the way out where there is one. The words quote nothing of
    /// the object, so any namespace may see them.
    #[expect(clippy::too_many_lines, reason = "one sentence for each reason")]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Satisfied => "it is in the state that was asked for",
            Self::OptionalNotFound => "it does not exist, and the dependency is optional",
            Self::Remembered => "it completed, and was removed since",
            Self::NotFound => "it does not exist yet; check its kind, name and namespace",
            Self::Terminating => "it is being deleted",
            Self::NotObserved => "its controller has not looked at its latest change yet",
            Self::InProgress => "it is being rolled out, started or reconciled",
            Self::Failed => "it reports a failure, from which it may recover",
            Self::JobNotComplete => "the Job has not completed yet",
            Self::JobSuspended => "the Job is suspended; set spec.suspend to false",
            Self::JobHeld => {
                "sluice keeps the Job suspended until what it waits for is satisfied; look at the Job's own list"
            }
            Self::JobFailed => "the Job has failed for good; delete it and create it again",
            Self::FailedForGood => {
                "it has failed for good, as a Job does; delete it and create it again"
            }
            Self::NoEndpoints => {
                "no endpoint of the Service serves yet; check the pods that it selects"
            }
            Self::ClaimNotBound => "the PersistentVolumeClaim is not bound",
            Self::NoAddress => "no address has been assigned yet",
            Self::HealthNotMet => {
                "an expression on it or in the list, which says when it is healthy, does not hold"
            }
            Self::HealthFailed => {
                "an expression on it says that it has failed, from which it may recover"
            }
            Self::NoStatusYet => {
                "its controller has not written a status yet; check that the controller runs, or write a health rule for a kind that \
                 never has one"
            }
            Self::KindNotServed => {
                "the API server does not serve this kind yet; install its CustomResourceDefinition"
            }
            Self::KindForbidden => {
                "sluice may not watch this kind; add it to the chart's RBAC values"
            }
            Self::DiscoveryFailed => {
                "the API server cannot tell whether it serves this kind; check the APIService of its group"
            }
            Self::NotPermitted => {
                "its namespace has not agreed; annotate that Namespace with sluice.dev/allow-dependents-from \
                 (a kind without namespaces is allowed by the chart's value clusterScoped.allow)"
            }
            Self::OtherRevision => {
                "its sluice.dev/revision is not the dependent's; update it too, or write \"revision: any\" in the entry"
            }
            Self::NotFresh => {
                "it is older than the dependent's revision, and a fresh one is asked for; create the Job again, or take \"fresh\" out of the entry"
            }
            Self::Settling => {
                "it is older than the dependent's revision and may be replaced with it; a moment is waited"
            }
            Self::NotStable => {
                "it is in the state that was asked for, but not yet for as long as the entry's \"stable\" says"
            }
            Self::BeforeBoot => {
                "it seems satisfied, but its status may be left from before the boot of the dependent's node; it counts once its kubelet or \
                 its controller has reported again, after 90 s at most"
            }
            Self::GivenUp => {
                "it is not in the state that was asked for, and the entry's \"timeout\" has passed: the gate goes on without it"
            }
            Self::LowerWeight => "an object of its scope with a lower weight is not ready yet",
            Self::NoSlot => {
                "as many objects of its weight run as sluice.dev/parallelism allows; its turn comes when one is done"
            }
            Self::Unschedulable => {
                "a pod of it fits on no node; give the cluster room, lower requests, or delete a pod that waits for it"
            }
            Self::Cycle => {
                "it waits for the dependent, by whatever way round; take one of the entries out of its list"
            }
            Self::SelfReference => "the dependent waits for itself; take the entry out of its list",
            Self::Syncing => "the first list of this kind has not arrived yet",
            Self::Stale => "the API server cannot be reached, so what is known may be out of date",
            Self::AwaitsTurn => {
                "so many objects of its namespace are read with every field that it waits for its turn; let fewer entries at a time ask \
                 for the health of fields that are not kept"
            }
            Self::OverBudget => {
                "what the dependents of this namespace wait for fills its share of sluice's memory; let fewer of them wait at a time, let \
                 their lists name less, or ask the administrator to give sluice more memory"
            }
            Self::TooLarge => {
                "it is longer than 8 MiB as JSON, or the large objects of its namespace fill their share of sluice's memory; make it smaller"
            }
            Self::Unjudgeable => "its fields, or the health expressions on it, cannot be read",
            Self::NotSupported => "it asks for something that this version of sluice does not do",
            Self::RuleError => {
                "the health rule of its kind cannot be evaluated; ask the administrator of sluice to correct it"
            }
            Self::NotProbed => {
                "the gate has not told yet what came of this address; it tries it from the pod's own network"
            }
            Self::CannotProbe => {
                "the gate of the pod is of another version, which cannot try such an address; delete the pod, and the next one gets a gate that can"
            }
            Self::ConnectionRefused => {
                "connection refused: nothing listens there; check that it runs, and the port"
            }
            Self::ConnectionTimedOut => {
                "no answer within 5 s; check that it runs, and that no NetworkPolicy or firewall drops what the pod sends there"
            }
            Self::ConnectionReset => {
                "the connection was closed before an answer; a proxy or a mesh on the way may not be up yet, or has nothing behind it"
            }
            Self::Unreachable => {
                "no route leads there; check the address, and the network of the pod's node"
            }
            Self::NoSuchName => {
                "no name server knows the name; check its spelling, and the pod's dnsPolicy and dnsConfig"
            }
            Self::NoNameServer => {
                "no name server could tell; check the cluster's DNS, and that no NetworkPolicy keeps the pod from it"
            }
            Self::NoTls => {
                "what answers does not speak TLS of version 1.2 or 1.3; check the port, or write http://"
            }
            Self::NoHttp => {
                "what answers does not speak HTTP; check the port, or write https:// or tcp://"
            }
            Self::HttpStatus => {
                "it answers with a status that is not asked for; look at what it says, or write the status that is right"
            }
            Self::NoVariable => {
                "the gate has no such variable: write the list on the pod template, and the variable into env of a container there; delete a pod that is \
                 older than that"
            }
            Self::BadVariable => {
                "what stands in the variable is no address; write HOST:PORT, or a URL with a port"
            }
        }
    }
}
