//! The lines of a watch, one event each. An event that is longer than an object may be is cut down to its metadata.

use super::sieve::Sieve;
use axum::body::{Bytes, HttpBody};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use http_body_util::BodyExt;
use rules::kept::LONGEST;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::BoxError;

/// The longest text, in bytes, that is held without a permit. Longer texts share a few permits.
pub(super) const FREE: usize = 256 << 10;
/// The most bytes of a watch event beside its object.
const AROUND: usize = 1 << 10;

/// Splits the body of a watch into lines, and cuts the line of an object that is too long down to its metadata.
pub(super) struct WatchLines {
    parts: BoxStream<'static, Result<Bytes, BoxError>>,
    /// The part of the line that has arrived, unless the line is too long.
    line: Vec<u8>,
    sieve: Option<Sieve>,
    room: Arc<Semaphore>,
    /// The permit of a long line, held until the line has been read.
    held: Option<OwnedSemaphorePermit>,
}

impl WatchLines {
    pub(super) fn of<B>(body: B, room: Arc<Semaphore>) -> Self
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let parts = body.into_data_stream();
        Self {
            parts: parts.map_err(Into::into).boxed(),
            line: Vec::new(),
            sieve: None,
            room,
            held: None,
        }
    }

    /// Returns the text of the watch in pieces of one or more whole lines, each piece as soon as its last line is complete.
    pub(super) fn stream(self) -> impl Stream<Item = Result<Bytes, BoxError>> {
        stream::try_unfold(self, async |mut lines| {
            let next = lines.next().await?;
            Ok::<_, BoxError>(next.map(|text| (text, lines)))
        })
    }

    async fn next(&mut self) -> Result<Option<Bytes>, BoxError> {
        // A reader that asks for more has read the lines before.
        if self.line.is_empty() && self.sieve.is_none() {
            self.held = None;
        }
        let mut out = Vec::new();
        while out.is_empty() {
            let Some(part) = self.parts.try_next().await? else {
                // The last line may lack its line break.
                let last = std::mem::take(&mut self.line);
                return Ok((!last.is_empty()).then(|| last.into()));
            };
            for piece in part.split_inclusive(|byte| *byte == b'\n') {
                self.take(piece, &mut out).await?;
            }
        }
        Ok(Some(out.into()))
    }

    /// Takes a piece of one line. Where the piece ends the line, the line is added to `out`, cut down to the metadata where it is too long. A line
    /// longer than [`FREE`] waits for a permit.
    async fn take(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), BoxError> {
        let long = self.line.len() + piece.len();
        if let Some(sieve) = &mut self.sieve {
            sieve.feed(piece);
        } else if long > LONGEST + AROUND {
            let mut sieve = Sieve::default();
            sieve.feed(&std::mem::take(&mut self.line));
            sieve.feed(piece);
            self.sieve = Some(sieve);
        } else {
            if long > FREE && self.held.is_none() {
                self.held = Some(Arc::clone(&self.room).acquire_owned().await?);
            }
            self.line.extend_from_slice(piece);
        }
        if piece.ends_with(b"\n") {
            let line = std::mem::take(&mut self.line);
            match self.sieve.take() {
                Some(sieve) => {
                    out.extend(sieve.finish());
                    out.push(b'\n');
                }
                None if out.is_empty() => *out = line,
                None => out.extend(line),
            }
        }
        Ok(())
    }
}
