//! The decision: from the pod that asks to the answer that its gate gets. Reads the cluster through a view, does no I/O.

use super::{Identity, Settings};
use crate::cache::View;
use jiff::Timestamp;
use rules::dependent::Dependent;
use rules::verdict;
use rules::wire::{Answer, Decision};
use rules::world::{Lookup, Unavailable};
use sha2::{Digest, Sha256};

/// What came of one question.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The answer.
    Answer(Answer),
    /// The pod of that name is another one now.
    AnotherPod,
}

/// Decides for the pod that `identity` names.
pub(super) fn answer(
    identity: &Identity,
    settings: &Settings,
    view: &View,
    now: Timestamp,
) -> Outcome {
    let pod = match view.gated_pod(&identity.namespace, &identity.pod) {
        Lookup::Found(pod) if pod["metadata"]["uid"] == identity.uid.as_str() => pod,
        Lookup::Found(_) => return Outcome::AnotherPod,
        Lookup::NotFound => {
            let note = "sluice has not seen this pod yet; it must carry the label sluice.dev/gated: \"true\"";
            return Outcome::Answer(wait(note.to_owned()));
        }
        Lookup::Unavailable(why) => return Outcome::Answer(wait(reading("the gated pods", why))),
    };
    let dependent = match Dependent::resolve(&pod, &settings.workloads, view) {
        Lookup::Found(dependent) => dependent,
        Lookup::NotFound => {
            return Outcome::Answer(wait("sluice has not seen the pod's owner yet".to_owned()));
        }
        Lookup::Unavailable(why) => return Outcome::Answer(wait(reading("the pod's owner", why))),
    };
    let dependencies = match dependent.dependencies(settings.honor_config_depends_on) {
        Ok(dependencies) => dependencies,
        Err(error) => {
            return Outcome::Answer(wait(format!(
                "the list cannot be read, correct it: {error}"
            )));
        }
    };
    let edges = verdict::judge(
        &dependent,
        dependencies,
        &settings.cross_namespace,
        view,
        now,
    );
    Outcome::Answer(sealed(verdict::answer(&edges)))
}

fn wait(note: String) -> Answer {
    sealed(Answer {
        verdict: Decision::Wait,
        digest: String::new(),
        dependencies: Vec::new(),
        note: Some(note),
    })
}

fn reading(what: &str, why: Unavailable) -> String {
    match why {
        Unavailable::Syncing => format!("sluice is reading {what}"),
        Unavailable::NotServed => format!("the API server does not serve the kind of {what}"),
        Unavailable::Forbidden => {
            format!("sluice may not watch {what}; its ClusterRole lacks the kind")
        }
        Unavailable::Stale => {
            format!("sluice has lost its connection to the API server; {what} may have changed")
        }
    }
}

/// Gives the answer the digest that names it.
fn sealed(mut answer: Answer) -> Answer {
    // Only "is it another answer" is asked of a digest, so eight bytes are plenty.
    let text = serde_json::to_vec(&answer).unwrap_or_default();
    let digest = Sha256::digest(text);
    answer.digest = digest
        .iter()
        .take(8)
        .fold(0, |all, byte| all << 8 | u64::from(*byte))
        .to_string();
    answer
}
