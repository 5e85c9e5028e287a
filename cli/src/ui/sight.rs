//! Reads the subject of a page again and again. Only the objects that have changed are requested from the API server anew.

use super::subject::PageSubject;
use crate::graph::{self, GateFacts, NamespaceGraph};
use crate::installation::Basis;
use crate::reader::Reader;
use crate::watches::Watches;
use anyhow::Result;
use kube::Client;
use std::time::Duration;
use tokio::time::Instant;

/// The least time between two reads of the objects and settings that no watch tells of, while other objects change.
const UNWATCHED: Duration = Duration::from_secs(10);

/// The least time between two reads of the objects and settings that no watch tells of, while no object changes.
const SELDOM: Duration = Duration::from_secs(120);

/// The objects of a subject that are known, and the watches that tell when they are no more.
pub(super) struct Sight {
    client: Client,
    subject: PageSubject,
    reader: Reader,
    watches: Watches,
    /// The settings, rights and rules of the installed sluice, and the time of their read.
    basis: Option<(Basis, Instant)>,
    /// The last lines of gates, until something has changed; the stranded pods for as long as the settings.
    facts: GateFacts,
}

impl Sight {
    pub(super) fn new(client: Client, subject: PageSubject) -> Self {
        Self {
            reader: Reader::new(client.clone()),
            watches: Watches::new(client.clone()),
            client,
            subject,
            basis: None,
            facts: GateFacts::default(),
        }
    }

    /// Makes the graph of the subject as it is now, and watches the objects that it rests on. Objects and settings that are known are not
    /// requested again.
    pub(super) async fn look(&mut self) -> Result<NamespaceGraph> {
        let PageSubject { namespace, release } = &self.subject;
        let (basis, _) = if let Some(known) = self.basis.take() {
            self.basis.insert(known)
        } else {
            let read = graph::basis(&self.client, &mut self.reader, namespace).await?;
            self.basis.insert((read, Instant::now()))
        };
        let shown = (namespace.as_str(), release.as_deref());
        let told = graph::look(&mut self.reader, basis, &mut self.facts, shown).await?;
        self.watches.cover(&self.reader);
        Ok(told)
    }

    /// Waits for `pause`, and if no object has changed by then, up to `time` more for a change. Then forgets, so that they are read again: the gates'
    /// words after a change; the settings, the stranded pods and all objects without a watch once they are old.
    pub(super) async fn change(&mut self, pause: Duration, time: Duration) {
        let Self {
            watches, reader, ..
        } = self;
        let changed = watches.all_within(pause, reader).await || watches.within(time, reader).await;
        self.facts.words = self.facts.words.take().filter(|_| !changed);
        let age = if changed { UNWATCHED } else { SELDOM };
        if self.basis.as_ref().is_some_and(|it| it.1.elapsed() >= age) {
            (self.basis, self.facts) = (None, GateFacts::default());
            self.watches.forget_unwatched(&mut self.reader);
        }
    }
}
