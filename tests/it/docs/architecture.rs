//! Checks statements of ARCHITECTURE.md about the code.

use super::{read, root};
use crate::chart::files;
use harness::process::{binary, pipe};
use std::process::Command;
use webhook::ServerLimits;

/// Returns the text of ARCHITECTURE.md in one line, with single blanks.
fn page() -> String {
    let text = read(&root().join("ARCHITECTURE.md"));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the sources of a crate without their tests, each with its path below `src`.
fn sources(name: &str) -> Vec<(String, String)> {
    let src = root().join(name).join("src");
    let mut found = Vec::new();
    for path in files(&src) {
        let below = path.strip_prefix(&src).expect("a file of the crate");
        let below = below.to_string_lossy().into_owned();
        if !below.contains("tests") {
            let text = read(&path);
            let code = text.split("mod tests {").next().unwrap_or_default();
            found.push((below, code.to_owned()));
        }
    }
    assert!(found.len() > 5, "{name}");
    found
}

/// Returns the names in the table `[dependencies]` of a crate.
fn dependencies(name: &str) -> Vec<String> {
    let manifest = read(&root().join(name).join("Cargo.toml"));
    let (_, table) = manifest
        .split_once("[dependencies]\n")
        .expect("a table of dependencies");
    let lines = table.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ']).next());
    let names = names.filter(|name| !name.is_empty() && !name.starts_with('#'));
    names.map(str::to_owned).collect()
}

#[test]
fn every_module_has_its_row() {
    let page = page();
    for name in ["rules", "webhook"] {
        let lib = read(&root().join(name).join("src/lib.rs"));
        let modules = lib.lines().filter(|line| !line.starts_with("//"));
        let modules = modules.filter_map(|line| line.split_once("mod ")?.1.strip_suffix(';'));
        let modules: Vec<&str> = modules.collect();
        assert!(modules.len() > 20, "{modules:?}");
        for module in modules {
            let row = format!("`{module}`");
            assert!(page.contains(&row), "{name} has {module}, and no row");
        }
    }
}

/// Returns whether a crate has a module, or a function in a module, at this path.
fn leads(name: &str, path: &[&str]) -> bool {
    let mut folder = root().join(name).join("src");
    let mut file = folder.join("lib.rs");
    for (place, step) in path.iter().enumerate() {
        let next = folder.join(format!("{step}.rs"));
        if !next.is_file() {
            let last = place + 1 == path.len();
            return last && read(&file).contains(&format!("fn {step}("));
        }
        (file, folder) = (next, folder.join(step));
    }
    true
}

#[test]
fn every_path_leads_to_a_module_or_a_function() {
    let page = page();
    let is_path = |it: &&str| {
        let of_a_path =
            |letter| letter == ':' || letter == '_' || char::is_ascii_lowercase(&letter);
        it.contains("::") && it.chars().all(of_a_path) && !it.starts_with("tokio::")
    };
    let paths: Vec<&str> = page.split('`').filter(is_path).collect();
    assert!(paths.len() > 15, "{paths:?}");
    for path in paths {
        let steps: Vec<&str> = path.split("::").collect();
        let found = match steps[..] {
            [name @ ("rules" | "webhook"), ref rest @ ..] => leads(name, rest),
            ref all => leads("webhook", all) || leads("rules", all),
        };
        assert!(found, "{path} leads nowhere");
    }
}

#[test]
fn tasks_and_threads_begin_where_the_page_says() {
    for (path, code) in sources("webhook") {
        let begins = ["spawn(", "spawn_on(", "spawn_blocking("]
            .iter()
            .any(|it| code.contains(it));
        let may = ["tasks.rs", "server.rs", "telemetry/lines.rs"].contains(&path.as_str());
        assert!(may || !begins, "{path} starts a task or a thread");
    }
    assert!(read(&root().join("clippy.toml")).contains("path = \"tokio::spawn\""));
}

#[test]
fn secrets_and_webhook_configurations_are_left_to_the_authority() {
    for (path, code) in sources("webhook") {
        for kind in ["Secret", "MutatingWebhookConfiguration"] {
            let uses =
                code.contains(&format!("Api<{kind}>")) || code.contains(&format!("Api::<{kind}>"));
            assert!(!uses || path.starts_with("authority"), "{path} uses {kind}");
        }
    }
}

/// The controller has each flag that the command line reads from its Deployment, where the chart writes them.
#[test]
fn the_command_line_reads_flags_that_the_controller_has() {
    let mut command = Command::new(binary("sluice-webhook"));
    let help = pipe(command.arg("--help").env_clear(), Vec::new());
    let help = String::from_utf8(help.stdout).expect("text");
    let mut flags = 0;
    for (path, code) in sources("cli") {
        let reads = path.starts_with("installation") || path.starts_with("check");
        let words = code
            .split('"')
            .filter(|it| it.starts_with("--") && it.len() > 2);
        for flag in words.filter(|_| reads) {
            assert!(
                help.contains(&format!("{flag} <")) || help.contains(&format!("{flag}\n")),
                "{path}: {flag}"
            );
            flags += 1;
        }
    }
    assert!(flags > 9, "{flags}");
    for default in ["sluice-memory", "sluice-slots"] {
        assert!(help.contains(&format!("[default: {default}]")), "{default}");
    }
}

#[test]
fn crates_do_not_depend_on_what_they_know_nothing_of() {
    for (name, foreign) in [
        (
            "rules",
            &["axum", "hyper", "k8s-openapi", "kube", "rustls", "tokio"][..],
        ),
        ("certs", &["k8s-openapi", "kube", "rules", "tokio"]),
        ("gate", &["jiff", "kube", "rules", "tokio"]),
        ("cli", &["certs", "gate", "webhook"]),
    ] {
        let all = dependencies(name);
        assert!(!all.is_empty(), "{name}");
        for crate_name in foreign {
            assert!(
                !all.contains(&(*crate_name).to_owned()),
                "{name}: {crate_name}"
            );
        }
    }
    assert_eq!(dependencies("wire"), ["serde"]);
}

#[test]
fn a_connection_draws_its_age_between_half_of_the_limit_and_all() {
    let most = ServerLimits::status().age.as_secs() / 60;
    let told = format!("draws between {} and {most} minutes", most / 2);
    assert!(page().contains(&told), "{told}");
}
