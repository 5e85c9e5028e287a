//! The decision: from the pod that asks to the answer that its gate gets. Reads the cluster through a view, does no I/O.

use super::{Identity, Settings};
use crate::cache::View;
use jiff::Timestamp;
use rules::dependent::{Dependent, Unknown};
use rules::verdict::{self, Reason};
use rules::wire::{Answer, Decision};
use rules::world::{Lookup, Unavailable};
use sha2::{Digest, Sha256};

/// What came of one question.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The answer: wait; and when to look again, where time alone may change it.
    Wait(Answer, Option<Timestamp>),
    /// The answer: open, for a pod of this dependent.
    Open(Answer, Dependent),
    /// An answer that says no more than that something is still being read; a better one is moments away.
    Provisional(Answer),
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
            return Outcome::Provisional(told(
                Decision::Wait,
                "sluice to see this pod, which must carry the label sluice.dev/gated: \"true\"",
            ));
        }
        Lookup::Unavailable(why) => return unread("the gated pods", why),
    };
    let dependent = match Dependent::resolve(&pod, &settings.workloads, view) {
        Lookup::Found(dependent) => dependent,
        Lookup::NotFound => {
            return Outcome::Provisional(told(Decision::Wait, "sluice to see the pod's owner"));
        }
        Lookup::Unavailable(why) => return unread("the pod's owner", why),
    };
    let passed = dependent
        .revision()
        .is_some_and(|revision| view.memory().has_passed(&revision));
    let dependencies = match dependent.dependencies(settings.honor_config_depends_on, view) {
        Ok(dependencies) => dependencies,
        Err(_) if passed => Vec::new(),
        Err(Unknown::Plans(why)) => return unread("the plans", why),
        Err(error) => {
            let note = format!("a list that can be read; correct it: {error}");
            return Outcome::Wait(told(Decision::Wait, &note), None);
        }
    };
    let dependencies = if passed {
        let again: Vec<_> = dependencies
            .into_iter()
            .filter(|dependency| dependent.asks_again(dependency))
            .collect();
        if again.is_empty() {
            let note = "asking again: another pod of this revision has passed its gate before";
            return Outcome::Open(told(Decision::Open, note), dependent);
        }
        again
    } else {
        dependencies
    };
    let allowed = &settings.cross_namespace;
    let verdict::Judgement { edges, again } =
        verdict::judge(&dependent, dependencies, allowed, view, now);
    let answer = sealed(verdict::answer(&edges));
    if answer.verdict == Decision::Open {
        return Outcome::Open(answer, dependent);
    }
    if edges
        .iter()
        .any(|edge| edge.judged.reason == Reason::Syncing)
    {
        return Outcome::Provisional(answer);
    }
    Outcome::Wait(answer, again)
}

/// An answer without dependencies. The note is worded to follow "waiting for", or "open without".
fn told(verdict: Decision, note: &str) -> Answer {
    sealed(Answer {
        verdict,
        digest: String::new(),
        dependencies: Vec::new(),
        note: Some(note.to_owned()),
    })
}

fn unread(what: &str, why: Unavailable) -> Outcome {
    let note = match why {
        Unavailable::Syncing => format!("sluice to read {what}"),
        Unavailable::NotServed => format!("the API server to serve the kind of {what}"),
        Unavailable::Forbidden => {
            format!("the right to watch {what}: sluice's ClusterRole lacks it")
        }
        Unavailable::Stale => format!("sluice to reach the API server again, to read {what}"),
    };
    match why {
        Unavailable::Syncing => Outcome::Provisional(told(Decision::Wait, &note)),
        _ => Outcome::Wait(told(Decision::Wait, &note), None),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
    use rules::kinds::{Kind, by_word};
    use serde_json::json;

    fn kind(word: &str) -> Kind {
        by_word(word).map(Kind::Builtin).unwrap()
    }

    /// What a second pod of a revision is told, whose Job carries this list, in a cluster with nothing else.
    fn second_pod(list: &str) -> Outcome {
        let (cache, _requests) = Cache::new();
        let owner =
            json!({"apiVersion": "batch/v1", "kind": "Job", "name": "seed", "controller": true});
        let metadata = |name: &str| json!({"namespace": "shop", "name": name, "uid": name});
        let mut pod = json!({"metadata": metadata("p")});
        pod["metadata"]["ownerReferences"] = json!([owner]);
        let mut job = json!({"metadata": metadata("seed")});
        job["metadata"]["annotations"] = json!({"sluice.dev/depends-on": list});
        cache.gated().replace(&[pod.clone()]);
        cache.store(&kind("job")).replace(&[job]);
        for word in ["daemonset", "configmap"] {
            cache.store(&kind(word)).replace(&[]);
        }
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cache.view()) else {
            panic!("resolved")
        };
        cache.memory().pass(&dependent, Timestamp::UNIX_EPOCH);
        let identity = Identity {
            namespace: "shop".to_owned(),
            pod: "p".to_owned(),
            uid: "p".to_owned(),
        };
        answer(
            &identity,
            &Settings::default(),
            &cache.view(),
            Timestamp::UNIX_EPOCH,
        )
    }

    #[test]
    fn a_second_pod_of_a_revision_opens_at_once() {
        assert!(matches!(second_pod("configmap/a"), Outcome::Open(..)));
        assert!(matches!(second_pod("Configmapp/a"), Outcome::Open(..)));
    }

    #[test]
    fn what_must_be_on_its_node_is_asked_of_every_pod() {
        let csi = "{kind: DaemonSet, name: csi, sameNode: true}";
        for list in [
            format!("- configmap/a\n- {csi}"),
            format!("- configmap/a\n- any: [configmap/b, {csi}]"),
        ] {
            let Outcome::Wait(answer, None) = second_pod(&list) else {
                panic!("{list}")
            };
            assert_eq!(answer.dependencies.len(), 1, "{answer:?}");
        }
    }
}
