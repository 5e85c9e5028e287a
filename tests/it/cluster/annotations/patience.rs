use harness::cluster::{
    Look, Namespace, Pod, config_map, deployment, items, pod, service, text, with_namespace,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Makes a Deployment that waits for a ConfigMap that is never made, and for another one that the test makes, and returns its pod. Once the pod is
/// seen to wait, the first entry gets a timeout of one second, so a slow start of the gate does not count.
async fn times_out(ns: &Namespace, on_timeout: &str) -> Pod {
    let api = deployment("api").depends_on("configmap/absent, configmap/go");
    ns.apply([api]).await.ok();
    let api = ns.pod_of("api").await;
    api.waits_for("ConfigMap/absent", "NotFound").await;
    let absent =
        format!("{{kind: ConfigMap, name: absent, timeout: 1s, on-timeout: {on_timeout}}}");
    let list = format!("[{absent}, configmap/go]");
    ns.annotate("deployment/api", "sluice.dev/depends-on", &list)
        .await;
    api
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_entry_that_waits_says_that_its_time_is_up_and_waits_on() {
    with_namespace("entry-wait", async |ns| {
        let api = times_out(ns, "wait").await;
        let said = "the timeout of 1s of ConfigMap/absent has passed, and the wait goes on";
        api.gate_says(said).await;
        api.has_event("TimedOut", said).await;
        ns.apply([config_map("go")]).await.ok();
        api.stays_shut().await;
        ns.apply([config_map("absent")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_entry_that_fails_ends_the_gate_whatever_the_others_are() {
    with_namespace("entry-fail", async |ns| {
        let api = times_out(ns, "fail").await;
        let message = api.is_refused().await;
        for part in [
            "ConfigMap/absent: NotFound",
            "the timeout of 1s",
            "raise the timeout",
        ] {
            assert!(message.contains(part), "{message}");
        }
        api.has_event("TimedOut", "refused").await;
        ns.apply([config_map("absent"), config_map("go")])
            .await
            .ok();
        api.starts().await; // the kubelet starts the gate of the same pod again
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_entry_is_given_up_alone_and_the_next_pod_asks_for_it_again() {
    with_namespace("entry-proceed", async |ns| {
        let api = times_out(ns, "proceed").await;
        let without = "without ConfigMap/absent, given up after 1s (NotFound)";
        let line = api.gate_says(without).await;
        assert!(line.contains("for ConfigMap/go: NotFound"), "{line}");
        api.has_event("TimedOut", without).await;
        api.stays_shut().await;
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
        let last = api.gate_says("open after").await;
        assert!(last.contains(without), "{last}");

        let hour =
            "[{kind: ConfigMap, name: absent, timeout: 1h, on-timeout: proceed}, configmap/go]";
        ns.annotate("deployment/api", "sluice.dev/depends-on", hour)
            .await;
        ns.kubectl(["scale", "deployment/api", "--replicas=2"])
            .await
            .ok();
        let pods = ns.pods_of("api", 2).await;
        let next = pods.into_iter().find(|pod| pod.name != api.name);
        let next = next.expect("two pods have two names");
        let line = next.waits_for("ConfigMap/absent", "NotFound").await;
        assert!(line.contains(", given up at "), "{line}");
    })
    .await;
}

async fn runs(ns: &Namespace, command: &str) {
    ns.kubectl(["exec", "db", "-c", "app", "--", "sh", "-c", command])
        .await
        .ok();
}

/// Waits until the condition `Ready` of `pod/db` has this status, and returns since when it has it.
async fn becomes(ns: &Namespace, is: &str) -> Timestamp {
    let is_so = |pod: &Value| ready(pod).is_some_and(|it| it["status"] == is);
    ns.until("pod/db", &format!("is ready: {is}"), is_so).await;
    let pod = Look::at(&ns.name).await.get("pod/db").await;
    let condition = ready(&pod).expect("it has one");
    let since = text(condition, "/lastTransitionTime").parse();
    since.expect("a time")
}

fn ready(pod: &Value) -> Option<&Value> {
    items(pod, "/status/conditions")
        .iter()
        .find(|it| it["type"] == "Ready")
}

/// Returns the time at which the application of a pod started, as its kubelet wrote it: a moment after its gate has ended.
async fn began(ns: &Namespace, pod: &Pod) -> Timestamp {
    let at = |pod: &Value| {
        text(pod, "/status/containerStatuses/0/state/running/startedAt")
            .parse()
            .ok()
    };
    let runs = |pod: &Value| at(pod).is_some();
    let reference = format!("pod/{}", pod.name);
    ns.until(&reference, "runs", runs).await;
    at(&pod.now().await).expect("it goes on running")
}

/// A dependency that breaks has to be ready for the time of `stable` anew. The lists ask for an hour until the gates have seen the break, and for
/// seconds after it, so that a slow test passes too.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_breaks_has_to_last_anew() {
    with_namespace("stable-break", async |ns| {
        let list =
            |kind: &str, lasts: &str| format!("[{{kind: {kind}, name: db, stable: {lasts}}}]");
        let kinds = [("api", "Pod"), ("web", "Service")];
        let [api, web] = kinds.map(|(name, kind)| deployment(name).depends_on(&list(kind, "1h")));
        let db = pod("db").ready_when_told();
        ns.apply([db, service("db"), api, web]).await.ok();
        let (api, web) = (ns.pod_of("api").await, ns.pod_of("web").await);
        ns.until("pod/db", "runs", |pod| pod["status"]["phase"] == "Running")
            .await;
        runs(ns, "touch /tmp/ready").await;
        let line = api.waits_for("Pod/db", "NotStable").await;
        assert!(line.contains(", stable at "), "{line}");
        web.waits_for("Service/db", "NotStable").await;

        runs(ns, "rm /tmp/ready").await;
        api.waits_for("Pod/db", "InProgress").await;
        web.waits_for("Service/db", "NoEndpoints").await;
        for (name, kind) in kinds {
            ns.now_depends_on(&format!("deployment/{name}"), &list(kind, "15s"))
                .await;
        }
        runs(ns, "touch /tmp/ready").await;
        let since = becomes(ns, "True").await;
        for pod in [&api, &web] {
            let began = began(ns, pod).await;
            let lasted = SignedDuration::from_secs(15);
            assert!(began >= since + lasted, "{}: {since} {began}", pod.name);
        }
    })
    .await;
}
