//! An open page makes few requests to the API server while nothing changes, and still hears of a change.

use super::shop::{deployment, shop};
use super::{Ui, heard};
use crate::cli::api::Api;
use serde_json::Value;
use std::time::Instant;

/// The most requests in a minute while nothing changes.
const MOST: usize = 10;

/// Reads events of the page until two in a row have cost no more than [`MOST`] requests a minute. Fails after eight.
fn settles(api: &Api, answers: &mut impl Iterator<Item = Value>) {
    let (mut quiet, mut costs) = (0, Vec::new());
    while quiet < 2 {
        let (began, before) = (Instant::now(), api.asked());
        answers.next().unwrap();
        let (asked, millis) = (api.asked() - before, began.elapsed().as_millis());
        costs.push(format!("{asked} requests in {millis} ms"));
        quiet = if asked as u128 * 60_000 <= MOST as u128 * millis {
            quiet + 1
        } else {
            0
        };
        assert!(costs.len() < 8, "{costs:#?}");
    }
}

#[test]
fn a_page_where_nothing_changes_asks_next_to_nothing() {
    for hidden in [
        &[][..],
        &[
            "/api/v1/namespaces/sluice-system",
            "/apis/rbac.authorization.k8s.io",
        ],
    ] {
        let api = shop();
        for path in hidden {
            api.hide(path);
        }
        let kubeconfig = api.kubeconfig(false);
        let ui = Ui::of(kubeconfig.path().to_str().unwrap(), &["-n", "shop"]);
        let mut answers = heard(&ui);
        settles(&api, &mut answers);

        api.change(&deployment("late", ""));
        let is_told = |answer: &Value| {
            let mut nodes = answer["nodes"].as_array().unwrap().iter();
            nodes.any(|it| it["id"] == "Deployment/late")
        };
        let before: Vec<Value> = answers
            .take(8)
            .take_while(|answer| !is_told(answer))
            .collect();
        assert!(before.len() < 8, "{:#}", before[7]);
    }
}
