//! Gates as tasks of this process: more than a machine has room for as processes. Each asks as the binary does, with the token
//! of a pod of its own and from an address of its own.

use crate::Paths;
use crate::admission;
use crate::api_server;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::dependency::Dependency;
use crate::extent::Extent;
use crate::measure::{Measure, Unit, as_number};
use crate::reviews::trusting;
use crate::step;
use crate::table::{Row, Table};
use anyhow::{Context, Result, bail};
use harness::samples::Samples;
use harness::unscheduled::Unscheduled;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use wire::{Answer, Decision};

/// The longest time until the last gate is let through.
const LIMIT: Duration = Duration::from_mins(2);
/// The time for which a gate asks the controller to hold its question, in seconds.
const HOLD: u64 = 300;
/// The pause of a gate before another question after one that failed.
const PAUSE: Duration = Duration::from_secs(1);
/// The time after which the gates that have arrived wait quietly, and their first Events are written.
pub(crate) const SETTLED: Duration = Duration::from_secs(15);

/// For each number in `extent.crowds`, starts a controller, measures that many gates that are tasks, and adds the controller's peak memory as a row.
/// Pods of a smaller crowd are used again.
pub(crate) async fn all(
    paths: &Paths,
    cluster: &Cluster,
    extent: &Extent,
    table: &mut Table,
) -> Result<()> {
    let mut pods = vec![];
    for &count in extent.crowds {
        let lacking = count.saturating_sub(pods.len());
        step(&format!("{lacking} more pods that are never scheduled"));
        pods.extend(cluster.pods(lacking, Dependency::ConfigMap.list()).await?);
        api_server::quiet(cluster).await?;
        let mut controller = Controller::start(paths, cluster).await?;
        controller.strands(count).await?;
        measure(&controller, cluster, &pods, extent.window, table).await?;
        let peak = Measure::bytes(controller.peak()?);
        let what = format!("controller, most memory with {count} gates");
        table.row(&what, peak, "VmHWM in /proc/PID/status");
        controller.stop().await?;
    }
    Ok(())
}

/// Adds rows about a gate for each of these pods: the time and processor time until all have arrived and until one change lets all through, the cost
/// while they wait, and the time of other reviews meanwhile.
async fn measure(
    controller: &Controller,
    cluster: &Cluster,
    pods: &[Unscheduled],
    window: Duration,
    table: &mut Table,
) -> Result<()> {
    let count = pods.len();
    step(&format!("{count} gates that are tasks"));
    let alone = controller.memory()?;
    let how = "VmRSS, before any of them asks";
    let what = format!("controller, memory, {count} gated pods");
    table.row(&what, Measure::bytes(alone), how);
    let (began, used) = (Instant::now(), controller.processor()?);
    let gates = start(controller, pods)?;
    controller.asked_by(count).await?;
    let arrived = began.elapsed();
    let cost = controller.processor()?.saturating_sub(used);
    let how = "from the first connection until `sluice_gates_asking` has all of them";
    of_many(
        table.row(&format!("{count} gates arrive"), arrived, how),
        count,
        10_000.0,
    );
    let how = "utime + stime in /proc/PID/stat meanwhile";
    let what = format!("{count} gates arrive, processor time");
    of_many(table.row(&what, cost, how), count, 5000.0);

    wait(controller, count, alone, window, table).await?;
    let before = admission::beside(controller, sleep(Duration::from_secs(5))).await?;
    table.row(
        &format!("admission while {count} gates wait"),
        &before.1,
        "a review every 5 ms",
    );
    let used = controller.processor()?;
    let sending = Instant::now();
    Dependency::ConfigMap.fulfil(cluster).await?;
    let (ends, during) = admission::beside(controller, ended(gates)).await?;
    let cost = controller.processor()?.saturating_sub(used);
    let took = ends?.into_iter().map(|end| end.duration_since(sending));
    let took = Samples::new(took.collect());
    let how = "from sending the write that lets all of them through to the answer that each got";
    table.row(&format!("{count} gates are let through"), &took, how);
    let what = format!("the last of {count} gates is let through");
    of_many(table.row(&what, took.longest(), how), count, 2000.0);
    let how = "utime + stime in /proc/PID/stat meanwhile";
    table.row(
        &format!("{count} gates are let through, processor time"),
        cost,
        how,
    );
    let what = format!("admission while {count} gates are let through");
    table.row(&what, &during, "a review every 5 ms");
    Dependency::ConfigMap.withdraw(cluster).await
}

/// Adds rows about waiting gates: the controller's processor share over `window`, also while Events are written if there are at most 1000 gates, and
/// its memory for each gate beyond `alone`, its bytes before they came.
async fn wait(
    controller: &Controller,
    count: usize,
    alone: u64,
    window: Duration,
    table: &mut Table,
) -> Result<()> {
    let what = format!("{count} gates wait, processor");
    sleep(SETTLED).await;
    // Events go on, one in 50 ms: those of ten thousand take minutes.
    if count <= 1000 {
        let what = format!("{what} while their Events are written");
        let busy = busy(controller, window).await?;
        table.row(&what, busy, &busy_for(window));
        controller.quiet().await?;
    }
    let busy = busy(controller, window).await?;
    table
        .row(&what, busy, &busy_for(window))
        .at_most(if count > 1000 { 3.0 } else { 0.5 });
    let each = controller.memory()?.saturating_sub(alone) / count as u64;
    let text = format!("{:.1} KiB", as_number(each) / 1024.0);
    table
        .row(
            &format!("{count} gates wait, memory of each"),
            Measure::once(text, Unit::Bytes, as_number(each)),
            "VmRSS beyond that of the same process before they came",
        )
        .at_most(20.0 * 1024.0);
    Ok(())
}

/// Sets the target of a row, in milliseconds, if it is that of ten thousand gates; else does nothing.
fn of_many(row: &mut Row, count: usize, target: f64) {
    if count == 10_000 {
        row.at_most(target);
    }
}

/// Measures the share of a core that the controller uses over a window.
pub(crate) async fn busy(controller: &Controller, window: Duration) -> Result<Measure> {
    busy_by(|| controller.processor(), window).await
}

/// Measures the share of a core that `processor`, a reading of total processor time, grows by over a window.
pub(crate) async fn busy_by(
    processor: impl Fn() -> Result<Duration>,
    window: Duration,
) -> Result<Measure> {
    let used = processor()?;
    sleep(window).await;
    let cost = processor()?.saturating_sub(used);
    let percent = cost.as_secs_f64() / window.as_secs_f64() * 100.0;
    let text = format!("{percent:.1} % of a core");
    Ok(Measure::once(text, Unit::Percent, percent))
}

/// Returns the text of the column "how measured" for [`busy`] and [`busy_by`].
pub(crate) fn busy_for(window: Duration) -> String {
    format!("utime + stime in /proc/PID/stat over {window:?}")
}

/// The tasks of gates, each with the time at which it is let through. The tasks end when this is dropped.
pub(crate) type Gates = JoinSet<Result<Instant>>;

/// Starts a task for the gate of each of these pods, which asks the controller from an address of its own until it is let through.
pub(crate) fn start(controller: &Controller, pods: &[Unscheduled]) -> Result<Gates> {
    let tls = TlsConnector::from(Arc::new(trusting(&controller.bundle)?));
    let name = ServerName::try_from(controller.name.clone())?;
    let mut gates = JoinSet::new();
    for (number, pod) in pods.iter().enumerate() {
        let [.., b, c] = u32::try_from(number)?.to_be_bytes();
        let gate = Gate {
            tls: tls.clone(),
            name: name.clone(),
            from: SocketAddr::from((Ipv4Addr::new(127, 1, b, c), 0)),
            to: controller.status,
            token: pod.token.clone(),
        };
        gates.spawn(gate.run());
    }
    Ok(gates)
}

pub(crate) async fn ended(gates: Gates) -> Result<Vec<Instant>> {
    let all = timeout(LIMIT, gates.join_all()).await;
    all.context("a gate is not let through")?
        .into_iter()
        .collect()
}

struct Gate {
    tls: TlsConnector,
    name: ServerName<'static>,
    from: SocketAddr,
    to: SocketAddr,
    token: String,
}

impl Gate {
    /// Asks until the gate is let through, and returns that moment. A question that fails is asked again after a pause; a refusal is an error.
    async fn run(self) -> Result<Instant> {
        let (mut seen, mut kept) = (String::new(), None);
        loop {
            let Ok(answer) = self.ask(&mut kept, &seen).await else {
                kept = None;
                sleep(PAUSE).await;
                continue;
            };
            match answer.verdict {
                Decision::Open => return Ok(Instant::now()),
                Decision::Wait => seen = answer.digest,
                Decision::Refuse => bail!("a gate is refused"),
            }
        }
    }

    async fn ask(&self, kept: &mut Option<Connection>, seen: &str) -> Result<Answer> {
        let connection = match kept {
            Some(connection) if connection.is_ready() => connection,
            _ => kept.insert(self.connect().await?),
        };
        let request = Request::get(format!("{}?seen={seen}&wait={HOLD}", wire::PATH))
            .header(header::HOST, self.name.to_str().as_ref())
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .body(Empty::new())?;
        let response = connection.send_request(request).await?;
        if !response.status().is_success() {
            bail!("{}", response.status());
        }
        let body = response.into_body().collect().await?.to_bytes();
        Ok(serde_json::from_slice(&body)?)
    }

    async fn connect(&self) -> Result<Connection> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(self.from)?;
        let stream = socket.connect(self.to).await?;
        stream.set_nodelay(true)?;
        let stream = self.tls.connect(self.name.clone(), stream).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        #[expect(
            clippy::disallowed_methods,
            reason = "its end shows in the next request"
        )]
        drop(tokio::spawn(connection));
        Ok(sender)
    }
}

type Connection = SendRequest<Empty<Bytes>>;
