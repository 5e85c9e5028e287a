//! Checks that links and anchors of the pages lead somewhere, and that the book has each page.

use super::{folder, pages, read};
use std::collections::BTreeSet;

#[test]
fn every_link_within_the_repository_leads_somewhere() {
    for page in pages() {
        let text = read(&page);
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            if target.contains("://") {
                continue;
            }
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let folder = page.parent().expect("a page is in a folder");
            let file = if path.is_empty() {
                page.clone()
            } else {
                folder.join(path)
            };
            let found =
                file.exists() && (heading.is_empty() || headings(&read(&file)).contains(heading));
            assert!(found, "{}: {target} leads nowhere", page.display());
        }
    }
}

/// Returns the anchors of a page's headings, which a link may have behind `#`.
fn headings(page: &str) -> BTreeSet<String> {
    let titles = page.lines().filter(|line| line.starts_with('#'));
    titles.map(anchor).collect()
}

/// Returns the anchor of a heading, as GitHub and mdBook make it.
pub(super) fn anchor(title: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let title = title.trim_start_matches('#').trim().to_lowercase();
    let title: String = title.chars().filter(kept).collect();
    title.replace(' ', "-")
}

/// docs/SUMMARY.md names each page once: mdBook leaves out a page that is not there, without an error.
#[test]
fn every_page_is_in_the_book_once() {
    let is_page = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|it| it == "md") && !path.ends_with("SUMMARY.md")
    };
    let name =
        |path: std::path::PathBuf| path.file_name().map(|it| it.to_string_lossy().into_owned());
    let mut pages: Vec<String> = folder()
        .into_iter()
        .filter(is_page)
        .filter_map(name)
        .collect();
    let summary = read(&super::root().join("docs/SUMMARY.md"));
    let named = summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let mut named: Vec<String> = named.map(str::to_owned).collect();
    pages.sort();
    named.sort();
    assert_eq!(pages, named);
}

/// Each word of the glossary is on the page that its row links to: a word that no page uses needs no row.
#[test]
fn every_word_is_on_the_page_that_has_the_rest() {
    let glossary = read(&super::root().join("docs/glossary.md"));
    let rows = glossary.lines().filter(|line| line.starts_with("| "));
    let mut words = Vec::new();
    for row in rows.skip(2) {
        let (word, meaning) = row[2..].split_once(" | ").expect("two columns");
        let link = meaning.rsplit("](").next().unwrap_or_default();
        let page = link.split(['#', ')']).next().unwrap_or_default();
        let text = read(&super::root().join("docs").join(page)).to_lowercase();
        for word in word.split(", ").map(|it| it.trim_matches('`')) {
            assert!(text.contains(&word.to_lowercase()), "{word}: {page}");
            words.push(word.to_lowercase());
        }
    }
    assert!(words.len() > 40, "{words:?}");
    assert!(words.is_sorted(), "{words:?}");
    assert_eq!(words.len(), words.iter().collect::<BTreeSet<_>>().len());
}
