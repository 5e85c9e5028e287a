//! `lint` on two folders of manifests. Each manifest in the folder of bad ones has one fault, and its first line says level, place and words of the
//! finding; the other ones have none.

use super::run;
use std::fs;
use std::path::PathBuf;

/// Returns the path and the text of each manifest in a folder of the fixtures, sorted by path.
fn manifests(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = format!("{}/fixtures/lint/{folder}", env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    found.sort();
    found
}

#[test]
fn every_fault_is_found_with_its_level_and_its_place() {
    let manifests = manifests("bad");
    assert!(manifests.len() >= 50, "{}", manifests.len());
    let mut wrong = Vec::new();
    for (path, text) in manifests {
        let path = path.to_str().unwrap();
        let head = text.lines().next().unwrap();
        let expected = head.strip_prefix("# expect: ").unwrap();
        let mut words = expected.splitn(3, ' ');
        let [level, place, words] = [(); 3].map(|()| words.next().unwrap_or_default());
        let ran = run(&["lint", "--strict", "-f", path], "");
        let start = format!("{path}:{place}: {level}: ");
        let is_told = ran.out.starts_with(&start) && ran.out.contains(words);
        if !is_told || ran.out.lines().count() != 1 || ran.code != Some(1) {
            wrong.push((expected.to_owned(), ran.out + &ran.error));
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let manifests = manifests("good");
    assert!(manifests.len() >= 30, "{}", manifests.len());
    for (path, _) in manifests {
        let path = path.to_str().unwrap();
        let ran = run(&["lint", "--strict", "-f", path], "");
        // A note on rights is no fault of the manifest.
        let lines: Vec<_> = ran.out.lines().collect();
        let faults = lines.iter().find(|it| !it.contains("sluice may read"));
        assert_eq!((faults, ran.code), (None, Some(0)), "{path}");
    }
}
