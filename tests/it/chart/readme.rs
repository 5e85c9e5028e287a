//! The chart's own documentation: its README and the descriptions of its schema follow `values.yaml`, and its Chart.yaml lists what is installed.
//!
//! `UPDATE_FIXTURES=1` writes the README's table anew.

use super::helm::{chart_dir, schema};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A key of `values.yaml` and the comment above it.
struct Explained {
    path: String,
    text: String,
    /// Whether the key has a value of its own (`# --`), and is not only the name of a group of values.
    is_value: bool,
}

fn file(name: &str) -> (PathBuf, String) {
    let path = chart_dir().join(name);
    let text = std::fs::read_to_string(&path).expect(name);
    (path, text)
}

fn explained() -> Vec<Explained> {
    let mut found = Vec::new();
    let mut comment: Vec<String> = Vec::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in file("values.yaml").1.lines() {
        let content = line.trim_start();
        if let Some(words) = content.strip_prefix('#') {
            comment.push(words.trim().to_owned());
            continue;
        }
        let key = content.split_once(':').map(|(key, _)| key);
        let above = std::mem::take(&mut comment).join(" ");
        let Some(key) = key.filter(|it| it.chars().all(char::is_alphanumeric)) else {
            continue;
        };
        let indent = line.len() - content.len();
        path.retain(|(above, _)| *above < indent);
        path.push((indent, key.to_owned()));
        if !above.is_empty() {
            let keys: Vec<&str> = path.iter().map(|(_, key)| key.as_str()).collect();
            found.push(Explained {
                path: keys.join("."),
                is_value: above.starts_with("-- "),
                text: above.trim_start_matches("-- ").to_owned(),
            });
        }
    }
    found
}

/// Returns the README's table of values: a line for each value with its path, its default and its comment.
fn table() -> String {
    let values: Value =
        serde_saphyr::from_str(&file("values.yaml").1).expect("values.yaml is YAML");
    let row = |Explained { path, text, .. }: Explained| {
        let default = values.pointer(&format!("/{}", path.replace('.', "/")));
        let default = default.expect("a key that was just read");
        format!("| `{path}` | `{default}` | {text} |\n")
    };
    let rows = explained().into_iter().filter(|it| it.is_value);
    rows.map(row).collect()
}

#[test]
fn the_readme_has_every_value() {
    const HEAD: &str =
        "<!-- ANCHOR: values -->\n| value | default | what it says |\n| --- | --- | --- |\n";
    let (path, text) = file("README.md");
    let (before, rows) = text.split_once(HEAD).expect("the table's head");
    let table = table();
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        std::fs::write(path, format!("{before}{HEAD}{table}")).expect("the README");
        return;
    }
    assert!(
        rows == table,
        "UPDATE_FIXTURES=1 writes the table anew:\n{table}"
    );
}

/// Adds the path and the description of every property of a schema to `found`, also of the objects in a list.
fn properties(schema: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}{key}");
        properties(property, &format!("{path}."), found);
        properties(&property["items"], &format!("{path}[]."), found);
        found.push((path, property["description"].clone()));
    }
}

#[test]
fn the_schema_describes_every_value_as_its_comment_does() {
    let mut described = Vec::new();
    properties(&schema(), "", &mut described);
    let explained = explained().into_iter().map(|it| (it.path, it.text));
    let explained: BTreeMap<String, String> = explained.collect();
    assert!(described.len() > explained.len(), "{described:#?}");
    for (path, description) in described {
        let description = description.as_str().unwrap_or_default();
        match explained.get(&path) {
            Some(comment) => assert_eq!(description, comment, "description of {path}"),
            None => assert!(!description.is_empty(), "{path} lacks a description"),
        }
    }
}

#[test]
fn the_manifest_says_which_images_it_installs() {
    let read = |name: &str| -> Value { serde_saphyr::from_str(&file(name).1).expect("YAML") };
    let (chart, values) = (read("Chart.yaml"), read("values.yaml"));
    let word = |value: &Value| value.as_str().expect("a text").to_owned();
    let images = word(&chart["annotations"]["artifacthub.io/images"]);
    let images: Vec<Value> = serde_saphyr::from_str(&images).expect("YAML");
    let named: Vec<String> = images.iter().map(|it| word(&it["image"])).collect();
    let home = std::fs::read_to_string(chart_dir().join("../../release/home")).expect("the home");
    let registry = home.lines().find_map(|it| it.strip_prefix("registry="));
    let (host, _) = registry.and_then(|it| it.split_once('/')).expect("a host");
    let installed = [&values["image"], &values["gate"]["image"]].map(|image| {
        let repository = word(&image["repository"]);
        format!("{host}/{repository}:{}", word(&chart["appVersion"]))
    });
    assert_eq!(named, installed);
    let links = word(&chart["annotations"]["artifacthub.io/links"]);
    let links: Vec<Value> = serde_saphyr::from_str(&links).expect("YAML");
    assert!(!links.is_empty());
    let icon = word(&chart["icon"]);
    let (_, path) = icon
        .split_once("/sluice/raw/main/")
        .expect("of the repository");
    assert!(chart_dir().join("../..").join(path).is_file(), "{icon}");
}
