//! Runs the gate as a process, against a status service on loopback that speaks real TLS.

#![expect(
    clippy::unwrap_used,
    reason = "what these tests set up is not what they test"
)]

use harness::process::{Process, binary};
use harness::status::{Authority, Leaf, NAME, Out, Request, StatusService, chunked, ok, response};
use socket2::{Domain, Socket, Type};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use wire::{PATH, env};

mod marker; // another boot of the node
mod outside; // addresses outside of the cluster
mod trouble; // what goes wrong on the way to a verdict
mod verdict; // verdicts, environment, signals

const OPEN: &str =
    r#"{"verdict": "open", "digest": "end", "news": ["a field of a later version"]}"#;

fn wait_for_migrate(digest: &str) -> String {
    format!(
        r#"{{"verdict": "wait", "digest": "{digest}", "dependencies": [
            {{"dependency": "Service/redis", "name": "redis", "satisfied": false, "status": "NotFound", "reason": "NotFound"}},
            {{"dependency": "Job/migrate", "name": "migrate", "satisfied": false, "status": "InProgress",
              "reason": "JobNotComplete", "message": "Job in progress. success:0, active: 1, failed: 0"}}]}}"#
    )
}

/// The environment and the files of a gate, as its pod has them.
struct Pod {
    folder: TempDir,
    environment: BTreeMap<&'static str, String>,
}

impl Pod {
    fn new(authority: &Authority, addresses: &[SocketAddr]) -> Self {
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let addresses: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
        fs::write(path("token"), "first\n").unwrap();
        let environment = BTreeMap::from([
            (env::ADDRESSES, addresses.join(",")),
            (env::SERVER_NAME, NAME.to_owned()),
            (env::CA_BUNDLE, authority.pem()),
            (env::TOKEN_FILE, path("token")),
            (env::STATE_DIR, path("")),
            ("SLUICE_TERMINATION_LOG", path("termination")),
        ]);
        Self {
            folder,
            environment,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn gate(&self) -> Process {
        Process::start(
            Command::new(binary("sluice-gate"))
                .env_clear()
                .envs(&self.environment),
        )
    }

    /// Replaces a file at once, as the kubelet does: the gate never reads a half-written one.
    fn renew(&self, file: &str, text: &str) {
        fs::write(self.path("next"), text).unwrap();
        fs::rename(self.path("next"), self.path(file)).unwrap();
    }
}

/// Starts a status service that gives these answers to the first, second, ... request; the last one is repeated.
fn serving(authority: &Authority, answers: Vec<String>) -> StatusService {
    StatusService::start(
        authority.server(Leaf::Good),
        move |request: &Request, out: Out| {
            out.write_all(answers[request.number.min(answers.len() - 1)].as_bytes())
        },
    )
}

/// Starts a status service that answers the first request, and each later one with `open` once a message comes from the returned sender.
fn holding(authority: &Authority, first: String) -> (StatusService, mpsc::Sender<()>) {
    let (change, changed) = mpsc::channel();
    let changed = Mutex::new(changed);
    let service = StatusService::start(
        authority.server(Leaf::Good),
        move |request: &Request, out: Out| {
            if request.number == 0 {
                return out.write_all(first.as_bytes());
            }
            let _ = changed.lock().unwrap().recv();
            out.write_all(ok(OPEN).as_bytes())
        },
    );
    (service, change)
}

/// Returns a socket that is bound to a port of loopback but does not listen: the port refuses connections, and no other test can take it.
fn reserved() -> (Socket, SocketAddr) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket
        .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}

/// Returns a port at which connections get no reply at all, as behind a policy that drops packets: its queue is full. The second value keeps it so.
fn black_hole() -> (SocketAddr, impl Sized) {
    let (socket, address) = reserved();
    socket.listen(0).unwrap();
    let mut queue = vec![];
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        queue.push(stream);
    }
    (address, (socket, queue))
}
