//! Background tasks: every task has a name, and none ends unnoticed.

use futures::FutureExt;
use futures::future::{BoxFuture, pending};
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tracing::{Instrument, error, info_span};

/// Starts tasks. Clones start tasks of the same [`Tasks`].
#[derive(Debug, Clone)]
pub(crate) struct Spawner(mpsc::UnboundedSender<Task>);

/// The running tasks of the process. Dropping this stops them.
#[derive(Debug)]
pub(crate) struct Tasks {
    new: mpsc::UnboundedReceiver<Task>,
    running: JoinSet<()>,
    names: HashMap<Id, (String, Lasts)>,
    /// The tasks whose work a test replaces by a panic.
    #[cfg(test)]
    pub(crate) planted: Vec<String>,
}

struct Task {
    name: String,
    lasts: Lasts,
    /// The runtime of the task; `None` for the runtime that waits for the task's end.
    on: Option<Handle>,
    work: BoxFuture<'static, ()>,
}

/// Whether a task may end before the process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lasts {
    /// The task never ends, as long as the process runs.
    Always,
    /// The task ends when its work is done.
    WhileNeeded,
}

/// The end of a task that had to last as long as the process.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Ended {
    /// The lasting task panicked.
    #[error("the task {task:?} panicked: {message}")]
    Panicked {
        /// The name of the task that panicked.
        task: String,
        /// The message of the task's panic.
        message: String,
    },
    /// The lasting task returned.
    #[error("the task {task:?} ended, although it has to last as long as the process")]
    Returned {
        /// The name of the task that returned.
        task: String,
    },
}

impl Spawner {
    /// Starts a task that has to last as long as the process.
    pub(crate) fn keep(
        &self,
        name: impl Into<String>,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        self.start(name.into(), Lasts::Always, None, work.boxed());
    }

    /// Starts a lasting task on the threads of `runtime`.
    pub(crate) fn keep_on(
        &self,
        runtime: &Handle,
        name: impl Into<String>,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let on = Some(runtime.clone());
        self.start(name.into(), Lasts::Always, on, work.boxed());
    }

    /// Starts a task that may come to an end.
    pub(crate) fn run(
        &self,
        name: impl Into<String>,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        self.start(name.into(), Lasts::WhileNeeded, None, work.boxed());
    }

    fn start(&self, name: String, lasts: Lasts, on: Option<Handle>, work: BoxFuture<'static, ()>) {
        let task = Task {
            name,
            lasts,
            on,
            work,
        };
        // The receiver is gone only while the process ends, when new tasks are unwanted.
        let _ = self.0.send(task);
    }
}

impl Tasks {
    /// Returns an empty set, and its spawner. A task begins to run when [`Self::ended`] or [`Self::finished`] is
    /// awaited.
    pub(crate) fn new() -> (Spawner, Self) {
        let (sender, new) = mpsc::unbounded_channel();
        let tasks = Self {
            new,
            running: JoinSet::new(),
            names: HashMap::new(),
            #[cfg(test)]
            planted: Vec::new(),
        };
        (Spawner(sender), tasks)
    }

    /// Starts the tasks of the spawner, and returns when one of them panics, or when a lasting task ends. Cancel-safe.
    pub(crate) async fn ended(&mut self) -> Ended {
        while let Some((name, lasts, result)) = self.next().await {
            match (result, lasts) {
                (Err(error), _) => return panicked(name, error),
                (Ok(()), Lasts::Always) => return Ended::Returned { task: name },
                (Ok(()), Lasts::WhileNeeded) => {}
            }
        }
        pending().await
    }

    /// Returns when every task has ended and no spawner is left. Starts new tasks while it waits, and logs panics. Cancel-safe.
    pub(crate) async fn finished(&mut self) {
        while let Some((name, _, result)) = self.next().await {
            if let Err(error) = result {
                error!(error = %panicked(name, error), "While shutting down");
            }
        }
    }

    /// Returns the name and the result of the next task that ends, and starts new tasks while it waits for that. `None` when no task runs and no
    /// spawner is left.
    async fn next(&mut self) -> Option<(String, Lasts, Result<(), JoinError>)> {
        let (id, result) = loop {
            tokio::select! {
                biased;
                // Both arms are cancel-safe: a task that is not received or joined here is received or joined later.
                Some(task) = self.new.recv() => self.begin(task),
                Some(ended) = self.running.join_next_with_id() => break match ended {
                    Ok((id, ())) => (id, Ok(())),
                    Err(error) => (error.id(), Err(error)),
                },
                else => return None,
            }
        };
        let (name, lasts) = self.names.remove(&id)?;
        Some((name, lasts, result))
    }

    fn begin(&mut self, task: Task) {
        #[cfg(test)]
        let task = self.plant(task);
        let span = info_span!("task", name = task.name);
        let work = task.work.instrument(span);
        let id = match task.on {
            Some(runtime) => self.running.spawn_on(work, &runtime),
            None => self.running.spawn(work),
        }
        .id();
        self.names.insert(id, (task.name, task.lasts));
    }

    #[cfg(test)]
    fn plant(&self, task: Task) -> Task {
        if !self.planted.contains(&task.name) {
            return task;
        }
        let work = async { panic!("planted") }.boxed();
        Task { work, ..task }
    }

    #[cfg(test)]
    pub(crate) fn names(&self) -> std::collections::BTreeSet<String> {
        self.names.values().map(|(name, _)| name.clone()).collect()
    }
}

/// Returns the end of a task by its panic. No other error comes here: tasks are aborted only together, when the process ends.
fn panicked(task: String, error: JoinError) -> Ended {
    let message = match error.try_into_panic() {
        Ok(panic) => said(&*panic).to_owned(),
        Err(error) => error.to_string(),
    };
    Ended::Panicked { task, message }
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("its message is no text")
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Task").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn only_an_end_that_is_out_of_order_is_told() {
        let (spawner, mut tasks) = Tasks::new();
        spawner.keep("lasting", pending());
        spawner.run("brief", async {});
        let inner = spawner.clone();
        spawner.run("parent", async move { inner.keep("child", async {}) });
        let returned = |task: &str| Ended::Returned {
            task: task.to_owned(),
        };
        assert_eq!(tasks.ended().await, returned("child"));
        let left = timeout(Duration::from_secs(1), tasks.ended()).await;
        assert!(left.is_err(), "{left:?}");
        assert_eq!(tasks.names(), ["lasting".to_owned()].into());
    }

    #[tokio::test]
    async fn a_panic_is_told_with_its_words() {
        let (spawner, mut tasks) = Tasks::new();
        spawner.run("sum", async { panic!("{} is too much", 3) });
        let ended = tasks.ended().await.to_string();
        assert_eq!(ended, "the task \"sum\" panicked: 3 is too much");
    }

    #[tokio::test]
    async fn all_have_finished_once_nobody_can_start_another() {
        let (spawner, mut tasks) = Tasks::new();
        spawner.keep("last", async {});
        spawner.run("broken", async { panic!() });
        drop(spawner);
        tasks.finished().await;
        assert!(tasks.names().is_empty());
    }
}
