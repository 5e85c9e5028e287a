//! The sentences that refuse a hold.

/// Why an object, or the pods of a workload, cannot be held as an annotation asks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum HoldFault {
    #[error(
        "only a Job can be suspended, by its own annotations and not by those of its pod template; write \"true\" to hold pods"
    )]
    SuspendsNoJob,
    #[error(
        "an object's creation is held by its own annotations, and not by those of its pod template; write \"true\" here to hold its pods"
    )]
    CreatesNoObject,
    #[error(
        "{entry}: {asks} needs the gate of a pod, and the creation of an object without pods is held (sluice.dev/hold: create); name a Job \
         or a workload that tells in its place"
    )]
    NeedsGate { entry: String, asks: &'static str },
    #[error(
        "{0}: \"fresh\" means nothing for an object whose creation is held (sluice.dev/hold: create), since every Job of now is older; \
         remove it"
    )]
    FreshAtCreation(String),
    #[error(
        "{0} lies in a namespace, and the object whose creation is held (sluice.dev/hold: create) in none; write namespace/kind/name"
    )]
    NoNamespace(String),
    #[error(
        "{who} would wait for the end of this Job, which has {key}, but takes one that is created suspended for done too soon; write \
         \"true\" on its pod template instead, which holds its pods"
    )]
    DoneTooSoon {
        who: &'static str,
        key: &'static str,
    },
}
