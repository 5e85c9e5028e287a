//! Warnings about a request that is allowed. Each says the fact, its place and the way out, short enough for a
//! header.

use super::Subject;
use rules::advice::Advice;
use rules::annotation::ParseError;
use rules::keys;
use rules::version::IMAGE_VOLUMES;

/// A warning to the user of a request that admission allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The object's list of dependencies is new, and the pods that run are not rolled for it.
    NextRollout,
    /// The list is new and the Job is not: a Job's pods cannot be changed any more.
    AlreadyStarted,
    /// The object asks for a hold, and holds are off.
    HoldsOff {
        /// The `activeDeadlineSeconds` of a Job that asks to be created suspended: they count while it waits. `None` for any other object.
        deadline: Option<i64>,
    },
    /// The object asks that its creation be held, and no creation is held.
    CreationsNotHeld,
    /// The object has this key, of a weight or a cap, and is in no scope, so there is no wave.
    NoScope(&'static str),
    /// The object asks for early pulls, and this Kubernetes has no image volumes.
    NoImageVolumes,
    /// The object's creation is to be held, and it has no list.
    NoListToHold,
    /// A list, or another annotation of sluice, cannot be read. The request did not change it, so it is allowed.
    StoredBadList(ParseError),
    /// Advice that `kubectl sluice lint` gives on the object as well.
    Advice(Advice),
}

impl Warning {
    /// Returns the text of the warning: the fact and, where there is one, the way out.
    pub fn sentence(&self, subject: &Subject) -> String {
        match self {
            Self::NextRollout => format!(
                "{subject}: its list takes effect at the next rollout; {}",
                way_to_roll(subject)
            ),
            Self::AlreadyStarted => {
                format!(
                    "{subject} was created before its list: already started; not gated; delete it and make it anew"
                )
            }
            Self::HoldsOff { deadline } => {
                let told = format!(
                    "{subject}: holds are off in this installation: the pod will wait in its init gate; the chart's value \
                     holds.enabled turns them on"
                );
                match deadline {
                    Some(seconds) => format!(
                        "{told}; the Job is not suspended, so its activeDeadlineSeconds ({seconds}) counts while it waits"
                    ),
                    None => told,
                }
            }
            Self::CreationsNotHeld => format!(
                "{subject}: {hold}: create has no effect, because no creation is held here, and its pods wait at their gates; \
                 write \"true\" on the pod template, which holds its pods, or have the chart's value creationHolds.enabled turned on",
                hold = keys::HOLD
            ),
            Self::NoScope(key) => format!(
                "{subject}: {key} has no effect, because it is in no release or application, so there is no wave; let Helm, Flux \
                 or Argo CD install it, or annotate it with {}",
                keys::SCOPE
            ),
            Self::NoImageVolumes => format!(
                "{subject}: {} has no effect, because this Kubernetes has no image volumes: its images are pulled once the \
                 gate has opened; 1.{IMAGE_VOLUMES} and newer have them",
                keys::PREFETCH
            ),
            Self::NoListToHold => format!(
                "{subject}: {hold}: create has no effect without a list; write {list}, what it waits for",
                hold = keys::HOLD,
                list = keys::DEPENDS_ON
            ),
            Self::StoredBadList(error) => format!("{subject}: {error}"),
            Self::Advice(advice) => format!("{subject}: {advice}"),
        }
    }
}

/// Returns the words that tell how to roll a workload now: a command for the kinds that kubectl can restart.
fn way_to_roll(subject: &Subject) -> String {
    let Subject {
        group, kind, name, ..
    } = subject;
    match (group.as_str(), kind.as_str()) {
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet") => {
            format!("run kubectl rollout restart {}/{name}", kind.to_lowercase())
        }
        _ => "that is when its pod template changes".to_owned(),
    }
}
