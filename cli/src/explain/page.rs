//! The tables of a page of the documentation.

use super::Entry;

/// What the first column is called of a table that explains words; the others hold figures, or sentences.
const HEADS: [&str; 13] = [
    "alert",
    "annotation",
    CODE,
    "its pod",
    "key",
    "level",
    "metric",
    "option",
    "reason",
    "reference",
    "state",
    "value",
    "you see",
];

/// The column whose words are numbers.
const CODE: &str = "exit code";

/// An entry for each word in the first column of such a table: a span of code, or an exit code.
pub(super) fn page(name: &str, text: &str) -> Vec<Entry> {
    let mut title = "";
    // The cells of the first row of the table.
    let mut heads = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with('#') {
            title = line.trim_start_matches('#').trim();
        }
        let Some(cells) = row(line) else {
            heads.clear();
            continue;
        };
        if heads.is_empty() {
            heads = cells;
            continue;
        }
        if !HEADS.contains(&heads[0].as_str()) {
            continue;
        }
        let meaning = meaning(&heads, &cells);
        let entry = |word: &str| Entry {
            word: word.to_owned(),
            meaning: meaning.clone(),
            place: format!("docs/{name}, {title:?}"),
        };
        found.extend(words(&heads[0], &cells[0]).map(entry));
    }
    found
}

/// The cells of a table's row.
fn row(line: &str) -> Option<Vec<String>> {
    let cells = line.strip_prefix('|')?.strip_suffix('|')?;
    // A bar behind a backslash is none between cells.
    let cells = cells.replace("\\|", "\0");
    let cell = |cell: &str| cell.trim().replace('\0', "|");
    Some(cells.split('|').map(cell).collect())
}

fn words<'c>(head: &str, cell: &'c str) -> impl Iterator<Item = &'c str> {
    let is_code = head == CODE && cell.parse::<u8>().is_ok();
    let number = is_code.then_some(cell);
    // Every other piece between marks is code.
    number.into_iter().chain(cell.split('`').skip(1).step_by(2))
}

/// What a row says of the words: of several columns each, by what it is called.
fn meaning(heads: &[String], cells: &[String]) -> String {
    let several = heads.len() > 2;
    let told = heads.iter().zip(cells).skip(1);
    let told = told.filter(|(_, cell)| !cell.is_empty());
    let told = told.map(|(head, cell)| {
        if several {
            format!("{}: {}", plain(head), plain(cell))
        } else {
            plain(cell)
        }
    });
    told.collect::<Vec<_>>().join("\n  ")
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
    out.replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_explain_the_words_of_their_first_cell() {
        let text = "## A b\n\n| reason | y |\n| --- | --- |\n| `One`, `Two` | see [there](b.md#c), `now` |\n| four | 4 |\n\n\
                    | exit code | y |\n| --- | --- |\n| 3 | three |\n\n\
                    | metric | type | labels | what |\n| --- | --- | --- | --- |\n| `m` | gauge | | so `a \\| b` |\n\n\
                    | `One` | seconds |\n| --- | --- |\n| 1 | 73 |\n| `Two` | 37 |\n";
        let entry = |word: &str, meaning: &str| Entry {
            word: word.to_owned(),
            meaning: meaning.to_owned(),
            place: "docs/p.md, \"A b\"".to_owned(),
        };
        let expected = [
            entry("One", "see there, now"),
            entry("Two", "see there, now"),
            entry("3", "three"),
            entry("m", "type: gauge\n  what: so a | b"),
        ];
        assert_eq!(page("p.md", text), expected);
        assert_eq!(plain("a [b] c"), "a [b] c");
    }
}
