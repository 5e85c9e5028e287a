//! Looks after the slots of one namespace for as long as a gate there waits for a slot.
//!
//! A look reads the pods of the namespace once, and then goes through its waves in steps, by turns. A step strikes out some
//! finished holders, gives free slots away, and writes the entry before the next step. So the result of a step is not lost, however
//! many holders have finished and however slowly the API server answers; and the next dependent starts after the first step.
//!
//! Several steps in one look keep the promises of `rules::slots`. A step asks about a holder only after it has read the version
//! that names the holder, and its write is refused if another replica has written since; then the answers of the step count no
//! more. A holder about which a step has not asked keeps its slot, and so does a holder about which the API server does not answer.

use super::claims::Pods;
use super::context::{LOOK_AGAIN, SlotContext, TRY_AGAIN};
use super::finished_holders::{HolderAnswers, looks_finished};
use crate::known::View;
use crate::known::slots::{WrittenWave, key, value};
use kube::Error;
use rules::holder::{Holder, Trouble, Wave};
use rules::shards;
use rules::slots::{allot, fit};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::{debug, info, warn};

/// The most holders that one step asks about and strikes out.
const STEP: usize = 20;
/// The time over which changes are gathered before a look.
const GATHER: Duration = Duration::from_millis(20);
/// The pause after a look, in multiples of the time for which the look has kept a processor busy. So a namespace of many pods takes a
/// tenth of a core, however much happens there.
const PAUSE: u32 = 9;

/// A namespace in which a gate waits for a slot.
pub(super) struct Namespace {
    shared: Arc<SlotContext>,
    name: String,
    /// Rings when a gate asks for a slot, or when the ConfigMap of the slots has changed.
    asked: Arc<Notify>,
    /// The waves in which a look has failed, and the moment of the failure: an error of one wave does not hold up the others.
    failed: HashMap<Wave, Instant>,
    /// The time for which the present look has kept a processor busy.
    busy: Duration,
}

/// A wave whose slots the present look hands out.
struct OpenWave {
    wave: Wave,
    /// The holders that the look has asked about and that keep their slots until the next look.
    kept: Vec<Holder>,
    /// The last failure in this wave. A failure in one wave does not end the look: the other waves are handed out.
    error: Option<Error>,
}

/// Whether a step of the look has left anything of the wave to do.
enum Left {
    Nothing,
    Some,
}

impl Namespace {
    pub(super) fn new(shared: Arc<SlotContext>, name: String, asked: Arc<Notify>) -> Self {
        Self {
            shared,
            name,
            asked,
            failed: HashMap::new(),
            busy: Duration::ZERO,
        }
    }

    /// Gives slots away in the namespace until no gate there waits for one any more.
    pub(super) async fn look_after(mut self) {
        loop {
            let waves = self.shared.known.slots().waves(&self.name);
            if waves.is_empty() {
                return;
            }
            let view = self.shared.known.view();
            self.look(waves, &view).await;
            tokio::select! {
                biased;
                // Each arm is cancel-safe: a signal that is not taken here comes again.
                () = view.changed() => {}
                () = self.asked.notified() => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
            tokio::time::sleep(GATHER.max(self.busy * PAUSE)).await;
        }
    }

    /// Goes through these waves by turns, one step of a wave at a time, until no wave has anything left to do. A wave that has failed
    /// within [`TRY_AGAIN`] is left out.
    async fn look(&mut self, waves: BTreeSet<Wave>, view: &View) {
        self.busy = Duration::ZERO;
        self.failed.retain(|_, when| when.elapsed() < TRY_AGAIN);
        let (known, clock) = (&self.shared.known, &self.shared.clock);
        let began = Instant::now();
        let pods = Pods::read(&self.name, &waves, known.settings(), view, clock.now());
        self.busy += began.elapsed();
        let waves = waves.into_iter();
        let open = waves.filter(|wave| !self.failed.contains_key(wave));
        let mut open: VecDeque<OpenWave> = open.map(OpenWave::new).collect();
        while let Some(mut wave) = open.pop_front() {
            match self.step(&mut wave, &pods, view).await {
                Ok(Left::Some) => open.push_back(wave),
                Ok(Left::Nothing) => self.end(&wave.wave, wave.error),
                Err(error) => self.end(&wave.wave, Some(error)),
            }
        }
    }

    /// Ends the look at a wave. A failure in it is logged and counted, and the looks within [`TRY_AGAIN`] leave the wave out. If the API server
    /// refused, the views of the wave are told so.
    fn end(&mut self, wave: &Wave, error: Option<Error>) {
        let Some(error) = error else {
            return;
        };
        let namespace = &self.name;
        warn!(%error, namespace, weight = wave.weight, "Cannot read or write who may run");
        if matches!(error, Error::Api(_)) {
            let slots = self.shared.known.slots();
            slots.note(wave, Some(Trouble::Refused));
        }
        self.shared.losses.count("slots", "refused", 1);
        self.failed.insert(wave.clone(), Instant::now());
    }

    /// Takes one step in a wave: strikes out [`STEP`] finished holders at most, gives free slots away, and writes that to the ConfigMap.
    /// Returns whether the wave needs another step.
    async fn step(&mut self, open: &mut OpenWave, pods: &Pods, view: &View) -> Result<Left, Error> {
        let shared = Arc::clone(&self.shared);
        let slots = shared.known.slots();
        let wave = &open.wave;
        let Some(written) = slots.written(wave) else {
            return Ok(Left::Nothing);
        };
        let now = shared.clock.now();
        let began = Instant::now();
        let mut seem = written.holders.iter().filter(|holder| {
            !holder.is_among(&open.kept) && looks_finished(wave, holder, view, now)
        });
        let some: Vec<Holder> = seem.by_ref().take(STEP).cloned().collect();
        let left = seem.next().map_or(Left::Nothing, |_| Left::Some);
        drop(seem);
        self.busy += began.elapsed();
        let asked = shared.holders.about(some, &self.name, view, now).await;
        let finished = open.take(asked);
        let Some(changed) = self.changed(open, &written, &finished, pods, view).await else {
            return Ok(left);
        };
        let wave = &open.wave;
        let value = value(wave, &changed).map_err(Error::SerdeError)?;
        let data = BTreeMap::from([(key(wave), value)]);
        let number = shards::of(&self.name);
        let version = Some(written.version.as_str());
        match shared.shards.patch(number, version, &data).await {
            Ok(stored) => {
                slots.learn(number, &stored);
                Ok(left)
            }
            Err(Error::Api(status)) if status.code == 409 => {
                debug!("Another replica has written who may run");
                slots.learn(number, &shared.shards.get(number).await?);
                Ok(Left::Some)
            }
            Err(error) => Err(error),
        }
    }

    /// The new holders of a wave: without the `finished` ones, and with the Jobs that run without an entry and the claimants that get a slot, as
    /// far as the entry has room. `None` if the holders stay the same.
    async fn changed(
        &mut self,
        open: &mut OpenWave,
        WrittenWave { holders, room, .. }: &WrittenWave,
        finished: &[Holder],
        pods: &Pods,
        view: &View,
    ) -> Option<Vec<Holder>> {
        let shared = Arc::clone(&self.shared);
        let now = shared.clock.now();
        let began = Instant::now();
        let claims = pods.claims(&open.wave, holders, shared.known.settings(), view, now);
        self.busy += began.elapsed();
        let mut asked = shared
            .holders
            .about(claims.running, &self.name, view, now)
            .await;
        open.error = asked.error.take().or(open.error.take());
        // A holder about which the API server does not answer may run.
        let running = asked.at_work.into_iter().chain(asked.unknown);
        let allotted = allot(
            holders.clone(),
            running.collect(),
            |holder| holder.is_among(finished),
            claims.ready,
            claims.most,
        );
        let wave = &open.wave;
        let wanted = allotted.len();
        let changed = fit(
            wave,
            holders,
            allotted,
            room.saturating_sub(key(wave).len()),
        );
        self.note(wave, wanted - changed.len());
        if changed == *holders {
            return None;
        }
        for holder in changed.iter().filter(|it| !it.is_among(holders)) {
            let namespace = &self.name;
            info!(namespace, %holder, weight = wave.weight, "Slot given");
        }
        Some(changed)
    }

    /// Notes that the entry had no room for `left_out` more holders, or that there is room again.
    fn note(&self, wave: &Wave, left_out: usize) {
        let trouble = (left_out > 0).then_some(Trouble::Full);
        if self.shared.known.slots().note(wave, trouble) && trouble.is_some() {
            let namespace = &self.name;
            warn!(
                namespace,
                weight = wave.weight,
                "No room to write down who may run"
            );
            self.shared.losses.count("slots", "full", left_out);
        }
    }
}

impl OpenWave {
    fn new(wave: Wave) -> Self {
        Self {
            wave,
            kept: Vec::new(),
            error: None,
        }
    }

    /// Takes over the answers about holders: those that are at work or unknown are not asked about again in this look. Returns the
    /// finished ones.
    fn take(&mut self, asked: HolderAnswers) -> Vec<Holder> {
        self.kept.extend(asked.at_work);
        self.kept.extend(asked.unknown);
        self.error = asked.error.or(self.error.take());
        asked.finished
    }
}
