//! The node of the cluster that `tests/cluster` starts on this machine. The nodes of other clusters are unknown.

use super::pod::Pod;
use super::program::{Outcome, Program};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{IpAddr, SocketAddrV4, UdpSocket};
use std::path::{Path, PathBuf};

const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cluster/cluster");
/// The folder of the kubelet's static pods, as in config/kubelet.yaml.
const STATIC_PODS: &str = "/run/kubernetes/manifests";
/// The address of the API server, as in init.sh and config/.
const ADDRESS: &str = "172.31.255.2:6443";
/// This machine's end of the link to the node.
const LINK: &str = "sluice0";

/// The one node of the cluster that `tests/cluster` starts on this machine.
pub struct Node(());

impl Node {
    /// Returns the node where `KUBECONFIG` names the cluster of `tests/cluster`. Otherwise prints `skipped` and returns `None`.
    pub async fn ours() -> Option<Self> {
        let own = cluster(["kubeconfig"]).await.ok();
        let used = std::env::var("KUBECONFIG").unwrap_or_default();
        if used == own.trim() {
            return Some(Self(()));
        }
        eprintln!("skipped: KUBECONFIG does not name the cluster of tests/cluster");
        None
    }

    /// Kills every program of the node at once and starts them again, on their stored state.
    pub async fn power_cycle(&self) {
        cluster(["restart"]).await.ok();
    }

    /// Writes another boot's ID into the markers of these pods' gates, as if the machine had booted since: no test can make it boot. Fails where a
    /// pod has no marker.
    pub async fn marks_an_earlier_boot(&self, pods: &[&Pod]) {
        let uids: Vec<&str> = pods.iter().map(|pod| pod.uid.as_str()).collect();
        let script = format!(
            "root=$(tr '\\0' '\\n' </proc/$(cat /run/kubelet.pid)/cmdline | sed -n 's/^--root-dir=//p')
             for uid in {}; do
                 for marker in $root/pods/$uid/volumes/kubernetes.io~empty-dir/*/open; do
                     grep -q . $marker && sed -i 's/^[^ ]*/an-earlier-boot/' $marker || exit 1
                 done
             done
             sync",
            uids.join(" ")
        );
        cluster(["run", "sh", "-c", &script]).await.ok();
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

    /// Adds the addresses 172.31.254.1 to 172.31.254.`count` to this machine and returns them, for clients that must look like several. The cluster's
    /// end removes them.
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

    /// Returns the bytes that the API server has sent on each of its open connections to these pods. A key is the address and the port of the pod.
    pub async fn told(&self, pods: &[IpAddr]) -> BTreeMap<SocketAddrV4, u64> {
        let state = "state established '( sport = :6443 )'";
        let sockets = cluster(["run", "sh", "-c", &format!("ss -tniHO {state}")]).await;
        let told = sockets.ok();
        let told = told.lines().filter_map(socket);
        told.filter(|(at, _)| pods.contains(&IpAddr::V4(*at.ip())))
            .collect()
    }

    /// Drops every packet between these pods and the API server, both ways, until [`Node::lose_nothing`].
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

    /// Drops every packet of some connections to the API server, given by the pod's end of each.
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

    /// Makes the container runtime pull the images of `host` from the registry at this URL.
    pub fn pulls_from(&self, host: &str, registry: &str) {
        let folder = registries().join(host);
        std::fs::create_dir_all(&folder).expect("the folder is ours");
        let hosts = format!("server = \"{registry}\"\n");
        std::fs::write(folder.join("hosts.toml"), hosts).expect("the folder is there");
    }

    /// Makes the container runtime pull the images of `host` from `host` itself again, after [`Node::pulls_from`].
    pub fn pulls_from_nowhere(&self, host: &str) {
        std::fs::remove_dir_all(registries().join(host)).expect("the folder is there");
    }

    /// Lets all packets through again that [`Node::lose_packets_of`] and [`Node::lose_packets_between`] drop.
    pub async fn lose_nothing(&self) {
        change_rules("add table inet lost\ndelete table inet lost\n").await;
    }

    /// Makes the kubelet run a pod that the API server does not know yet. `manifest` is its text.
    pub async fn run_static_pod(&self, name: &str, manifest: &str) {
        // Write the file as a whole: the kubelet reads a file as soon as it appears.
        let whole = format!("cat >/run/{name}.json; mv /run/{name}.json {STATIC_PODS}/");
        let program = Program::new(CLUSTER).args(["run", "sh", "-c", &whole]);
        program.input(manifest).run().await.ok();
    }

    /// Makes the kubelet end the pod of [`Node::run_static_pod`]: removes its file.
    pub async fn remove_static_pod(&self, name: &str) {
        let file = format!("{STATIC_PODS}/{name}.json");
        cluster(["run", "rm", "-f", &file]).await.ok();
    }

    /// Returns the address of this machine as the node sees it.
    pub fn machine(&self) -> IpAddr {
        // No packet is sent: the kernel chooses the address that it would send from.
        let socket = UdpSocket::bind("0.0.0.0:0").expect("there is a free port");
        socket.connect(ADDRESS).expect("the node has a route");
        socket.local_addr().expect("it is bound").ip()
    }
}

/// Adds rules to the chains `in` and `out` of the nftables table `lost`. Outgoing packets are matched before connection tracking, while the API
/// server's address is still its own.
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

/// Reads a line of `ss`: the client's address and port of one of the API server's connections, and the bytes sent on it. The sockets listen on IPv6
/// too. `None` where the line lacks one of these.
fn socket(line: &str) -> Option<(SocketAddrV4, u64)> {
    let far = line.split_whitespace().nth(3)?;
    let far = far.replace("[::ffff:", "").replace(']', "");
    let sent = line.split_once("bytes_sent:")?.1;
    let sent = sent.split_whitespace().next()?.parse().ok()?;
    Some((far.parse().ok()?, sent))
}

/// The folder in which containerd looks for registries, as in config/containerd.toml: beside the kubeconfig.
fn registries() -> PathBuf {
    let kubeconfig = std::env::var_os("KUBECONFIG").unwrap_or_default();
    Path::new(&kubeconfig).with_file_name("registries")
}

async fn cluster<const N: usize>(args: [&str; N]) -> Outcome {
    Program::new(CLUSTER).args(args).run().await
}
