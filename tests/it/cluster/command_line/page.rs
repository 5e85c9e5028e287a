//! The page of `kubectl sluice ui` in a real browser, while things start.

use crate::browser::Browser;
use harness::cluster::{Namespace, config_map, deployment, job, stateful_set, with_namespace};
use harness::process::{Process, binary};
use serde_json::json;
use std::process::Command;

const SELECTED: &str = "document.querySelector('.box[aria-pressed=true]')?.dataset.id ?? null";
const FOCUSED: &str = "document.activeElement.dataset.id ?? null";
const BACKGROUND: &str = "getComputedStyle(document.body).backgroundColor";

/// Returns the JavaScript expression for the sorted IDs of the boxes of a class.
pub(super) fn boxes(class: &str) -> String {
    format!("[...document.querySelectorAll('.box.{class}')].map(it => it.dataset.id).sort().join()")
}

pub(super) fn serve(ns: &Namespace) -> (Process, String) {
    let mut command = Command::new(binary("kubectl-sluice"));
    command.args(["ui", "--no-browser", "--namespace", &ns.name]);
    let mut process = Process::start(&mut command);
    let address = process.line("http://");
    (process, address)
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_page_shows_what_waits_and_follows_it_until_all_is_ready() {
    let Some(mut browser) = Browser::start() else {
        eprintln!("skipped: no chromium is installed");
        return;
    };
    with_namespace("page", async |ns| {
        ns.apply([
            stateful_set("db"),
            job("migrate").depends_on("statefulset/db, configmap/go"),
            deployment("api").depends_on("job/migrate"),
        ])
        .await
        .ok();
        ns.pod_of("api")
            .await
            .waits_for("Job/migrate", "JobNotComplete")
            .await;
        let (process, address) = serve(ns);
        browser.open(&address);
        browser
            .until(&boxes("waiting"), json!("Deployment/api,Job/migrate"))
            .await;
        browser
            .until(&boxes("ready"), json!("StatefulSet/db"))
            .await;
        browser
            .until(&boxes("missing"), json!("ConfigMap/go"))
            .await;
        // The page shows first the object to look at, and how many pods it holds up.
        browser
            .until_details_say("ConfigMap/go holds up 2 pods")
            .await;

        by_keys(&mut browser).await;
        colours(&mut browser).await;
        elsewhere(&address, &mut browser).await;

        browser.open(&address);
        browser
            .until(&boxes("missing"), json!("ConfigMap/go"))
            .await;
        ns.apply([config_map("go")]).await.ok();
        let all = "ConfigMap/go,Deployment/api,Job/migrate,StatefulSet/db";
        browser.until(&boxes("ready"), json!(all)).await;
        browser
            .until(
                "document.querySelector('.details h2').innerText",
                json!("Everything is ready"),
            )
            .await;
        let critical = browser.value(&boxes("critical"));
        assert!(
            critical
                .as_str()
                .is_some_and(|it| it.contains("Deployment/api")),
            "{critical}"
        );
        assert_eq!(
            browser.value("document.querySelectorAll('.timeline .bar.waited').length > 2"),
            json!(true)
        );
        assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);

        // It keeps what it had, and says so.
        process.signal("INT");
        browser
            .until("document.querySelector('.notice').hidden", json!(false))
            .await;
        browser.until(&boxes("ready"), json!(all)).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_broken_is_red_and_on_a_narrow_screen_a_list_shows_it() {
    let Some(mut browser) = Browser::start() else {
        eprintln!("skipped: no chromium is installed");
        return;
    };
    with_namespace("page-broken", async |ns| {
        let db = stateful_set("db").in_app("/image", "127.0.0.1:1/shop/db:17.2");
        ns.apply([db, deployment("api").depends_on("statefulset/db")])
            .await
            .ok();
        let (_process, address) = serve(ns);
        browser.open(&address);
        browser
            .until(&boxes("broken"), json!("StatefulSet/db"))
            .await;
        browser.until(&boxes("most"), json!("StatefulSet/db")).await;
        let why = "document.querySelector('.box.broken .why').innerText.split(':')[0]";
        browser.until(why, json!("cannot pull db")).await;
        browser.press("w");
        browser.until(SELECTED, json!("StatefulSet/db")).await;
        // A reload shows the same object, with its Events.
        browser
            .until("location.hash", json!("#StatefulSet%2Fdb"))
            .await;
        browser.value("location.reload()");
        browser.until(SELECTED, json!("StatefulSet/db")).await;
        browser
            .until(
                "document.querySelectorAll('.events .warned').length > 0",
                json!(true),
            )
            .await;
        browser.press("Escape");
        browser.size(420, 800);
        let list = "document.querySelector('.all .link')?.innerText ?? null";
        browser.until(list, json!("StatefulSet/db")).await;
        let shown = "document.querySelector('.graph').checkVisibility()";
        browser.until(shown, json!(false)).await;
        assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
    })
    .await;
}

/// Walks the page by keys alone: to what holds the others up, to the next node and into it, back, to a search for nodes, and to the help.
async fn by_keys(browser: &mut Browser) {
    browser.press("w");
    browser.until(SELECTED, json!("ConfigMap/go")).await;
    browser.press("ArrowRight");
    browser.until(FOCUSED, json!("Job/migrate")).await;
    browser.press("Enter");
    browser.until(SELECTED, json!("Job/migrate")).await;
    // In the words of its gate.
    let held = "document.querySelector('.details .told').innerText";
    browser
        .until(held, json!("NotFound: not created yet, or misspelt"))
        .await;
    browser.press("Escape");
    browser.until(SELECTED, json!(null)).await;
    browser.press("/");
    for key in ["a", "p", "i"] {
        browser.press(key);
    }
    browser
        .until(
            "document.querySelectorAll('.box:not(.dim)').length",
            json!(1),
        )
        .await;
    browser.press("Escape");
    browser
        .until("document.querySelectorAll('.box.dim').length", json!(0))
        .await;
    browser.press("?");
    browser
        .until("document.querySelector('dialog').open", json!(true))
        .await;
    browser.press("Escape");
    browser
        .until("document.querySelector('dialog').open", json!(false))
        .await;
}

/// Checks that the page follows the colour scheme of the system, and that the key `t` changes it.
async fn colours(browser: &mut Browser) {
    browser.prefers("light");
    let light = browser.value(BACKGROUND);
    browser.prefers("dark");
    let dark = browser.value(BACKGROUND);
    assert_ne!(light, dark);
    browser.press("t");
    browser.until(BACKGROUND, light).await;
    browser.press("t");
    browser.until(BACKGROUND, dark).await;
}

/// Checks that another page in the same browser cannot read the graph, even if it knows the address.
async fn elsewhere(address: &str, browser: &mut Browser) {
    browser.open("about:blank");
    browser
        .until("document.querySelectorAll('.box').length", json!(0))
        .await;
    let read = format!("fetch('{address}api/graph').then(it => it.text(), () => 'refused')");
    assert_eq!(browser.value(&read), json!("refused"));
    // The browser complains of it, which is what it has to do.
    browser.complaints.clear();
}
