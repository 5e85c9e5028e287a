//! The charts of the pages about public charts, installed by Helm with the values or the plan that their page prints. The order on the page must hold
//! by the times that the kubelet wrote.
//!
//! Charts of equal shape are in `fixtures/docs`. Where `SLUICE_TEST_CHARTS` names a folder, the public ones are installed as well: `SECTION.tgz`, by
//! the section of the page, with the values of `SECTION.yaml` where that is there. A post-renderer gives their pods another image and leaves alone
//! the fields on which the order rests.

mod drawn; // the waits, by the cluster's own report
mod family; // a chart, and what its page says of it
mod lived; // when pods started and were ready

use drawn::Drawn;
use family::{Family, Order};
use harness::cluster::{Namespace, Program, finally, with_namespace};
use harness::process::binary;
use lived::Lived;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::sleep;

const PLUGINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/helm-plugins");

/// The pause between two looks for running Jobs.
const LOOK: Duration = Duration::from_millis(250);

/// Makes a test for each chart, and the list of all of them, each with its page and its section.
macro_rules! families {
    ($($test:ident: $page:literal, $section:literal;)*) => {
        const FAMILIES: &[(&str, &str)] = &[$(($page, $section)),*];
        $(
            #[tokio::test]
            #[ignore = "needs a cluster with sluice: make test"]
            async fn $test() {
                comes_in_order($page, $section).await;
            }
        )*
    };
}

families! {
    harbor: "charts.md", "harbor";
    nextcloud: "charts.md", "nextcloud";
    superset: "charts.md", "superset";
    airflow: "charts.md", "airflow";
    mastodon: "charts.md", "mastodon";
    sentry: "charts.md", "sentry";
    zammad: "charts.md", "zammad";
    temporal: "charts.md", "temporal";
    posthog: "charts.md", "posthog";
    airflow_of_the_community: "charts.md", "airflow-community-chart";
}

#[test]
fn every_chart_of_the_pages_is_installed() {
    for page in ["charts.md"] {
        let installed = FAMILIES.iter().filter(|(on, _)| *on == page);
        let installed: BTreeSet<_> = installed.map(|(_, it)| (*it).to_owned()).collect();
        assert_eq!(family::sections(page), installed, "{page}");
        for section in installed {
            let family = Family::of(page, &section);
            let waits = family.rows.iter().filter(|row| !row.waits_for.is_empty());
            assert!(waits.count() > 0, "{page}: {section}: nothing waits");
        }
    }
}

async fn comes_in_order(page: &str, section: &str) {
    // Built now where it is not, and not while a Job waits to be ended.
    binary("kubectl-sluice");
    let family = Family::of(page, section);
    with_namespace(section, async |ns| {
        installed(&family, ns, &family.chart, &[]).await;
    })
    .await;
    let (chart, values) = match real(section) {
        Ok(real) => real,
        Err(why) => {
            eprintln!("skipped: the real chart of {section}: {why}");
            return;
        }
    };
    with_namespace(section, async |ns| {
        let values: Vec<String> = values.iter().map(|it| format!("--values={it}")).collect();
        let install = async || installed(&family, ns, &chart, &values).await;
        // It may have objects that are in no namespace.
        finally(install, async |_| {
            let program = ns.program("helm");
            let gone = program.args(["uninstall", &family.release]).run().await;
            if gone.code != Some(0) {
                eprintln!("{gone}");
            }
        })
        .await;
    })
    .await;
}

/// Returns the chart of a section in the folder `SLUICE_TEST_CHARTS`, and its values; else the cause why there is none.
fn real(section: &str) -> Result<(PathBuf, Option<String>), String> {
    let folder = env::var_os("SLUICE_TEST_CHARTS").ok_or("SLUICE_TEST_CHARTS names no folder")?;
    let file = |ending: &str| Path::new(&folder).join(format!("{section}.{ending}"));
    let (chart, values) = (file("tgz"), file("yaml"));
    if !chart.is_file() {
        return Err(format!("there is no {}", chart.display()));
    }
    let values = values.is_file().then(|| values.display().to_string());
    Ok((chart, values))
}

/// Installs a chart as its page says. Fails where an object waits for other dependencies than the page says, or where one started too early.
async fn installed(family: &Family, ns: &Namespace, chart: &Path, args: &[String]) {
    let (lived, drawn) = (
        RefCell::new(Lived::default()),
        RefCell::new(Drawn::default()),
    );
    let all_ready = ns.look.follow("pod", "0", |pod| {
        let mut lived = lived.borrow_mut();
        lived.note(pod);
        let mut rows = family.rows.iter();
        rows.all(|row| lived.ready(&row.object).is_some())
    });
    let installed = async { tokio::join!(install(family, ns, chart, args), all_ready) };
    tokio::select! {
        _ = installed => {}
        never = end_jobs(ns, &lived, &drawn) => match never {}
    }
    let mut drawn = drawn.into_inner();
    drawn.add(Drawn::of(ns).await);
    drawn.is_what_the_page_says(&family.rows);
    drawn.held(&lived.into_inner());
}

async fn install(family: &Family, ns: &Namespace, chart: &Path, args: &[String]) {
    let mut values = "";
    match &family.order {
        Order::Values(block) => values = block,
        Order::Plan(plan) => {
            let label = ["label", "namespace", &ns.name, "sluice.dev/inject=enabled"];
            ns.kubectl(label).await.ok();
            let apply = ns.program("kubectl").args(["apply", "-f", "-"]);
            apply.input(plan).run().await.ok();
        }
    }
    let chart = chart.display().to_string();
    let helm = Program::new("env").args([&format!("HELM_PLUGINS={PLUGINS}"), "helm"]);
    let install = helm.args(["install", &family.release, &chart, "--namespace", &ns.name]);
    let install = install
        .args(args)
        .args(["--values=-", "--post-renderer=stand-in"]);
    install.input(values).run().await.ok();
}

/// Ends each running Job once the graph of the moment is noted: many Jobs are removed as soon as they are complete. Never returns.
async fn end_jobs(ns: &Namespace, lived: &RefCell<Lived>, drawn: &RefCell<Drawn>) -> Infallible {
    let mut told = BTreeSet::new();
    loop {
        let running = lived.borrow().running_jobs();
        for job in running {
            if told.insert(job.clone()) {
                let now = Drawn::of(ns).await;
                drawn.borrow_mut().add(now);
                ns.tell_ready(&job).await;
            }
        }
        sleep(LOOK).await;
    }
}
