//! The times at which applications ran, from the status of their pods.

use super::namespace::Namespace;
use super::object::text;
use super::{LIMIT, await_until};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The start and the finish of the first container in each finished pod of a namespace, in whole seconds, rounded down.
pub struct Runs {
    spans: Vec<(Timestamp, Timestamp)>,
}

impl Runs {
    /// Waits until at least `count` pods with these labels have finished, and returns the times of all that have.
    pub async fn of(ns: &Namespace, selector: &str, count: usize) -> Self {
        let what = format!("{count} pods of {} have finished", ns.name);
        await_until(&what, LIMIT * 3, async || {
            let pods = ns.look.list("pod", selector).await;
            let spans: Vec<_> = pods.iter().filter_map(span).collect();
            if spans.len() >= count {
                Ok(Self { spans })
            } else {
                Err(format!("{}", spans.len()))
            }
        })
        .await
    }

    /// Returns the greatest number of containers that ran at the same time. A container that started in the second in
    /// which another finished counts as later.
    pub fn most_at_once(&self) -> usize {
        let starts = self.spans.iter().map(|(start, _)| *start);
        let at_once = |time: Timestamp| {
            let runs = |(start, finish): &&_| *start <= time && time < *finish;
            self.spans.iter().filter(runs).count()
        };
        starts.map(at_once).max().unwrap_or_default()
    }

    /// Returns the time of the first start.
    pub fn first_start(&self) -> Timestamp {
        let first = self.spans.iter().map(|(start, _)| *start).min();
        first.expect("somebody ran")
    }

    /// Returns the time of the last finish.
    pub fn last_finish(&self) -> Timestamp {
        let last = self.spans.iter().map(|(_, finish)| *finish).max();
        last.expect("somebody ran")
    }

    /// Returns the time from the first start to the last finish.
    pub fn length(&self) -> SignedDuration {
        self.last_finish().duration_since(self.first_start())
    }
}

/// Returns the start and the finish of a pod's first container; `None` where it has not terminated.
fn span(pod: &Value) -> Option<(Timestamp, Timestamp)> {
    let ended = pod.pointer("/status/containerStatuses/0/state/terminated")?;
    let time = |pointer| text(ended, pointer).parse().ok();
    Some((time("/startedAt")?, time("/finishedAt")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn overlaps_are_counted_to_the_second() {
        let runs = |spans: &[(u8, u8)]| Runs {
            spans: spans
                .iter()
                .map(|(start, finish)| {
                    let time = |second| format!("2026-11-21T07:00:{second:02}Z");
                    let ended = json!({"startedAt": time(start), "finishedAt": time(finish)});
                    let status = json!({"state": {"terminated": ended}});
                    span(&json!({"status": {"containerStatuses": [status]}})).unwrap()
                })
                .collect(),
        };
        assert_eq!(runs(&[(0, 3), (3, 6), (6, 9)]).most_at_once(), 1);
        assert_eq!(runs(&[(0, 3), (2, 6), (3, 9), (5, 7)]).most_at_once(), 3);
        assert_eq!(
            runs(&[(1, 3), (2, 9)]).length(),
            SignedDuration::from_secs(8)
        );
    }
}
