//! Runs the commands of a page in a folder that holds the files that the page shows, and compares the output.

use super::blocks::{Block, Kind, Stage, blocks};
use super::root;
use harness::process::binary;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The name under which commands find the values that are shown above them.
const VALUES: &str = "values.yaml";

/// The first lines of a script: both outputs are one, and a failing command ends the script; the exit code for a wait (3) is no failure.
const PRELUDE: &str = "exec 2>&1\ntrap 'code=$?; [ $code = 3 ] || exit $code' ERR\n";

/// The limit of one block of commands in seconds, with the fixtures that run before it. A fixture makes whole chains of pods wait, one after the
/// other, so there are several `LIMIT`s in it, and only a failing test waits for so long.
const SCRIPT_LIMIT: &str = "3600";

/// The stages of a run, and the cluster that its commands may reach.
pub(crate) struct Setting<'a> {
    /// The stages that run.
    pub(crate) stages: &'a [Stage],
    /// The kubeconfig of an API server, with the programs that ask it; without it no cluster can be reached.
    pub(crate) kubeconfig: Option<&'a Path>,
}

/// Runs the commands that a page has for these stages, among the files that the page shows, and returns the differences between their output and the
/// page. Deletes the namespaces that they make; where one is there before, runs nothing and returns only that.
pub(crate) fn run(page: &Path, setting: &Setting) -> Vec<String> {
    let blocks = blocks(page);
    let stage = |block: &Block| match block.kind {
        Kind::Commands(stage) => Some(stage).filter(|it| setting.stages.contains(it)),
        _ => None,
    };
    let texts = blocks.iter().filter_map(|block| {
        let before = before(page, &block.section, stage(block)?);
        Some([before, block.text.clone()].concat())
    });
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() {
        return Vec::new();
    }
    let folder = Folder::new();
    // An API server of a test's own goes with all that is in it.
    let made = if setting.stages.contains(&Stage::Api) {
        BTreeSet::new()
    } else {
        namespaces(&texts)
    };
    for namespace in &made {
        let there = folder.run(&format!("kubectl get namespace {namespace}"), setting);
        if there.code == Some(0) {
            let page = page.display();
            return vec![format!("{page}: somebody has a namespace {namespace}")];
        }
    }
    let mut complaints = Vec::new();
    let mut prepared = BTreeSet::new();
    for (index, block) in blocks.iter().enumerate() {
        match &block.kind {
            Kind::File(name) => folder.write(name, &block.text),
            Kind::Values(_) => folder.write(VALUES, &block.text),
            _ => {}
        }
        let Some(stage) = stage(block) else {
            continue;
        };
        folder.take_over(page, &block.section);
        if prepared.insert((&block.section, stage.word())) {
            let ran = folder.run(&before(page, &block.section, stage), setting);
            let wrong = (ran.code != Some(0)).then(|| format!("{}: before it: {ran}", block.at));
            complaints.extend(wrong);
        }
        let shown = blocks.get(index + 1).filter(|it| it.kind == Kind::Output);
        let ran = folder.run(&block.text, setting);
        complaints.extend(complaint(block, &ran, shown, setting.kubeconfig.is_none()));
    }
    for namespace in &made {
        let away = format!("kubectl delete --ignore-not-found namespace {namespace}");
        folder.run(&away, setting);
    }
    complaints
}

/// Returns the folder of the fixtures for a section of a page: files that its commands find and that the page does not show in full.
fn fixtures(page: &Path, section: &str) -> PathBuf {
    let page = page.file_stem().unwrap_or_default();
    root().join("tests/fixtures/docs").join(page).join(section)
}

/// Returns the text of the script that prepares the cluster for the first command of a section, such as `before-api.sh`; empty where there is none.
fn before(page: &Path, section: &str, stage: Stage) -> String {
    let script = format!("before-{}.sh", stage.word());
    std::fs::read_to_string(fixtures(page, section).join(script)).unwrap_or_default()
}

/// Returns the names of the namespaces that these commands make, by `kubectl create namespace` or Helm's `--create-namespace`.
fn namespaces(texts: &[String]) -> BTreeSet<String> {
    let mut made = BTreeSet::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |word: &str| {
            let at = words.iter().position(|it| *it == word)?;
            words.get(at + 1).copied()
        };
        let name = if words.contains(&"--create-namespace") {
            after("--namespace").or_else(|| after("-n"))
        } else if words.starts_with(&["kubectl", "create", "namespace"]) {
            after("namespace")
        } else {
            None
        };
        made.extend(name.map(str::to_owned));
    }
    made
}

struct Ran {
    code: Option<i32>,
    printed: String,
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {:?}\n{}", self.code, self.printed)
    }
}

fn complaint(block: &Block, ran: &Ran, shown: Option<&Block>, exact: bool) -> Option<String> {
    let Ran { code, printed } = ran;
    // The shown result may be a finding (1), or a wait (3).
    let right = match shown {
        None => matches!(code, Some(0 | 3)),
        Some(_) => matches!(code, Some(0 | 1 | 3)),
    };
    let same = shown.is_none_or(|shown| {
        if exact {
            shown.text.trim_end() == printed.trim_end()
        } else {
            masked(&shown.text) == masked(printed)
        }
    });
    (!right || !same).then(|| {
        let wanted = shown.map_or(String::new(), |it| format!("the page shows:\n{}", it.text));
        format!(
            "{}: exit code {code:?}\n$ {}{printed}{wanted}",
            block.at, block.text
        )
    })
}

/// Returns the words of each line of a text that is not blank, with `#` for those that differ in each run: a word with digits that is no plain
/// number, such as a time, a number of seconds, and a name that Kubernetes has made up, which may have no digit.
fn masked(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let another = |at: usize| {
            let digits = words[at].contains(|it: char| it.is_ascii_digit());
            let number = words[at].chars().all(|it| it.is_ascii_digit());
            let seconds = number && words.get(at + 1) == Some(&"s");
            digits && !number || seconds || made_up(words[at])
        };
        let word = |at: usize| if another(at) { "#" } else { words[at] }.to_owned();
        (0..words.len()).map(word).collect()
    };
    lines.map(line).collect()
}

/// Whether a word ends in `-` and five of the letters and digits of which Kubernetes makes up names.
fn made_up(word: &str) -> bool {
    let letter = |it: char| "bcdfghjklmnpqrstvwxz2456789".contains(it);
    let end = word.rsplit_once('-').map(|(_, end)| end);
    end.is_some_and(|it| it.len() == 5 && it.chars().all(letter))
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["charts", "examples"] {
            std::os::unix::fs::symlink(root().join(name), folder.path().join(name))
                .expect("a link");
        }
        let programs = folder.path().join(".programs");
        std::fs::create_dir(&programs).expect("a folder");
        std::os::unix::fs::symlink(binary("kubectl-sluice"), programs.join("kubectl-sluice"))
            .expect("a link");
        let real = crate::chart::program("kubectl").unwrap_or_default();
        let kubectl = format!(
            "#!/bin/sh\n[ \"$1\" = sluice ] && shift && exec kubectl-sluice \"$@\"\n\
             [ \"$1\" = kustomize ] && exec {} \"$@\"\nexit 127\n",
            real.display()
        );
        let folder = Self(folder);
        folder.write(".offline/kubectl", &kubectl);
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("ours");
    }

    /// Copies the fixtures of a section into the folder in which its commands run.
    fn take_over(&self, page: &Path, section: &str) {
        let files = fixtures(page, section);
        if files.is_dir() {
            let copied = Command::new("cp")
                .arg("-rLT")
                .args([&files, &self.0.path().to_owned()])
                .status();
            assert!(copied.expect("cp starts").success(), "{}", files.display());
        }
    }

    fn run(&self, script: &str, setting: &Setting) -> Ran {
        let path = |name: &str| self.0.path().join(name);
        let cluster =
            crate::chart::program("kubectl").and_then(|it| it.parent().map(Path::to_owned));
        let mut places = vec![path(".programs")];
        if setting.kubeconfig.is_none() {
            places.push(path(".offline"));
        }
        places.extend(cluster);
        places.extend(["/usr/bin", "/bin"].map(PathBuf::from));
        let places: OsString = std::env::join_paths(places).expect("paths");
        let kubeconfig = setting.kubeconfig.unwrap_or(Path::new("/nonexistent"));
        let output = Command::new("timeout")
            .args([SCRIPT_LIMIT, "bash", "-u", "-o", "pipefail", "-c"])
            .arg([PRELUDE, script].concat())
            .current_dir(self.0.path())
            .env_clear()
            .env("HOME", self.0.path())
            .env("PATH", places)
            .env("KUBECONFIG", kubeconfig)
            // Python would write its cache into the repository.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .expect("bash starts");
        Ran {
            code: output.status.code(),
            printed: String::from_utf8_lossy(&output.stdout).into_owned(),
        }
    }
}

#[test]
fn what_needs_no_cluster_runs_as_it_stands() {
    let setting = Setting {
        stages: &[Stage::Offline],
        kubeconfig: None,
    };
    let complaints: Vec<String> = super::pages()
        .iter()
        .flat_map(|page| run(page, &setting))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// Each fixture belongs to a section of a page that has commands. A fixture of a page or a heading that was renamed would be unused, which the
/// cluster's stage alone would notice, an hour later.
#[test]
fn each_fixture_is_for_a_command_of_a_page() {
    let sections = |page: &Path| -> BTreeSet<PathBuf> {
        let commands = |block: &Block| matches!(block.kind, Kind::Commands(_));
        let blocks = blocks(page).into_iter().filter(commands);
        blocks.map(|it| fixtures(page, &it.section)).collect()
    };
    let used: BTreeSet<PathBuf> = super::pages().iter().flat_map(|it| sections(it)).collect();
    let scripts: BTreeSet<PathBuf> = super::pages()
        .iter()
        .flat_map(|page| {
            let script = |block: Block| match block.kind {
                Kind::Commands(stage) => {
                    let name = format!("before-{}.sh", stage.word());
                    Some(fixtures(page, &block.section).join(name))
                }
                _ => None,
            };
            blocks(page).into_iter().filter_map(script)
        })
        .collect();
    let folders = |of: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(of).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|it| it.is_dir()).collect()
    };
    for page in folders(&root().join("tests/fixtures/docs")) {
        for section in folders(&page) {
            let there = section.display();
            assert!(used.contains(&section), "no page has commands for {there}");
            for entry in std::fs::read_dir(&section).expect("a folder") {
                let file = entry.expect("an entry").path();
                let there = file.display();
                assert!(file.exists(), "{there} leads nowhere");
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                let idle = name.starts_with("before-") && !scripts.contains(&file);
                assert!(!idle, "no page has commands for {there}");
            }
        }
    }
}

/// The first pages need no file of the fixtures that is not shown on them or part of a clone: a newcomer has only the clone.
#[test]
fn the_first_pages_need_no_file_that_a_clone_lacks() {
    let first = |page: &str| ["README", "getting-started", "install", "tutorials"].contains(&page);
    let fixtures = root().join("tests/fixtures/docs");
    for page in super::pages() {
        let name = page.file_stem().expect("a name").to_string_lossy();
        if !first(&name) || !fixtures.join(&*name).is_dir() {
            continue;
        }
        for file in crate::chart::files(&fixtures.join(&*name)) {
            let prepares = file
                .file_name()
                .is_some_and(|it| it.to_string_lossy().starts_with("before-"));
            assert!(
                prepares,
                "{}: a reader has no {}",
                page.display(),
                file.display()
            );
        }
    }
}
