//! A deadline for request heads that leaves idle connections alone.
//!
//! Hyper's own header timeout starts when it begins to wait, so on a kept-alive connection it is an idle timeout too.
//! Five seconds are right for a head that has begun and wrong for a pause between two requests: the API server would
//! find its pooled connections closed, now and then in the very moment of use. So the clock starts at a head's first
//! byte.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// Where a connection is: even between two requests, odd while one is answered. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Phase(Arc<AtomicUsize>);

/// A request is being answered until this is dropped, however its future ends.
pub(super) struct Answering(Phase);

impl Phase {
    pub(super) fn answering(&self) -> Answering {
        self.0.fetch_add(1, Ordering::AcqRel);
        Answering(self.clone())
    }

    /// The number of the current pause, while there is one.
    fn pause(&self) -> Option<usize> {
        let phase = self.0.load(Ordering::Acquire);
        phase.is_multiple_of(2).then_some(phase)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// A stream whose reads fail with `TimedOut` when a request head takes longer than `limit` from its first byte.
pub(super) struct HeadDeadline<S> {
    stream: S,
    limit: Duration,
    phase: Phase,
    /// In which pause the first byte came, and when the head must be complete.
    begun: Option<(usize, Pin<Box<Sleep>>)>,
}

impl<S> HeadDeadline<S> {
    pub(super) fn new(stream: S, limit: Duration, phase: Phase) -> Self {
        Self {
            stream,
            limit,
            phase,
            begun: None,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeadDeadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        let Some(pause) = self.phase.pause() else {
            return read;
        };
        let began_earlier = self.begun.as_ref().is_some_and(|(when, _)| *when == pause);
        if !began_earlier {
            let begins = buf.filled().len() > before;
            self.begun = begins.then(|| (pause, Box::pin(sleep(self.limit))));
        }
        let late = match &mut self.begun {
            Some((_, deadline)) => deadline.as_mut().poll(cx).is_ready(),
            None => false,
        };
        if late {
            Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
        } else {
            read
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeadDeadline<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
