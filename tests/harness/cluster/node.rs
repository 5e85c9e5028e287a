//! The node of the cluster that `tests/cluster` starts on this machine. Nothing is known about those of another.

use super::program::{Outcome, Program};
use std::net::{IpAddr, UdpSocket};

const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cluster/cluster");
/// What its kubelet runs without being asked; its config/kubelet.yaml says so.
const STATIC_PODS: &str = "/run/kubernetes/manifests";
/// Its init.sh and its config/ say so.
const ADDRESS: &str = "172.31.255.2:6443";

/// The one node of our own cluster.
pub struct Node(());

impl Node {
    /// The node, where `KUBECONFIG` names that cluster; where not, says `skipped`.
    pub async fn ours() -> Option<Self> {
        let own = cluster(["kubeconfig"]).await.ok();
        let used = std::env::var("KUBECONFIG").unwrap_or_default();
        if used == own.trim() {
            return Some(Self(()));
        }
        eprintln!("skipped: KUBECONFIG does not name the cluster of tests/cluster");
        None
    }

    /// Ends every program on it at once and starts them again, on what they had stored.
    pub async fn power_cycle(&self) {
        cluster(["restart"]).await.ok();
    }

    /// Has the kubelet run a pod that no API server knows of yet; `manifest` is its text.
    pub async fn run_static_pod(&self, name: &str, manifest: &str) {
        // Whole or not at all: the kubelet reads what it sees.
        let whole = format!("cat >/run/{name}.json; mv /run/{name}.json {STATIC_PODS}/");
        let program = Program::new(CLUSTER).args(["run", "sh", "-c", &whole]);
        program.input(manifest).run().await.ok();
    }

    /// Takes such a pod away again.
    pub async fn remove_static_pod(&self, name: &str) {
        let file = format!("{STATIC_PODS}/{name}.json");
        cluster(["run", "rm", "-f", &file]).await.ok();
    }

    /// This machine as the node sees it.
    pub fn machine(&self) -> IpAddr {
        // Nothing is sent: the kernel chooses the address that it would send from.
        let socket = UdpSocket::bind("0.0.0.0:0").expect("there is a free port");
        socket.connect(ADDRESS).expect("the node has a route");
        socket.local_addr().expect("it is bound").ip()
    }
}

async fn cluster<const N: usize>(args: [&str; N]) -> Outcome {
    Program::new(CLUSTER).args(args).run().await
}
