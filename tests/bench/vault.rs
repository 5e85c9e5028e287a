//! The peer of admission: HashiCorp's injector, which patches pods as we do. Its own program runs as a process of this machine,
//! and finds the credentials that a pod would find.

use crate::account::Account;
use crate::cluster::Cluster;
use crate::controller::ports;
use crate::reviews::{Endpoint, Reviews};
use anyhow::{Context, Result, bail};
use harness::machine;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};
use tokio::time::sleep;

/// The name of the peer in the table, with the version that the module in `peers/` builds.
pub(crate) const NAME: &str = "vault-k8s 1.6.2";
const PROGRAM: &str = "vault-k8s";
/// The name in the injector's certificate.
const HOST: &str = "vault-k8s.bench.svc";
const LIMIT: Duration = Duration::from_secs(30);
/// The script that puts the token and the CA of folder `$1` where each pod has them, in a mount namespace of its own, and starts the injector there.
const AS_IN_A_POD: &str = r#"
mount -t tmpfs tmpfs /var/run
mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
cp "$1/token" "$1/ca.crt" /var/run/secrets/kubernetes.io/serviceaccount
shift
exec "$@""#;

/// A running injector. It is killed when this is dropped.
pub(crate) struct Injector {
    process: Child,
    pid: u32,
    pub(crate) endpoint: Endpoint,
}

impl Injector {
    /// Starts an injector with a service account of its own, and returns when it answers `review`. An error where its program is missing or it does
    /// not answer within half a minute.
    pub(crate) async fn start(cluster: &Cluster, scratch: &Path, review: &str) -> Result<Self> {
        if Command::new(PROGRAM).arg("version").output().await.is_err() {
            bail!("there is no {PROGRAM} on the path; `make bench` builds it with Go");
        }
        let folder = scratch.join("vault");
        fs::create_dir_all(&folder)?;
        let own = rcgen::generate_simple_self_signed([HOST.to_owned()])?;
        let account = Account::make(cluster).await?;
        let (certificate, key) = (folder.join("tls.crt"), folder.join("tls.key"));
        fs::write(&certificate, own.cert.pem())?;
        fs::write(&key, own.signing_key.serialize_pem())?;
        fs::write(folder.join("token"), account.token)?;
        fs::write(folder.join("ca.crt"), account.authority)?;
        let [address] = ports()?;
        let process = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-euc"])
            .args([AS_IN_A_POD, "sh"])
            .arg(&folder)
            .args([PROGRAM, "agent-inject"])
            .arg(format!("-listen={address}"))
            .arg("-vault-address=https://vault.vault.svc:8200")
            .arg(format!("-tls-cert-file={}", certificate.display()))
            .arg(format!("-tls-key-file={}", key.display()))
            .env("KUBERNETES_SERVICE_HOST", account.host)
            .env("KUBERNETES_SERVICE_PORT", account.port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.join("log"))?)
            .kill_on_drop(true)
            .spawn()
            .context("failed to start unshare")?;
        let injector = Self {
            pid: process.id().context("it has ended")?,
            process,
            endpoint: Endpoint::new(address, HOST, "/mutate", &own.cert.pem())?,
        };
        let end = Instant::now() + LIMIT;
        while let Err(error) = injector.reviews(review) {
            if Instant::now() > end {
                let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
                let last = log.lines().last().unwrap_or_default();
                return Err(
                    error.context(format!("it does not answer; its log ends with {last:?}"))
                );
            }
            sleep(Duration::from_millis(50)).await;
        }
        Ok(injector)
    }

    fn reviews(&self, review: &str) -> Result<Duration> {
        Reviews::begin(&self.endpoint, review)?.next()
    }

    /// Returns the injector's memory in bytes, from the line `line` of `/proc/PID/status`.
    pub(crate) fn memory(&self, line: &str) -> Result<u64> {
        machine::bytes(self.pid, "status", line)
    }

    /// Returns the processor time that the injector has used since its start.
    pub(crate) fn processor(&self) -> Result<Duration> {
        machine::processor(self.pid)
    }

    /// Ends the injector.
    pub(crate) async fn stop(&mut self) -> Result<()> {
        self.process.kill().await.context("failed to end it")
    }
}
