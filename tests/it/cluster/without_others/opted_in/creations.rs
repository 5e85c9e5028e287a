//! Tests of held creations (`sluice.dev/hold: create`), which the chart's value `creationHolds.enabled` turns on.

use futures::future::join_all;
use harness::cluster::creations::{ON, held, is_asked, is_told};
use harness::cluster::{
    Chart, Defined, LIMIT, Namespace, alone, await_until, config_map, deployment, opted_in,
    reported, sluice, text,
};
use serde_json::Value;

async fn exists(ns: &Namespace, name: &str) -> bool {
    ns.look.find(&format!("configmap/{name}")).await.is_some()
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn kubectl_waits_until_the_list_is_satisfied() {
    alone("created", async |ns| {
        sluice::with_values_alone(&ON, async || {
            is_asked(ns).await;
            kubectl_creates_and_applies(ns).await;
            only_a_creation_waits(ns).await;
            a_timeout_ends_the_wait(ns).await;
            a_crowd(ns).await;
            sluice::restarted_after(async || {
                sluice::stop().await;
                nothing_else_notices(ns).await;
            })
            .await;
        })
        .await;
    })
    .await;
}

/// Creates ConfigMaps by `kubectl create`, `apply` and `apply --server-side`: each command waits in silence, and succeeds once the list is satisfied.
async fn kubectl_creates_and_applies(ns: &Namespace) {
    let names = ["made", "merged", "by-server"];
    let [made, merged, by_server] = names.map(|name| [held(config_map(name), "configmap/go")]);
    let all = async {
        let (one, two, three) = tokio::join!(
            ns.pipe("create", &made, &[]),
            ns.pipe("apply", &merged, &[]),
            ns.pipe("apply", &by_server, &["--server-side"])
        );
        for outcome in [one, two, three] {
            assert_eq!(outcome.stderr, "", "{outcome}");
            outcome.ok();
        }
    };
    let go = async {
        for name in names {
            let event = is_told(ns, name).await;
            assert_eq!(text(&event, "/involvedObject/kind"), "ConfigMap");
            let message = text(&event, "/message");
            assert!(message.contains("ConfigMap/go (NotFound"), "{message}");
            assert!(!exists(ns, name).await, "{name}");
        }
        ns.apply([config_map("go")]).await.ok();
    };
    tokio::join!(all, go);
    for name in names {
        assert!(exists(ns, name).await, "{name}");
    }
}

/// Checks that only a creation with `sluice.dev/hold` is held: not a dry run, not a change of an object, and not the creation of an object with a
/// list alone.
async fn only_a_creation_waits(ns: &Namespace) {
    let waits = [held(config_map("dry"), "configmap/never")];
    ns.pipe("create", &waits, &["--dry-run=server"]).await.ok();
    assert!(!exists(ns, "dry").await);
    ns.kubectl(["delete", "configmap/go"]).await.ok();
    let changed = held(config_map("made"), "configmap/never").annotated("team", "a");
    ns.apply([changed]).await.ok();
    // A list alone holds nothing back.
    ns.apply([config_map("inert").depends_on("configmap/never")])
        .await
        .ok();
}

async fn a_timeout_ends_the_wait(ns: &Namespace) {
    let with = |name: &str, then: &str| {
        let waits = held(config_map(name), "configmap/never");
        let waits = waits.annotated("sluice.dev/timeout", "5s");
        [waits.annotated("sluice.dev/on-timeout", then)]
    };
    let [proceeds, fails] = [with("proceeds", "proceed"), with("fails", "fail")];
    let (proceeded, failed) = tokio::join!(
        ns.pipe("create", &proceeds, &[]),
        ns.pipe("create", &fails, &[])
    );
    proceeded.ok();
    let message = failed.refused();
    for part in ["ConfigMap/never", "the timeout of 5s", "\"proceed\""] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!exists(ns, "fails").await);
    // A skip ends it at once.
    let skipped = held(config_map("skipped"), "configmap/never");
    ns.apply([skipped.annotated("sluice.dev/skip", "true")])
        .await
        .ok();
}

/// Tries five hundred creations at once: each is told to try again, and succeeds once the list is satisfied.
async fn a_crowd(ns: &Namespace) {
    let names: Vec<String> = (0..500).map(|it| format!("crowd-{it}")).collect();
    let all = async || {
        let tries = names.iter().map(|name| async {
            let object = held(config_map(name), "configmap/crowd").into_object();
            ns.look.try_to_create(&object).await
        });
        join_all(tries).await
    };
    await_until("each is told to try again", LIMIT, async || {
        let answers = all().await;
        assert!(
            answers.iter().all(|(code, _)| *code != 201),
            "none is created"
        );
        let other = answers.iter().find(|(code, _)| *code != 429);
        other.map_or(Ok(()), |(code, message)| Err(format!("{code}: {message}")))
    })
    .await;
    ns.apply([config_map("crowd")]).await.ok();
    await_until("all are created", LIMIT, async || {
        let answers = all().await;
        let left = answers.iter().find(|(code, _)| ![201, 409].contains(code));
        left.map_or(Ok(()), |(code, message)| Err(format!("{code}: {message}")))
    })
    .await;
}

/// Checks the time in which no replica answers: the creation of an object that asks for a hold is refused, and no other request is.
async fn nothing_else_notices(ns: &Namespace) {
    let late = held(config_map("late"), "configmap/go");
    let (code, message) = ns.look.try_to_create(&late.clone().into_object()).await;
    assert!(
        code >= 500 && message.contains("creations.sluice.dev"),
        "{code}: {message}"
    );
    ns.pipe("create", &[late], &["--dry-run=server"]).await.ok();
    ns.apply([config_map("plain")]).await.ok();
    ns.kubectl(["annotate", "configmap/made", "team=b", "--overwrite"])
        .await
        .ok();
    ns.kubectl(["delete", "configmap/made"]).await.ok();
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn helm_3_and_4_install_what_waits_for_its_operator() {
    opted_in("created-helm", async |ns| {
        let other = ns.another("created-helm3").await;
        is_asked(ns).await;
        let third = reported(&other, async || by_helm(&other, "helm3").await);
        tokio::join!(by_helm(ns, "helm"), third);
    })
    .await;
}

/// Helm installs an operator and its custom resource, whose creation is held until the operator is ready. Helm sends kinds that it does not know
/// last, so the operator is on its way by then. An upgrade without a ready operator passes, since it creates nothing.
async fn by_helm(ns: &Namespace, helm: &'static str) {
    let widget = Defined::widget(ns);
    widget.define(ns).await;
    let operator = deployment("operator").ready_after(6);
    let orders = held(widget.one("orders"), "deployment/operator");
    let chart = Chart::new(helm, &[operator, orders]);
    chart.upgrade(ns, &["--wait"]).await.ok();
    let find = ["get", &widget.reference("orders"), "--output=json"];
    let orders: Value = serde_json::from_str(&ns.kubectl(find).await.ok()).expect("JSON");
    let made = text(&orders, "/metadata/creationTimestamp");
    let operator = ns.look.get("deployment/operator").await;
    let conditions = operator["status"]["conditions"].as_array();
    let available = conditions
        .into_iter()
        .flatten()
        .find(|it| it["type"] == "Available")
        .expect("it is available");
    // Texts of times in UTC sort like the times.
    let since = text(available, "/lastTransitionTime");
    assert!(since <= made, "available {since}, made {made}");
    // An upgrade creates nothing, so nothing waits.
    ns.kubectl(["scale", "deployment/operator", "--replicas=0"])
        .await
        .ok();
    chart.upgrade(ns, &[]).await.ok();
}
