//! `bench plan FILE`: a cluster that no machine of ours can hold, by the costs that `make bench` has measured on this one.

mod queues;

use crate::measure::{Measure, Unit, as_number};
use crate::table::Table;
use anyhow::{Context, Result};
use queues::{Arrivals, Share};
use std::time::Duration;

/// The planned cluster.
struct Plan {
    /// The number of pods in the cluster that carry sluice's label, whether they wait or not.
    pods: u64,
    waiting: u64,
    replicas: u64,
    /// The number of processors of a replica.
    cores: u64,
    /// The number of processors of the API server; etcd has its own.
    api_cores: u64,
    /// The memory limit of the container, in bytes.
    memory: u64,
    /// The number of gates that may wait at a replica within that memory.
    held: u64,
}

const PLAN: Plan = Plan {
    pods: 100_000,
    waiting: 10_000,
    replicas: 5,
    cores: 2,
    api_cores: 8,
    memory: 256 << 20,
    held: 10_080,
};
/// The time within which all gates come, as after a restart of every replica.
const WITHIN: Duration = Duration::from_secs(1);
/// The longest time of an arrival that a user does not notice.
const ARRIVE: Duration = Duration::from_secs(10);
/// The longest time of a release that a user does not notice.
const RELEASE: Duration = Duration::from_secs(2);
/// The time in which a replica writes one Event.
const EVENT_EACH: Duration = Duration::from_millis(50);
/// The time after which a pod's Event is renewed.
const RENEWED: Duration = Duration::from_mins(10);
/// The time after which the kubelet renews a token: four fifths of its ten minutes.
const TOKEN: Duration = Duration::from_mins(8);

/// The cost of one arrival, release, review and the like: processor time, or bytes.
#[derive(Debug, Clone, Copy)]
struct Costs {
    arrival: Duration,
    release: Duration,
    review: Duration,
    event: Duration,
    status: Duration,
    /// The share of a core that a replica uses for a gate that only waits.
    waiting: f64,
    idle: f64,
    pod: f64,
    gate: f64,
}

impl Costs {
    /// Reads the costs from the table of a run, for the largest crowd of gates in it. A missing row is an error.
    fn of(table: &Table) -> Result<Self> {
        let median = |what: &str| {
            let row = table.rows.iter().find(|row| row.what == what);
            let number = row.and_then(|row| row.measure.number);
            let number = number.with_context(|| format!("the table has no row {what:?}"))?;
            Ok::<_, anyhow::Error>(number.median)
        };
        let crowds = table.rows.iter().filter_map(|row| {
            let count = row.what.strip_suffix(" gates arrive")?;
            count.parse::<u64>().ok()
        });
        let count = crowds.max().context("the table has no crowd of gates")?;
        let number = as_number(count);
        let each = |what: &str| {
            let millis = median(&format!("{count} gates {what}, processor time"))?;
            Ok::<_, anyhow::Error>(Duration::from_secs_f64(millis / 1000.0 / number))
        };
        let request = |what: &str| {
            let millis = median(&format!("API server, processor time for {what}"))?;
            Ok::<_, anyhow::Error>(Duration::from_secs_f64(millis / 1000.0))
        };
        let idle = median("controller, memory, idle")?;
        let known = median(&format!("controller, memory, {count} gated pods"))?;
        Ok(Self {
            arrival: each("arrive")?,
            release: each("are let through")?,
            review: request("a TokenReview")?,
            event: request("an Event")?,
            status: request("a pod's status")?,
            waiting: median(&format!("{count} gates wait, processor"))? / 100.0 / number,
            idle,
            pod: (known - idle).max(0.0) / number,
            gate: median(&format!("{count} gates wait, memory of each"))?,
        })
    }
}

/// Computes the figures of the planned cluster from the costs in `measured`, and adds them to the table.
pub(crate) fn tell(measured: &Table, table: &mut Table) -> Result<()> {
    let costs = Costs::of(measured)?;
    arriving(&PLAN, &costs, table);
    waiting(&PLAN, &costs, table);
    released(&PLAN, &costs, table);
    bottlenecks(&PLAN, &costs, table);
    Ok(())
}

fn arriving(plan: &Plan, costs: &Costs, table: &mut Table) {
    let all = Arrivals {
        gates: plan.waiting,
        replicas: plan.replicas,
        cores: plan.cores,
        api_cores: plan.api_cores,
        within: WITHIN,
        cost: costs.arrival,
        review: costs.review,
    };
    let lost = Arrivals {
        gates: plan.waiting / plan.replicas,
        replicas: plan.replicas - 1,
        ..all
    };
    let Plan {
        waiting, replicas, ..
    } = plan;
    for (what, arrivals) in [
        (format!("{waiting} gates come to {replicas} replicas"), all),
        (
            format!("one of {replicas} replicas ends, and its gates come to the others"),
            lost,
        ),
    ] {
        let end = arrivals.run();
        let how = format!(
            "simulated: {WITHIN:?} of arrivals, each to a replica by chance, {:?} of processor and a TokenReview of {:?}",
            costs.arrival, costs.review
        );
        table.row(&format!("{what}: the last one waits"), end.last, &how);
        let how = "busiest replica's share of its processors until then, and the API server's";
        let text = format!("{}, {}", percent(end.replica), percent(end.api_server));
        table.row(&format!("{what}: how busy"), text, how);
    }
}

fn waiting(plan: &Plan, costs: &Costs, table: &mut Table) {
    let Plan {
        pods,
        waiting,
        replicas,
        ..
    } = plan;
    let most = queues::most(*waiting, *replicas);
    let memory = costs.idle + costs.pod * as_number(*pods) + costs.gate * as_number(most);
    let how = format!(
        "computed: idle, {pods} gated pods of {:.0} bytes, and {most} gates, the most that chance gives one of {replicas}, of {:.1} KiB",
        costs.pod,
        costs.gate / 1024.0
    );
    table
        .row(
            &format!("{waiting} gates wait: memory of the fullest replica"),
            Measure::once(format!("{:.0} MB", memory / 1e6), Unit::Bytes, memory),
            &how,
        )
        .at_most(as_number(plan.memory));
    let share = costs.waiting * as_number(most) * 100.0;
    table.row(
        &format!("{waiting} gates wait: processor of the fullest replica"),
        Measure::once(format!("{share:.1} % of a core"), Unit::Percent, share),
        "computed from the largest crowd that was measured",
    );
    // A token that has been renewed is new to the replica that is asked next.
    let load = |each: Duration, cost: Duration| {
        as_number(*waiting) / each.as_secs_f64() * cost.as_secs_f64()
    };
    let share = (load(TOKEN, costs.review) + load(RENEWED, costs.event)) * 100.0;
    table.row(
        &format!("{waiting} gates wait: the API server's processor"),
        Measure::once(format!("{share:.1} % of a core"), Unit::Percent, share),
        &format!("computed: a TokenReview a gate in {TOKEN:?}, an Event in {RENEWED:?}"),
    );
}

fn released(plan: &Plan, costs: &Costs, table: &mut Table) {
    let Plan {
        waiting,
        replicas,
        cores,
        api_cores,
        ..
    } = plan;
    let most = queues::most(*waiting, *replicas);
    let each = costs.release.as_secs_f64() * as_number(most) / as_number(*cores);
    table.row(
        &format!("{waiting} gates are let through by one change: the last one"),
        Duration::from_secs_f64(each),
        &format!(
            "computed: {most} gates of {:?} on the {cores} processors of the fullest replica",
            costs.release
        ),
    );
    let busy = costs.status.as_secs_f64() * as_number(*waiting) / as_number(*api_cores);
    table.row(
        &format!("then kubelets write {waiting} statuses: the API server is busy"),
        Duration::from_secs_f64(busy),
        &format!("computed: {:?} each on {api_cores} processors; with or without sluice, and two or three times for each pod", costs.status),
    );
}

/// Adds a row for each limit of the cluster, such as a replica's memory, with the number of waiting gates that reaches it. The smallest number comes
/// first: that limit is the bottleneck.
fn bottlenecks(plan: &Plan, costs: &Costs, table: &mut Table) {
    let replicas = as_number(plan.replicas);
    // The excess of the fullest replica over its equal part, by chance.
    let uneven =
        as_number(queues::most(plan.waiting, plan.replicas)) * replicas / as_number(plan.waiting);
    let processors = replicas * as_number(plan.cores) / uneven;
    let of_memory = as_number(plan.memory) - costs.idle - costs.pod * as_number(plan.pods);
    let within = |time: Duration, each: Duration, processors: f64| {
        processors * time.as_secs_f64() / each.as_secs_f64()
    };
    let mut limits = [
        (
            "a replica's memory, beside all gated pods",
            of_memory.max(0.0) / costs.gate * replicas / uneven,
        ),
        (
            "the questions that a replica holds",
            as_number(plan.held) * replicas / uneven,
        ),
        (
            "processor of the replicas while all come within 10 s",
            within(ARRIVE, costs.arrival, processors),
        ),
        (
            "processor of the API server for their TokenReviews within 10 s",
            within(ARRIVE, costs.review, as_number(plan.api_cores)),
        ),
        (
            "processor of the replicas while all are let through within 2 s",
            within(RELEASE, costs.release, processors),
        ),
        (
            "Events, one in 50 ms and replica, each renewed in 10 min",
            replicas * RENEWED.as_secs_f64() / EVENT_EACH.as_secs_f64(),
        ),
    ];
    limits.sort_by(|a, b| a.1.total_cmp(&b.1));
    for (number, (what, gates)) in limits.iter().enumerate() {
        let text = format!("{gates:.0} waiting gates");
        table.row(
            &format!("limit {}: {what}", number + 1),
            text,
            "computed from the costs",
        );
    }
}

fn percent(share: Share) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(rows: &[(&str, f64)]) -> Table {
        let mut table = Table::default();
        for (what, value) in rows {
            table.row(what, Measure::once("", Unit::Millis, *value), "");
        }
        table
    }

    const ROWS: [(&str, f64); 11] = [
        ("1000 gates arrive", 1300.0),
        ("1000 gates arrive, processor time", 500.0),
        ("1000 gates are let through, processor time", 100.0),
        ("1000 gates wait, processor", 0.4),
        ("1000 gates wait, memory of each", 16384.0),
        ("controller, memory, idle", 16e6),
        ("controller, memory, 1000 gated pods", 17e6),
        ("API server, processor time for a TokenReview", 1.0),
        ("API server, processor time for an Event", 1.0),
        ("API server, processor time for a pod's status", 2.0),
        ("1 gates arrive", 1.0),
    ];

    #[test]
    fn the_first_limit_is_the_one_that_the_fewest_gates_reach() {
        let (mut table, measured) = (Table::default(), measured(&ROWS));
        tell(&measured, &mut table).unwrap();
        let limits = table
            .rows
            .iter()
            .filter(|row| row.what.starts_with("limit "));
        let limits: Vec<_> = limits.map(|row| (&row.what, &row.measure.text)).collect();
        // 256 MiB less 16 MB and 100,000 pods of 1000 bytes leave room for 9,304 of 16 KiB in each of five; chance fills one first.
        assert!(
            limits[0]
                .0
                .contains("a replica's memory, beside all gated pods"),
            "{limits:?}"
        );
        assert_eq!(limits.len(), 6);
    }

    #[test]
    fn a_row_that_is_missing_is_named() {
        let lacking = measured(&ROWS[..7]);
        let error = tell(&lacking, &mut Table::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the table has no row \"API server, processor time for a TokenReview\""
        );
    }
}
