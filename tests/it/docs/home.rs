//! The addresses of published artifacts are those of `release/home`, and before the first release no page sends a reader to them.

use super::blocks::{Kind, Stage, blocks};
use super::{folder, read, root};
use crate::chart::files;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The end of a heading whose section is about the time after the first release.
const LATER: &str = "Once a release is out";

/// The sentence by which a page says that nothing is released yet.
const NOT_YET: &str = "Nothing is released yet";

/// The text of the file `release/home`: lines `KEY=VALUE` with the addresses of published artifacts, and whether anything is published.
struct Home(String);

impl Home {
    fn own() -> Self {
        Self(read(&root().join("release/home")))
    }

    fn value(&self, key: &str) -> &str {
        let values = self.0.lines().filter_map(|line| line.split_once('='));
        let found: Vec<&str> = values
            .filter_map(|(it, value)| (it == key).then_some(value))
            .collect();
        assert_eq!(found.len(), 1, "{key}: {found:?}");
        found[0]
    }

    /// Whether `release/home` says that something is published. Fails on a word other than `yes` and `no`.
    fn published(&self) -> bool {
        match self.value("published") {
            "yes" => true,
            word => {
                assert_eq!(word, "no");
                false
            }
        }
    }
}

/// Returns the pages that a stranger reads first: those of the book, the README, SECURITY.md and the chart's README.
fn read_first() -> Vec<PathBuf> {
    let beside = ["README.md", "SECURITY.md", "charts/sluice/README.md"];
    let mut pages = folder();
    pages.retain(|page| page.extension().is_some_and(|it| it == "md"));
    pages.extend(beside.map(|page| root().join(page)));
    pages
}

fn yaml(path: &str) -> Value {
    serde_saphyr::from_str(&read(&root().join(path))).expect("YAML")
}

#[test]
fn chart_program_and_book_take_the_names_of_the_home() {
    let home = Home::own();
    let (registry, repository) = (home.value("registry"), home.value("repository"));
    let (chart, values) = (
        yaml("charts/sluice/Chart.yaml"),
        yaml("charts/sluice/values.yaml"),
    );
    assert_eq!(rules::keys::PREFIX, format!("{}/", home.value("prefix")));
    assert_eq!(chart["home"], home.value("site"));
    assert_eq!(chart["maintainers"][0]["url"], home.value("site"));
    assert_eq!(chart["sources"], serde_json::json!([repository]));
    for (image, name) in [
        (&values["image"], "webhook"),
        (&values["gate"]["image"], "gate"),
    ] {
        // The host is that of a release, which `release/chart.py` notes: a clone has none.
        let (_, folder) = registry.split_once('/').expect("a folder");
        assert_eq!(image["registry"], "");
        assert_eq!(image["repository"], format!("{folder}/sluice-{name}"));
    }
    let book = read(&root().join("book.toml"));
    let line = format!("git-repository-url = \"{repository}\"");
    assert!(book.contains(&line), "book.toml: {line}");
}

/// Returns the address at the end of a text: the letters back to the first one that no address has.
fn address(before: &str) -> &str {
    let part = |it: char| it.is_ascii_alphanumeric() || "./:_-".contains(it);
    let start = before.rfind(|it: char| !part(it)).map_or(0, |at| at + 1);
    &before[start..]
}

/// Returns the addresses of sluice in a text: folders in a registry, and those of the sources. A name without a host is left out, and so is a host
/// with a port, and one that the reader has to replace.
fn addresses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (end, kind) in [
        ("/sluice-webhook", "registry"),
        ("/sluice-gate", "registry"),
        ("/charts/sluice", "registry"),
        ("/sluice/releases", "repository"),
        ("/sluice/blob", "repository"),
        ("/sluice/tree", "repository"),
        ("/sluice/raw", "repository"),
        ("/sluice/security", "repository"),
        ("/sluice/issues", "repository"),
    ] {
        for (at, _) in text.match_indices(end) {
            let before = address(&text[..at]).trim_start_matches("oci://");
            let host = before.split('/').next().unwrap_or_default();
            let public = host.contains('.') && host != "registry.example" && !host.starts_with('.');
            if kind == "repository" && before.starts_with("https://") {
                found.push(format!("{before}/sluice"));
            } else if kind == "registry" && public && !host.contains(':') {
                found.push(before.to_owned());
            }
        }
    }
    found
}

#[test]
fn addresses_are_found() {
    let text = "see https://a.example/b/sluice/issues, oci://c.example/d/charts/sluice, `localhost/e/sluice-gate:1`, \
                mirror:5000/sluice-webhook and registry.example/f/sluice-gate";
    let expected = ["c.example/d", "https://a.example/b/sluice"];
    assert_eq!(addresses(text), expected);
}

#[test]
fn every_address_is_that_of_the_home() {
    let home = Home::own();
    let known = [home.value("registry"), home.value("repository")];
    let mut seen = 0;
    let folders = ["charts", "release", ".github", "cli/src", "tests/cluster"];
    let more = folders.iter().flat_map(|it| files(&root().join(it)));
    for path in read_first().into_iter().chain(more) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        for found in addresses(&text) {
            assert!(
                known.contains(&found.as_str()),
                "{}: {found}",
                path.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

/// Returns the lines of a page outside of sections about the time after the first release, each with its number.
fn now(text: &str) -> Vec<(usize, &str)> {
    let mut within = 0;
    let mut fenced = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        fenced ^= line.starts_with("```");
        let level = line.chars().take_while(|it| *it == '#').count();
        let ends = within == 0 || level <= within;
        if !fenced && level > 0 && ends {
            within = if line.ends_with(LATER) { level } else { 0 };
        }
        if within == 0 {
            lines.push((index + 1, line));
        }
    }
    lines
}

/// Returns the lines of a page that are wrong now: while nothing is published those that promise a release, or use its addresses, outside of sections
/// about the time after it; afterwards those that say there is none.
fn wrong(home: &Home, page: &str) -> Vec<String> {
    let says =
        |line: &str| line.contains(NOT_YET) || line.starts_with('#') && line.ends_with(LATER);
    if home.published() {
        let lines = page.lines().filter(|line| says(line));
        return lines.map(str::to_owned).collect();
    }
    let download = format!("{}/releases", home.value("repository"));
    let issues = format!("{}/issues", home.value("repository"));
    let advisories = format!("{}/security/", home.value("repository"));
    let registry = home.value("registry");
    let early = |line: &str| {
        let named = [registry, &download, &issues, &advisories];
        named.iter().any(|it| line.contains(*it)) || line.starts_with("```sh,published")
    };
    let lines = now(page).into_iter().filter(|(_, line)| early(line));
    lines.map(|(at, line)| format!("{at}: {line}")).collect()
}

#[test]
fn a_page_is_read_by_whether_something_is_published() {
    let home = |published: &str| {
        let names = "registry=r.example/us\nrepository=https://s.example/us/sluice";
        Home(format!("published={published}\n{names}"))
    };
    let honest = "# A\n\n> **Nothing is released yet.**\n\n## Once a release is out\n\n```sh,published\nhelm r.example/us\n# no heading\n```\n\n\
                  ### More\n\nr.example/us\n\n## B\n";
    assert_eq!(wrong(&home("no"), honest), [""; 0]);
    let late = ["> **Nothing is released yet.**", "## Once a release is out"];
    assert_eq!(wrong(&home("yes"), honest), late);
    let early = "# A\n\n## Once a release is out\n\n## B\n\n```sh,published\nx\n```\n\n[new](https://s.example/us/sluice/releases)\n";
    let found = [
        "7: ```sh,published",
        "11: [new](https://s.example/us/sluice/releases)",
    ];
    assert_eq!(wrong(&home("no"), early), found);
    assert_eq!(wrong(&home("yes"), "# A\n\nr.example/us\n"), [""; 0]);
}

#[test]
fn no_page_leads_to_what_is_not_published() {
    let home = Home::own();
    for page in read_first() {
        let complaints = wrong(&home, &read(&page));
        assert!(complaints.is_empty(), "{}: {complaints:#?}", page.display());
    }
}

/// Above its first block of commands the README says whether there is a release to download. While there is none, that block needs nothing but a
/// clone.
#[test]
fn the_readme_leads_with_what_works() {
    let readme = root().join("README.md");
    let text = read(&readme);
    let first = text.find("```sh").expect("a block of commands");
    let published = Home::own().published();
    assert_eq!(text[..first].contains(NOT_YET), !published);
    let blocks = blocks(&readme);
    let commands = blocks.iter().find_map(|it| match it.kind {
        Kind::Commands(stage) => Some(stage),
        _ => None,
    });
    let leads = if published {
        Stage::Published
    } else {
        Stage::Engine
    };
    assert_eq!(commands, Some(leads));
}

/// The change log has a section for a version only once something is published.
#[test]
fn the_change_log_has_no_release_before_there_is_one() {
    let text = read(&root().join("CHANGELOG.md"));
    let titles: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    assert_eq!(titles.first(), Some(&"Unreleased"));
    assert_eq!(titles.len() > 1, Home::own().published(), "{titles:?}");
}

/// Each download by curl has `-f`: without it curl would keep an error page of the server as the file.
#[test]
fn no_download_takes_an_error_page_for_the_file() {
    let folders = ["docs", "examples", "release", "charts", ".github", "tests"];
    let named = ["README.md", "CONTRIBUTING.md", "Dockerfile", "Makefile"];
    let all = folders.iter().flat_map(|it| files(&root().join(it)));
    let all = all.chain(named.map(|it| root().join(it)));
    let mut seen = 0;
    for path in all.filter(|it| !it.starts_with(root().join("tests/fixtures"))) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        for line in downloads(&path, &text) {
            assert!(fails(line), "{}: {line}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 3, "{seen}");
}

/// Returns the lines of a script or a page that call curl with options. Left out are lines with `--output /dev/null`, the rows of a page's tables,
/// and all lines of Rust and Go sources.
fn downloads<'a>(path: &Path, text: &'a str) -> Vec<&'a str> {
    let page = path.extension().is_some_and(|it| it == "md");
    let code = path.extension().is_some_and(|it| it == "rs" || it == "go");
    let line = |line: &&str| {
        let call = line.split("curl ").skip(1).any(|it| it.starts_with('-'));
        call && !line.contains("--output /dev/null") && (!page || !line.starts_with('|'))
    };
    if code {
        return Vec::new();
    }
    text.lines().filter(line).collect()
}

/// Whether each call of curl in a line has `-f` (also among other short options) or `--fail` before its first word without a dash. A call that does
/// not begin with an option is passed over.
fn fails(line: &str) -> bool {
    let calls = line.split("curl ").skip(1).filter(|it| it.starts_with('-'));
    calls.into_iter().all(|call| {
        let mut flags = call.split_whitespace().take_while(|it| it.starts_with('-'));
        flags.any(|it| it == "--fail" || !it.starts_with("--") && it.contains('f'))
    })
}

#[test]
fn a_call_without_the_flag_is_found() {
    let found = |line| !downloads(Path::new("a.sh"), line).is_empty() && !fails(line);
    assert!(found("curl -sSL https://a.example | tar -xz"));
    assert!(found("x; curl --silent https://a.example >b && curl -f c"));
    assert!(!found("curl -fsSLO https://a.example"));
    assert!(!found("curl --silent --fail https://a.example"));
}
