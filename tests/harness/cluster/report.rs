//! The report of a failing test, printed before its namespace is deleted: a reader has nothing else.

use super::namespace::Namespace;
use super::object::{items, text};
use super::{Program, sluice};
use rules::keys::{ASKING, GATED};
use serde_json::Value;

/// The lines that are printed of each log, from its end.
const LINES: usize = 30;

pub(super) async fn print(namespace: &Namespace) {
    let Namespace { name, look, .. } = namespace;
    eprintln!("\n==== what is in namespace {name}");
    let kinds = "deployments,statefulsets,daemonsets,replicasets,jobs,services";
    eprintln!(
        "{}",
        namespace
            .kubectl(["get", kinds, "--ignore-not-found"])
            .await
    );
    for kind in ["deployment", "statefulset", "daemonset", "job"] {
        for workload in look.list(kind, "").await {
            eprintln!("{}", asking(kind, &workload));
        }
    }
    for pod in look.list("pod", "").await {
        let pod_name = text(&pod, "/metadata/name");
        eprintln!("\n---- pod {pod_name}: {}", text(&pod, "/status/phase"));
        for list in ["/status/initContainerStatuses", "/status/containerStatuses"] {
            for container in items(&pod, list) {
                let container_name = text(container, "/name");
                eprintln!("{container_name}: {}", state(container));
                tail(&look.log(pod_name, container_name).await);
            }
        }
    }
    eprintln!("\n---- events");
    for event in look.list("event", "").await {
        eprintln!("{}", sentence(&event));
    }
    eprintln!("\n---- what sluice says of {name}");
    let log = sluice::log().await;
    let ours: Vec<_> = log.lines().filter(|line| line.contains(name)).collect();
    tail(&ours.join("\n"));
    eprintln!("{}", pods_of_sluice().await);
    eprintln!("---- what the API server says of its calls");
    eprintln!("{}", calls_that_failed().await);
    eprintln!("==== end of {name}\n");
}

/// Returns a line that says whether a workload asks for a gate, by an annotation of its own or of its pod template, and whether the template has the
/// marker of admission.
fn asking(kind: &str, workload: &Value) -> String {
    let template = &workload["spec"]["template"]["metadata"];
    let asks = [&workload["metadata"], template].iter().any(|metadata| {
        ASKING
            .iter()
            .any(|key| metadata["annotations"][*key].is_string())
    });
    let marked = template["annotations"][GATED].is_string();
    let name = text(workload, "/metadata/name");
    format!("{kind}/{name}: asks for a gate: {asks}, is marked: {marked}")
}

fn state(container: &Value) -> String {
    let (state, restarts) = (&container["state"], &container["restartCount"]);
    format!("{state}, restarted {restarts} times")
}

fn sentence(event: &Value) -> String {
    format!(
        "{} {}/{}: {} (x{})",
        text(event, "/reason"),
        text(event, "/involvedObject/kind"),
        text(event, "/involvedObject/name"),
        text(event, "/message"),
        event["count"].as_i64().unwrap_or(1)
    )
}

fn tail(log: &str) {
    let lines: Vec<_> = log.lines().collect();
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        eprintln!("    {line}");
    }
}

async fn pods_of_sluice() -> String {
    let args = ["get", "pods", "--namespace", sluice::NAMESPACE];
    Program::new("kubectl").args(args).run().await.to_string()
}

/// Returns the lines of the API server's metrics that count rejected and failed-open calls of sluice's webhooks, since its start and for all
/// namespaces.
async fn calls_that_failed() -> String {
    let args = ["get", "--raw", "/metrics"];
    let metrics = Program::new("kubectl").args(args).run().await.to_string();
    let of_failures = |line: &&str| {
        let names = ["_rejection_count{", "_fail_open_count{"];
        names.iter().any(|name| line.contains(name)) && line.contains("sluice.dev")
    };
    let lines: Vec<_> = metrics.lines().filter(of_failures).collect();
    lines.join("\n")
}
