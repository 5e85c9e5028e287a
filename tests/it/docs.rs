use crate::chart::files;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each command that the documentation shows, the file that runs it, and how it stands there.
const RUN_BY: &[(&str, &str, &str)] = &[
    ("make demo", "tests/run", "make demo"),
    ("make test", ".ci/run", "make test"),
    ("make images", "Makefile", "install: cluster images"),
    ("make install", "tests/cluster/session.sh", "make install"),
    (
        "helm install shop examples/shop/chart --namespace shop --create-namespace",
        "tests/it/cluster/helm.rs",
        r#"["install", "shop", CHART]"#,
    ),
    (
        "helm install umbrella examples/umbrella --namespace umbrella --create-namespace --wait",
        "tests/it/cluster/helm.rs",
        r#"["install", "umbrella", UMBRELLA]"#,
    ),
    (
        "kubectl create namespace planned",
        "tests/harness/cluster/namespace.rs",
        "Namespace",
    ),
    (
        "kubectl label namespace planned sluice.dev/inject=enabled",
        "tests/it/cluster/helm.rs",
        r#"["label", "namespace", &ns.name, "sluice.dev/inject=enabled"]"#,
    ),
    (
        "helm install umbrella examples/umbrella --namespace planned --wait --set front.podAnnotations=null,plan=true",
        "tests/it/cluster/helm.rs",
        r#"["install", "umbrella", UMBRELLA, planned]"#,
    ),
    (
        "helm install umbrella examples/umbrella --namespace crashes --create-namespace --wait --set front.podAnnotations=null",
        "tests/it/cluster/helm.rs",
        r#"["install", "umbrella", UMBRELLA, without]"#,
    ),
    (
        "helm install seeds examples/seeds --namespace seeds --create-namespace",
        "tests/it/cluster/helm.rs",
        r#"["install", "seeds", SEEDS]"#,
    ),
    (
        "kubectl get jobs --namespace seeds",
        "tests/it/cluster/helm.rs",
        r#"["get", "jobs"]"#,
    ),
    (
        "kubectl sluice status POD --namespace shop",
        "tests/it/cluster/told.rs",
        r#"["status", &api.name, "--namespace", &ns.name]"#,
    ),
    (
        "kubectl sluice status deploy/api --namespace shop",
        "tests/it/cli/subjects.rs",
        r#"["deploy/api", "-n", "shop"]"#,
    ),
    (
        "kubectl sluice status --release shop --namespace shop",
        "tests/it/cli/subjects.rs",
        r#"["--release", "shop", "-n", "shop"]"#,
    ),
    (
        "kubectl sluice status --namespace shop",
        "tests/it/cli/subjects.rs",
        r#"["-n", "shop"]"#,
    ),
    (
        "kubectl sluice status -A",
        "tests/it/cli/subjects.rs",
        r#"["-A"]"#,
    ),
    (
        "kubectl sluice status -f shop.yaml",
        "tests/it/cli.rs",
        r#"["status", "-f", path]"#,
    ),
    (
        "kubectl sluice status -f shop.yaml --rules rules.yaml",
        "tests/it/cli.rs",
        r#"["status", "-f", manifest, "--rules", "-"]"#,
    ),
    (
        "kubectl sluice lint -f shop.yaml",
        "tests/it/cli/lint.rs",
        r#"["lint", "-f", path]"#,
    ),
    (
        "kubectl sluice suggest -f CHART",
        "tests/it/cli/suggest.rs",
        r#"["suggest", "-f", name]"#,
    ),
    (
        "kubectl sluice lint -f CHART",
        "tests/it/cli/lint.rs",
        r#"["lint", "--strict", "-f", chart]"#,
    ),
    (
        "kubectl sluice graph -f shop.yaml",
        "tests/it/cli/graph.rs",
        r#"["graph", "-f", path]"#,
    ),
    (
        "kubectl sluice graph --release shop --namespace shop",
        "tests/it/cli/graph.rs",
        r#"["graph", "--release", "shop"]"#,
    ),
    (
        "kubectl sluice ui --namespace shop",
        "tests/it/cli/ui.rs",
        r#"["ui", "--kubeconfig""#,
    ),
    (
        "kubectl sluice release POD --namespace shop",
        "tests/it/cli/server.rs",
        r#"["release", "api-1"]"#,
    ),
    (
        "kubectl sluice check",
        "tests/it/cli/server.rs",
        r#"["check"]"#,
    ),
    (
        "kubectl sluice check --pre",
        "tests/it/cli/server.rs",
        r#"["check", "--pre"]"#,
    ),
    (
        "kubectl sluice version",
        "tests/it/cli/server.rs",
        r#"["version"]"#,
    ),
    (
        "kubectl sluice completion kubectl > kubectl_complete-sluice",
        "tests/it/cli.rs",
        r#"["completion", "kubectl"]"#,
    ),
    (
        "kubectl sluice explain NoEndpoints",
        "tests/it/cli.rs",
        r#"["explain", "NoEndpoints"]"#,
    ),
    (
        "kubectl sluice status --release shop --namespace shop --watch",
        "tests/it/cli/subjects.rs",
        r#"["-n", "shop", "-w"]"#,
    ),
    (
        "kubectl sluice check --health-rules rules.yaml",
        "tests/it/cli.rs",
        r#"["check", "--health-rules", path]"#,
    ),
    (
        "kubectl annotate deployment/api sluice.dev/skip=true",
        "tests/it/cluster/terms.rs",
        r#"["annotate", "deployment/api", "sluice.dev/skip=true"]"#,
    ),
    (
        "kubectl delete mutatingwebhookconfiguration sluice",
        "tests/it/cluster/without_sluice/emergency.rs",
        r#"["delete", "mutatingwebhookconfiguration", "sluice"]"#,
    ),
    ("examples/shop/demo.sh", "Makefile", "examples/shop/demo.sh"),
    (
        "helm install shop examples/shop/chart -n shop --create-namespace",
        "examples/shop/demo.sh",
        "helm install shop",
    ),
    (
        "kubectl sluice status --release shop -n shop --watch",
        "examples/shop/demo.sh",
        r#"kubectl sluice status --release shop -n "$namespace" --watch"#,
    ),
    (
        "kubectl sluice graph --release shop -n shop",
        "examples/shop/demo.sh",
        r#"kubectl sluice graph --release shop -n "$namespace""#,
    ),
    (
        "helm upgrade shop examples/shop/chart -n shop --set schema=2",
        "examples/shop/demo.sh",
        "helm upgrade shop",
    ),
    (
        "kubectl get events -n shop",
        "tests/it/cluster/told.rs",
        "has_event",
    ),
    (
        "helm uninstall shop -n shop",
        "tests/run",
        "helm uninstall shop",
    ),
    (
        "python3 -m unittest discover examples/shop",
        "tests/run",
        "unittest discover",
    ),
    ("make lint", ".ci/run", "make lint"),
    ("make bench", "Makefile", "bench:"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    let path = path.canonicalize().expect("a file of ours");
    std::fs::read_to_string(path).expect("text")
}

fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).expect("docs is a folder");
    let mut pages: Vec<PathBuf> = docs.map(|entry| entry.expect("readable").path()).collect();
    let examples = ["shop", "umbrella", "seeds"].map(|it| format!("examples/{it}/README.md"));
    let others = ["README.md", "CONTRIBUTING.md"].map(str::to_owned);
    let others = others.into_iter().chain(examples);
    pages.extend(others.map(|page| root().join(page)));
    pages
}

/// The lines of the `sh` blocks, without comments and continued lines joined.
fn commands(page: &str) -> Vec<String> {
    let blocks = page
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let lines = blocks.flat_map(|block| {
        block
            .replace("\\\n", " ")
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let bare = |line: String| {
        line.split(" #")
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    lines
        .map(bare)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

#[test]
fn every_command_of_the_documentation_is_run_by_a_test() {
    let shown: BTreeSet<String> = pages()
        .iter()
        .flat_map(|page| commands(&read(page)))
        .collect();
    let known: BTreeSet<String> = RUN_BY
        .iter()
        .map(|(command, ..)| (*command).to_owned())
        .collect();
    let unknown: Vec<_> = shown.difference(&known).collect();
    assert!(unknown.is_empty(), "nothing runs {unknown:#?}");
    for (command, file, text) in RUN_BY {
        assert!(
            read(&root().join(file)).contains(text),
            "{file} no longer runs {command:?}"
        );
    }
}

#[test]
fn every_link_within_the_repository_leads_somewhere() {
    for page in pages() {
        let text = read(&page);
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            if target.contains("://") {
                continue;
            }
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let folder = page.parent().expect("a page is in a folder");
            let file = if path.is_empty() {
                page.clone()
            } else {
                folder.join(path)
            };
            let found =
                file.exists() && (heading.is_empty() || headings(&read(&file)).contains(heading));
            assert!(found, "{}: {target} leads nowhere", page.display());
        }
    }
}

/// What a link behind `#` may be called: the headings as GitHub writes them.
fn headings(page: &str) -> BTreeSet<String> {
    let titles = page.lines().filter(|line| line.starts_with('#'));
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    titles
        .map(|line| line.trim_start_matches('#').trim().to_lowercase())
        .map(|title| title.chars().filter(kept).collect::<String>())
        .map(|title| title.replace(' ', "-"))
        .collect()
}

/// A table that names tests which are not there shows nothing.
#[test]
fn every_threat_is_shown_by_tests_that_are_there() {
    let page = read(&root().join("docs/security.md"));
    let threat = |line: &&str| line.starts_with("| ") && line[2..].starts_with(char::is_numeric);
    let threats: Vec<&str> = page.lines().filter(threat).collect();
    assert_eq!(threats.len(), 20);
    for threat in threats {
        let named = |it: &&str| it.contains(".rs::");
        let tests: Vec<&str> = threat.split('`').filter(named).collect();
        assert!(!tests.is_empty(), "{threat}");
        for test in tests {
            let (file, name) = test.split_once("::").unwrap_or_default();
            let source = read(&root().join(file));
            let at = source.find(&format!("fn {name}(")).expect(test);
            // Only a comment, attributes and `async` stand between the two.
            let before: Vec<&str> = source[..at].rsplit("\n\n").take(1).collect();
            assert!(before.concat().contains("test"), "{test} is no test");
        }
    }
}

#[test]
fn every_metric_of_the_page_is_counted() {
    let sources = files(&root().join("webhook/src"));
    let sources: String = sources.iter().map(|path| read(path)).collect();
    let page = read(&root().join("docs/metrics.md"));
    let rows = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `sluice_"));
    let names: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        // A unit may be added where it is registered.
        let counted = [name, name.trim_end_matches("_seconds")]
            .iter()
            .any(|it| sources.contains(&format!("\"{it}\"")));
        assert!(counted, "nothing counts sluice_{name}");
    }
}

#[test]
fn every_reason_is_explained() {
    let page = read(&root().join("docs/troubleshooting.md"));
    for reason in rules::judged::Reason::ALL {
        assert!(page.contains(&format!("`{reason}`")), "{reason}");
    }
}

/// Flux reads that word in a message as leave to delete and recreate the object.
#[test]
fn no_text_of_ours_says_the_word() {
    let word = concat!("immu", "table");
    for folder in [
        "rules/src",
        "webhook/src",
        "gate/src",
        "cli/src",
        "certs/src",
    ] {
        let mut folders = vec![root().join(folder)];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(&next).expect("a folder of ours") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    assert!(
                        !read(&path).to_lowercase().contains(word),
                        "{}",
                        path.display()
                    );
                }
            }
        }
    }
}
