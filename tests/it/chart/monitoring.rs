//! The chart's objects for Prometheus and Grafana: they ask for existing metrics, and alert when they should.

use super::helm::{Render, chart_dir, helm, program};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Returns the `spec` of the rendered PrometheusRule with these flags; `None` without Helm.
pub(crate) fn rules(flags: &[&str]) -> Option<Value> {
    let render = Render::new(&helm()?).flags(&["prometheusRule.enabled=true"]);
    let mut rule = render.flags(flags).manifest().only("PrometheusRule");
    Some(rule["spec"].take())
}

/// Returns how Prometheus is to scrape: the endpoint of the PodMonitor, and that of the ServiceMonitor; `None` without Helm.
pub(crate) fn endpoints() -> Option<[Value; 2]> {
    let helm = helm()?;
    let rendered = |flag, kind| Render::new(&helm).flags(&[flag]).manifest().only(kind);
    let mut pods = rendered("podMonitor.enabled=true", "PodMonitor");
    let mut services = rendered("serviceMonitor.enabled=true", "ServiceMonitor");
    Some([
        pods["spec"]["podMetricsEndpoints"][0].take(),
        services["spec"]["endpoints"][0].take(),
    ])
}

#[test]
fn a_wait_keeps_the_namespace_of_the_pods_that_wait() {
    for endpoint in endpoints().into_iter().flatten() {
        assert_eq!(endpoint["honorLabels"], true, "{endpoint}");
    }
}

#[test]
fn alerts_are_raised_by_what_is_wrong_and_by_nothing_else() {
    let (Some(rules), Some(promtool)) = (rules(&[]), program("promtool")) else {
        return eprintln!("skipped: no Helm or no promtool here; `make cluster` brings both");
    };
    let dir = tempfile::tempdir().expect("a folder");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/alerts.yaml");
    std::fs::write(dir.path().join("rules.yaml"), rules.to_string()).expect("written");
    std::fs::copy(fixtures, dir.path().join("alerts.yaml")).expect("copied");
    let tested = Command::new(promtool)
        .args(["test", "rules", "alerts.yaml"])
        .current_dir(&dir)
        .output()
        .expect("promtool must start");
    assert!(
        tested.status.success(),
        "{}{}",
        String::from_utf8_lossy(&tested.stdout),
        String::from_utf8_lossy(&tested.stderr)
    );
}

#[test]
fn alerts_and_dashboard_ask_for_metrics_of_the_page() {
    let Some(rules) = rules(&[]) else { return };
    let dashboard = std::fs::read_to_string(chart_dir().join("files/dashboard.json"));
    let dashboard = dashboard.expect("the dashboard is there");
    serde_json::from_str::<Value>(&dashboard).expect("it is JSON");
    let asked = names(&dashboard).chain(names(&rules.to_string())).collect();
    let page = std::fs::read_to_string(chart_dir().join("../../docs/metrics.md"));
    let told = names(&page.expect("the page is there")).collect();
    let unknown: Vec<_> = BTreeSet::difference(&asked, &told).collect();
    assert!(asked.len() > 10 && unknown.is_empty(), "{unknown:?}");
}

/// Returns the metrics that a text names, without `sluice_` and without endings such as `_total`, as the page spells them.
fn names(text: &str) -> impl Iterator<Item = String> {
    let after = text.split("sluice_").skip(1);
    after.map(|rest| {
        let end = rest.find(|it: char| !it.is_ascii_lowercase() && it != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        let endings = ["_total", "_bucket", "_count", "_info"];
        let bare = endings.iter().find_map(|ending| name.strip_suffix(ending));
        bare.unwrap_or(name).to_owned()
    })
}
