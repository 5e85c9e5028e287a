//! Deadlines for the heads of requests and for answers, which do not touch idle connections.
//!
//! Hyper's own timeout for a head starts when hyper begins to wait, so on a kept-alive connection it is an idle
//! timeout too. Five seconds are right for a head that has begun, and wrong for a pause between two requests: the API
//! server would find its pooled connections closed, now and then at the very moment of use. So this clock starts at a
//! head's first byte. For writing, hyper has no limit at all: a client that does not read would hold its answer for
//! ever.

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
    time::{Instant, Sleep, sleep, sleep_until},
};

/// Counts the phases of a connection: even between two requests, odd while a request is answered. Clones share the
/// count.
#[derive(Debug, Clone, Default)]
pub(super) struct Phase(Arc<AtomicUsize>);

/// A guard that marks a request as being answered until it is dropped, however the request's future ends.
pub(super) struct Answering(Phase);

impl Phase {
    pub(super) fn answering(&self) -> Answering {
        self.0.fetch_add(1, Ordering::AcqRel);
        Answering(self.clone())
    }

    /// Returns the number of the current pause, or `None` while a request is answered.
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

/// The deadlines of one connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadlines {
    /// The deadline of the head of the connection's first request.
    pub(super) first: Instant,
    /// The time from the first byte of a head to its last.
    pub(super) head: Duration,
    /// The time from the first write of an answer that has to wait to the answer's end.
    pub(super) answer: Duration,
}

/// A stream whose reads and writes fail after their deadlines. A pause between two requests has no deadline.
pub(super) struct Paced<S> {
    stream: S,
    pace: Deadlines,
    phase: Phase,
    /// The pause in which the first byte of a head came, and the deadline of that head.
    begun: Option<(usize, Instant)>,
    /// Wakes the reader at the deadline. The timer is created only when nothing can be read before a deadline: most
    /// heads arrive at once, and each timer that is due before all others wakes the thread that waits for timers.
    timer: Option<Pin<Box<Sleep>>>,
    /// The deadline of an answer whose write has to wait.
    stuck: Option<Pin<Box<Sleep>>>,
}

/// The error of a write to a client that reads its answer too slowly; hyper has no such error.
#[derive(Debug, thiserror::Error)]
#[error("the client did not read its answer in time")]
pub(super) struct Unread;

impl<S> Paced<S> {
    pub(super) fn new(stream: S, pace: Deadlines, phase: Phase) -> Self {
        Self {
            stream,
            pace,
            phase,
            begun: None,
            timer: None,
            stuck: None,
        }
    }

    /// Returns the deadline of the head that is expected or read in this pause; `None` where no head has begun and the connection has had a request
    /// before. `begins` says that bytes of the head have just arrived.
    fn deadline(&mut self, pause: usize, begins: bool) -> Option<Instant> {
        if self.begun.is_none_or(|(when, _)| when != pause) {
            self.begun = begins.then(|| (pause, Instant::now() + self.pace.head));
        }
        let head = self.begun.map(|(_, deadline)| deadline);
        let first = (pause == 0).then_some(self.pace.first);
        head.into_iter().chain(first).min()
    }

    /// Returns whether a deadline has passed. Where nothing can be read yet (`waits`), the reader is woken at the
    /// deadline.
    fn is_late(&mut self, deadline: Instant, waits: bool, cx: &mut Context<'_>) -> bool {
        if !waits {
            return Instant::now() >= deadline;
        }
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx).is_ready()
    }

    /// Returns the result of a write. A write that has to wait begins the deadline of the answer, and after the deadline it is the error
    /// [`Unread`].
    fn write<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            return written;
        }
        let limit = self.pace.answer;
        let deadline = self.stuck.get_or_insert_with(|| Box::pin(sleep(limit)));
        deadline
            .as_mut()
            .poll(cx)
            .map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, Unread)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        let begins = buf.filled().len() > before;
        let pause = self.phase.pause();
        let deadline = pause.and_then(|pause| self.deadline(pause, begins));
        let Some(deadline) = deadline else {
            self.timer = None;
            return read;
        };
        if self.is_late(deadline, read.is_pending(), cx) {
            Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
        } else {
            read
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.write(written, cx)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if flushed.is_ready() {
            // Only a complete flush counts: a client that reads a byte now and then stays late.
            self.stuck = None;
        }
        self.write(flushed, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.write(shut, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.write(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
