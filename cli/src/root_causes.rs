//! The root causes behind waiting pods, each with the number of pods that wait for it.

use crate::output::counted;
use jiff::Timestamp;
use rules::cause::{Cause, RootCause};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use wire::{Answer, Report};

/// A pod that waits, and the ends of the chains behind its unsatisfied dependencies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitingPod<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// The begin of the wait, where it is known.
    pub(crate) since: Option<Timestamp>,
    pub(crate) roots: &'a [RootCause],
}

/// A root cause, and the pods that it holds up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct HeldUp {
    #[serde(flatten)]
    pub(crate) cause: RootCause,
    pub(crate) namespace: String,
    /// The names of the pods that wait for it, directly or because of others that wait. JSON has their number.
    #[serde(serialize_with = "as_number")]
    pub(crate) pods: BTreeSet<String>,
    /// The begin of the longest of these waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Timestamp>,
}

/// The heading of the root causes.
pub(crate) const TITLE: &str = "What holds the others up:";

/// The most root causes that a text shows.
const SHOWN: usize = 3;

/// The root causes that a text shows, the first three, and a line about those that are left out. Nothing is shown where fewer than two pods
/// wait: the rows of one pod tell its causes.
pub(crate) fn shown(causes: &[HeldUp]) -> (&[HeldUp], Option<String>) {
    let pods = causes.iter().flat_map(|it| {
        let names = it.pods.iter();
        names.map(move |name| (&it.namespace, name))
    });
    if pods.collect::<BTreeSet<_>>().len() < 2 {
        return (&[], None);
    }
    let shown = &causes[..causes.len().min(SHOWN)];
    let left = causes.len() - shown.len();
    let more = (left > 0).then(|| format!("and {}", counted(left, "other cause")));
    (shown, more)
}

fn as_number<S: Serializer>(pods: &BTreeSet<String>, serializer: S) -> Result<S::Ok, S::Error> {
    pods.len().serialize(serializer)
}

/// The root causes of each pod, by the namespace and the name of the pod.
type Pods<'a> = BTreeMap<(&'a str, &'a str), &'a [RootCause]>;

/// The root causes of the waits of these pods, one for each pod or object at which waits end. The one with the most pods comes first, of equal
/// ones one that does not end with time.
pub(crate) fn held_up<'a>(pods: &[WaitingPod<'a>]) -> Vec<HeldUp> {
    let by_name: Pods<'a> = pods
        .iter()
        .map(|pod| ((pod.namespace, pod.name), pod.roots))
        .collect();
    let mut found: BTreeMap<(&str, &str), Vec<(&WaitingPod<'_>, &RootCause)>> = BTreeMap::new();
    for pod in pods {
        let mut roots = BTreeMap::new();
        let mut seen = BTreeSet::from([pod.name]);
        follow(pod.namespace, pod.roots, &by_name, &mut seen, &mut roots);
        // A stranded pod is its own root cause, and holds up only others.
        roots.retain(|_, root| root.pod.as_deref() != Some(pod.name));
        for ((namespace, thing, _), root) in roots {
            found
                .entry((namespace, thing))
                .or_default()
                .push((pod, root));
        }
    }
    let found = found.into_iter();
    let mut found: Vec<HeldUp> = found
        .filter_map(|((namespace, _), told)| of_one(namespace, &told))
        .collect();
    found.sort_by_key(|it| (std::cmp::Reverse(it.pods.len()), !it.cause.broken));
    found
}

/// The root cause of these waits, which all end at one pod or one object, in the words that most of the pods have for it. Where two causes
/// have equally many pods, a cause that does not end with time comes first. `None` for no wait.
fn of_one(namespace: &str, told: &[(&WaitingPod<'_>, &RootCause)]) -> Option<HeldUp> {
    let mut causes: BTreeMap<&RootCause, usize> = BTreeMap::new();
    for (_, cause) in told {
        *causes.entry(cause).or_default() += 1;
    }
    let (cause, _) = causes
        .into_iter()
        .max_by_key(|(cause, pods)| (*pods, cause.broken))?;
    Some(HeldUp {
        cause: cause.clone(),
        namespace: namespace.to_owned(),
        pods: told.iter().map(|(pod, _)| pod.name.to_owned()).collect(),
        since: told.iter().filter_map(|(pod, _)| pod.since).min(),
    })
}

/// Adds the root causes at the ends of these chains to `ends`. A chain that ends at the gate of one of `pods` goes on with the root causes of
/// that pod; `seen` stops a circle.
fn follow<'a>(
    namespace: &'a str,
    roots: &'a [RootCause],
    pods: &Pods<'a>,
    seen: &mut BTreeSet<&'a str>,
    ends: &mut BTreeMap<(&'a str, &'a str, &'a str), &'a RootCause>,
) {
    for root in roots {
        let at_gate = root.reason == Cause::Gate.word();
        let next = root.pod.as_deref().filter(|_| at_gate);
        let further = next.and_then(|pod| Some((pod, *pods.get(&(namespace, pod))?)));
        match further {
            Some((pod, further)) if !further.is_empty() => {
                if seen.insert(pod) {
                    follow(namespace, further, pods, seen, ends);
                }
            }
            _ => {
                let thing = root.pod.as_deref().unwrap_or(&root.object);
                ends.insert((namespace, thing, root.reason.as_str()), root);
            }
        }
    }
}

/// Brings root causes up to an answer into which the log of the gate was read: drops a cause whose dependency is satisfied, and gives a cause
/// with another reason than the answer the answer's reason and message, unless the cause is a pod's.
pub(crate) fn hear(roots: &mut Vec<RootCause>, answer: &Answer) {
    let report = |root: &RootCause| -> Option<&Report> {
        let mut reports = answer.dependencies.iter();
        reports.find(|it| it.dependency == root.object)
    };
    roots.retain(|root| report(root).is_none_or(|it| !it.satisfied));
    for root in roots {
        if let Some(report) = report(root).filter(|it| it.reason != root.reason)
            && root.pod.is_none()
        {
            let message = report.message.clone();
            root.reason = report.reason.clone();
            root.message = message.unwrap_or_default();
        }
    }
}

impl HeldUp {
    /// The number of its pods in words: `58 pods wait for it`.
    pub(crate) fn count(&self) -> String {
        match self.pods.len() {
            1 => "1 pod waits for it".to_owned(),
            pods => format!("{} wait for it", counted(pods, "pod")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(object: &str, pod: Option<&str>, reason: &str) -> RootCause {
        RootCause {
            object: object.to_owned(),
            pod: pod.map(ToOwned::to_owned),
            reason: reason.to_owned(),
            broken: false,
            message: "so".to_owned(),
        }
    }

    #[test]
    fn a_chain_of_gates_is_followed_to_its_end() {
        let at_gate = |pod: &str| root("Deployment/x", Some(pod), Cause::Gate.word());
        let pull = root("Service/db", Some("db-0"), "ImagePull");
        let other = root("StatefulSet/db", Some("db-0"), "ImagePull");
        let job = root("Job/seed", None, "JobNotComplete");
        let chains = [
            ("a", vec![pull.clone()]),
            ("b", vec![at_gate("a")]),
            ("c", vec![at_gate("b"), other]),
            ("d", vec![at_gate("e"), job.clone()]),
            ("e", vec![at_gate("d")]),
            ("f", vec![at_gate("elsewhere")]),
        ];
        let at = |second: i64| Timestamp::from_second(second).ok();
        let pods: Vec<WaitingPod<'_>> = (1..)
            .zip(&chains)
            .map(|(second, (name, roots))| WaitingPod {
                namespace: "shop",
                name,
                since: at(second),
                roots,
            })
            .collect();
        let told: Vec<_> = held_up(&pods)
            .into_iter()
            .map(|it| (it.cause, it.pods.len(), it.since))
            .collect();
        let expected = [
            (pull, 3, at(1)),
            (job, 2, at(4)),
            (at_gate("elsewhere"), 1, at(6)),
        ];
        assert_eq!(told, expected);
    }

    /// The objects that hold pods up, by the name and the root cause of each pod.
    fn of_shop(all: &[(&str, [RootCause; 1])]) -> Vec<HeldUp> {
        let pods = all.iter().map(|(name, roots)| WaitingPod {
            namespace: "shop",
            name,
            since: None,
            roots,
        });
        held_up(&pods.collect::<Vec<_>>())
    }

    #[test]
    fn a_stranded_pod_holds_up_others_and_not_itself() {
        let stranded = |pod: &str| root("Deployment/x", Some(pod), "Stranded");
        let at_gate = root("Deployment/x", Some("a"), Cause::Gate.word());
        let all = [
            ("a", [stranded("a")]),
            ("b", [stranded("b")]),
            ("c", [at_gate]),
        ];
        let told = of_shop(&all);
        let told: Vec<_> = told.into_iter().map(|it| (it.cause, it.pods)).collect();
        assert_eq!(told, [(stranded("a"), BTreeSet::from(["c".to_owned()]))]);
    }

    #[test]
    fn a_pod_that_is_told_of_in_two_ways_is_one_cause() {
        let no_node = root("Service/db", Some("db-0"), "Unschedulable");
        let claim = root("StatefulSet/db", Some("db-0"), "Claim");
        let all = [
            ("a", [claim.clone()]),
            ("b", [no_node]),
            ("c", [claim.clone()]),
        ];
        let told = of_shop(&all);
        let [HeldUp { cause, pods, .. }] = &told[..] else {
            panic!("{told:?}");
        };
        assert_eq!((cause, pods.len()), (&claim, 3));
    }

    #[test]
    fn a_pod_with_two_causes_is_not_several_pods() {
        let both = [
            root("Job/seed", None, "JobNotComplete"),
            root("Service/db", Some("db-0"), "ImagePull"),
        ];
        let causes = |names: &[&'static str]| {
            let pods = names.iter().map(|name| WaitingPod {
                namespace: "shop",
                name,
                since: None,
                roots: &both,
            });
            held_up(&pods.collect::<Vec<_>>())
        };
        for (names, count) in [(&["a"][..], 0), (&["a", "b"], 2)] {
            assert_eq!(shown(&causes(names)).0.len(), count, "{names:?}");
        }
        let told = serde_json::to_value(&causes(&["a", "b"])[0]).unwrap();
        assert_eq!(told["pods"], 2);
    }
}
