use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// Runs a program in the root of the project, and returns its standard output. Fails if the program fails.
fn output(program: &str, arguments: &[&str]) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .output();
    let output = output.expect(program);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {complaint}");
    String::from_utf8(output.stdout).expect("it prints text")
}

fn listed(package: &str) -> String {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    output(
        "python3",
        &["-B", "tests/cluster/sbom.py", package, &target],
    )
}

#[test]
fn every_crate_that_is_linked_is_listed() {
    for package in ["webhook", "gate"] {
        let text = listed(package);
        let listed: Value = serde_json::from_str(&text).expect("it is JSON");
        let components = listed["components"].as_array().expect("a list").iter();
        let components = components.chain([&listed["metadata"]["component"]]);
        let crate_of = |it: &Value| format!("{} v{}", it["name"], it["version"]).replace('"', "");
        let names: BTreeSet<String> = components.map(crate_of).collect();
        let tree = ["tree", "--locked", "-p", package, "-e", "normal"];
        let tree = output("cargo", &[&tree[..], &["--prefix", "none"]].concat());
        for line in tree.lines() {
            let name: Vec<&str> = line.split_whitespace().take(2).collect();
            assert!(names.contains(&name.join(" ")), "{package}: {line}");
        }
        let hashes = listed["components"].as_array().into_iter().flatten();
        let hashes = hashes.filter(|it| it["hashes"][0]["content"].is_string());
        assert!(
            hashes.count() > 10,
            "{package}: what comes from elsewhere is told by its checksum"
        );
    }
}

#[test]
fn the_list_is_the_same_each_time_and_of_no_machine() {
    let text = listed("gate");
    assert_eq!(text, listed("gate"));
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR").trim_end_matches("/tests")));
}
