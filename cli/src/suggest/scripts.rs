//! The scripts that a container runs out of a ConfigMap of the render.

use super::container::Container;
use super::object::{ChartObject, text};

/// The container with the script in the place of its command; `None` where it runs none that is known.
pub(super) fn followed(container: &Container, objects: &[ChartObject]) -> Option<Container> {
    let mut words = container.words.iter().flat_map(|it| it.split_whitespace());
    let script = words.find_map(|word| {
        let path = word.trim_matches(['"', '\'', ';']);
        let mut mounts = container.config_maps.iter();
        mounts.find_map(|mount| of_map(&mount.map, &mount.key(path)?, objects))
    })?;
    let mut run = vec!["sh".to_owned(), "-c".to_owned(), script];
    // The arguments stand behind the script's name.
    run.extend(container.words.iter().cloned());
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
