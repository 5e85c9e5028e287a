//! Writes log lines on a thread of its own, so a task that logs never waits for the reader of the log. Otherwise a
//! stuck collector would stop admission.

use prometheus_client::metrics::counter::Counter;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tracing::warn;

/// The most bytes that are kept while the log is not read.
const MOST: usize = 1 << 20;

/// The longest time for which lines are gathered before they are written, and the bytes from which they are written at once: under load, one write
/// and one wake-up serve hundreds of lines.
const GATHERED: (Duration, usize) = (Duration::from_millis(50), 1 << 17);

/// The longest time that the end of the process, or a panic, waits until the log is written.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// A writer of log lines that never blocks. Each write is one line, and the log's thread writes the line out later.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines(Arc<SharedQueue>);

#[derive(Debug, Default)]
struct SharedQueue {
    queue: Mutex<Queue>,
    /// Notified when the log's thread has to wake and write.
    called: Condvar,
    /// Notified when all log lines are written.
    done: Condvar,
    /// The lines that were dropped because the queue had no room, since the process began.
    lost: Counter,
}

#[derive(Debug, Default)]
struct Queue {
    text: Vec<u8>,
    /// The lines that were dropped because the queue had no room, and that no log line has reported yet.
    lost: u64,
    thread: Thread,
}

/// The state of the thread that writes log lines.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Thread {
    /// The thread writes log lines.
    #[default]
    Writes,
    /// The thread has written and lets more lines come.
    Gathers,
    /// The thread waits for a log line.
    Sleeps,
    /// The thread has been woken to write and does not write yet. Waking it again would only cost the caller.
    Called,
}

impl Queue {
    /// Returns whether the log's thread has to be woken to write: it sleeps while there is text, or it gathers and the text is long enough.
    fn is_due(&self) -> bool {
        match self.thread {
            Thread::Gathers => self.text.len() >= GATHERED.1,
            Thread::Sleeps => !self.text.is_empty(),
            Thread::Writes | Thread::Called => false,
        }
    }

    fn is_done(&self) -> bool {
        self.thread != Thread::Writes && self.text.is_empty()
    }
}

impl Lines {
    /// Starts the log's thread, which writes the log lines to `out` until the process ends. Returns the writer that takes the lines.
    ///
    /// # Errors
    ///
    /// The system allows no more threads.
    pub(super) fn to(out: impl Write + Send + 'static) -> io::Result<Self> {
        let lines = Self::default();
        let writer = lines.clone();
        let thread = thread::Builder::new().name("log".to_owned());
        thread.spawn(move || writer.write_to(out))?;
        Ok(lines)
    }

    /// Returns the counter of lines that were dropped because the queue had no room.
    pub(super) fn lost(&self) -> Counter {
        self.0.lost.clone()
    }

    /// Waits until all lines are written, up to [`LAST_WAIT`].
    pub(super) fn wait_until_written(&self) {
        let mut queue = self.queue();
        if queue.thread == Thread::Gathers {
            self.call(&mut queue);
        }
        let open = |queue: &mut Queue| !queue.is_done();
        drop(self.0.done.wait_timeout_while(queue, LAST_WAIT, open));
    }

    fn call(&self, queue: &mut Queue) {
        queue.thread = Thread::Called;
        self.0.called.notify_one();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut out: impl Write) {
        let mut text = Vec::new();
        loop {
            let lost = self.next(&mut text);
            // A failed write is ignored: there is no other place to report it.
            let _ = out.write_all(&text);
            text.clear();
            // Free the memory that was needed while the log was not read.
            text.shrink_to(GATHERED.1);
            if lost > 0 {
                warn!(
                    lost,
                    "Lines of this log are lost, because its reader was too slow"
                );
            }
        }
    }

    /// Waits for lines, moves them into `text`, and returns the number of lines that were dropped since the last call.
    fn next(&self, text: &mut Vec<u8>) -> u64 {
        let mut queue = self.queue();
        for (does, longest) in [
            (Thread::Gathers, GATHERED.0),
            (Thread::Sleeps, Duration::MAX),
        ] {
            if queue.thread != Thread::Called {
                queue.thread = does;
            }
            if queue.is_done() {
                self.0.done.notify_all();
            }
            let waits = |queue: &mut Queue| queue.thread == does && !queue.is_due();
            let waited = self.0.called.wait_timeout_while(queue, longest, waits);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        queue.thread = Thread::Writes;
        mem::swap(&mut queue.text, text);
        mem::take(&mut queue.lost)
    }
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut queue = self.queue();
        if queue.text.len() + line.len() > MOST {
            queue.lost += 1;
            self.0.lost.inc();
        } else {
            queue.text.extend_from_slice(line);
        }
        if queue.is_due() {
            self.call(&mut queue);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// A writer that takes one write for each message on `read`, and any once `read` is closed.
    struct Pipe {
        sent: Sender<Vec<u8>>,
        read: Receiver<()>,
    }

    impl Write for Pipe {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            let _ = self.read.recv();
            let _ = self.sent.send(text.to_vec());
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn pipe() -> (Lines, Sender<()>, Receiver<Vec<u8>>) {
        let ((sent, written), (reader, read)) = (channel(), channel());
        (Lines::to(Pipe { sent, read }).unwrap(), reader, written)
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        let (mut lines, reader, written) = pipe();
        for line in ["one\n", "two\n", "three\n"] {
            lines.write_all(line.as_bytes()).unwrap();
            reader.send(()).unwrap();
        }
        let mut text = Vec::new();
        while !text.ends_with(b"three\n") {
            text.extend(written.recv().unwrap());
        }
        assert_eq!(text, b"one\ntwo\nthree\n");
    }

    #[test]
    fn nobody_who_logs_waits_for_who_reads() {
        let (mut lines, reader, written) = pipe();
        let line = [b'x'; 1024];
        // The lines that the thread holds, the queue, and one more line: a writer that waits would hang here.
        for _ in 0..=2 * MOST / line.len() {
            lines.write_all(&line).unwrap();
        }
        let queue = lines.queue();
        assert!(queue.lost > 0 && queue.text.len() <= MOST, "{queue:?}");
        drop(queue);
        drop(reader);
        assert!(!written.recv().unwrap().is_empty());
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let mut lines = Lines::default();
        let line = [b'x'; 1024];
        for _ in 0..MOST / line.len() + 3 {
            lines.write_all(&line).unwrap();
        }
        let mut text = Vec::new();
        assert_eq!((lines.next(&mut text), text.len()), (3, MOST));
        lines.write_all(b"one more").unwrap();
        assert_eq!((lines.next(&mut Vec::new()), lines.lost().get()), (0, 3));
    }

    #[test]
    fn the_end_waits_for_what_is_left() {
        let (mut lines, reader, written) = pipe();
        lines.write_all(b"Done\n").unwrap();
        drop(reader);
        lines.wait_until_written();
        assert_eq!(written.try_recv().unwrap(), b"Done\n");
    }
}
