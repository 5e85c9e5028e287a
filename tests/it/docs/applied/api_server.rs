//! An API server of this test's own, on loopback: real admission and validation of Kubernetes, without controllers or nodes.

use crate::chart::program;
use harness::cluster::LIMIT;
use harness::process::pipe;
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const TOKEN: &str = "of-this-test";

/// The API server and its etcd as processes. Dropping this ends them.
pub(super) struct ApiServer {
    folder: TempDir,
    kubeconfig: PathBuf,
    kubectl: PathBuf,
    processes: Vec<Child>,
}

impl ApiServer {
    /// Starts an API server; `None`, with a line that says `skipped`, where the programs of the test cluster are missing.
    pub(super) fn start() -> Option<Self> {
        let [Some(etcd), Some(api_server), Some(kubectl)] =
            ["etcd", "kube-apiserver", "kubectl"].map(program)
        else {
            eprintln!("skipped: no API server here; `tests/cluster/cluster build` builds one");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| folder.path().join(name).display().to_string();
        let write = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), text).expect("a file");
        };
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key");
        write("key.pem", key.serialize_pem());
        write("public.pem", key.public_key_pem());
        write(
            "tokens.csv",
            format!("{TOKEN},admin,admin,system:masters\n"),
        );
        let [clients, peers, port] = free_ports();
        let kubeconfig = folder.path().join("kubeconfig");
        write("kubeconfig", kubeconfig_for(port));

        let clients = format!("http://127.0.0.1:{clients}");
        let peers = format!("http://127.0.0.1:{peers}");
        let log = |name: &str| {
            let log = std::fs::File::create(folder.path().join(name)).expect("a file");
            (
                Stdio::from(log.try_clone().expect("a file")),
                Stdio::from(log),
            )
        };
        let start = |program: &Path, args: &[String]| {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            let (out, error) = log(&format!("{name}.log"));
            let mut command = Command::new(program);
            command
                .args(args)
                .stdin(Stdio::null())
                .stdout(out)
                .stderr(error);
            command.spawn().expect("it starts")
        };
        let store = [
            format!("--data-dir={}", file("etcd")),
            "--unsafe-no-fsync".to_owned(),
            format!("--listen-client-urls={clients}"),
            format!("--advertise-client-urls={clients}"),
            format!("--listen-peer-urls={peers}"),
            format!("--initial-advertise-peer-urls={peers}"),
            format!("--initial-cluster=default={peers}"),
        ];
        let serve = [
            format!("--etcd-servers={clients}"),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--secure-port={port}"),
            format!("--cert-dir={}", file("certificates")),
            format!("--token-auth-file={}", file("tokens.csv")),
            format!("--service-account-key-file={}", file("public.pem")),
            format!("--service-account-signing-key-file={}", file("key.pem")),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            // No controller makes the accounts of namespaces.
            "--disable-admission-plugins=ServiceAccount".to_owned(),
        ];
        let server = Self {
            processes: vec![start(&etcd, &store), start(&api_server, &serve)],
            folder,
            kubeconfig,
            kubectl,
        };
        server.answers();
        Some(server)
    }

    fn answers(&self) {
        let since = Instant::now();
        while let Err(error) = self.kubectl(&["get", "namespace", "default"], Vec::new()) {
            let logs = self.folder.path().join("kube-apiserver.log");
            let log = std::fs::read_to_string(logs).unwrap_or_default();
            let last: Vec<&str> = log.lines().rev().take(5).collect();
            assert!(since.elapsed() < LIMIT, "no answer: {error} {last:#?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Runs kubectl on this API server, with this input. Returns its standard output, or its standard error if it fails.
    pub(super) fn kubectl(&self, args: &[&str], input: Vec<u8>) -> Result<String, String> {
        let mut command = Command::new(&self.kubectl);
        command
            .args(args)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("HOME", self.folder.path());
        let output = pipe(&mut command, input);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() {
            Ok(text(&output.stdout))
        } else {
            Err(text(&output.stderr))
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Returns ports that were free a moment ago. Another process may take one meanwhile.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|it| it.local_addr().expect("bound").port())
}

fn kubeconfig_for(port: u16) -> String {
    format!(
        "apiVersion: v1
kind: Config
clusters: [{{name: t, cluster: {{server: 'https://127.0.0.1:{port}', insecure-skip-tls-verify: true}}}}]
users: [{{name: t, user: {{token: {TOKEN}}}}}]
contexts: [{{name: t, context: {{cluster: t, user: t}}}}]
current-context: t
"
    )
}
