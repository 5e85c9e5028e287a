//! The values files of platforms: Helm renders each, and the page about platforms leads to it and says whether it was tried.

use super::helm::{Render, chart_dir, files, helm};
use std::path::PathBuf;

fn platforms() -> Vec<PathBuf> {
    let found = files(&chart_dir().join("platforms"));
    assert!(found.len() > 10, "{found:?}");
    found
}

#[test]
fn each_file_renders_and_changes_what_is_rendered() {
    let Some(helm) = helm() else { return };
    let plain = Render::new(&helm).manifest().text();
    for file in platforms() {
        let with = Render::new(&helm).values(&file).manifest().text();
        assert_ne!(with, plain, "{}", file.display());
    }
}

#[test]
fn each_file_says_whether_it_was_tried_and_is_on_the_page() {
    let page = chart_dir().join("../../docs/platforms.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for file in platforms() {
        let text = std::fs::read_to_string(&file).expect("a file of values");
        let says = |it: &str| it.starts_with("# Not tried") || it.starts_with("# Tried");
        assert!(text.lines().any(says), "{}", file.display());
        let name = file.file_name().expect("a name").to_string_lossy();
        let link = format!("](../charts/sluice/platforms/{name})");
        assert!(page.contains(&link), "docs/platforms.md: {link}");
    }
}

/// On OpenShift the gate gets no user of the chart, unless a value sets one. The chart knows OpenShift by a kind that its API server serves, so no
/// value is needed.
#[test]
fn openshift_gives_the_gate_its_user() {
    let Some(helm) = helm() else { return };
    let of = |version: &[&str], flag: &str| {
        let backend = "injection.backend=policy";
        let render = Render::new(&helm).flags(&[backend, flag]);
        render.kubernetes("1.36.0", version).manifest().text()
    };
    let openshift = ["security.openshift.io/v1"];
    let asks = |text: &str, user: u32| {
        let flag = format!("--gate-run-as-user={user}");
        let policy = format!("securityContext{{runAsUser: {user},");
        (text.contains(&flag), text.contains(&policy))
    };
    assert_eq!(asks(&of(&[], "replicas=2"), 65532), (true, true));
    assert_eq!(asks(&of(&openshift, "replicas=2"), 65532), (false, false));
    let own = of(&openshift, "gate.runAsUser=1000700000");
    assert_eq!(asks(&own, 1_000_700_000), (true, true));
}
