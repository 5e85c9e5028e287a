//! Slots beside an API server whose ConfigMaps are deleted, emptied or garbled.

use super::super::one_object::ConfigMapRef;
use super::super::shards::fake::ApiServer;
use super::*;
use crate::known::slots::WHOLE;
use crate::known::{Settings, View};
use crate::tasks::Tasks;
use jiff::Timestamp;
use rules::holder::{Trouble, Wave};
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::scope::{Scope, outspoken, workloads};
use rules::shards;
use rules::world::Remembered;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const MAPS: &str = "/api/v1/namespaces/sluice-system/configmaps";

struct Cluster {
    server: Arc<ApiServer>,
    known: Arc<Known>,
    /// The knowledge of the other replicas.
    others: Vec<Arc<Known>>,
    pods: Vec<Value>,
    jobs: Vec<Value>,
    /// A view that keeps waiting for slots in the waves of the pods.
    view: View,
}

/// The path of the ConfigMap that stores the slots of a namespace.
fn shard(namespace: &str) -> String {
    let names = shards::names("sluice-slots");
    format!("{MAPS}/{}", names[shards::of(namespace)])
}

fn wave(namespace: &str) -> Wave {
    let scope = Scope {
        namespace: namespace.to_owned(),
        name: "r".to_owned(),
        kept_in: None,
    };
    Wave { scope, weight: 0 }
}

/// Starts the task of a replica that gives slots away, and returns the knowledge of the replica.
fn replica(server: &Arc<ApiServer>) -> Arc<Known> {
    let (known, _) = Known::new(Settings::of_the_chart());
    let stored = ConfigMapRef {
        namespace: "sluice-system".to_owned(),
        name: "sluice-slots".to_owned(),
    };
    let shards = Shards::new(server.client(), &stored, "sluice");
    let clock = Clock::new(|| Timestamp::UNIX_EPOCH);
    let (spawner, mut tasks) = Tasks::new();
    let (client, losses) = (server.client(), Losses::default());
    let work = keep(
        client,
        shards,
        Arc::clone(&known),
        clock,
        losses,
        spawner.clone(),
    );
    spawner.keep("slots", work);
    tokio::spawn(async move { panic!("{:?}", tasks.ended().await) });
    known
}

impl Cluster {
    /// A fake API server with empty ConfigMaps, as the chart makes them, and the task that gives slots away.
    fn new() -> Self {
        let server = Arc::new(ApiServer::default());
        for name in shards::names("sluice-slots") {
            let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
            server.lock().put(&format!("{MAPS}/{name}"), map);
        }
        let labels = json!({"app.kubernetes.io/managed-by": "Helm"});
        let annotations = json!({"meta.helm.sh/release-name": "sluice", "other": "no"});
        let service =
            json!({"metadata": {"name": "sluice", "labels": labels, "annotations": annotations}});
        let path = "/api/v1/namespaces/sluice-system/services/sluice";
        server.lock().put(path, service);
        let known = replica(&server);
        Self {
            server,
            others: Vec::new(),
            view: known.view(),
            known,
            pods: Vec::new(),
            jobs: Vec::new(),
        }
    }

    /// Adds a Job with a cap of one, and its pod, whose gate waits for a slot.
    fn job(&mut self, namespace: &str, name: &str) {
        self.job_of_some(namespace, name, 1);
    }

    /// Adds a Job with this cap, and its pod, whose gate waits for a slot.
    fn job_of_some(&mut self, namespace: &str, name: &str, cap: usize) {
        let cap = cap.to_string();
        let annotations = json!({"sluice.dev/scope": "r", "sluice.dev/parallelism": cap});
        let metadata =
            json!({"namespace": namespace, "name": name, "uid": name, "annotations": annotations});
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata});
        let path = format!("/apis/batch/v1/namespaces/{namespace}/jobs/{name}");
        self.server.lock().put(&path, job.clone());
        self.jobs.push(job);
        let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": name, "controller": true});
        self.pods.push(json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"namespace": namespace, "name": name, "uid": format!("pod-{name}"), "ownerReferences": [owner]},
            "status": {"phase": "Pending", "initContainerStatuses": [
                {"name": "sluice-gate", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}},
            ]},
        }));
        let _ = self.view.slots(&wave(namespace));
    }

    /// Completes every Job of a namespace, and removes their pods.
    fn complete(&mut self, namespace: &str) {
        let jobs = self.jobs.iter_mut();
        for job in jobs.filter(|it| it["metadata"]["namespace"] == namespace) {
            job["status"] = json!({"conditions": [{"type": "Complete", "status": "True"}]});
            let name = job["metadata"]["name"].as_str().unwrap();
            let path = format!("/apis/batch/v1/namespaces/{namespace}/jobs/{name}");
            self.server.lock().put(&path, job.clone());
        }
        let ended = |pod: &Value| pod["metadata"]["namespace"] == namespace;
        self.pods.retain(|pod| !ended(pod));
    }

    /// Adds a Job with a cap of one that admission has created suspended, so that it has no pod.
    fn suspended(&mut self, namespace: &str, name: &str) {
        self.job(namespace, name);
        self.pods.pop();
        let job = self.jobs.last_mut().expect("it is there");
        job["metadata"]["annotations"]["sluice.dev/suspended"] = json!("true");
        job["spec"] = json!({"suspend": true, "template": {}});
        self.known.suspended_jobs().add(namespace, name);
    }

    /// Opens the gate of the pod of this name: the pod runs from now on.
    fn start(&mut self, name: &str) {
        let pod = self
            .pods
            .iter_mut()
            .find(|it| it["metadata"]["name"] == name);
        let status = &mut pod.unwrap()["status"];
        status["phase"] = json!("Running");
        status["initContainerStatuses"][0]["state"] = json!({"terminated": {"exitCode": 0}});
    }

    /// Lets so many seconds pass, in each of which every store gets a sign of the API server. Calls `each` after each second with the
    /// holders in namespace `shop`.
    async fn pass(&self, seconds: u32, each: impl Fn(&[String])) {
        for _ in 0..seconds {
            self.hear();
            tokio::time::sleep(Duration::from_secs(1)).await;
            each(&self.holders("shop"));
        }
    }

    /// Gives every store a sign of the API server, with the present objects.
    fn hear(&self) {
        for known in self.others.iter().chain([&self.known]) {
            let config_maps = Kind::Builtin(kinds::CONFIG_MAP);
            for kind in workloads().chain(outspoken()).chain([config_maps]) {
                let of_kind = |job: &&Value| job["kind"] == kind.word();
                known.want(&kind).replace(self.jobs.iter().filter(of_kind));
            }
            known.plans().replace::<&Value>(&[]);
            known.gated().replace(&self.pods);
        }
    }

    /// Waits until the ConfigMaps name the Job as a holder, and returns how long that took. Panics after ten minutes.
    async fn until_runs(&self, namespace: &str, name: &str) -> Duration {
        let began = Instant::now();
        self.hear();
        while !self.holders(namespace).iter().any(|it| it == name) {
            assert!(
                began.elapsed() < Duration::from_mins(10),
                "{name} never runs"
            );
            if began.elapsed().subsec_millis() < 10 {
                self.hear();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        began.elapsed()
    }

    /// The names of the holders in a namespace, as the replica knows them from the ConfigMaps; empty while they are unknown.
    fn holders(&self, namespace: &str) -> Vec<String> {
        match self.view.slots(&wave(namespace)) {
            Lookup::Found(running) => running.holders.into_iter().map(|it| it.name).collect(),
            _ => Vec::new(),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_loss_of_a_config_map_breaks_a_cap() {
    let mut cluster = Cluster::new();
    cluster.job("shop", "one");
    cluster.pass(60, |_| {}).await;
    assert_eq!(cluster.holders("shop"), ["one"]);
    cluster.start("one");
    cluster.job("shop", "two");
    let never_two =
        |holders: &[String]| assert!(holders.iter().all(|it| it == "one"), "{holders:?}");
    for spoil in ["emptied", "garbled", "deleted", "unmarked", "struck out"] {
        cluster.pass(80, never_two).await;
        assert_eq!(cluster.holders("shop"), ["one"], "before it is {spoil}");
        let mut server = cluster.server.lock();
        let mut map = server.objects.remove(&shard("shop")).unwrap();
        let data = map["data"].as_object_mut().unwrap();
        match spoil {
            "emptied" => data.clear(),
            "garbled" => data.values_mut().for_each(|it| *it = json!("{")),
            "unmarked" => drop(data.remove(WHOLE)),
            "struck out" => data.retain(|key, _| key == WHOLE),
            _ => {}
        }
        if spoil != "deleted" {
            server.put(&shard("shop"), map);
        }
    }
    cluster.pass(100, never_two).await;
    assert_eq!(cluster.holders("shop"), ["one"]);
    let made = cluster.server.lock().objects[&shard("shop")].clone();
    let metadata = &made["metadata"];
    assert_eq!(metadata["labels"]["app.kubernetes.io/managed-by"], "Helm");
    assert_eq!(
        metadata["annotations"],
        json!({"meta.helm.sh/release-name": "sluice"})
    );
    let done = json!([{"type": "Complete", "status": "True"}]);
    cluster.jobs[0]["status"] = json!({"conditions": done});
    let path = "/apis/batch/v1/namespaces/shop/jobs/one";
    let done = cluster.jobs[0].clone();
    cluster.server.lock().put(path, done);
    cluster.pass(10, |_| {}).await;
    assert_eq!(cluster.holders("shop"), ["two"]);
}

/// A Job that sluice has suspended gets a slot as its pod would; a Job that its user has suspended gets none.
#[tokio::test(start_paused = true)]
async fn a_job_that_is_suspended_here_asks_for_a_slot() {
    let mut cluster = Cluster::new();
    cluster.suspended("shop", "one");
    cluster.suspended("shop", "two");
    let never_two = |holders: &[String]| assert!(holders.len() < 2, "{holders:?}");
    cluster.pass(60, never_two).await;
    assert_eq!(cluster.holders("shop"), ["one"]);
    // No slot is asked for a Job that its user has suspended.
    let job = &mut cluster.jobs[1];
    job["metadata"]["annotations"]["sluice.dev/suspended"] = Value::Null;
    let done = &mut cluster.jobs[0];
    done["spec"]["suspend"] = json!(false);
    done["status"] = json!({"conditions": [{"type": "Complete", "status": "True"}]});
    let path = "/apis/batch/v1/namespaces/shop/jobs/one";
    cluster.server.lock().put(path, done.clone());
    cluster.pass(20, never_two).await;
    assert_eq!(cluster.holders("shop"), [""; 0]);
}

/// The gate opens once its dependent has a slot, so a view has to ask for the slot.
#[tokio::test(start_paused = true)]
async fn who_has_given_an_entry_up_asks_for_a_slot() {
    let mut cluster = Cluster::new();
    cluster.job("shop", "one");
    let list =
        |then: &str| format!("- {{kind: ConfigMap, name: cache, timeout: 2m, on-timeout: {then}}}");
    let started = |cluster: &mut Cluster, at: &str, then: &str| {
        let pod = &mut cluster.pods[0];
        pod["metadata"]["annotations"] = json!({"sluice.dev/depends-on": list(then)});
        pod["status"]["startTime"] = json!(at);
    };
    // It is 1970-01-01T00:00:00Z.
    for (at, then) in [
        ("1969-12-31T23:58:01Z", "proceed"),
        ("1969-12-31T23:58:00Z", "wait"),
    ] {
        started(&mut cluster, at, then);
        cluster.pass(60, |_| {}).await;
        assert_eq!(cluster.holders("shop"), [""; 0], "{at} {then}");
    }
    started(&mut cluster, "1969-12-31T23:58:00Z", "proceed");
    cluster.pass(60, |_| {}).await;
    assert_eq!(cluster.holders("shop"), ["one"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_of_one_wave_holds_up_no_other() {
    let mut cluster = Cluster::new();
    let beside = (0..).map(|it| format!("team-{it}"));
    let other = beside
        .into_iter()
        .find(|it| shards::of(it) == shards::of("shop"));
    let other = other.unwrap();
    cluster.pass(60, |_| {}).await;
    cluster.server.lock().refused = Some("spoilt");
    cluster.job("shop", "spoilt");
    cluster.job(&other, "good");
    cluster.pass(20, |_| {}).await;
    assert_eq!(cluster.holders(&other), ["good"]);
    let Lookup::Found(running) = cluster.view.slots(&wave("shop")) else {
        panic!("not read")
    };
    assert_eq!(running.trouble, Some(Trouble::Refused));
    let refusals = cluster.server.lock().refusals;
    assert!((2..=11).contains(&refusals), "{refusals} in 20 s");
    cluster.server.lock().refused = None;
    cluster.pass(10, |_| {}).await;
    assert_eq!(cluster.holders("shop"), ["spoilt"]);
}

/// A namespace has as many holders as there is room for, and the API server is slow: no finding is thrown away, and another
/// namespace does not wait.
#[tokio::test(start_paused = true)]
async fn many_holders_that_finish_together_hold_up_their_wave_for_seconds_and_no_other() {
    const MANY: usize = 450;
    let mut cluster = Cluster::new();
    cluster.others = vec![replica(&cluster.server)];
    cluster.pass(60, |_| {}).await;
    for number in 0..MANY {
        cluster.job_of_some("shop", &format!("job-{number}"), MANY);
    }
    cluster.pass(5, |_| {}).await;
    assert_eq!(cluster.holders("shop").len(), MANY);
    cluster.server.lock().delay = Duration::from_millis(100);
    cluster.complete("shop");
    // Its cap counts for all, so it starts when every one of them is struck out.
    cluster.job("shop", "next");
    cluster.hear();
    tokio::time::sleep(Duration::from_secs(1)).await;
    cluster.job("other", "quick");
    let quick = cluster.until_runs("other", "quick").await;
    assert!(quick < Duration::from_millis(200), "{quick:?}");
    let next = cluster.until_runs("shop", "next").await;
    assert!(next < Duration::from_secs(9), "{next:?}");
    assert_eq!(cluster.holders("shop"), ["next"]);
}
