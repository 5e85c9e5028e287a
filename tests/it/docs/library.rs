//! Reads the files of the health library, and checks the table of them in rules/LIBRARY.md.

use super::{read, root};
use serde_json::{Map, Value};
use std::fmt::Write;

/// A file of the library: the rules of one API group.
pub(crate) struct LibraryFile {
    /// The name of the file, with its ending `.yaml`.
    name: String,
    /// The API group of the rules: `cert-manager.io`, or a pattern such as `*.example.com`.
    pub group: String,
    /// The kinds with a rule. `None` stands for every other kind of the group.
    pub kinds: Vec<Option<String>>,
    /// The places in the operator's sources from which the rules were read.
    places: Vec<String>,
}

/// Reads every file of the library, and returns them sorted by group.
pub(crate) fn files() -> Vec<LibraryFile> {
    let folder = root().join("rules/library");
    let entries = std::fs::read_dir(folder).expect("rules/library is a folder");
    let mut files: Vec<LibraryFile> = entries
        .map(|entry| {
            let path = entry.expect("readable").path();
            let file: Map<String, Value> = serde_saphyr::from_str(&read(&path)).expect("YAML");
            let name = path.file_name().expect("a name").to_string_lossy();
            let stem = name.strip_suffix(".yaml").expect("YAML");
            let keys = file["kinds"].as_object().expect("a mapping").keys();
            let kind = |it: &str| Some(it.trim().to_owned()).filter(|it| it != "*");
            let text = |place: &Value| place.as_str().expect("a text").to_owned();
            let places = match &file["read"] {
                Value::Array(all) => all.iter().map(text).collect(),
                one => vec![text(one)],
            };
            LibraryFile {
                group: stem.replace('_', "*"),
                kinds: keys.flat_map(|key| key.split(',').map(kind)).collect(),
                places,
                name: name.into_owned(),
            }
        })
        .collect();
    files.sort_by(|one, other| one.group.cmp(&other.group));
    files
}

fn row(file: &LibraryFile) -> String {
    let LibraryFile { name, group, .. } = file;
    let mut kinds: Vec<&str> = file.kinds.iter().flatten().map(String::as_str).collect();
    if file.kinds.contains(&None) {
        kinds.push(if kinds.is_empty() {
            "every kind"
        } else {
            "every other kind"
        });
    }
    let place = |text: &String| {
        let words: Vec<&str> = text.split(' ').collect();
        match words[..] {
            [project, version, ..] => format!("{project} {version}"),
            [] | [_] => text.clone(),
        }
    };
    let mut places: Vec<String> = file.places.iter().map(place).collect();
    // A project that is named for several of its files stands once.
    places.dedup();
    format!(
        "| [`{group}`](library/{name}) | {} | {} |\n",
        kinds.join(", "),
        places.join("; ")
    )
}

/// The table in rules/LIBRARY.md is the one that the files of the library give; `UPDATE_DOCS=1` writes it anew.
#[test]
fn the_table_of_the_library_is_made_from_its_files() {
    const HEAD: &str = "| group | kinds | read from |\n| --- | --- | --- |\n";
    let path = root().join("rules/LIBRARY.md");
    let page = read(&path);
    let (before, rest) = page.split_once(HEAD).expect("the head of the table");
    let after = rest.split_once("\n\n").map(|(_, after)| after);
    let mut made = format!("{before}{HEAD}");
    for file in files() {
        made.push_str(&row(&file));
    }
    if let Some(after) = after {
        write!(made, "\n{after}").expect("a text takes it");
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).expect("it can be written");
    }
    assert!(read(&path) == made, "UPDATE_DOCS=1 writes the table anew");
}
