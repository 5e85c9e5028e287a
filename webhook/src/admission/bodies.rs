//! Reads the bodies of admission requests, as many at a time as there is memory for.

use super::limits::AdmissionLimits;
use super::refusal::Refusal;
use super::room::{NoRoom, Part, Room, Sender};
use super::weight::{Weight, weigh};
use crate::memory_alarm::MemoryAlarm;
use axum::body::{BodyDataStream, Bytes};
use futures::StreamExt;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

/// The memory that the bodies of all admission requests share, the limits of each body, and the turn of the large ones.
#[derive(Debug)]
pub(super) struct Bodies {
    pub(super) limits: AdmissionLimits,
    room: Room,
    /// Admits one large body at a time: large by its bytes, or by the tree that they decode to.
    large: Semaphore,
    alarm: MemoryAlarm,
}

/// The memory that a body holds while it is read and answered, and its turn if it is large. Dropping this frees both.
#[derive(Debug)]
pub(super) struct BodyPermit<'a> {
    part: Part,
    alone: Option<SemaphorePermit<'a>>,
}

impl Bodies {
    pub(super) fn new(limits: AdmissionLimits, alarm: MemoryAlarm) -> Self {
        Self {
            limits,
            room: Room::new(limits.in_flight),
            large: Semaphore::new(1),
            alarm,
        }
    }

    /// Reads a whole body, and returns its bytes with the memory and the turn that it holds. Only arrived bytes are charged, so a sender that
    /// announces much and sends little holds up no other body. Refuses a body that is or announces too many bytes, is too heavy once decoded, finds
    /// no room, or is cut for another.
    pub(super) async fn read(
        &self,
        announced: u64,
        sender: Sender,
        chunks: &mut BodyDataStream,
        until: Instant,
    ) -> Result<(Vec<u8>, BodyPermit<'_>), Refusal> {
        let limits = self.limits;
        if announced > limits.body as u64 {
            return Err(Refusal::TooLarge(limits.body));
        }
        let mut held = BodyPermit {
            part: self.room.enter(sender, Instant::now()),
            alone: None,
        };
        let cut = held.part.cut();
        let bytes = tokio::select! {
            biased;
            // A body that was cut is read no further.
            () = cut.notified() => return Err(Refusal::Outpaced),
            bytes = self.gather(&mut held, chunks, until) => bytes?,
        };
        if !held.part.whole() {
            return Err(Refusal::Outpaced);
        }
        Ok((bytes, held))
    }

    /// Reads a whole body, and estimates its decoded size. A body beyond a limit is refused. A body that is large by its bytes or its decoded size
    /// waits here for its turn, until `until` at most; without a turn by then, it is refused.
    async fn gather<'a>(
        &'a self,
        held: &mut BodyPermit<'a>,
        chunks: &mut BodyDataStream,
        until: Instant,
    ) -> Result<Vec<u8>, Refusal> {
        let limits = self.limits;
        let mut bytes = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk: Bytes = chunk.map_err(|_| Refusal::Broken)?;
            bytes.extend_from_slice(&chunk);
            match bytes.len() {
                length if length > limits.body => return Err(Refusal::TooLarge(limits.body)),
                length if length > limits.long => {
                    self.alone(held, until, limits.body - length).await?;
                }
                length => {
                    let charged = length.saturating_sub(limits.uncharged);
                    let grown = held.part.grow(chunk.len(), charged, Instant::now());
                    grown.map_err(|NoRoom| Refusal::Busy)?;
                }
            }
        }
        let most = Weight::at_most(bytes.len());
        if most.values <= limits.values && most.bytes <= limits.heavy.min(limits.decoded) {
            return Ok(bytes);
        }
        let weight = weigh(&bytes);
        if weight.values > limits.values {
            return Err(Refusal::TooManyValues(limits.values));
        }
        if weight.bytes > limits.decoded {
            return Err(Refusal::TooHeavy(limits.decoded));
        }
        if weight.bytes > limits.heavy {
            self.alone(held, until, weight.bytes).await?;
        }
        Ok(bytes)
    }

    /// Waits, until `until` at most, for the turn of large bodies, of which one is held at a time; a body that has it keeps it. A large body is
    /// charged to its turn, and no longer to the shared room. `more` is the memory that it may take beside the bytes that have arrived; without so
    /// much memory left it is refused.
    async fn alone<'a>(
        &'a self,
        held: &mut BodyPermit<'a>,
        until: Instant,
        more: usize,
    ) -> Result<(), Refusal> {
        if held.alone.is_none() {
            let turn = timeout_at(until, self.large.acquire()).await;
            held.alone = Some(turn.ok().and_then(Result::ok).ok_or(Refusal::Busy)?);
            held.part.give_back();
        }
        // Not before the turn has come: the body before may have left its memory.
        if !self.alarm.has_room(more) {
            return Err(Refusal::Scarce);
        }
        Ok(())
    }
}
