//! Finds the values that may hold an address of a waiting container.

use crate::suggest::blocks::Block;
use crate::suggest::tested;
use crate::suggest::texts::{File, Texts, value_at};
use serde_json::Value;
use std::collections::BTreeSet;

/// The paths of the values that the texts of the waiting containers and their helpers read. The paths that ConfigMaps and Secrets read
/// follow, because a container may take its environment from these objects. `waiting` are the names of the containers that wait when they are
/// rendered; a container whose text looks like a wait counts, too.
pub(in crate::suggest) fn paths(texts: &Texts, waiting: &BTreeSet<&str>) -> Vec<String> {
    let blocks = texts.files.iter().flat_map(|file| {
        let own = file.blocks.iter();
        let waits = move |it: &Block| {
            let mut names = it.branches.iter().map(|it| it.name.as_str());
            names.any(|it| waiting.contains(it))
        };
        let own = own.filter(move |it| it.read().any(|it| it.1.looks) || waits(it));
        own.map(|block| {
            let lines = file.lines_of(block).iter().map(String::as_str);
            // A helper may get hosts as arguments, so the lines that use the helper count too.
            let helper = tested::helper_of(file, block.first);
            let uses = helper.iter().flat_map(|it| tested::uses(texts, it));
            let lines: Vec<&str> = lines.chain(uses.map(|it| it.2)).collect();
            let text = lines.join("\n");
            let variables = file.variables_of(&text);
            text + "\n" + &variables
        })
    });
    let is_source = |it: &&File| {
        let kinds = ["kind: ConfigMap", "kind: Secret"];
        kinds.iter().any(|kind| it.text.contains(kind))
    };
    let sources = texts
        .files
        .iter()
        .filter(is_source)
        .map(|it| it.text.clone());
    let mut paths: Vec<String> = Vec::new();
    for text in blocks.chain(sources) {
        for behind in texts.reach(&text).split(".Values.").skip(1) {
            let path = behind.split(|it| !is_of_path(it)).next();
            let path = path.unwrap_or_default().trim_matches('.').to_owned();
            for path in addresses_below(&texts.values, path) {
                if !path.is_empty() && !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
    }
    paths
}

/// The path of a value. Where the value is a mapping with a name and a port, which make an address, the paths of these two: a template may
/// read such a mapping as `with .Values.db.service`.
fn addresses_below(values: &Value, path: String) -> Vec<String> {
    let own = value_at(values, &path);
    let makes =
        |own: &Value| own.get("name").is_some_and(Value::is_string) && own.get("port").is_some();
    let below = ["name", "port"].map(|it| format!("{path}.{it}"));
    if own.is_some_and(makes) {
        return below.into();
    }
    vec![path]
}

/// Whether a value is the name of a server, because a port and no host stands beside it.
pub(super) fn is_name_of_server(values: &Value, path: &str) -> bool {
    let Some(parent) = path.strip_suffix(".name") else {
        return false;
    };
    let own = value_at(values, parent);
    // A name beside a host is the name of a database.
    let has = |it: &Value, key: &str| it.get(key).is_some();
    own.is_some_and(|it| has(it, "port") && !has(it, "host") && !has(it, "hostname"))
}

/// Whether a letter may stand in the path of a value.
pub(in crate::suggest) fn is_of_path(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_')
}
