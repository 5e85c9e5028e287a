//! Checks statements of the documentation about the code.

use super::blocks::{Kind, blocks};
use super::{pages, read, root};
use crate::chart::files;
use harness::process::{binary, pipe};
use std::collections::BTreeSet;
use std::process::Command;

/// Words that a page quotes, the file that prints or tests them, and their spelling in that file.
const QUOTED: &[(&str, &str, &str)] = &[
    (
        "waits at its gate for",
        "rules/src/cause.rs",
        "waits at its gate",
    ),
    (
        "is held by pods that wait for it: ",
        "rules/src/verdict/explain/no_room.rs",
        "is held by pods that wait for it: ",
    ),
    (
        "and asks again: the node was rebooted",
        "wire/src/said.rs",
        "and asks again: the node was rebooted",
    ),
    (
        "Wait begins",
        "webhook/src/status/tell.rs",
        "\"Wait begins\"",
    ),
    (
        "did you mean \"Deployment\"?",
        "tests/it/cli/lint.rs",
        "unknown kind \\\"Deploymnt\\\"; did you mean",
    ),
    (
        "Usage: kubectl sluice",
        "tests/it/docs/claims.rs",
        "fn every_option_is_on_its_page",
    ),
    (
        "job/migrate, statefulset/postgres, svc/redis",
        "tests/it/docs/claims.rs",
        "fn the_short_form_of_a_list_is_read",
    ),
    (
        "(ne .Values.externalDatabase.host",
        "tests/fixtures/suggest/followed.txt",
        "+      {{- if and (not .Values.postgresql.enabled) (ne .Values.externalDatabase.host \"localhost\") }}\n+      \
         tcp://{{ .Values.externalDatabase.host }}:{{ .Values.externalDatabase.port }}\n+      {{- end }}",
    ),
    (
        "{{- if .Values.postgresql.enabled }}",
        "tests/fixtures/suggest/branches.txt",
        "+      {{- if .Values.postgresql.enabled }}\n+      service/{{ .Release.Name }}-postgresql\n+      {{- end }}",
    ),
];

#[test]
fn every_quotation_is_what_a_program_says() {
    for page in pages() {
        let quoted = blocks(&page).into_iter();
        for block in quoted.filter(|it| it.kind == Kind::Quoted) {
            let joined = block.text.replace('\n', " ");
            let known = QUOTED.iter().find(|(words, ..)| joined.contains(words));
            let (_, file, said) = known.unwrap_or_else(|| panic!("{}: who says this?", block.at));
            assert!(read(&root().join(file)).contains(said), "{file}: {said}");
        }
    }
}

#[test]
fn the_short_form_of_a_list_is_read() {
    let mut lists = 0;
    for block in blocks(&root().join("docs/annotations.md")) {
        if block.kind == Kind::Quoted && block.text.contains("job/migrate") {
            rules::annotation::parse_depends_on(&block.text)
                .unwrap_or_else(|error| panic!("{}: {error}", block.at));
            lists += 1;
        }
    }
    assert_eq!(lists, 1);
}

/// Each threat of docs/security.md is in the table of tests/THREATS.md, whose tests all exist.
#[test]
fn every_threat_is_shown_by_tests_that_are_there() {
    let (page, tests) = ["docs/security.md", "tests/THREATS.md"]
        .map(|it| read(&root().join(it)))
        .into();
    let threat = |line: &&str| line.starts_with("| ") && line[2..].starts_with(char::is_numeric);
    let threats: Vec<&str> = tests.lines().filter(threat).collect();
    assert_eq!(threats.len(), 22);
    let named = |line: &str| line.split(" | ").take(2).collect::<Vec<_>>().join(" | ");
    let of_the_page = page.lines().filter(threat).map(named);
    assert!(of_the_page.eq(threats.iter().map(|it| named(it))));
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
fn every_metric_that_is_counted_is_on_the_page() {
    let page = read(&root().join("docs/metrics.md"));
    let sources = files(&root().join("webhook/src"));
    let sources = sources
        .iter()
        .filter(|path| !path.to_string_lossy().contains("tests"));
    let mut names = BTreeSet::new();
    for source in sources.map(|path| read(path)) {
        let told = source.split("mod tests {").next().unwrap_or_default();
        for mark in ["registry.register(", "encode_descriptor("] {
            let calls = told.split(mark).skip(1);
            let quoted = calls.filter_map(|call| call.trim_start().strip_prefix('"'));
            names.extend(quoted.filter_map(|call| Some(call.split_once('"')?.0.to_owned())));
        }
    }
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("| `sluice_{name}")), "sluice_{name}");
    }
}

#[test]
fn every_key_of_ours_is_on_a_page() {
    let text: String = pages().iter().map(|page| read(page)).collect();
    let keys = read(&root().join("rules/src/keys.rs"));
    let named = keys.split('"').filter(|it| it.starts_with("sluice.dev/"));
    let missing: Vec<&str> = named.filter(|key| !text.contains(*key)).collect();
    assert_eq!(missing, [""; 0]);
}

/// Returns the word of each variant of an enum in a source, as `strum` derives it: its name, or the text to which it serializes.
fn variants(source: &str, name: &str) -> Vec<String> {
    let (_, rest) = source.split_once(&format!("enum {name} {{")).expect(name);
    let (body, _) = rest.split_once('}').expect("its end");
    let (mut words, mut other) = (Vec::new(), None);
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("#[strum(serialize = \"") {
            other = text.split('"').next();
        } else if let Some(variant) = line.strip_suffix(',') {
            words.push(other.take().unwrap_or(variant).to_owned());
        }
    }
    words
}

/// The page of Events has each reason that the code writes, and no other one.
#[test]
fn every_event_is_on_its_page_and_no_other() {
    let sources = files(&root().join("webhook/src"));
    let told = sources.iter().map(|path| (path, read(path)));
    let mut written = BTreeSet::new();
    for (path, source) in told.filter(|(path, _)| !path.to_string_lossy().contains("tests")) {
        let source = source.split("mod tests {").next().unwrap_or_default();
        if path.ends_with("status/tell/events/news.rs") {
            written.extend(variants(source, "EventReason"));
        }
        let words = source.split("reason: \"").skip(1);
        let words = words.filter_map(|rest| rest.split('"').next());
        // An answer to admission has a reason too.
        let words = words.filter(|it| !["Normal", "Warning", "BadRequest"].contains(it));
        written.extend(words.map(str::to_owned));
    }
    let page = read(&root().join("docs/metrics.md"));
    let (_, events) = page
        .split_once("\n## Events\n")
        .expect("its part on Events");
    let events = events.split("\n## ").next().unwrap_or_default();
    let rows = events.lines().filter_map(|line| line.strip_prefix("| `"));
    let shown = rows.filter_map(|row| row.split('`').next());
    let shown: BTreeSet<String> = shown.map(str::to_owned).collect();
    assert_eq!(shown, written);
}

#[test]
fn every_reason_is_explained() {
    let page = read(&root().join("docs/troubleshooting.md"));
    for reason in rules::judged::Reason::ALL {
        assert!(page.contains(&format!("`{reason}`")), "{reason}");
    }
}

/// The word `immutable` is in no source of the shipped programs: Flux takes it in a message for leave to delete and recreate the object.
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

/// The page of all options has the help texts of the command; `UPDATE_DOCS=1` writes it anew.
#[test]
fn every_option_is_on_its_page() {
    let help = |args: &[&str]| {
        let mut command = Command::new(binary("kubectl-sluice"));
        let output = pipe(command.args(args).arg("--help").env_clear(), Vec::new());
        assert!(output.status.success(), "{args:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n")
    };
    let whole = help(&[]);
    let listed = whole.split("Commands:\n").nth(1).unwrap_or_default();
    let commands = listed.lines().take_while(|line| !line.trim().is_empty());
    let commands = commands.filter_map(|line| line.split_whitespace().next());
    let mut page = format!(
        "# Every option\n\nThe `--help` of each command. [The command line](../docs/cli.md) explains them.\n\n\
         ```text\n{whole}\n```\n"
    );
    for command in commands.filter(|it| *it != "help") {
        let help = help(&[command]);
        page.extend(["\n## ", command, "\n\n```text\n", &help, "\n```\n"]);
    }
    let path = root().join("cli/OPTIONS.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("it can be written");
    }
    assert_eq!(read(&path), page, "UPDATE_DOCS=1 writes it anew");
}
