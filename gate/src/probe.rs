//! Tries addresses outside of the cluster while the service holds the gate's question: decides when to try each address, and keeps the
//! outcomes.
//!
//! Time, chance and the try itself are arguments, so tests need neither sockets nor sleep.

mod dial;
mod url;

pub(crate) use dial::Dialer;
pub(crate) use url::Target;

use std::thread;
use std::time::Duration;
use wire::probe::{self, Outcome, Probe};

/// The pause after a try: it doubles from the shortest to the longest. Ten thousand gates that wait for one address then try it a
/// thousand times a second.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(10);
/// The most by which chance lengthens a pause, as a part of the pause, so that gates that began together do not go on trying together.
const SPREAD: f64 = 0.25;
/// The most addresses that are tried at a time.
const AT_ONCE: usize = 8;
/// The stack of a thread that tries an address, in bytes: a TLS handshake fits.
const STACK: usize = 256 * 1024;

/// A way to try one address and to return the outcome; tests have one of their own.
pub(crate) trait Try: Sync {
    fn outcome(&self, probe: &Probe) -> Outcome;
}

/// The addresses that the last answer of the status service names, each with its last outcome and the time of its next try.
pub(crate) struct Prober<T> {
    by: T,
    all: Vec<Wanted>,
}

/// One address to try.
struct Wanted {
    probe: Probe,
    /// The time of the next try, since the gate started.
    due: Duration,
    /// The pause after the next try.
    pause: Duration,
    outcome: Option<Outcome>,
}

impl<T: Try> Prober<T> {
    pub(crate) fn new(by: T) -> Self {
        let all = Vec::new();
        Self { by, all }
    }

    /// Sets the addresses to try from now on, and forgets all others. A new address is due at once; a known one keeps its outcome, its next time and
    /// its pause.
    pub(crate) fn wants(&mut self, probes: Vec<Probe>, now: Duration) {
        let mut before = std::mem::take(&mut self.all);
        let wanted = probes.into_iter().map(|probe| {
            let known = before.iter().position(|it| it.probe == probe);
            known.map_or_else(
                || Wanted {
                    probe,
                    due: now,
                    pause: SHORTEST,
                    outcome: None,
                },
                |at| before.swap_remove(at),
            )
        });
        self.all = wanted.collect();
    }

    /// The time of the next try, since the gate started; `None` without addresses.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.all.iter().map(|it| it.due).min()
    }

    /// Tries the addresses that are due, up to [`AT_ONCE`] at a time, and sets the time of the next try of each. `now` returns the time since the
    /// gate started, `chance` a number in 0..1. Returns whether an outcome changed.
    pub(crate) fn run(
        &mut self,
        now: impl Fn() -> Duration,
        chance: &mut impl FnMut() -> f64,
    ) -> bool {
        let began = now();
        let mut due: Vec<&mut Wanted> = self.all.iter_mut().filter(|it| it.due <= began).collect();
        let mut changed = false;
        for some in due.chunks_mut(AT_ONCE) {
            let outcomes = outcomes(&self.by, some);
            let ended = now();
            for (wanted, outcome) in some.iter_mut().zip(outcomes) {
                changed |= wanted.outcome != Some(outcome);
                wanted.outcome = Some(outcome);
                wanted.due = ended + wanted.pause.mul_f64(1.0 + SPREAD * chance());
                wanted.pause = (wanted.pause * 2).min(LONGEST);
            }
        }
        changed
    }

    /// Returns the last outcomes of all addresses that were tried, as the value of the header [`probe::HEADER`].
    pub(crate) fn told(&self) -> String {
        let told = self.all.iter();
        probe::told(told.filter_map(|it| Some((it.probe.id.as_str(), it.outcome?))))
    }
}

/// Tries addresses, and returns their outcomes in order. A single address is tried on this thread; several are tried at the same time, each
/// on a thread of its own, since each may take seconds.
fn outcomes(by: &impl Try, some: &[&mut Wanted]) -> Vec<Outcome> {
    if let [one] = some {
        return vec![by.outcome(&one.probe)];
    }
    thread::scope(|scope| {
        let begun: Vec<_> = some
            .iter()
            .map(|wanted| {
                let thread = thread::Builder::new().stack_size(STACK);
                let probe = &wanted.probe;
                // A pod may have no more threads. Then the addresses are tried one after the other.
                thread
                    .spawn_scoped(scope, move || by.outcome(probe))
                    .map_err(|_| probe)
            })
            .collect();
        let ended = begun.into_iter().map(|begun| match begun {
            Ok(begun) => begun.join().unwrap_or(Outcome::Failed),
            Err(probe) => by.outcome(probe),
        });
        ended.collect()
    })
}

/// Tries addresses in the pod's own network, with the variables of the gate's environment.
impl Try for Dialer {
    fn outcome(&self, probe: &Probe) -> Outcome {
        let variable = |name: &str| std::env::var(name).ok();
        match Target::of(probe, variable) {
            Ok(target) => self.dial(&target),
            Err(outcome) => outcome,
        }
    }
}

#[cfg(test)]
mod tests;
