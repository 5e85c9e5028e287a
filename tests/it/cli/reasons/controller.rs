//! The controller and its gates, as processes.

use super::cluster::SETTINGS;
use crate::cli::api::Api;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harness::process::{Process, binary};
use harness::token::of_gate;
use std::net::TcpListener;
use std::process::Command;
use tempfile::{NamedTempFile, TempDir};
use wire::env;

/// The controller as a process. Dropping this ends it.
pub(super) struct Controller {
    _process: Process,
    _kubeconfig: NamedTempFile,
    status: u16,
    bundle: String,
}

impl Controller {
    pub(super) fn start(api: &Api) -> Self {
        let kubeconfig = api.kubeconfig(true);
        // The ports stay reserved until the controller opens them again.
        let ports = [0; 3].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
        let [admission, status, admin] = ports.each_ref().map(|it| it.local_addr().unwrap().port());
        drop(ports);
        let process = Process::start(
            Command::new(binary("sluice-webhook"))
                .env_clear()
                .env("KUBECONFIG", kubeconfig.path())
                .args(SETTINGS)
                .args([
                    "--service-namespace=sluice-system",
                    "--gate-image=gate",
                    "--shutdown-delay=0s",
                    "--log-level=warn",
                ])
                .arg(format!("--admission-port={admission}"))
                .arg(format!("--status-port={status}"))
                .arg(format!("--admin-port={admin}")),
        );
        let bundle = api.wait("/api/v1/namespaces/sluice-system/secrets/sluice-ca");
        let bundle = bundle["data"]["ca.crt"].as_str().unwrap();
        let bundle = STANDARD.decode(bundle).unwrap();
        Self {
            _process: process,
            _kubeconfig: kubeconfig,
            status,
            bundle: String::from_utf8(bundle).unwrap(),
        }
    }

    /// Starts the gate of the pod `api` in a namespace, and returns it with the folder of its token.
    pub(super) fn gate(&self, namespace: &str) -> (Process, TempDir) {
        let folder = TempDir::new().unwrap();
        let token = folder.path().join("token");
        std::fs::write(
            &token,
            of_gate(namespace, "api", &format!("api-of-{namespace}")),
        )
        .unwrap();
        let process = Process::start(
            Command::new(binary("sluice-gate"))
                .env_clear()
                .env(env::ADDRESSES, format!("127.0.0.1:{}", self.status))
                .env(env::SERVER_NAME, "sluice.sluice-system.svc")
                .env(env::CA_BUNDLE, &self.bundle)
                .env(env::TOKEN_FILE, &token)
                .env(env::STATE_DIR, folder.path())
                .env("SLUICE_TERMINATION_LOG", folder.path().join("termination")),
        );
        (process, folder)
    }
}
