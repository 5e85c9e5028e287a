//! The shares of the log. A line about an object of a tenant has the field `namespace`, and each namespace has a pace in bytes for its
//! lines. Beyond the pace its lines are left out and counted, and one line a minute tells how many. So no tenant fills the log.
//!
//! A review of admission may come from any client and name any namespace. Its line has the field `client` too: then the pace is that
//! of the namespace as this client names it, and the client has a pace of its own.

use prometheus_client::metrics::counter::Counter;
use std::collections::HashMap;
use std::fmt::{self, Debug, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, warn};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// The bytes of lines about one namespace that may come at once: a quarter of what is kept for a slow reader, some 1,000 lines.
const BURST: u32 = 256 << 10;
/// The bytes of lines about one namespace a second, in the long run: the lines of some five new pods a second.
const RATE: u32 = 4 << 10;
/// The share of one client of admission for all namespaces that it names, as a multiple of the share of a namespace. An API server is one client.
const OF_A_CLIENT: u32 = 16;
/// The bytes of a line beside its fields: its time, level and target.
const BESIDE: usize = 100;
/// The pause between two rounds of log lines that tell how many lines were left out.
const TELL_AGAIN: Duration = Duration::from_mins(1);
/// The target of the log lines that tell how many lines were left out. Such lines are never left out themselves.
const OWN: &str = "webhook::telemetry";

/// The owner of a share of the log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum LogShare {
    /// The namespace of the object that a line is about.
    Namespace(String),
    /// The address of a client that sent the request that a line is about.
    Client(String),
    /// The address of a client of admission, and a namespace that the client names.
    NamespaceOf(String, String),
}

impl LogShare {
    /// The size of this share, as a multiple of the share of a namespace.
    const fn parts(&self) -> u32 {
        match self {
            Self::Client(_) => OF_A_CLIENT,
            Self::Namespace(_) | Self::NamespaceOf(..) => 1,
        }
    }

    /// The time after which this share, at its rate, has recovered from a line of so many bytes.
    fn cost(&self, bytes: u32) -> Duration {
        Duration::from_secs(1) * bytes / (RATE * self.parts())
    }
}

/// The state of a share: the use that lines have made of it.
#[derive(Debug)]
struct LogUse {
    /// The moment at which the share is unused again, if no further line comes.
    even: Instant,
    /// The lines that were left out and that no line has told of yet.
    left_out: u64,
}

/// A layer of the log that leaves out the lines that are beyond the share of their namespace, or of the client whose request they are about.
/// Clones count together.
#[derive(Debug, Clone, Default)]
pub(super) struct LogShares(Arc<AllShares>);

#[derive(Debug, Default)]
struct AllShares {
    used: Mutex<HashMap<LogShare, LogUse>>,
    left_out: Counter,
    /// Notified when a line was left out.
    news: Notify,
}

/// The facts of a line that decide whether it is written: the namespace, the client, and the length of its fields in bytes.
#[derive(Debug, Default)]
struct Fields {
    namespace: Option<String>,
    client: Option<String>,
    bytes: usize,
}

impl Fields {
    /// Returns where the value of this field is to be stored; `None` unless the field is `namespace` or `client`.
    fn owner(&mut self, field: &Field) -> Option<&mut Option<String>> {
        match field.name() {
            "namespace" => Some(&mut self.namespace),
            "client" => Some(&mut self.client),
            _ => None,
        }
    }
}

impl LogShares {
    /// The counter of lines that were left out.
    pub(super) fn left_out(&self) -> Counter {
        self.0.left_out.clone()
    }

    /// Logs, once a minute at most, how many lines of each share were left out since the last time. Never returns.
    pub(super) async fn tell(self) {
        loop {
            self.0.news.notified().await;
            for (share, lines) in self.untold() {
                let (namespace, client) = match share {
                    LogShare::Namespace(namespace) => (Some(namespace), None),
                    LogShare::Client(client) => (None, Some(client)),
                    LogShare::NamespaceOf(client, namespace) => (Some(namespace), Some(client)),
                };
                warn!(
                    target: OWN,
                    namespace,
                    client,
                    lines,
                    "Lines are left out of this log, because too many are about one namespace, or about requests of one client"
                );
            }
            tokio::time::sleep(TELL_AGAIN).await;
        }
    }

    /// Returns the shares with lines that were left out and not told of, and how many. They count as told from now on.
    fn untold(&self) -> Vec<(LogShare, u64)> {
        let mut used = self.used();
        let with_news = used.iter_mut().filter(|(_, of)| of.left_out > 0);
        with_news
            .map(|(share, of)| (share.clone(), std::mem::take(&mut of.left_out)))
            .collect()
    }

    /// Whether each of these shares has room for a line of so many bytes. If so, all are charged; if not, the line is counted as left out.
    fn have_room(&self, shares: &[LogShare], bytes: u32) -> bool {
        let now = Instant::now();
        let mut used = self.used();
        // Before the table grows, and not at each line of a table that is full of shares in use.
        let grows = shares.iter().any(|share| !used.contains_key(share));
        if grows && used.len() == used.capacity() {
            used.retain(|_, of| of.even > now || of.left_out > 0);
        }
        for share in shares {
            let even = used.get(share).map_or(now, |of| of.even.max(now));
            if even + share.cost(bytes) > now + share.cost(BURST * share.parts()) {
                let of = used
                    .entry(share.clone())
                    .or_insert(LogUse { even, left_out: 0 });
                of.left_out += 1;
                self.0.left_out.inc();
                self.0.news.notify_one();
                return false;
            }
        }
        for share in shares {
            let of = used.entry(share.clone());
            let of = of.or_insert(LogUse {
                even: now,
                left_out: 0,
            });
            of.even = of.even.max(now) + share.cost(bytes);
        }
        true
    }

    fn used(&self) -> MutexGuard<'_, HashMap<LogShare, LogUse>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.0.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether lines from this place in the code have the field `namespace`, and so count against a share.
fn has_share(metadata: &Metadata<'_>) -> bool {
    metadata.target() != OWN && metadata.fields().field("namespace").is_some()
}

impl<S: Subscriber> Layer<S> for LogShares {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        if !has_share(event.metadata()) {
            return true;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let bytes = u32::try_from(BESIDE + fields.bytes).unwrap_or(u32::MAX);
        let shares = match (fields.namespace, fields.client) {
            (Some(namespace), None) => vec![LogShare::Namespace(namespace)],
            (Some(namespace), Some(client)) => vec![
                LogShare::Client(client.clone()),
                LogShare::NamespaceOf(client, namespace),
            ],
            (None, _) => return true,
        };
        self.have_room(&shares, bytes)
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.bytes += field.name().len() + value.len();
        if let Some(owner) = self.owner(field) {
            *owner = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if self.owner(field).is_some() {
            return self.record_str(field, &format!("{value:?}"));
        }
        // Every review of admission writes a line, so the text of the other fields is counted and not kept.
        self.bytes += field.name().len();
        let _ = write!(self, "{value:?}");
    }
}

impl Write for Fields {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::tests::Lines;
    use std::net::IpAddr;
    use tracing::dispatcher::DefaultGuard;
    use tracing::info;

    fn listen() -> (LogShares, Lines, DefaultGuard) {
        let shares = LogShares::default();
        let (lines, guard) = Lines::listen_within(shares.clone());
        (shares, lines, guard)
    }

    fn count(lines: &Lines, word: &str) -> usize {
        lines.text().matches(word).count()
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_of_many_lines_leaves_room_for_those_of_others() {
        let (shares, lines, _guard) = listen();
        for pod in 0..10_000 {
            info!(namespace = "loud", pod, "Wait begins");
        }
        let loud = count(&lines, "loud");
        assert!((1_000..3_000).contains(&loud), "{loud}");
        assert!(lines.text().len() <= BURST as usize);
        for pod in 0..100 {
            info!(namespace = "quiet", pod, "Wait begins");
            info!("Signed a certificate");
        }
        assert_eq!(count(&lines, "quiet"), 100);
        assert_eq!(count(&lines, "Signed"), 100);
        assert_eq!(shares.left_out().get(), 10_000 - loud as u64);
        tokio::time::advance(Duration::from_secs(10)).await;
        (0..1_000).for_each(|pod| info!(namespace = "loud", pod, "Wait begins"));
        let more = count(&lines, "loud") - loud;
        assert!((100..500).contains(&more), "{more} in ten seconds");
    }

    #[tokio::test(start_paused = true)]
    async fn the_lines_that_were_left_out_are_told_of_once_a_minute() {
        let (shares, lines, _guard) = listen();
        tokio::spawn(shares.tell());
        for _ in 0..3 {
            for pod in 0..10_000 {
                info!(namespace = "loud", pod, "Wait begins");
            }
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
        assert_eq!(count(&lines, "are left out"), 1, "at once, and no more");
        tokio::time::sleep(TELL_AGAIN).await;
        assert_eq!(count(&lines, "are left out"), 2);
        let text = lines.text();
        let mut told = text.lines().filter(|line| line.contains("are left out"));
        assert!(told.all(|it| it.contains("loud") && it.contains("lines=")));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_names_a_namespace_leaves_no_line_of_that_namespace_out() {
        let (_, lines, _guard) = listen();
        let stranger = IpAddr::from([10, 0, 0, 1]);
        for uid in 0..10_000 {
            info!(client = %stranger, namespace = "shop", uid, "Answered");
        }
        let answered = count(&lines, "Answered");
        assert!((1_000..3_000).contains(&answered), "{answered}");
        let api_server = IpAddr::from([10, 0, 0, 2]);
        info!(client = %api_server, namespace = "shop", "Answered");
        info!(namespace = "shop", "Wait begins");
        assert_eq!(count(&lines, "Answered"), answered + 1);
        assert_eq!(count(&lines, "Wait begins"), 1);
        for number in 0..100_000 {
            info!(client = %stranger, namespace = format!("n{number}"), "Answered");
        }
        let all = lines.text().len();
        assert!(all < (BURST * (OF_A_CLIENT + 1)) as usize, "{all}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_share_that_is_unused_again_is_forgotten() {
        let (shares, _lines, _guard) = listen();
        for number in 0..10_000 {
            info!(namespace = format!("n{number}"), "Wait begins");
            tokio::time::advance(Duration::from_millis(100)).await;
        }
        let remembered = shares.used().len();
        assert!(remembered < 10, "{remembered}");
    }
}
