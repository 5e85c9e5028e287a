use crate::chart::monitoring::{endpoints, rules};
use harness::cluster::{
    LIMIT, Namespace, Program, await_until, config_map, deployment, sluice, with_namespace,
};
use harness::process::Process;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The type and the labels of each metric, by its name.
type Families = BTreeMap<String, (String, BTreeSet<String>)>;

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_page_names_every_metric_that_is_served_its_type_and_its_labels() {
    with_namespace("page", async |ns| {
        ns.apply([deployment("api").depends_on("configmap/go")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        let mut served = Families::new();
        for (replica, _) in sluice::replicas().await {
            read(&sluice::metrics_of(&replica).await, &mut served);
        }
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/metrics.md");
        let page = on_page(&std::fs::read_to_string(page).expect("the page is there"));
        // A family without a value yet is not served. `docs::` checks that the code counts it somewhere.
        for (name, (kind, labels)) in served {
            let (said, of) = page.get(&name).expect(&name);
            assert_eq!(&kind, said, "{name}");
            assert!(labels.is_subset(of), "{name}: {labels:?}, not {of:?}");
        }
    })
    .await;
}

/// Adds the metrics of an OpenMetrics text to `families`, each with its type and its labels, except for `le`, the bound of a bucket.
fn read(text: &str, families: &mut Families) {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for (name, kind) in types.filter_map(|line| line.split_once(' ')) {
        let entry = families.entry(name.to_owned()).or_default();
        kind.clone_into(&mut entry.0);
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((name, rest)) = line.split_once('{') else {
            continue;
        };
        let labels = rest.split("=\"").filter_map(|it| {
            let before = it.rsplit(['{', ',', '"']).next()?;
            before.chars().all(char::is_alphabetic).then_some(before)
        });
        let labels: Vec<_> = labels.filter(|it| !["", "le"].contains(it)).collect();
        let families = families.iter_mut();
        let family = families.filter(|(family, _)| name.starts_with(*family));
        let family = family.max_by_key(|(family, _)| family.len());
        let (_, (_, of)) = family.expect("a sample is of a family");
        of.extend(labels.into_iter().map(str::to_owned));
    }
}

/// Returns the metrics that the tables of a page name, each with its type and labels.
fn on_page(page: &str) -> Families {
    let rows = page.lines().filter(|line| line.starts_with("| `sluice_"));
    let bare = |cell: &str| cell.trim().trim_matches('`').to_owned();
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        let labels = cells[3].split(',').map(bare);
        let labels = labels.filter(|it| !it.is_empty()).collect();
        (bare(cells[1]), (bare(cells[2]), labels))
    })
    .collect()
}

/// A real Prometheus with the rules that the chart renders raises an alert for a long wait, and takes it back.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn prometheus_raises_an_alert_for_a_long_wait_and_takes_it_back() {
    let flags = ["prometheusRule.longWaitSeconds=3,prometheusRule.for=1s"];
    let Some((program, rules)) = crate::chart::program("prometheus").zip(rules(&flags)) else {
        return eprintln!(
            "skipped: no Prometheus here; `tests/cluster/cluster build tests` brings it"
        );
    };
    with_namespace("alerts", async |ns| {
        let mut proxy = Process::start(Command::new("kubectl").args(["proxy", "--port=0"]));
        let line = proxy.line("127.0.0.1:");
        let api_server = line.rsplit(' ').next().expect("an address").trim();
        let dir = tempfile::tempdir().expect("a folder");
        let write = |name: &str, value: &Value| {
            std::fs::write(dir.path().join(name), value.to_string()).expect("written");
        };
        write("rules.yaml", &rules);
        write("prometheus.yaml", &scraping(api_server).await);
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address").to_string();
        drop(free);
        let _prometheus = Process::start(
            Command::new(program)
                .args(["--config.file=prometheus.yaml", "--storage.tsdb.path=data"])
                .arg(format!("--web.listen-address={address}"))
                .arg("--log.level=warn")
                .current_dir(&dir),
        );
        ns.apply([deployment("api").depends_on("configmap/go")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        until_raised(ns, &address, true).await;
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
        until_raised(ns, &address, false).await;
    })
    .await;
}

/// Returns a configuration of Prometheus that scrapes every replica through the API server, with the labels that the PodMonitor gives: Debian's
/// Prometheus cannot find pods by itself.
async fn scraping(api_server: &str) -> Value {
    let of = |replica: String| {
        let path = sluice::metrics_path(&replica);
        let labels =
            json!({"__metrics_path__": path, "pod": replica, "namespace": sluice::NAMESPACE});
        json!({"targets": [api_server], "labels": labels})
    };
    let replicas = sluice::replicas().await.into_iter();
    let targets: Vec<Value> = replicas.map(|(replica, _)| of(replica)).collect();
    let [endpoint, _] = endpoints().expect("there is a Helm, or there were no rules");
    let job = json!({
        "job_name": "sluice",
        "static_configs": targets,
        "honor_labels": endpoint["honorLabels"] == true,
    });
    json!({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": [job],
    })
}

/// Waits until a Prometheus reports the alert on a long wait in the namespace, or where `raised` is false, until it no longer does.
async fn until_raised(ns: &Namespace, address: &str, raised: bool) {
    let url = format!("http://{address}/api/v1/alerts");
    let what = if raised { "is raised" } else { "is taken back" };
    await_until(&format!("the alert {what}"), LIMIT, async || {
        let told = Program::new("curl").args(["-s", &url]).run().await;
        let told: Value = serde_json::from_str(&told.stdout).map_err(|_| told.to_string())?;
        let ours = |alert: &&Value| {
            alert["labels"]["alertname"] == "SluiceGateWaitsLong"
                && alert["labels"]["namespace"] == ns.name.as_str()
                && alert["state"] == "firing"
        };
        let alerts = told["data"]["alerts"].as_array().into_iter().flatten();
        let found = alerts.filter(ours).count() > 0;
        if found == raised {
            Ok(())
        } else {
            Err(told.to_string())
        }
    })
    .await;
}
