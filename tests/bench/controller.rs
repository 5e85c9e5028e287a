//! The controller as a process of this machine, with an identity of its own in the cluster.

use crate::Paths;
use crate::cluster::Cluster;
use crate::reviews::Endpoint;
use anyhow::{Context, Result, bail};
use harness::machine;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};
use tokio::time::sleep;

/// The longest time that a wait for the controller may take.
const LIMIT: Duration = Duration::from_mins(4);

/// A controller process. It is killed when this is dropped.
pub(crate) struct Controller {
    process: Child,
    pid: u32,
    log: PathBuf,
    admin: SocketAddr,
    admission: SocketAddr,
    /// The address at which the controller answers gates.
    pub(crate) status: SocketAddr,
    /// The name in the controller's certificate.
    pub(crate) name: String,
    /// The authorities that signed the controller's certificate, PEM.
    pub(crate) bundle: String,
}

impl Controller {
    /// Starts a controller with the arguments that every run has, and returns when it is ready.
    pub(crate) async fn start(paths: &Paths, cluster: &Cluster) -> Result<Self> {
        Self::start_with(paths, cluster, &[]).await
    }

    /// Starts a controller on free ports, with the arguments `more` after those that every bench has, and returns when `/ready` answers. An error
    /// says that it ended or did not become ready.
    pub(crate) async fn start_with(
        paths: &Paths,
        cluster: &Cluster,
        more: &[String],
    ) -> Result<Self> {
        let [admission, status, admin] = ports()?;
        let log = format!("controller-{}.log", admin.port());
        let (binary, log) = (&paths.webhook, paths.scratch.path().join(log));
        let stderr = File::create(&log).context("failed to make a file for the log")?;
        let process = Command::new(binary)
            .arg(format!("--service-namespace={}", cluster.namespace))
            .arg(format!("--webhook-configuration={}", cluster.namespace))
            .arg(format!("--admission-port={}", admission.port()))
            .arg(format!("--status-port={}", status.port()))
            .arg(format!("--admin-port={}", admin.port()))
            .args([
                "--gate-image=localhost/sluice-gate:dev",
                "--shutdown-delay=0s",
            ])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("failed to start {}", binary.display()))?;
        let mut controller = Self {
            pid: process.id().context("the controller has ended")?,
            process,
            log,
            admin,
            admission,
            status,
            name: format!("sluice.{}.svc", cluster.namespace),
            bundle: String::new(),
        };
        controller
            .until("ready", |controller| Ok(controller.get("/ready").is_ok()))
            .await?;
        controller.bundle = cluster.bundle().await?;
        Ok(controller)
    }

    /// Waits until exactly `count` gates ask the controller; an error after four minutes.
    pub(crate) async fn asked_by(&self, count: usize) -> Result<()> {
        let what = format!("asked by {count} gates");
        self.until(&what, |controller| {
            Ok(controller.metric("sluice_gates_asking")? == count as u64)
        })
        .await
    }

    /// Waits until the controller has seen at least `count` gates that do not trust it: the pods are made for the installed sluice,
    /// which has another name, and each pod gets an Event. That is no part of the cost of a waiting gate.
    pub(crate) async fn strands(&self, count: usize) -> Result<()> {
        let what = format!("aware of {count} stranded gates");
        self.until(&what, |controller| {
            Ok(controller.metric("sluice_stranded_pods")? >= count as u64)
        })
        .await
    }

    /// Waits until the controller has written all Events: until it writes none for a second, but at least 13 seconds. An error after about two
    /// minutes.
    pub(crate) async fn quiet(&self) -> Result<()> {
        // A missing dependency gets its Event after ten seconds.
        sleep(Duration::from_secs(12)).await;
        let mut last = u64::MAX;
        for _ in 0..120 {
            let events = self.requests()?.get("create events").copied().unwrap_or(0);
            if events == last {
                return Ok(());
            }
            last = events;
            sleep(Duration::from_secs(1)).await;
        }
        bail!("the controller writes Events without end")
    }

    /// The controller's requests to the API server so far, by verb and resource: `create tokenreviews`.
    pub(crate) fn requests(&self) -> Result<BTreeMap<String, u64>> {
        let text = self.get("/metrics")?;
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("sluice_api_requests_total{"));
        let parsed = lines.map(|line| {
            // verb="create",resource="tokenreviews"} 12
            let mut parts = line.split('"');
            let (verb, resource) = (parts.nth(1)?, parts.nth(1)?);
            Some((
                format!("{verb} {resource}"),
                line.rsplit(' ').next()?.parse().ok()?,
            ))
        });
        let requests: Option<_> = parsed.collect();
        requests.context("the counter of requests cannot be read")
    }

    fn metric(&self, name: &str) -> Result<u64> {
        let text = self.get("/metrics")?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse().ok())
            .with_context(|| format!("no metric {name}"))
    }

    fn get(&self, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect(self.admin)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n"
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let (head, body) = text.split_once("\r\n\r\n").context("no answer")?;
        if !head.starts_with("HTTP/1.1 200 ") {
            bail!("{path}: {body}");
        }
        Ok(body.to_owned())
    }

    async fn until(&self, what: &str, holds: impl Fn(&Self) -> Result<bool>) -> Result<()> {
        let end = Instant::now() + LIMIT;
        while Instant::now() < end {
            if holds(self)? {
                return Ok(());
            }
            sleep(Duration::from_millis(20)).await;
        }
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        bail!("the controller is not {what} after {LIMIT:?}; its log:\n{log}")
    }

    /// The address at which the controller admits pods.
    pub(crate) fn endpoint(&self) -> Result<Endpoint> {
        Endpoint::new(self.admission, &self.name, "/admit/pods", &self.bundle)
    }

    /// The address at which the controller judges held creations.
    pub(crate) fn creations(&self) -> Result<Endpoint> {
        Endpoint::new(self.admission, &self.name, "/admit/creations", &self.bundle)
    }

    /// Returns the resident memory of the controller now, in bytes.
    pub(crate) fn memory(&self) -> Result<u64> {
        self.memory_of("VmRSS")
    }

    /// Returns the most resident memory that the controller ever had, in bytes.
    pub(crate) fn peak(&self) -> Result<u64> {
        self.memory_of("VmHWM")
    }

    /// Returns the controller's memory in bytes, from the line `line` of `/proc/PID/status`.
    pub(crate) fn memory_of(&self, line: &str) -> Result<u64> {
        machine::bytes(self.pid, "status", line)
    }

    /// Returns the processor time that the controller has used since its start.
    pub(crate) fn processor(&self) -> Result<Duration> {
        machine::processor(self.pid)
    }

    /// Ends the controller.
    pub(crate) async fn stop(&mut self) -> Result<()> {
        self.process
            .kill()
            .await
            .context("failed to end the controller")
    }
}

/// Returns loopback addresses, each with a TCP port that is free at every address of this machine. Another process may take one before the caller's
/// does; the caller's process then reports that.
pub(crate) fn ports<const COUNT: usize>() -> Result<[SocketAddr; COUNT]> {
    let mut ports = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)); COUNT];
    let mut held = vec![];
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        port.set_port(listener.local_addr()?.port());
        held.push(listener);
    }
    Ok(ports)
}
