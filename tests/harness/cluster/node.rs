//! The node of the cluster that `tests/cluster` starts on this machine. Nothing is known about those of another.

use super::program::{Outcome, Program};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{IpAddr, SocketAddrV4, UdpSocket};

const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cluster/cluster");
/// What its kubelet runs without being asked; its config/kubelet.yaml says so.
const STATIC_PODS: &str = "/run/kubernetes/manifests";
/// Its init.sh and its config/ say so.
const ADDRESS: &str = "172.31.255.2:6443";
/// The machine's end of the link to it.
const LINK: &str = "sluice0";

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

    /// Ends one program of the node, such as `kube-apiserver`, and starts it again with the same arguments.
    pub async fn restart(&self, program: &str) {
        cluster(["again", program]).await.ok();
    }

    /// Sends a signal to one program of the node, e.g. `STOP` and then `CONT` to `etcd`.
    pub async fn signal(&self, program: &str, signal: &str) {
        let kill = format!("kill -{signal} $(cat /run/{program}.pid)");
        cluster(["run", "sh", "-c", &kill]).await.ok();
    }

    /// So many more addresses of this machine, for clients that are not to look like one. They go with the cluster.
    pub async fn more_addresses(&self, count: u8) -> Vec<IpAddr> {
        let mut made = vec![];
        for number in 1..=count {
            let address = IpAddr::from([172, 31, 254, number]);
            let range = format!("{address}/32");
            let replace = ["addr", "replace", &range, "dev", LINK];
            Program::new("ip").args(replace).run().await.ok();
            made.push(address);
        }
        made
    }

    /// How many bytes the API server has sent on each connection of these pods, by the pod's end of it.
    pub async fn told(&self, pods: &[IpAddr]) -> BTreeMap<SocketAddrV4, u64> {
        let state = "state established '( sport = :6443 )'";
        let sockets = cluster(["run", "sh", "-c", &format!("ss -tniHO {state}")]).await;
        let told = sockets.ok();
        let told = told.lines().filter_map(socket);
        told.filter(|(at, _)| pods.contains(&IpAddr::V4(*at.ip())))
            .collect()
    }

    /// Loses every packet between these pods and the API server, both ways, until [`Node::lose_nothing`].
    pub async fn lose_packets_of(&self, pods: &[IpAddr]) {
        let lost = pods.iter().fold(String::new(), |mut lost, pod| {
            let _ = writeln!(
                lost,
                "add rule inet lost in ip saddr {pod} tcp dport 6443 drop\n\
                 add rule inet lost out ip daddr {pod} tcp sport 6443 drop"
            );
            lost
        });
        lose(&lost).await;
    }

    /// The same for some connections only, by the pod's end of each.
    pub async fn lose_packets_between(&self, ends: impl IntoIterator<Item = &SocketAddrV4>) {
        let lost = ends.into_iter().fold(String::new(), |mut lost, end| {
            let (pod, port) = (end.ip(), end.port());
            let _ = writeln!(
                lost,
                "add rule inet lost in ip saddr {pod} tcp sport {port} tcp dport 6443 drop\n\
                 add rule inet lost out ip daddr {pod} tcp dport {port} tcp sport 6443 drop"
            );
            lost
        });
        lose(&lost).await;
    }

    /// Every packet arrives again.
    pub async fn lose_nothing(&self) {
        change_rules("add table inet lost\ndelete table inet lost\n").await;
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

/// Before connection tracking on the way out, where the API server's address is still its own.
async fn lose(rules: &str) {
    let chains = "add table inet lost\n\
                  add chain inet lost in { type filter hook input priority 0; }\n\
                  add chain inet lost out { type filter hook output priority -300; }\n";
    change_rules(&format!("{chains}{rules}")).await;
}

async fn change_rules(script: &str) {
    let program = Program::new(CLUSTER).args(["run", "nft", "-f", "-"]);
    program.input(script).run().await.ok();
}

/// The far end of a socket of the API server, which listens on IPv6 too, and how many bytes it has sent on it.
fn socket(line: &str) -> Option<(SocketAddrV4, u64)> {
    let far = line.split_whitespace().nth(3)?;
    let far = far.replace("[::ffff:", "").replace(']', "");
    let sent = line.split_once("bytes_sent:")?.1;
    let sent = sent.split_whitespace().next()?.parse().ok()?;
    Some((far.parse().ok()?, sent))
}

async fn cluster<const N: usize>(args: [&str; N]) -> Outcome {
    Program::new(CLUSTER).args(args).run().await
}
