//! Gates that wait for one address outside of the cluster, which each of them probes by itself.

use crate::Paths;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::gates::Gates;
use crate::measure::{Measure, Unit, as_number};
use crate::step;
use crate::table::Table;
use anyhow::{Context, Result, bail};
use harness::samples::Samples;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The time after which every gate probes as seldom as it ever does: pauses of 1, 2, 4, 8 and 10 s, and their jitter.
const SETTLES: Duration = Duration::from_secs(40);

/// The time over which dials are counted.
const WINDOW: Duration = Duration::from_secs(30);

/// The target: the most dials of each gate in a minute. 10,000 gates are not to dial more than 1,000 times a second.
const MOST: f64 = 1000.0 * 60.0 / 10_000.0;

/// Adds rows about `count` gates that wait for one HTTP address: their dials a minute, the controller's processor share meanwhile, the memory of a
/// gate, and the time from the first good answer until each gate has exited.
pub(crate) async fn measure(
    paths: &Paths,
    cluster: &Cluster,
    count: usize,
    table: &mut Table,
) -> Result<()> {
    step(&format!("{count} gates wait for one address"));
    let server = Server::start().await?;
    let list = format!("http://{}/", server.address);
    let pods = cluster.pods(count, &list).await?;
    let mut controller = Controller::start(paths, cluster).await?;
    let gates = Gates::new(paths, &controller, &pods);
    let running = gates.start(count)?;
    server.dialled_by(count).await?;
    sleep(SETTLES).await;
    let (before, busy) = (server.dials(), controller.processor()?);
    sleep(WINDOW).await;
    let busy = controller.processor()?.saturating_sub(busy);
    let dials = as_number((server.dials() - before) as u64) * 60.0 / WINDOW.as_secs_f64();
    let how = format!(
        "connections that an HTTP server on loopback accepts in {WINDOW:?}; it answers 503"
    );
    let text = format!("{:.0} a second", dials / 60.0);
    table
        .row(
            &format!("dials of an address that {count} gates wait for"),
            Measure::once(text, Unit::PerMinute, dials),
            &how,
        )
        .at_most(MOST * as_number(count as u64));
    let share = busy.as_secs_f64() / WINDOW.as_secs_f64() * 100.0;
    table.row(
        &format!("controller, processor, {count} gates that probe"),
        Measure::once(format!("{share:.1} % of a core"), Unit::Percent, share),
        "utime + stime in /proc/PID/stat, meanwhile",
    );
    table
        .row(
            "gate, memory while it probes",
            Measure::bytes(running.memory()?),
            "Private_Dirty in /proc/PID/smaps_rollup, mean",
        )
        .at_most(250_000.0);
    let mut exits = running.exits();
    let answers = Instant::now();
    server.serve();
    let mut took = vec![];
    while let Some(exit) = exits.join_next().await {
        let exit = exit.context("a wait was cancelled")??;
        took.push(exit.duration_since(answers));
    }
    table.row(
        &format!("an address answers to gate gone, {count} gates waiting"),
        &Samples::new(took),
        "from the server's first good answer to `waitid` of each gate process; a gate probes every ten seconds by then",
    );
    drop(gates);
    controller.stop().await
}

/// An HTTP server that counts the connections to it. It answers every request with 503 until [`Self::serve`] is called, then with 200.
struct Server {
    address: SocketAddr,
    state: Arc<State>,
    /// The task that accepts connections. It ends when this is dropped.
    _accepting: JoinSet<()>,
}

#[derive(Default)]
struct State {
    dials: AtomicUsize,
    serves: AtomicBool,
}

impl Server {
    /// Starts a server on a free port of loopback. It answers 503 until [`Self::serve`] is called.
    async fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::default());
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, Arc::clone(&state)));
        Ok(Self {
            address,
            state,
            _accepting: accepting,
        })
    }

    fn dials(&self) -> usize {
        self.state.dials.load(Ordering::Relaxed)
    }

    /// Answers 200 from now on.
    fn serve(&self) {
        self.state.serves.store(true, Ordering::Relaxed);
    }

    /// Waits until there were at least `count` connections; an error after a minute.
    async fn dialled_by(&self, count: usize) -> Result<()> {
        for _ in 0..600 {
            if self.dials() >= count {
                return Ok(());
            }
            sleep(Duration::from_millis(100)).await;
        }
        bail!("{} of {count} gates have dialled", self.dials())
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut answers = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        state.dials.fetch_add(1, Ordering::Relaxed);
        answers.spawn(answer(stream, Arc::clone(&state)));
        while answers.try_join_next().is_some() {}
    }
}

/// Reads a connection to the end of its request's header, and answers 503 or 200. A client that has gone is no error.
async fn answer(mut stream: TcpStream, state: Arc<State>) -> Result<()> {
    let mut request = vec![];
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let status = if state.serves.load(Ordering::Relaxed) {
        "200 OK"
    } else {
        "503 Service Unavailable"
    };
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    Ok(stream.write_all(answer.as_bytes()).await?)
}
