//! Measures hundreds of held pods: their cost while they wait, and their release while replicas are killed.

use crate::cluster::troubleshooting::room::Room;
use harness::cluster::{
    LIMIT, Manifest, Namespace, Node, Pod, Program, alone, await_until, config_map, deployment,
    finally, sluice, text,
};
use harness::machine;
use rules::gate;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

const ENABLED: &str = "holds.enabled=true";
/// The number of held pods, more than the node takes.
const MANY: usize = 300;
/// The number of pods for which the node has room once they are let go.
const FEW: usize = 5;
/// The most memory that the replicas may take for all held pods together, in MiB.
const MOST: u64 = 32;
const PROGRAM: &str = "sluice-webhook";

/// Makes the Deployment `many` of held pods that wait for ConfigMap/go, and returns the pods. The node has room for all of them at first.
async fn many(ns: &Namespace, room: &Room) -> Vec<Pod> {
    room.is(ns, json!(MANY.to_string())).await;
    let many = deployment("many").depends_on("configmap/go").held("true");
    let many: Manifest = room.taken_by(many).with("/spec/replicas", MANY);
    ns.apply([many]).await.ok();
    ns.pods_of("many", MANY).await
}

/// Returns the pods of `many`, and fails unless all are held: none has a node, and none a container.
async fn all_are_held(ns: &Namespace) -> Vec<Value> {
    let pods = ns.look.list("pod", "app=many").await;
    assert_eq!(pods.len(), MANY);
    for pod in &pods {
        assert!(gate::is_held(pod), "{pod:#}");
        assert!(pod["spec"]["nodeName"].is_null(), "{pod:#}");
        for list in ["initContainerStatuses", "containerStatuses"] {
            assert!(pod["status"][list].is_null(), "{pod:#}");
        }
    }
    pods
}

/// Creates ConfigMap/go, which lets all pods go, after the room is cut to a few. Returns the resource version of the ConfigMap, and the present
/// moment.
async fn lets_go(ns: &Namespace, room: &Room) -> (u64, Instant) {
    // The node could not start as many at once.
    room.is(ns, json!(FEW.to_string())).await;
    ns.apply([config_map("go")]).await.ok();
    let go = ns.look.get("configmap/go").await;
    (version(&go), Instant::now())
}

/// Returns the `resourceVersion` of an object as a number: within one etcd these numbers are in the order of the writes.
fn version(object: &Value) -> u64 {
    let version = text(object, "/metadata/resourceVersion").parse();
    version.expect("a number")
}

/// Runs `go`, watches until none of the pods is held any more, prints how many were let go a second, and fails where one was let go before the write
/// whose version `go` returns.
async fn none_went_early(
    ns: &Namespace,
    before: &[Value],
    go: impl Future<Output = (u64, Instant)>,
) {
    let since = before.iter().map(version).max().expect("a pod").to_string();
    let (mut freed, last) = (BTreeMap::new(), Cell::new(Instant::now()));
    let watch = ns.look.follow("pod", &since, |pod| {
        if !gate::is_held(pod) {
            let name = text(pod, "/metadata/name").to_owned();
            freed.entry(name).or_insert_with(|| {
                last.set(Instant::now());
                version(pod)
            });
        }
        freed.len() == MANY
    });
    let ((), (go, at)) = tokio::join!(watch, go);
    let early: Vec<_> = freed.iter().filter(|(_, version)| **version < go).collect();
    assert!(early.is_empty(), "{early:?} before {go}");
    let took = last.get().duration_since(at);
    let rate = MANY as u128 * 1_000 / took.as_millis().max(1);
    eprintln!("{MANY} held pods were let go in {took:.1?}: {rate} a second");
}

/// Returns the number of requests of all replicas to the API server so far, by verb and resource, except for watches, which serve no single pod.
async fn requests() -> BTreeMap<String, u64> {
    let mut requests = sluice::requests().await;
    requests.retain(|request, _| !request.starts_with("watch "));
    requests
}

/// Waits until no Event is written any more, and returns the requests of the minute after that.
async fn requests_of_a_minute() -> BTreeMap<String, u64> {
    let minute = Duration::from_mins(1);
    let what = "no Event is written any more";
    await_until(what, LIMIT * 2, async || {
        let before = requests().await;
        sleep(Duration::from_secs(10)).await;
        let made = more(&before, &requests().await);
        match made.keys().find(|key| key.contains("events")) {
            None => Ok(()),
            Some(_) => Err(format!("{made:?}")),
        }
    })
    .await;
    let before = requests().await;
    sleep(minute).await;
    more(&before, &requests().await)
}

fn more(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let more = after.iter().map(|(key, count)| {
        let made = count - before.get(key).copied().unwrap_or_default();
        (key.clone(), made)
    });
    more.filter(|(_, made)| *made > 0).collect()
}

/// Kills `count` replicas at once, those that have run longest.
async fn kill(count: usize) {
    let what = format!("{count} replicas run");
    let replicas = await_until(&what, LIMIT, async || {
        let mut replicas = machine::contained(PROGRAM).expect("/proc can be read");
        replicas.sort_unstable();
        if replicas.len() >= count {
            Ok(replicas)
        } else {
            Err(format!("{replicas:?}"))
        }
    })
    .await;
    for pid in &replicas[..count] {
        let pid = pid.to_string();
        let killed = Command::new("kill").args(["-9", &pid]).status().await;
        assert!(killed.is_ok_and(|it| it.success()), "kill {pid}");
    }
}

/// Returns the memory of all pods on the room's node together, in bytes; the replicas are among them.
async fn memory(room: &Room) -> u64 {
    let path = format!("/api/v1/nodes/{}/proxy/stats/summary", room.node);
    let raw = ["get", "--raw", &path];
    let summary = Program::new("kubectl").args(raw).run().await.ok();
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    let groups = summary["node"]["systemContainers"].as_array();
    let mut groups = groups.into_iter().flatten();
    let pods = groups.find(|it| it["name"] == "pods").expect("all pods");
    let bytes = &pods["memory"]["workingSetBytes"];
    bytes.as_u64().expect("a count of bytes")
}

#[tokio::test]
#[ignore = "five minutes in a cluster with sluice where nothing else runs"]
async fn three_hundred_held_pods_cost_nothing_and_are_let_go_by_one_change() {
    alone("held-many", async |ns| {
        sluice::with_values_alone(&["--set", ENABLED], async || {
            let room = Room::on_a_node(ns).await;
            let test = async || {
                let none = memory(&room).await;
                many(ns, &room).await;
                let made = requests_of_a_minute().await;
                let held = memory(&room).await;
                let [none, held] = [none, held].map(|bytes| bytes.div_ceil(1 << 20));
                eprintln!("{held} MiB in the containers of the node, {MANY} pods held; {none} MiB with none");
                assert!(held < none + MOST, "{held} MiB, {none} MiB");
                eprintln!("requests in a minute beside watches, {MANY} pods held: {made:?}");
                let theirs = ["pods", "events", "tokenreviews", "configmaps"];
                let is_theirs = |key: &&String| theirs.iter().any(|it| key.contains(it));
                assert_eq!(made.keys().find(is_theirs), None, "{made:?}");
                let before = all_are_held(ns).await;
                none_went_early(ns, &before, lets_go(ns, &room)).await;
                some_run(ns).await;
            };
            finally(test, async |_| room.is(ns, Value::Null).await).await;
        })
        .await;
    })
    .await;
}

/// Checks that as many pods run as there is room for, and that each started after its dependency was created.
async fn some_run(ns: &Namespace) {
    let go = ns.look.get("configmap/go").await;
    let go: jiff::Timestamp = text(&go, "/metadata/creationTimestamp")
        .parse()
        .expect("a time");
    let what = format!("{FEW} pods have a node");
    let placed = await_until(&what, LIMIT, async || {
        let mut pods = ns.pods_of("many", MANY).await;
        let on_a_node = ns.look.list("pod", "app=many").await;
        let on_a_node = on_a_node
            .iter()
            .filter(|it| !it["spec"]["nodeName"].is_null());
        let uids: BTreeSet<_> = on_a_node.map(|it| text(it, "/metadata/uid")).collect();
        pods.retain(|pod| uids.contains(pod.uid.as_str()));
        if pods.len() == FEW {
            Ok(pods)
        } else {
            Err(pods.len().to_string())
        }
    })
    .await;
    for pod in placed {
        pod.starts().await;
        assert!(pod.since("PodScheduled").await >= go);
    }
}

#[tokio::test]
#[ignore = "five minutes in a cluster with sluice where nothing else runs"]
async fn none_stays_held_and_none_goes_early_while_replicas_are_killed() {
    if Node::ours().await.is_none() {
        return;
    }
    alone("held-killed", async |ns| {
        sluice::with_values_alone(&["--set", ENABLED], async || {
            let room = Room::on_a_node(ns).await;
            let test = async || {
                many(ns, &room).await;
                kill(1).await;
                sluice::all_ready().await;
                let before = all_are_held(ns).await;
                let go = async {
                    kill(2).await; // the replica that lets them go has not seen them wait
                    let go = lets_go(ns, &room).await;
                    let left = first_is_let_go(ns).await;
                    kill(1).await;
                    eprintln!(
                        "{left} were still held when the replica was killed that let go first"
                    );
                    go
                };
                none_went_early(ns, &before, go).await;
                sluice::all_ready().await;
                some_run(ns).await;
            };
            finally(test, async |_| room.is(ns, Value::Null).await).await;
        })
        .await;
    })
    .await;
}

/// Waits until at least one pod is let go, and returns the number of those that are still held.
async fn first_is_let_go(ns: &Namespace) -> usize {
    await_until("a pod is let go", LIMIT, async || {
        let pods = ns.look.list("pod", "app=many").await;
        match pods.iter().filter(|pod| gate::is_held(pod)).count() {
            MANY => Err("all are held".to_owned()),
            held => Ok(held),
        }
    })
    .await
}
