//! The tables of a page of the documentation.

use super::Entry;

/// An entry for each word in the first column of a table: a span of code, or a number.
pub(super) fn page(name: &str, text: &str) -> Vec<Entry> {
    let mut title = "";
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with('#') {
            title = line.trim_start_matches('#').trim();
        }
        let Some((first, rest)) = row(line) else {
            continue;
        };
        let meaning = plain(rest);
        let entry = |word: &str| Entry {
            word: word.to_owned(),
            meaning: meaning.clone(),
            place: format!("docs/{name}, {title:?}"),
        };
        found.extend(words(first).map(entry));
    }
    found
}

/// The first cell of a table's row, and the others.
fn row(line: &str) -> Option<(&str, &str)> {
    let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
    cells.split_once(" | ")
}

fn words(cell: &str) -> impl Iterator<Item = &str> {
    let number = cell.parse::<u8>().is_ok().then_some(cell);
    // Every other piece between marks is code.
    number.into_iter().chain(cell.split('`').skip(1).step_by(2))
}

/// The text without the marks of Markdown: of a link its words.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        out.push_str(before);
        let words = link.split_once("](").and_then(|(words, target)| {
            let (_, after) = target.split_once(')')?;
            Some((words, after))
        });
        let (shown, after) = words.unwrap_or(("[", link));
        out.push_str(shown);
        rest = after;
    }
    out.push_str(rest);
    out.replace('`', "").replace(" \\| ", " | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_explain_the_words_of_their_first_cell() {
        let text = "## A b\n\n| x | y |\n| --- | --- |\n| `One`, `Two` | see [there](b.md#c), `now` |\n| 3 | three |\n| four | 4 |\n";
        let entry = |word: &str, meaning: &str| Entry {
            word: word.to_owned(),
            meaning: meaning.to_owned(),
            place: "docs/p.md, \"A b\"".to_owned(),
        };
        let expected = [
            entry("One", "see there, now"),
            entry("Two", "see there, now"),
            entry("3", "three"),
        ];
        assert_eq!(page("p.md", text), expected);
        assert_eq!(plain("a [b] c"), "a [b] c");
    }
}
