//! `kubectl sluice graph` and `ui` give the same reasons as the gates of the pods.

use super::page::{boxes, serve};
use crate::browser::Browser;
use crate::cluster::readiness::memory::seeded;
use harness::cluster::{
    LIMIT, Namespace, Program, await_until, config_map, deployment, with_namespace,
};
use harness::process::binary;
use serde_json::{Value, json};

/// Makes Deployments whose gates wait, each for another reason, and waits until the gates tell these reasons. `host` is another namespace, with a
/// dependency.
async fn wait(ns: &Namespace, host: &Namespace) {
    seeded(ns).await;
    host.apply([config_map("there")]).await.ok();
    ns.apply([config_map("b")]).await.ok();
    ns.apply([
        deployment("remembers").depends_on("job/seed, configmap/go"),
        deployment("barred").depends_on(&format!("{}/configmap/there", host.name)),
        deployment("blind").depends_on("secret/nothere"),
        deployment("easy")
            .depends_on("- {kind: Deployment, name: search, optional: true}\n- configmap/go"),
        deployment("either").depends_on("- any: [configmap/a, configmap/b]\n- configmap/go"),
        deployment("behind").depends_on("deployment/barred"),
    ])
    .await
    .ok();
    for (name, what, reason) in [
        ("remembers", "ConfigMap/go".to_owned(), "NotFound"),
        (
            "barred",
            format!("{}/ConfigMap/there", host.name),
            "NotPermitted",
        ),
        ("blind", "Secret/nothere".to_owned(), "KindForbidden"),
        ("easy", "ConfigMap/go".to_owned(), "NotFound"),
        ("either", "ConfigMap/go".to_owned(), "NotFound"),
    ] {
        ns.pod_of(name).await.waits_for(&what, reason).await;
    }
}

/// Returns the first part of the graph that differs from the reasons of the gates; `None` where all agree.
fn disagreement(drawn: &Value, foreign: &str) -> Option<String> {
    let find = |list: &str, is: &dyn Fn(&Value) -> bool| {
        let mut all = drawn[list].as_array().into_iter().flatten();
        all.find(|it| is(it)).cloned().unwrap_or_default()
    };
    for (from, to, reason, holds, ready) in [
        ("remembers", "Job/seed", "Remembered", false, true),
        ("remembers", "ConfigMap/go", "NotFound", true, false),
        ("barred", foreign, "NotPermitted", true, false),
        ("blind", "Secret/nothere", "KindForbidden", true, false),
        ("easy", "Deployment/search", "OptionalNotFound", false, true),
        ("either", "ConfigMap/a", "NotFound", false, false),
        ("either", "ConfigMap/b", "Satisfied", false, true),
    ] {
        let from = format!("Deployment/{from}");
        let edge = find("edges", &|it| it["from"] == *from && it["to"] == *to);
        let node = find("nodes", &|it| it["id"] == *to);
        let told = (&edge["reason"], &edge["holds"], &node["ready"]);
        if told != (&json!(reason), &json!(holds), &json!(ready)) {
            return Some(format!("{from} -> {to}: {edge} {node}"));
        }
    }
    let barred = find("nodes", &|it| it["id"] == "Deployment/barred");
    if barred["status"] != "Waits" {
        return Some(barred.to_string());
    }
    let critical = &drawn["criticalPath"];
    (!critical.is_null()).then(|| format!("while gates wait: {critical}"))
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_graph_says_what_the_gates_say() {
    with_namespace("drawn", async |ns| {
        let host = ns.another("drawn-host").await;
        wait(ns, &host).await;
        let foreign = format!("{}/ConfigMap/there", host.name);
        // An old object has to stand for a moment before it counts.
        await_until("the graph says what the gates say", LIMIT, async || {
            let ran = Program::new(binary("kubectl-sluice"))
                .args(["graph", "--namespace", &ns.name, "-o", "json"])
                .run()
                .await;
            let drawn: Value = serde_json::from_str(&ran.stdout).expect("JSON");
            disagreement(&drawn, &foreign).map_or(Ok(()), Err)
        })
        .await;
        // The command tells the way out, as the gate does.
        let text = Program::new(binary("kubectl-sluice"))
            .args(["graph", "--namespace", &ns.name])
            .run()
            .await;
        assert!(
            text.stdout.contains("sluice.dev/allow-dependents-from"),
            "{text}"
        );
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_page_says_what_the_gates_say() {
    let Some(mut browser) = Browser::start() else {
        eprintln!("skipped: no chromium is installed");
        return;
    };
    with_namespace("drawn-page", async |ns| {
        let host = ns.another("drawn-page-host").await;
        wait(ns, &host).await;
        let (_process, address) = serve(ns);
        browser.open(&address);
        browser
            .until(&boxes("ready"), json!("ConfigMap/b,Job/seed"))
            .await;
        browser
            .until(&boxes("missing"), json!("ConfigMap/go"))
            .await;
        browser
            .until(&boxes("spare"), json!("ConfigMap/a,Deployment/search"))
            .await;
        let foreign = format!("{}/ConfigMap/there", host.name);
        let barred = format!("Secret/nothere,{foreign}");
        browser.until(&boxes("barred"), json!(barred)).await;
        browser
            .until(
                "document.querySelector('.box .away')?.innerText",
                json!(host.name),
            )
            .await;
        // The objects that hold the others up: three pods wait for `go`, and two for the object that `barred` names. A pod counts
        // once the kubelet has written that its gate runs.
        for held in [
            "ConfigMap/go holds up 3 pods".to_owned(),
            format!("{foreign} holds up 2 pods"),
        ] {
            browser.until_details_say(&held).await;
        }
        let told = browser.details();
        for idle in [
            "Job/seed holds up",
            "ConfigMap/a holds up",
            "Deployment/search holds up",
        ] {
            assert!(!told.contains(idle), "{told}");
        }
        assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
    })
    .await;
}
