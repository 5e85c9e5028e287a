//! Reads the scripts that a container runs from a ConfigMap of the rendered chart.

use super::container::Container;
use super::object::{ChartObject, text};

/// The container with the script of a ConfigMap in place of its command; `None` where the container runs no script of a rendered ConfigMap.
pub(super) fn followed(container: &Container, objects: &[ChartObject]) -> Option<Container> {
    let script_at = |word: &str| {
        let path = word.trim_matches(['"', '\'', ';']);
        let mut mounts = container.config_maps.iter();
        mounts.find_map(|mount| of_map(&mount.map, &mount.key(path)?, objects))
    };
    let (at, from, script) = container.words.iter().enumerate().find_map(|(at, text)| {
        let mut parts = text.split_whitespace().enumerate();
        parts.find_map(|(from, part)| Some((at, from, script_at(part)?)))
    })?;
    // The script's arguments follow its name in one text, or are words of their own.
    let is_end = |it: &&str| matches!(*it, ";" | "&&" | "||" | "|");
    let parts = container.words[at].split_whitespace().skip(from);
    let parts = parts.take_while(|it| !is_end(it));
    let parts = parts.map(|it| it.trim_matches(['"', '\'', ';']).to_owned());
    let behind = container.words.iter().skip(at + 1).cloned();
    let name_and_arguments: Vec<String> = parts.chain(behind).collect();
    let mut run = vec!["sh".to_owned(), "-c".to_owned(), script];
    run.extend(name_and_arguments);
    Some(Container {
        words: run,
        ..container.clone()
    })
}

fn of_map(map: &str, key: &str, objects: &[ChartObject]) -> Option<String> {
    let is_it = |it: &&ChartObject| {
        it.value["kind"] == "ConfigMap" && text(&it.value, "/metadata/name") == map
    };
    let found = objects.iter().find(is_it)?;
    Some(found.value["data"][key].as_str()?.to_owned())
}
