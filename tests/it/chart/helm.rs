//! Runs Helm on the chart and reads what it renders.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub(super) fn chart_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../charts/sluice")
}

/// Returns the path of a program of the test cluster, else of the one of that name in the PATH; `None` without either.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let own = std::env::var_os("CLUSTER_BIN").map_or_else(
        || PathBuf::from("/var/cache/sluice-cluster/bin"),
        PathBuf::from,
    );
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(own)
        .chain(std::env::split_paths(&path))
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
}

/// Returns the path of the current Helm. Without one, prints that the test is skipped and returns `None`.
pub(super) fn helm() -> Option<PathBuf> {
    let helm = program("helm");
    if helm.is_none() {
        eprintln!("skipped: no helm here; `make cluster` builds one");
    }
    helm
}

/// Returns the paths of Helm 3 and Helm 4, each where it is there. Prints a line where one is missing.
pub(super) fn versions() -> [Option<PathBuf>; 2] {
    let both = ["helm3", "helm"].map(program);
    if both.contains(&None) {
        eprintln!("skipped: not both Helms here; `tests/cluster/cluster build` builds them");
    }
    both
}

/// One run of `helm template`.
pub(super) struct Render(Command);

impl Render {
    pub(super) fn new(helm: &Path) -> Self {
        let mut command = Command::new(helm);
        // Helm 3 built from source believes in Kubernetes 1.20 unless it is told.
        command
            .args([
                "template",
                "sluice",
                "--namespace",
                "sluice-system",
                "--kube-version",
                "1.36.0",
            ])
            .arg(chart_dir());
        // A chart out of a clone names no registry.
        Self(command).flags(&["image.registry=registry.example"])
    }

    /// Adds `--set` for each of these flags.
    pub(super) fn flags(mut self, flags: &[&str]) -> Self {
        for flag in flags {
            self.0.args(["--set", flag]);
        }
        self
    }

    /// Adds a file of values, as `--values`.
    pub(super) fn values(mut self, file: &Path) -> Self {
        self.0.arg("--values").arg(file);
        self
    }

    /// Renders for another version of Kubernetes, which also serves these resources.
    pub(super) fn kubernetes(mut self, version: &str, serves: &[&str]) -> Self {
        self.0.args(["--kube-version", version]);
        for resource in serves {
            self.0.args(["--api-versions", resource]);
        }
        self
    }

    /// Runs Helm, and returns its standard output, or its standard error if it fails.
    pub(super) fn run(mut self) -> Result<String, String> {
        let output = self.0.output().expect("helm must start");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("helm prints text");
        if output.status.success() {
            Ok(text(output.stdout))
        } else {
            Err(text(output.stderr))
        }
    }

    pub(super) fn manifest(self) -> Manifest {
        Manifest(self.run().expect("the chart must render"))
    }
}

/// The rendered manifest, a text of YAML documents.
pub(super) struct Manifest(String);

impl Manifest {
    /// Returns the sorted documents without the lines that name their source: the two Helms sort and part them differently.
    pub(super) fn text(&self) -> String {
        let without_source = |document: &str| {
            document
                .lines()
                .filter(|line| !line.starts_with("# Source:"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        let mut documents: Vec<String> = format!("\n{}", self.0)
            .split("\n---")
            .map(|document| without_source(document).trim().to_owned())
            .collect();
        documents.retain(|document| !document.is_empty());
        documents.sort();
        documents.join("\n---\n") + "\n"
    }

    pub(super) fn objects(&self) -> Vec<Value> {
        let objects: Vec<Value> =
            serde_saphyr::from_multiple(&self.0).expect("the manifest is YAML");
        let there = objects.into_iter().filter(|object| !object.is_null());
        there.collect()
    }

    /// Returns the rendered objects of a kind.
    pub(super) fn all(&self, kind: &str) -> Vec<Value> {
        let mut objects = self.objects();
        objects.retain(|object| object["kind"] == kind);
        objects
    }

    /// Returns the first object of a kind that is called `sluice` or `sluice-test`. Fails, with the kind's name, where there is none.
    pub(super) fn only(&self, kind: &str) -> Value {
        let named = |object: &Value| {
            object["metadata"]["name"]
                .as_str()
                .is_some_and(|name| ["sluice", "sluice-test"].contains(&name))
        };
        self.all(kind).into_iter().find(named).expect(kind)
    }
}

/// Returns the path of every file below a folder, at any depth.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir)
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Reads the JSON schema of the chart's values.
pub(super) fn schema() -> Value {
    let text = std::fs::read_to_string(chart_dir().join("values.schema.json"));
    serde_json::from_str(&text.expect("values.schema.json")).expect("the schema is JSON")
}

/// Adds the paths of the values to `found`, down to those that the schema describes without properties. Panics on a value that the schema does not
/// know.
pub(super) fn leaves(value: &Value, schema: &Value, found: &mut Vec<String>) {
    walk(value, schema, "", found);
}

fn walk(value: &Value, schema: &Value, path: &str, found: &mut Vec<String>) {
    match (value.as_object(), schema.get("properties")) {
        (Some(map), Some(properties)) if !map.is_empty() => {
            for (key, value) in map {
                let schema = properties.get(key).expect(key);
                walk(value, schema, &format!("{path}.{key}"), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}
