//! The sentences of advice: the fault and the way out, short enough for a header behind the name of the workload.

use super::{Advice, Removal, Windows, spelling};
use crate::keys;
use crate::terms::Go;
use std::fmt;
use wire::said::clean;

/// The longest quoted part of an entry, in characters: the sentence has to fit into a header.
const LONGEST_ENTRY: usize = 30;

/// The longest shown name of a dependency beside an expression, in characters.
const LONGEST_NAMED: usize = 50;

impl fmt::Display for Advice {
    #[expect(clippy::too_many_lines, reason = "one sentence for each advice")]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SelfReference => out
                .write_str("it waits for itself and never starts; take the entry out of its list"),
            Self::OwnService(name) => write!(
                out,
                "Service/{name} selects its own pods, and nobody else is behind it: it has no endpoint before they start, \
                 and they wait for it; take it out of the list"
            ),
            Self::NoSelector(dependency) => write!(
                out,
                "{dependency} has no selector: it counts as ready as soon as it exists; wait for what is behind it"
            ),
            Self::NoPods(dependency) => write!(
                out,
                "{dependency} selects no pod of these objects, and without an endpoint it is never ready; correct its selector"
            ),
            Self::PartElsewhere {
                subchart,
                namespace,
            } => write!(
                out,
                "subchart/{subchart} of its release is in namespace {namespace}, and nobody looks for it there, so it is not \
                 waited for; write {namespace}/subchart/{subchart}"
            ),
            Self::Removed {
                dependency,
                removal,
            } => removed(out, dependency, *removal),
            Self::Suspended(dependency) => write!(
                out,
                "{dependency} is suspended, so it does not complete before somebody resumes it; take spec.suspend away"
            ),
            Self::NameTaken { what, name } => write!(
                out,
                "it has a {what} named \"{name}\", a name that sluice needs for its gate: its pods are refused; give yours \
                 another name"
            ),
            Self::NoTimeout => write!(
                out,
                "{} has no effect without {}, since no wait is too long; write both",
                keys::ON_TIMEOUT,
                keys::TIMEOUT
            ),
            Self::EntryTimeout {
                dependency,
                timeout,
                whole,
            } => write!(
                out,
                "the timeout of {} of {dependency} has no effect, since {} ends the whole wait after {}; write a shorter one",
                Go(*timeout),
                keys::TIMEOUT,
                Go(*whole)
            ),
            Self::ForeignKey { key, ours } => foreign(out, key, ours),
            Self::ForeignList(entry) => write!(
                out,
                "{}: {:?} is not in its grammar (group/Kind/name), so this list is taken for another product's, and nothing \
                 waits for it; write {} to order pods",
                keys::CONFIG_DEPENDS_ON,
                clean(entry, LONGEST_ENTRY),
                keys::DEPENDS_ON
            ),
            Self::LabelOnly(key) => write!(
                out,
                "{key} has no effect as a label; move it to the annotations"
            ),
            Self::IdleLabel { key, of, value } => write!(
                out,
                "the label {key} has no effect here; it counts on a {of}, and its only value there is {value:?}"
            ),
            Self::KindForbidden(kind) => write!(
                out,
                "sluice may not watch {kind}, so its pods would wait for ever; have {} of sluice's chart allow it",
                kind.chart_value()
            ),
            Self::ProgressDeadline(seconds) => write!(
                out,
                "the wait counts against its progressDeadlineSeconds ({seconds}), after which it is reported as failed until \
                 it recovers; raise it where a dependency may take longer"
            ),
            Self::ProgressAbort(seconds) => progress_abort(out, *seconds),
            Self::ActiveDeadline(seconds) => write!(
                out,
                "the wait counts against activeDeadlineSeconds ({seconds}), after which its pods are ended as failed; raise \
                 it by what the dependencies may take"
            ),
            Self::Windows(windows) => self::windows(out, *windows),
            Self::PositionOnWorkload => of_pods(out, keys::GATE_POSITION),
            Self::HoldOnWorkload => of_pods(out, keys::HOLD),
            Self::PrefetchOnWorkload => of_pods(out, keys::PREFETCH),
            Self::NoReplicas(dependency) => write!(
                out,
                "{dependency} has no endpoint while the workloads behind it are scaled to zero, so the wait does not end; raise \
                 their spec.replicas"
            ),
            Self::ScaledToZero(dependency) => write!(
                out,
                "{dependency} is scaled to zero, and counts as ready without a pod; raise its spec.replicas, or take the entry away"
            ),
            Self::NoReadinessProbe(dependency) => write!(
                out,
                "{dependency} has no readiness probe, and counts as ready as soon as its containers run; add a readinessProbe that \
                 asks what the wait is for"
            ),
            Self::OnlyExists(dependency) => write!(
                out,
                "{dependency} counts as ready as soon as it exists, whatever becomes of its Jobs; wait for a Job, or for what its \
                 runs leave behind"
            ),
            Self::RunsAfterwards { dependency, hook } => write!(
                out,
                "{dependency} is a {hook} hook, which runs only once everything else is ready, so with --wait neither comes; \
                 make it a plain object"
            ),
            Self::NeverMade {
                dependency,
                hook,
                by,
            } => write!(
                out,
                "{dependency} is a {hook} hook, which {by} does not make, so the first one waits for ever; make it a plain \
                 object"
            ),
            Self::RunsBefore {
                dependency,
                installer,
            } => write!(
                out,
                "it is a {} hook, and {} creates nothing else of a release before its end: if {dependency} is of the same \
                 release, neither comes; make it a plain object",
                installer.first_hook(),
                installer.name()
            ),
            Self::LaterHook {
                dependency,
                theirs,
                own,
            } => write!(
                out,
                "Helm runs hooks by weight, then by name, and {dependency} (weight {theirs}) after this one (weight {own}): \
                 neither comes; give it a lower helm.sh/hook-weight"
            ),
            Self::LaterWave {
                dependency,
                theirs,
                own,
            } => write!(
                out,
                "{dependency} is in sync wave {theirs} of Argo CD, which comes only once wave {own}, where this one is, is \
                 healthy: neither comes; put it into an earlier wave"
            ),
            Self::NeverHolds { dependency, why } => {
                write!(
                    out,
                    "it waits for {}: {why}",
                    clean(dependency, LONGEST_NAMED)
                )
            }
            Self::NoSuchInitContainer(name) => write!(
                out,
                "it has no init container \"{name}\", so unless something adds it first the gate stands where it would \
                 without {}; correct the name",
                keys::GATE_POSITION
            ),
        }
    }
}

/// Writes the advice about a key that counts only where pods carry it.
fn of_pods(out: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    write!(
        out,
        "{key} has no effect here; move it to the annotations of the pod template"
    )
}

fn removed(out: &mut fmt::Formatter<'_>, dependency: &str, removal: Removal) -> fmt::Result {
    write!(out, "{dependency} is removed ")?;
    let way_out = match removal {
        Removal::Ttl(seconds) => {
            write!(out, "{seconds} s after its end (ttlSecondsAfterFinished)")?;
            "keep it for a day"
        }
        Removal::HookSucceeded => {
            write!(out, "when it succeeds (helm.sh/hook-delete-policy)")?;
            "take hook-succeeded away"
        }
    };
    write!(
        out,
        "; if sluice misses its end, later pods wait for a Job that is gone; {way_out}"
    )
}

fn foreign(out: &mut fmt::Formatter<'_>, key: &str, ours: &str) -> fmt::Result {
    if spelling::is_refused(key) {
        write!(
            out,
            "the API server refuses {key}, a key with two slashes, and nobody acts on it; write {ours}"
        )
    } else {
        write!(out, "nobody acts on {key}; write {ours}")
    }
}

/// Writes the advice about a Rollout's `progressDeadlineAbort`: it ends an update although a dependency may become ready a moment later.
fn progress_abort(out: &mut fmt::Formatter<'_>, seconds: i64) -> fmt::Result {
    write!(
        out,
        "the wait counts against its progressDeadlineSeconds ({seconds}), and progressDeadlineAbort then ends an update until \
         somebody retries it; raise the deadline, or take progressDeadlineAbort away"
    )
}

fn windows(out: &mut fmt::Formatter<'_>, windows: Windows) -> fmt::Result {
    write!(out, "it runs on Windows, for which sluice has no gate: ")?;
    out.write_str(match windows {
        Windows::Skipped => "it starts without waiting",
        Windows::Refused => "its pods are refused; take its list away, or have windows.mode of sluice's chart let them start",
        Windows::Unknown => {
            "its pods are refused, or start without waiting, as windows.mode of sluice's chart has it; take its list away"
        }
    })
}
