//! The cost of gates that are processes while they wait: requests, memory and processor time.

use crate::controller::Controller;
use crate::extent::Extent;
use crate::gates::Gates;
use crate::measure::{Measure, Unit, as_number, megabytes};
use crate::step;
use crate::table::Table;
use anyhow::Result;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::sleep;

/// Adds rows about the gates of the extent while they wait: requests to the API server, the controller's memory and processor share beyond those
/// without gates, and the memory of a gate.
pub(crate) async fn measure(
    gates: &Gates<'_>,
    controller: &Controller,
    extent: &Extent,
    table: &mut Table,
) -> Result<()> {
    let (count, time) = (extent.gates, extent.window);
    controller.strands(count).await?;
    controller.quiet().await?;
    step("what the controller asks of the API server by itself");
    let alone = Window::of(controller, time).await?;
    step(&format!("{count} gates wait"));
    let begun = controller.requests()?;
    let asking = gates.start(count)?;
    controller.asked_by(count).await?;
    controller.quiet().await?;
    let mut told = difference(&begun, &controller.requests()?);
    // The replica's own polls and watches have nothing to do with how many gates there are.
    told.retain(|what, _| what.starts_with("create "));
    let crowd = Window::of(controller, time).await?;
    let how = format!(
        "`sluice_api_requests_total` over {time:?}, {count} gates waiting; reviews, Events and what exceeds no gates"
    );
    let excess = crowd.excess(&alone);
    let all = excess.values().sum();
    let each = as_number(all) * 60.0 / time.as_secs_f64() / as_number(count as u64);
    let value = format!("{each:.3} a minute ({all} in all: {})", list(&excess, 1));
    table
        .row(
            "API requests for a waiting gate",
            Measure::once(value, Unit::PerMinute, each),
            &how,
        )
        .at_most(0.0);
    table.row(
        "API requests when a gate begins to wait",
        list(&told, count),
        "the same counter from the first question to the last Event; a review again every 10 min",
    );
    table.row(
        "API requests of a replica by itself",
        list(&alone.requests, 1),
        &format!("the same counter over {time:?}, no gate"),
    );
    crowd.tell(&alone, count, table);
    table
        .row(
            "gate, memory while it waits",
            Measure::bytes(asking.memory()?),
            "Private_Dirty in /proc/PID/smaps_rollup, mean: what one more gate costs a node",
        )
        .at_most(180_000.0);
    asking.stop().await;
    Ok(())
}

/// The requests, the memory and the processor time of a controller over some time.
pub(crate) struct Window {
    requests: BTreeMap<String, u64>,
    memory: u64,
    processor: f64,
}

impl Window {
    pub(crate) async fn of(controller: &Controller, time: Duration) -> Result<Self> {
        let (before, processor) = (controller.requests()?, controller.processor()?);
        sleep(time).await;
        let used = controller.processor()?.saturating_sub(processor);
        Ok(Self {
            requests: difference(&before, &controller.requests()?),
            memory: controller.memory()?,
            processor: used.as_secs_f64() / time.as_secs_f64() * 100.0,
        })
    }

    /// Adds three rows about the controller with `count` waiting gates: its memory, its memory for each gate beyond that in `alone`, the window
    /// without gates, and its processor share.
    fn tell(&self, alone: &Self, count: usize, table: &mut Table) {
        let text = megabytes(self.memory);
        table.row(
            &format!("controller, memory, {count} gates waiting"),
            Measure::bytes(self.memory),
            "VmRSS",
        );
        let each = self.memory.saturating_sub(alone.memory) / count as u64;
        let how = format!("what {text} exceeds the same process without gates");
        table
            .row(
                "controller, memory of a waiting gate",
                Measure::once(
                    format!("{:.1} KiB", as_number(each) / 1024.0),
                    Unit::Bytes,
                    as_number(each),
                ),
                &how,
            )
            .at_most(20.0 * 1024.0);
        let text = format!(
            "{:.1} % of a core (none waiting: {:.1} %)",
            self.processor, alone.processor
        );
        table.row(
            &format!("controller, processor, {count} gates waiting"),
            Measure::once(text, Unit::Percent, self.processor),
            "utime + stime in /proc/PID/stat",
        );
    }

    /// Returns the requests in this window beyond those in the other one, by verb and resource. One more than there is no excess, and watches do not
    /// count, since they end and begin by themselves every few minutes.
    pub(crate) fn excess(&self, other: &Self) -> BTreeMap<String, u64> {
        // A poll may fall into a window once more than into another.
        let usual = |what: &String| other.requests.get(what).map_or(0, |count| count + 1);
        let own = self.requests.iter();
        let own = own.filter(|(what, _)| !what.starts_with("watch "));
        let beyond = own.map(|(what, count)| (what.clone(), count.saturating_sub(usual(what))));
        beyond.filter(|(_, count)| *count > 0).collect()
    }
}

fn difference(
    before: &BTreeMap<String, u64>,
    after: &BTreeMap<String, u64>,
) -> BTreeMap<String, u64> {
    let grown = after
        .iter()
        .map(|(what, count)| (what.clone(), count - before.get(what).unwrap_or(&0)));
    grown.filter(|(_, count)| *count > 0).collect()
}

/// Writes requests as a text such as `create events 1.00, create tokenreviews 1.00`: the number for each of `among` gates, or the plain number where
/// `among` is 1.
fn list(requests: &BTreeMap<String, u64>, among: usize) -> String {
    let each = requests.iter().map(|(what, count)| match among {
        1 => format!("{what} {count}"),
        _ => format!("{what} {:.2}", as_number(*count) / as_number(among as u64)),
    });
    each.collect::<Vec<_>>().join(", ")
}
