//! The page in a real browser, with more objects than its window has room for.

use super::Ui;
use super::shop::{deployment, pod};
use crate::browser::Browser;
use crate::cli::api::Api;
use serde_json::{Value, json};

/// The number of workloads: four columns.
const MANY: usize = 60;

/// The number of workloads in a column.
const COLUMN: usize = 15;

/// The last workload of the last column.
const LAST: &str = "Deployment/app-59";

/// The JavaScript expression for two values: whether more than 15 boxes are in the window, and the boxes that another element covers.
const COVERED: &str = "(() => {
    const area = document.querySelector('.graph').getBoundingClientRect();
    const within = it => it.left >= area.left && it.right <= area.right && it.top >= area.top && it.bottom <= area.bottom;
    const points = it => [it.left + 9, (it.left + it.right) / 2, it.right - 9].flatMap(x => [it.top + 9, it.bottom - 9].map(y => [x, y]));
    const top = ([x, y]) => document.elementFromPoint(x, y)?.closest('.box');
    const boxes = [...document.querySelectorAll('.box')].filter(it => within(it.getBoundingClientRect()));
    const covered = boxes.filter(box => points(box.getBoundingClientRect()).some(it => top(it) !== box));
    return [boxes.length > 15, covered.map(it => it.dataset.id).join()];
})()";

/// The JavaScript expression for two objects: that of the first row of the timeline, and that of the first line of the list of all objects.
const FIRST: &str =
    "['.timeline button.line-of', '.all .link'].map(it => document.querySelector(it).dataset.key)";

/// An open page of workloads that start; none of them waits for a gate or fails.
struct Page {
    api: Api,
    browser: Browser,
    runtime: tokio::runtime::Runtime,
    _ui: Ui,
    _kubeconfig: tempfile::NamedTempFile,
}

impl Page {
    /// Opens the page in a browser. Without Chromium, prints that the test is skipped and returns `None`.
    fn open() -> Option<Self> {
        let Some(mut browser) = Browser::start() else {
            eprintln!("skipped: no chromium is installed");
            return None;
        };
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        let mut objects = vec![namespace];
        for number in 0..MANY {
            let before = number.checked_sub(COLUMN).map(name);
            let list = before.map(|it| format!("deployment/{it}"));
            objects.extend(deployment(&name(number), &list.unwrap_or_default()));
            objects.push(starting(number, "ContainerCreating"));
        }
        let api = Api::start(&objects);
        let kubeconfig = api.kubeconfig(false);
        let ui = Ui::of(kubeconfig.path().to_str().unwrap(), &["-n", "shop"]);
        browser.size(1440, 900);
        browser.open(&format!("http://{}/{}/", ui.host, ui.secret));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let mut page = Self {
            api,
            browser,
            runtime,
            _ui: ui,
            _kubeconfig: kubeconfig,
        };
        let starting = "document.querySelectorAll('.box.starting').length";
        page.until(starting, json!(MANY));
        Some(page)
    }

    fn until(&mut self, expression: &str, expected: Value) {
        self.runtime
            .block_on(self.browser.until(expression, expected));
    }

    /// Changes the last workload so that it cannot pull its image, and waits until the page draws it as broken.
    fn breaks(&mut self) {
        self.api.change(&[starting(MANY - 1, "ImagePullBackOff")]);
        let broken = "document.querySelector('.box.broken')?.dataset.id ?? null";
        self.until(broken, json!(LAST));
    }
}

/// The name of a workload.
fn name(number: usize) -> String {
    format!("app-{number:02}")
}

/// Returns the pod of a workload whose container waits for this reason, such as `ContainerCreating`.
fn starting(number: usize, reason: &str) -> Value {
    let name = name(number);
    let state = json!({"waiting": {"reason": reason, "message": "not found"}});
    let container = json!({"name": "app", "image": "example.com/app:9"});
    let mut status = container.clone();
    status["state"] = state;
    pod(
        &format!("{name}-1"),
        &name,
        &json!({
            "metadata": {"labels": {"app": name}, "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"containers": [container], "nodeName": "one"},
            "status": {"phase": "Pending", "containerStatuses": [status]},
        }),
    )
}

/// Returns the JavaScript expression for whether the box of the last workload is in the window.
fn last_is_shown() -> String {
    format!(
        "(() => {{
            const [box, area] = ['.box[data-id=\"{LAST}\"]', '.graph'].map(it => document.querySelector(it).getBoundingClientRect());
            return box.top >= area.top && box.bottom <= area.bottom;
        }})()"
    )
}

#[test]
fn trouble_that_begins_late_comes_into_the_window() {
    let Some(mut page) = Page::open() else { return };
    assert_eq!(page.browser.value(&last_is_shown()), json!(false));
    page.breaks();
    page.until(&last_is_shown(), json!(true));
    let complaints = &page.browser.complaints;
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn the_window_stays_where_a_reader_has_used_the_page() {
    let Some(mut page) = Page::open() else { return };
    page.browser.press("t");
    page.breaks();
    // The page scrolls as it draws.
    assert_eq!(page.browser.value(&last_is_shown()), json!(false));
}

#[test]
fn the_rows_of_what_is_broken_come_first() {
    let Some(mut page) = Page::open() else { return };
    let before = page.browser.value(FIRST);
    assert_eq!(before, json!(["Deployment/app-00", "Deployment/app-00"]));
    page.breaks();
    page.until(FIRST, json!([LAST, LAST]));
}

#[test]
fn nothing_lies_over_a_box() {
    let Some(mut page) = Page::open() else { return };
    let map = "document.querySelector('.map').checkVisibility()";
    page.until(map, json!(true));
    page.until(COVERED, json!([true, ""]));
    page.breaks();
    page.until(&last_is_shown(), json!(true));
    page.until(COVERED, json!([true, ""]));
}
