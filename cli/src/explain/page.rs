//! Reads the words and their meanings out of the Markdown tables of a page of the documentation.

use super::GlossaryEntry;

/// The heads of the first column in tables that explain words; other tables hold figures, or sentences.
const HEADS: [&str; 13] = [
    "alert",
    "annotation",
    CODE,
    "its pod",
    "key",
    "level",
    "metric",
    "reason",
    "reference",
    "state",
    "value",
    WORD,
    SYMPTOM,
];

/// The head of the column of a table whose words are exit codes.
const CODE: &str = "exit code";

/// The head of the column whose cells are words as a whole, with commas between several.
const WORD: &str = "word";

/// The head of a column of sentences about what a user sees, with words in them.
const SYMPTOM: &str = "you see";

/// The text of the cells in the line below the head of a Markdown table.
const RULE: &str = "---";

/// Reads a page of the documentation: returns an entry for each word in the first column of its tables that explain
/// words. A word is a span of code, or an exit code.
pub(super) fn page(name: &str, text: &str) -> Vec<GlossaryEntry> {
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
        if !HEADS.contains(&heads[0].as_str()) || cells[0] == RULE {
            continue;
        }
        let meaning = meaning(name, &heads, &cells);
        // A symptom is more than the word in it: several rows have the same word.
        let meaning = if heads[0] == SYMPTOM {
            format!("{}: {meaning}", plain(&cells[0]))
        } else {
            meaning
        };
        let entry = |word: &str| GlossaryEntry {
            word: word.to_owned(),
            meaning: meaning.clone(),
            place: format!("docs/{name}, {title:?}"),
        };
        found.extend(words(&heads[0], &cells[0]).map(entry));
    }
    found
}

/// The cells of a row of a Markdown table, trimmed; `None` for a line that does not begin and end with a bar.
fn row(line: &str) -> Option<Vec<String>> {
    let cells = line.strip_prefix('|')?.strip_suffix('|')?;
    // A bar behind a backslash does not separate cells.
    let cells = cells.replace("\\|", "\0");
    let cell = |cell: &str| cell.trim().replace('\0', "|");
    Some(cells.split('|').map(cell).collect())
}

fn words<'c>(head: &str, cell: &'c str) -> impl Iterator<Item = &'c str> {
    let is_code = head == CODE && cell.parse::<u8>().is_ok();
    let number = is_code.then_some(cell);
    let (whole, spans) = if head == WORD { (cell, "") } else { ("", cell) };
    let whole = whole.split(", ").map(|word| word.trim_matches('`'));
    let whole = whole.filter(|word| !word.is_empty());
    // Every other piece between marks is code.
    let spans = spans.split('`').skip(1).step_by(2);
    number.into_iter().chain(whole).chain(spans)
}

/// The meaning that a row gives to its word: the text of the cells after the first, with the heads of their columns where there are several,
/// and at the end the targets of the row's links.
fn meaning(page: &str, heads: &[String], cells: &[String]) -> String {
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
    let mut told: Vec<_> = told.collect();
    let links: Vec<_> = cells.iter().flat_map(|cell| links(cell)).collect();
    if !links.is_empty() {
        let places = links.iter().map(|target| place(page, target));
        told.push(format!("more: {}", places.collect::<Vec<_>>().join(", ")));
    }
    told.join("\n  ")
}

/// The targets of the links of a text, as they are written.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let behind = text.split("](").skip(1);
    behind.filter_map(|it| it.split_once(')').map(|(target, _)| target))
}

/// The target of a link on a page in `docs/`, as a path in the repository; a URL stays a URL.
fn place(page: &str, target: &str) -> String {
    if target.contains("://") {
        target.to_owned()
    } else if target.starts_with('#') {
        format!("docs/{page}{target}")
    } else if let Some(beside) = target.strip_prefix("../") {
        beside.to_owned()
    } else {
        format!("docs/{target}")
    }
}

/// The text without the marks of Markdown. Of a link only the words stay.
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
                    | exit code | y |\n| --- | --- |\n| 3 | three, as [it is](../e/F.md#f) |\n\n\
                    | word | means |\n| --- | --- |\n| held, `hold` | waits `so`, [b](#c) and [d](https://d.e/f) |\n\n\
                    | metric | type | labels | what |\n| --- | --- | --- | --- |\n| `m` | gauge | | so `a \\| b` |\n\n\
                    | `One` | seconds |\n| --- | --- |\n| 1 | 73 |\n| `Two` | 37 |\n";
        let entry = |word: &str, meaning: &str| GlossaryEntry {
            word: word.to_owned(),
            meaning: meaning.to_owned(),
            place: "docs/p.md, \"A b\"".to_owned(),
        };
        let expected = [
            entry("One", "see there, now\n  more: docs/b.md#c"),
            entry("Two", "see there, now\n  more: docs/b.md#c"),
            entry("3", "three, as it is\n  more: e/F.md#f"),
            entry(
                "held",
                "waits so, b and d\n  more: docs/p.md#c, https://d.e/f",
            ),
            entry(
                "hold",
                "waits so, b and d\n  more: docs/p.md#c, https://d.e/f",
            ),
            entry("m", "type: gauge\n  what: so a | b"),
        ];
        assert_eq!(page("p.md", text), expected);
        assert_eq!(plain("a [b] c"), "a [b] c");
    }
}
