//! Looks after the slots of one namespace for as long as somebody waits for one there.
//!
//! A look reads the pods of the namespace once, and then goes through its waves in steps, by turns: a step strikes out some of the
//! holders that are finished, gives free slots away, and writes that down before the next. So however many have finished, and
//! however slowly the API server answers, what a step has found out is not lost, and the next in turn starts after the first step.
//!
//! That more steps than one make a look breaks nothing that `rules::slots` rests on: a step asks about a holder only after it has
//! read the version that the holder stands in, and its write is refused where anybody has written since, whereupon nothing of what
//! was asked counts any more. Whom a step has not asked about keeps his slot, and so do those of whom the API server does not say.

use super::claims::Pods;
use super::finished::{Asked, looks_finished};
use super::{LOOK_AGAIN, Shared, TRY_AGAIN};
use crate::known::View;
use crate::known::slots::{Written, key, value};
use kube::Error;
use rules::holder::{Holder, Trouble, Wave};
use rules::sheets;
use rules::slots::{allot, fit};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::{debug, info, warn};

/// So many holders are asked about, and struck out, in one step.
const STEP: usize = 20;
/// Changes of this long are looked at together.
const GATHER: Duration = Duration::from_millis(20);
/// So many times as long as a look has kept a processor busy the namespace waits for the next one: a namespace of many pods takes a
/// tenth of a core, however much happens there.
const PAUSE: u32 = 9;

/// A namespace in which somebody waits for a slot.
pub(super) struct Namespace {
    shared: Arc<Shared>,
    name: String,
    /// Somebody asks, or a sheet has changed.
    asked: Arc<Notify>,
    /// The waves of which something has failed, and when: an error of one is no affair of the others.
    failed: HashMap<Wave, Instant>,
    /// How long the look has kept a processor busy.
    busy: Duration,
}

/// A wave that is being gone through.
struct Open {
    wave: Wave,
    /// Those that have been asked about and keep their slots until the next look.
    kept: Vec<Holder>,
    /// What has failed; the rest goes on.
    error: Option<Error>,
}

/// What is left of a wave after a step.
enum Left {
    Nothing,
    Some,
}

impl Namespace {
    pub(super) fn new(shared: Arc<Shared>, name: String, asked: Arc<Notify>) -> Self {
        Self {
            shared,
            name,
            asked,
            failed: HashMap::new(),
            busy: Duration::ZERO,
        }
    }

    /// Returns when nobody waits for a slot any more.
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
                // Each arm is cancel-safe: what is not taken here comes again.
                () = view.changed() => {}
                () = self.asked.notified() => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
            tokio::time::sleep(GATHER.max(self.busy * PAUSE)).await;
        }
    }

    /// Goes through these waves, a step of each after the other.
    async fn look(&mut self, waves: BTreeSet<Wave>, view: &View) {
        self.busy = Duration::ZERO;
        self.failed.retain(|_, when| when.elapsed() < TRY_AGAIN);
        let (known, clock) = (&self.shared.known, &self.shared.clock);
        let began = Instant::now();
        let pods = Pods::read(&self.name, &waves, known.settings(), view, clock.now());
        self.busy += began.elapsed();
        let waves = waves.into_iter();
        let open = waves.filter(|wave| !self.failed.contains_key(wave));
        let mut open: VecDeque<Open> = open.map(Open::new).collect();
        while let Some(mut wave) = open.pop_front() {
            match self.step(&mut wave, &pods, view).await {
                Ok(Left::Some) => open.push_back(wave),
                Ok(Left::Nothing) => self.end(&wave.wave, wave.error),
                Err(error) => self.end(&wave.wave, Some(error)),
            }
        }
    }

    /// Tells what has failed in a wave, if something has.
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

    /// Strikes out some that are finished, and gives free slots away.
    async fn step(&mut self, open: &mut Open, pods: &Pods, view: &View) -> Result<Left, Error> {
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
        let asked = shared.asking.about(some, &self.name, view, now).await;
        let finished = open.take(asked);
        let Some(changed) = self.changed(open, &written, &finished, pods, view).await else {
            return Ok(left);
        };
        let wave = &open.wave;
        let value = value(wave, &changed).map_err(Error::SerdeError)?;
        let data = BTreeMap::from([(key(wave), value)]);
        let sheet = sheets::of(&self.name);
        let version = Some(written.version.as_str());
        match shared.sheets.patch(sheet, version, &data).await {
            Ok(stored) => {
                slots.learn(sheet, &stored);
                Ok(left)
            }
            Err(Error::Api(status)) if status.code == 409 => {
                debug!("Another replica has written who may run");
                slots.learn(sheet, &shared.sheets.get(sheet).await?);
                Ok(Left::Some)
            }
            Err(error) => Err(error),
        }
    }

    /// The holders of a wave without those that are `finished` and with those that a slot is given to, if they change.
    async fn changed(
        &mut self,
        open: &mut Open,
        Written { holders, room, .. }: &Written,
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
            .asking
            .about(claims.running, &self.name, view, now)
            .await;
        open.error = asked.error.take().or(open.error.take());
        // Of whom the API server does not say it may be that he runs.
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

    /// For so many more there is no room.
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

impl Open {
    fn new(wave: Wave) -> Self {
        Self {
            wave,
            kept: Vec::new(),
            error: None,
        }
    }

    /// Notes who keeps his slot; those that are finished are handed back.
    fn take(&mut self, asked: Asked) -> Vec<Holder> {
        self.kept.extend(asked.at_work);
        self.kept.extend(asked.unknown);
        self.error = asked.error.or(self.error.take());
        asked.finished
    }
}
