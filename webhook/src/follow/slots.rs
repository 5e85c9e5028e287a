//! The effect: follows the ConfigMaps, looks at holders in the API server, and gives slots away.

mod claims;
mod gone;
mod restored;

use super::served::resource;
use super::sheets::{Losses, Sheets};
use super::single::Notice;
use crate::clock::Clock;
use crate::known::slots::{Loss, Written, key, value};
use crate::known::{Known, View};
use claims::claims;
use futures::{Stream, StreamExt};
use gone::has_no_pods;
use jiff::Timestamp;
use kube::api::{Api, DynamicObject};
use kube::{Client, Error};
use rules::holder::{Holder, Trouble, Wave};
use rules::kinds::Kind;
use rules::lookup::Lookup;
use rules::sheets;
use rules::slots::{allot, fit, is_done};
use rules::world::Objects;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::{debug, info, warn};

/// Changes of this long are looked at together.
const GATHER: Duration = Duration::from_millis(20);
/// What has failed is tried again after this long.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// Slots are looked through this often although nothing is known to have changed: a holder may be gone with its pods.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// As long as this one wave may hold up the others.
const LONGEST: Duration = Duration::from_secs(15);
/// For so long after a loss nobody is given a slot: by then no replica believes any more what was written before (30 s), and a
/// gate that was told to open has been seen to have (a few seconds).
const QUIET: Duration = Duration::from_secs(35);

/// Gives slots away for as long as the process runs.
pub(crate) async fn keep(
    client: Client,
    sheets: Sheets,
    known: Arc<Known>,
    clock: Clock,
    losses: Losses,
) {
    let mut keeper = Keeper {
        client,
        sheets,
        known,
        clock,
        losses,
        failed: BTreeMap::new(),
    };
    let follow = follow(keeper.sheets.follow(), Arc::clone(&keeper.known));
    tokio::join!(follow, keeper.run());
}

/// Takes over what the API server says; that waits for no write, or who runs would soon not be believed.
async fn follow(mut changes: impl Stream<Item = (usize, Notice)> + Unpin, known: Arc<Known>) {
    let slots = known.slots();
    while let Some((sheet, news)) = changes.next().await {
        match news {
            Notice::Read(stored) => slots.begin(sheet, &stored),
            Notice::Written(stored) => slots.learn(sheet, &stored),
            Notice::Sign => slots.heard(sheet),
            Notice::Absent => slots.lose(sheet),
            Notice::Refused => {}
        }
    }
}

struct Keeper {
    client: Client,
    sheets: Sheets,
    known: Arc<Known>,
    clock: Clock,
    losses: Losses,
    /// What has failed, and when: an error of one is no affair of the others.
    failed: BTreeMap<Work, Instant>,
}

/// What may fail on its own.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    /// The slots of a wave.
    Wave(Wave),
    /// A sheet that was lost.
    Sheet(usize),
}

impl Keeper {
    async fn run(&mut self) {
        loop {
            let view = self.known.view();
            for (sheet, loss) in self.known.slots().losses() {
                self.mend(sheet, loss, &view).await;
            }
            for wave in self.known.slots().waves() {
                self.settle(wave, &view).await;
            }
            tokio::select! {
                biased;
                // Each arm is cancel-safe: what is not taken here comes again.
                () = view.changed() => {}
                () = self.known.slots().wanted.notified() => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
            tokio::time::sleep(GATHER).await;
        }
    }

    /// Whether it may be tried, unless it has just failed.
    fn may_try(&mut self, work: &Work) -> bool {
        self.failed.retain(|_, when| when.elapsed() < TRY_AGAIN);
        !self.failed.contains_key(work)
    }

    /// Makes a sheet that is gone, and writes onto one that says nothing what runs.
    async fn mend(&mut self, sheet: usize, loss: Loss, view: &View) {
        let work = Work::Sheet(sheet);
        if !self.may_try(&work) {
            return;
        }
        let name = self.sheets.name(sheet);
        let mended = match loss {
            Loss::Absent => self.sheets.create(sheet).await,
            Loss::Broken { since, .. } if since.elapsed() < QUIET => return,
            Loss::Broken {
                version,
                keys,
                since,
            } => {
                let now = self.clock.now();
                let settings = self.known.settings();
                let Some(data) = restored::content(sheet, &keys, since, settings, view, now) else {
                    return;
                };
                info!(name, "Wrote down who runs: it was not to be seen there");
                self.sheets.patch(sheet, Some(&version), &data).await
            }
        };
        match mended {
            Ok(stored) => self.known.slots().learn(sheet, &stored),
            Err(error) => {
                warn!(%error, name, "Cannot make anew what says who may run");
                self.losses.count("slots", "refused", 1);
                self.failed.insert(work, Instant::now());
            }
        }
    }

    /// Writes what changes in a wave.
    async fn settle(&mut self, wave: Wave, view: &View) {
        let work = Work::Wave(wave.clone());
        if !self.may_try(&work) {
            return;
        }
        let slots = self.known.slots();
        let namespace = &wave.scope.namespace;
        match tokio::time::timeout(LONGEST, self.write(&wave, view)).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => {
                warn!(%error, namespace, weight = wave.weight, "Cannot read or write who may run");
                if matches!(error, Error::Api(_)) {
                    slots.note(&wave, Some(Trouble::Refused));
                }
            }
            Err(_) => warn!(
                namespace,
                weight = wave.weight,
                "Cannot write in time who may run"
            ),
        }
        self.losses.count("slots", "refused", 1);
        self.failed.insert(work, Instant::now());
    }

    /// On a conflict looks again at what the other replica has written.
    async fn write(&self, wave: &Wave, view: &View) -> Result<(), Error> {
        let (slots, sheet) = (self.known.slots(), sheets::of(&wave.scope.namespace));
        loop {
            let Some(written) = slots.written(wave) else {
                return Ok(());
            };
            let Some(changed) = self.changed(wave, &written, view).await? else {
                return Ok(());
            };
            let value = value(wave, &changed).map_err(Error::SerdeError)?;
            let data = BTreeMap::from([(key(wave), value)]);
            match self
                .sheets
                .patch(sheet, Some(&written.version), &data)
                .await
            {
                Ok(stored) => {
                    slots.learn(sheet, &stored);
                    return Ok(());
                }
                Err(Error::Api(status)) if status.code == 409 => {
                    debug!("Another replica has written who may run");
                    slots.learn(sheet, &self.sheets.get(sheet).await?);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The holders of a wave, if they change.
    async fn changed(
        &self,
        wave: &Wave,
        Written { holders, room, .. }: &Written,
        view: &View,
    ) -> Result<Option<Vec<Holder>>, Error> {
        let now = self.clock.now();
        let mut finished = Vec::new();
        for holder in holders {
            if looks_finished(wave, holder, view, now)
                && self.is_finished(wave, holder, view).await?
            {
                finished.push(holder.clone());
            }
        }
        let claims = claims(wave, holders, self.known.settings(), view, now);
        let mut running = Vec::new();
        for holder in claims.running {
            if !self.is_finished(wave, &holder, view).await? {
                running.push(holder);
            }
        }
        let is_finished = |holder: &Holder| holder.is_among(&finished);
        let allotted = allot(
            holders.clone(),
            running,
            is_finished,
            claims.ready,
            claims.most,
        );
        let wanted = allotted.len();
        let changed = fit(
            wave,
            holders,
            allotted,
            room.saturating_sub(key(wave).len()),
        );
        self.note(wave, wanted - changed.len());
        if changed == *holders {
            return Ok(None);
        }
        for holder in changed.iter().filter(|it| !it.is_among(holders)) {
            info!(namespace = wave.scope.namespace, %holder, weight = wave.weight, "Slot given");
        }
        Ok(Some(changed))
    }

    /// For so many more there is no room.
    fn note(&self, wave: &Wave, left_out: usize) {
        let trouble = (left_out > 0).then_some(Trouble::Full);
        if self.known.slots().note(wave, trouble) && trouble.is_some() {
            let namespace = &wave.scope.namespace;
            warn!(
                namespace,
                weight = wave.weight,
                "No room to write down who may run"
            );
            self.losses.count("slots", "full", left_out);
        }
    }

    /// What the API server itself says: done, or gone with all of its pods.
    async fn is_finished(&self, wave: &Wave, holder: &Holder, view: &View) -> Result<bool, Error> {
        let namespace = &wave.scope.namespace;
        let object = match self.object(namespace, holder, view).await? {
            Lookup::Found(object) => Some(object),
            Lookup::NotFound => None,
            Lookup::Unavailable(_) => return Ok(false),
        };
        let same = object.filter(|object| object["metadata"]["uid"] == holder.uid.as_str());
        match same {
            Some(object) => Ok(is_done(holder, &object, view, self.clock.now())),
            None => has_no_pods(&self.client, view, namespace, holder).await,
        }
    }

    /// The object as it is now. Where a custom kind is served, only its watch knows.
    async fn object(
        &self,
        namespace: &str,
        holder: &Holder,
        view: &View,
    ) -> Result<Lookup<Value>, Error> {
        let Kind::Builtin(builtin) = holder.object_kind() else {
            return Ok(view.object(&holder.object_kind(), Some(namespace), &holder.name));
        };
        let resource = resource(builtin);
        let api = Api::<DynamicObject>::namespaced_with(self.client.clone(), namespace, &resource);
        let found = api.get_opt(&holder.name).await?;
        let found = found.and_then(|object| serde_json::to_value(object).ok());
        Ok(found.map_or(Lookup::NotFound, Lookup::Found))
    }
}

/// Whether it is worth asking the API server: what is known may lag behind.
fn looks_finished(wave: &Wave, holder: &Holder, view: &View, now: Timestamp) -> bool {
    let kind = holder.object_kind();
    match view.object(&kind, Some(&wave.scope.namespace), &holder.name) {
        Lookup::Found(object) => {
            object["metadata"]["uid"] != holder.uid.as_str() || is_done(holder, &object, view, now)
        }
        Lookup::NotFound => true,
        Lookup::Unavailable(_) => false,
    }
}

#[cfg(test)]
mod tests;
