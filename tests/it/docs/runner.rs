//! Runs the commands of a page as they stand there, in a folder that holds what the page has them find.

use super::blocks::{Block, Kind, Stage, blocks};
use super::root;
use harness::process::binary;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Under which name commands find the values that stand above them.
const VALUES: &str = "values.yaml";

/// What the commands of a page see of the machine.
pub(crate) struct Setting<'a> {
    /// Which of them run.
    pub(crate) stages: &'a [Stage],
    /// Where an API server is told, with the programs that ask it; without it no cluster can be reached.
    pub(crate) kubeconfig: Option<&'a Path>,
}

/// Runs what a page has for these stages, and compares what it prints with what the page shows. The complaints.
pub(crate) fn run(page: &Path, setting: &Setting) -> Vec<String> {
    let blocks = blocks(page);
    let here = |block: &Block| matches!(&block.kind, Kind::Commands(stage) if setting.stages.contains(stage));
    if !blocks.iter().any(here) {
        return Vec::new();
    }
    let folder = Folder::new();
    let commands: Vec<&Block> = blocks.iter().filter(|it| here(it)).collect();
    // An API server of a test's own goes with all that is in it.
    let made = if setting.stages.contains(&Stage::Cluster) {
        namespaces(&commands)
    } else {
        BTreeSet::new()
    };
    for namespace in &made {
        let there = folder.run(&format!("kubectl get namespace {namespace}"), setting);
        if there.code == Some(0) {
            let page = page.display();
            return vec![format!("{page}: somebody has a namespace {namespace}")];
        }
    }
    let mut complaints = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        match &block.kind {
            Kind::File(name) => folder.write(name, &block.text),
            Kind::Values(_) => folder.write(VALUES, &block.text),
            _ => {}
        }
        if !here(block) {
            continue;
        }
        folder.take_over(page, &block.section);
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

/// The namespaces that commands make.
fn namespaces(commands: &[&Block]) -> BTreeSet<String> {
    let mut made = BTreeSet::new();
    for line in commands.iter().flat_map(|block| block.text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |word: &str| {
            let at = words.iter().position(|it| *it == word)?;
            words.get(at + 1).copied()
        };
        let name = if words.contains(&"--create-namespace") {
            after("--namespace")
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

fn complaint(block: &Block, ran: &Ran, shown: Option<&Block>, exact: bool) -> Option<String> {
    let Ran { code, printed } = ran;
    // What is shown may be a finding (1), or that something waits (3).
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

/// What is another each time: a word of digits and others, such as a time or the name of a pod; and how far columns are apart.
fn masked(text: &str) -> Vec<Vec<String>> {
    let word = |word: &str| {
        let digit = |it: char| it.is_ascii_digit();
        let another = word.contains(digit) && !word.chars().all(digit);
        if another { "#" } else { word }.to_owned()
    };
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    lines
        .map(|line| line.split_whitespace().map(word).collect())
        .collect()
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
        let kubectl =
            "#!/bin/sh\n[ \"$1\" = sluice ] && shift && exec kubectl-sluice \"$@\"\nexit 127\n";
        let folder = Self(folder);
        folder.write(".offline/kubectl", kubectl);
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("ours");
    }

    /// What commands of this section find that the page does not show whole.
    fn take_over(&self, page: &Path, section: &str) {
        let page = page.file_stem().unwrap_or_default();
        let files = root().join("tests/fixtures/docs").join(page).join(section);
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
            .args(["300", "bash", "-u", "-o", "pipefail", "-c"])
            .arg(format!("exec 2>&1\nset -e\n{script}"))
            .current_dir(self.0.path())
            .env_clear()
            .env("HOME", self.0.path())
            .env("PATH", places)
            .env("KUBECONFIG", kubeconfig)
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
