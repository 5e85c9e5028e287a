//! Charts of `fixtures/suggest` with the annotations that `kubectl sluice suggest` proposes, and without their wait loops: their pods start in the
//! right order.

use crate::cli::suggest::proposed;
use harness::cluster::{Chart, LIMIT, Namespace, await_until, with_namespace};
use std::fs;

/// The container that runs in place of each one of a chart: it prints `started`, and is ready once the test creates `/tmp/ready`.
const LASTS: &str = "- name: app
          image: docker.io/library/busybox:1.35
          imagePullPolicy: IfNotPresent
          command: [sh, -c, \"echo started; exec sleep 100000\"]
          readinessProbe: {exec: {command: [test, -e, /tmp/ready]}, periodSeconds: 1, timeoutSeconds: 20, failureThreshold: 1}";
const ENDS: &str = "- name: app
          image: docker.io/library/busybox:1.35
          imagePullPolicy: IfNotPresent
          command: [sh, -c, \"echo started; until [ -e /tmp/ready ]; do sleep 0.2; done\"]";

/// Returns the template of a workload without its wait loops, with an image that the test cluster has.
fn stand_in(template: &str) -> String {
    let container = if template.contains("kind: Job") {
        ENDS
    } else {
        LASTS
    };
    let kept = match template.split_once("      initContainers:\n") {
        Some((head, rest)) => {
            let (_, containers) = rest
                .split_once("\n      containers:\n")
                .expect("a pod has containers");
            format!("{head}      containers:\n{containers}")
        }
        None => template.to_owned(),
    };
    let waits = |line: &&str| !line.trim_start().starts_with("command: [\"");
    let kept: Vec<_> = kept.lines().filter(waits).collect();
    let image = "- name: main\n          image: example.com/app:1";
    kept.join("\n").replace(image, container) + "\n"
}

async fn install(ns: &Namespace, name: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let chart = proposed(name, folder.path());
    let mut files = Vec::new();
    for entry in fs::read_dir(chart.join("templates")).expect("a chart") {
        let path = entry.expect("a file").path();
        let inside = path.strip_prefix(&chart).expect("below it");
        let inside = inside.to_str().expect("plain names");
        let template = fs::read_to_string(&path).expect("a template");
        files.push((inside.to_owned(), stand_in(&template)));
    }
    let about = fs::read_to_string(chart.join("Chart.yaml")).expect("a chart");
    files.push(("Chart.yaml".to_owned(), about));
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect();
    Chart::of("helm", &files).upgrade(ns, &[]).await.ok();
}

/// Installs a chart, and makes the workloads `first` ready. Once the gate of `dependent` waits for the dependency of `last` alone, and with its
/// reason, makes that workload ready, too.
async fn in_order(name: &str, dependent: &str, first: &[&str], last: [&str; 3]) {
    let [last, dependency, reason] = last;
    with_namespace("suggested", async |ns| {
        install(ns, name).await;
        let pod = ns.pod_of(dependent).await;
        pod.gate_says("waiting").await;
        for workload in first {
            tell(ns, workload).await;
        }
        let alone = format!("for {dependency}: InProgress ({reason}");
        await_until("the gate waits for the last alone", LIMIT, async || {
            let log = pod.gate_log().await;
            let line = log.last().map_or("", |line| &line.text);
            let is_it = line.contains(&alone) && !line.contains(" other");
            if is_it { Ok(()) } else { Err(line.to_owned()) }
        })
        .await;
        pod.is_shut().await;
        tell(ns, last).await;
        pod.starts().await;
    })
    .await;
}

async fn tell(ns: &Namespace, workload: &str) {
    let (_, name) = workload.split_once('/').expect("kind/name");
    ns.pod_of(name).await.says("started").await;
    ns.tell_ready(workload).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_loop_of_nc() {
    let (db, service) = (
        "statefulset/release-postgresql",
        "Service/release-postgresql",
    );
    in_order("wiki-nc", "release-wiki", &[], [db, service, "NoEndpoints"]).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn kubectl_wait() {
    let (job, db) = ("job/release-migrate", "statefulset/release-db");
    let last = [db, "StatefulSet/release-db", "InProgress"];
    in_order("forum-kubectl-wait", "release-forum", &[job], last).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_image_k8s_wait_for() {
    let (job, broker) = ("job/release-migrate", "statefulset/release-broker");
    let last = [broker, "Pod[app=release-broker]", "InProgress"];
    in_order("queue-k8s-wait-for", "release-worker", &[job], last).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn dockerize() {
    let (auth, db) = ("deployment/release-auth", "statefulset/release-db");
    let last = [db, "Service/release-db", "NoEndpoints"];
    in_order("billing-dockerize", "release-billing", &[auth], last).await;
}
