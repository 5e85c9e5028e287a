//! Reads bodies, and no more of them at a time than there is memory for.

use super::limits::AdmissionLimits;
use super::refusal::Refusal;
use super::weight::{Weight, weigh};
use axum::body::{BodyDataStream, Bytes};
use futures::StreamExt;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

/// What all bodies share.
#[derive(Debug)]
pub(super) struct Bodies {
    pub(super) limits: AdmissionLimits,
    budget: Semaphore,
    /// One body at a time that is long, or becomes a large tree.
    large: Semaphore,
}

/// What a body holds while it is read and answered.
#[derive(Debug, Default)]
pub(super) struct Held<'a> {
    charged: Option<SemaphorePermit<'a>>,
    alone: Option<SemaphorePermit<'a>>,
}

impl Bodies {
    pub(super) fn new(limits: AdmissionLimits) -> Self {
        Self {
            limits,
            budget: Semaphore::new(limits.in_flight),
            large: Semaphore::new(1),
        }
    }

    /// Reads a body, charging it by what has arrived: a sender that announces much and sends little holds nobody up.
    pub(super) async fn read(
        &self,
        announced: u64,
        chunks: &mut BodyDataStream,
        until: Instant,
    ) -> Result<(Vec<u8>, Held<'_>), Refusal> {
        let limits = self.limits;
        if announced > limits.body as u64 {
            return Err(Refusal::TooLarge(limits.body));
        }
        let (mut bytes, mut held) = (Vec::new(), Held::default());
        while let Some(chunk) = chunks.next().await {
            let chunk: Bytes = chunk.map_err(|_| Refusal::Broken)?;
            bytes.extend_from_slice(&chunk);
            match bytes.len() {
                length if length > limits.body => return Err(Refusal::TooLarge(limits.body)),
                length if length > limits.long => self.alone(&mut held, until).await?,
                length => self.charge(&mut held, length.saturating_sub(limits.uncharged))?,
            }
        }
        let most = Weight::at_most(bytes.len());
        if most.values <= limits.values && most.bytes <= limits.heavy.min(limits.decoded) {
            return Ok((bytes, held));
        }
        let weight = weigh(&bytes);
        if weight.values > limits.values {
            return Err(Refusal::TooManyValues(limits.values));
        }
        if weight.bytes > limits.decoded {
            return Err(Refusal::TooHeavy(limits.decoded));
        }
        if weight.bytes > limits.heavy {
            self.alone(&mut held, until).await?;
        }
        Ok((bytes, held))
    }

    /// Waits until no other large body is held; it is not charged beside that.
    async fn alone<'a>(&'a self, held: &mut Held<'a>, until: Instant) -> Result<(), Refusal> {
        if held.alone.is_none() {
            let turn = timeout_at(until, self.large.acquire()).await;
            held.alone = Some(turn.ok().and_then(Result::ok).ok_or(Refusal::Busy)?);
            held.charged = None;
        }
        Ok(())
    }

    fn charge<'a>(&'a self, held: &mut Held<'a>, length: usize) -> Result<(), Refusal> {
        let charged = held
            .charged
            .as_ref()
            .map_or(0, SemaphorePermit::num_permits);
        let more = u32::try_from(length.saturating_sub(charged)).map_err(|_| Refusal::Busy)?;
        if more > 0 {
            let permit = self.budget.try_acquire_many(more);
            let permit = permit.map_err(|_| Refusal::Busy)?;
            match &mut held.charged {
                Some(charged) => charged.merge(permit),
                None => held.charged = Some(permit),
            }
        }
        Ok(())
    }
}
