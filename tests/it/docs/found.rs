//! Checks that a search of the pages finds the words of users, and that each page with a wait for a Service has the advice about readiness probes.

use super::{folder, read, root};

/// Words that a user of Kubernetes searches for, in the spelling of the user.
const SEARCHED: [&str; 6] = [
    "stuck",
    "deadlock",
    "initContainer",
    "circular",
    "ImagePullBackOff",
    "Mac",
];

/// Returns the name and the text of each page that docs/SUMMARY.md lists.
fn book() -> Vec<(String, String)> {
    let summary = read(&root().join("docs/SUMMARY.md"));
    let pages = folder().into_iter().filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        summary
            .contains(&format!("({name})"))
            .then(|| (name, read(&path)))
    });
    pages.collect()
}

/// Whether a text has a word, or its plural, as a whole word.
fn has(text: &str, word: &str) -> bool {
    let belongs = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, _)| {
        let after = &text[at + word.len()..];
        let after = after.strip_prefix('s').unwrap_or(after);
        !belongs(text[..at].chars().next_back()) && !belongs(after.chars().next())
    })
}

#[test]
fn a_search_finds_the_words_of_users() {
    assert!(has("a Mac.", "Mac") && has("initContainers:", "initContainer"));
    assert!(!has("Machine", "Mac") && !has("unstuck", "stuck"));
    let book = book();
    assert!(book.len() > 15, "{}", book.len());
    for word in SEARCHED {
        let found = book.iter().any(|(_, text)| has(text, word));
        assert!(found, "no page has {word:?}");
    }
}

/// Each page that names a Service as a dependency tells of readiness probes: without one, a Service is ready too early.
#[test]
fn each_page_that_names_a_service_tells_of_readiness_probes() {
    let mut pages = book();
    pages.push(("README.md".to_owned(), read(&root().join("README.md"))));
    let silent: Vec<&str> = pages
        .iter()
        .filter(|(_, text)| text.contains("svc/"))
        .filter(|(_, text)| !text.to_lowercase().contains("readiness probe"))
        .map(|(name, _)| name.as_str())
        .collect();
    assert!(silent.is_empty(), "{silent:?}");
}
