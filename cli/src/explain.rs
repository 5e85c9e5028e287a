//! `explain KEY`: what an annotation, a reason, a chart value or an exit code means, in the words of the documentation, which
//! is built in.

mod page;
mod values;

use anyhow::{Result, bail};
use page::page;
use rules::keys;
use rules::suggest::nearest;
use std::process::ExitCode;
use values::values;

/// The pages whose tables explain words.
const PAGES: [(&str, &str); 5] = [
    ("annotations.md", include_str!("../../docs/annotations.md")),
    ("order.md", include_str!("../../docs/order.md")),
    (
        "troubleshooting.md",
        include_str!("../../docs/troubleshooting.md"),
    ),
    ("operating.md", include_str!("../../docs/operating.md")),
    ("cli.md", include_str!("../../docs/cli.md")),
];

const VALUES: &str = include_str!("../../charts/sluice/values.yaml");

/// One word, and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    word: String,
    meaning: String,
    /// Where it stands.
    place: String,
}

/// Explains a word, or without one says which there are.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) fn run(key: Option<&str>) -> Result<ExitCode> {
    let entries = entries();
    let Some(key) = key else {
        print!("{}", index(&entries));
        return Ok(ExitCode::SUCCESS);
    };
    let found = find(&entries, key);
    if found.is_empty() {
        let words = entries.iter().map(|it| it.word.as_str());
        match nearest(key, words) {
            Some(likely) => bail!("nothing is known of {key:?}; did you mean {likely:?}?"),
            None => bail!("nothing is known of {key:?}; kubectl sluice explain shows every word"),
        }
    }
    for Entry {
        word,
        meaning,
        place,
    } in found
    {
        println!("{word}\n  {meaning}\n  ({place})");
    }
    Ok(ExitCode::SUCCESS)
}

fn entries() -> Vec<Entry> {
    let pages = PAGES.iter().flat_map(|(name, text)| page(name, text));
    pages.chain(values(VALUES)).collect()
}

/// By the whole word, an annotation of ours without its prefix too; letter case aside.
fn find<'e>(entries: &'e [Entry], key: &str) -> Vec<&'e Entry> {
    let own = format!("{}{key}", keys::PREFIX);
    let is = |entry: &&Entry| {
        entry.word.eq_ignore_ascii_case(key) || entry.word.eq_ignore_ascii_case(&own)
    };
    entries.iter().filter(is).collect()
}

/// The words of each place.
fn index(entries: &[Entry]) -> String {
    let mut lines = Vec::new();
    let mut place = "";
    for entry in entries {
        if entry.place != place {
            place = &entry.place;
            lines.push(format!("{place}:"));
        }
        lines.push(format!("  {}", entry.word));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::judged::Reason;
    use serde_json::Value;

    fn explained(key: &str) -> Vec<String> {
        let entries = entries();
        let found = find(&entries, key);
        found.iter().map(|it| it.meaning.clone()).collect()
    }

    #[test]
    fn every_annotation_reason_and_exit_code_is_explained() {
        let own = [
            keys::DEPENDS_ON,
            keys::CONFIG_DEPENDS_ON,
            keys::GATE_POSITION,
            keys::HEALTH,
            keys::READINESS_SUCCESS,
            keys::READINESS_FAILURE,
            keys::ALLOW_DEPENDENTS_FROM,
        ];
        let reasons = Reason::ALL.iter().map(|it| it.label());
        let codes = ["0", "1", "2", "3"];
        for word in own
            .into_iter()
            .chain(keys::TERMS)
            .chain(reasons)
            .chain(codes)
        {
            let found = explained(word);
            assert!(!found.is_empty(), "{word}");
            assert!(found.iter().any(|it| it.len() > 10), "{word}: {found:?}");
        }
        assert_eq!(explained("ON-timeout"), explained("sluice.dev/on-timeout"));
    }

    #[test]
    fn every_value_of_the_chart_is_explained() {
        fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
            match value.as_object().filter(|it| !it.is_empty()) {
                None => found.push(path.to_owned()),
                Some(map) => {
                    for (key, value) in map {
                        let below = if path.is_empty() {
                            key.clone()
                        } else {
                            format!("{path}.{key}")
                        };
                        leaves(value, &below, found);
                    }
                }
            }
        }
        let all: Value = serde_saphyr::from_str(VALUES).unwrap();
        let mut found = Vec::new();
        leaves(&all, "", &mut found);
        assert!(found.len() > 50);
        // What has no words of its own stands under those of what is above it.
        let explained = |path: &str| {
            let mut path = path;
            loop {
                if !explained(path).is_empty() {
                    return true;
                }
                match path.rsplit_once('.') {
                    Some((above, _)) => path = above,
                    None => return false,
                }
            }
        };
        let silent: Vec<_> = found.iter().filter(|it| !explained(it)).collect();
        assert!(silent.is_empty(), "{silent:?}");
    }

    #[test]
    fn an_explanation_is_plain_text() {
        let found = explained("sluice.dev/timeout");
        let expected =
            "how long a pod may wait, counted from its start: 90s, 10m, 1h30m; for ever without it";
        assert_eq!(found.first().map(String::as_str), Some(expected));
        let error = run(Some("NotFnd")).unwrap_err().to_string();
        assert!(error.ends_with("did you mean \"NotFound\"?"), "{error}");
    }
}
