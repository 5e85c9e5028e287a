//! `explain KEY`: the meaning of an annotation, a reason, an event, a metric, a chart value, an exit code or a word of these, in
//! the words of the documentation, which is built in.

mod page;
mod values;

use anyhow::{Context, Result, bail};
use page::page;
use rules::keys;
use rules::suggest::nearest;
use std::collections::BTreeSet;
use std::process::ExitCode;
use values::values;

/// The pages of the documentation whose tables explain words.
const PAGES: [(&str, &str); 7] = [
    ("annotations.md", include_str!("../../docs/annotations.md")),
    ("order.md", include_str!("../../docs/order.md")),
    (
        "troubleshooting.md",
        include_str!("../../docs/troubleshooting.md"),
    ),
    ("metrics.md", include_str!("../../docs/metrics.md")),
    ("operating.md", include_str!("../../docs/operating.md")),
    ("cli.md", include_str!("../../docs/cli.md")),
    ("glossary.md", include_str!("../../docs/glossary.md")),
];

/// The endings that a query adds to the name of a metric.
const QUERIED: [&str; 5] = ["_total", "_bucket", "_sum", "_count", "_info"];

pub(crate) const VALUES: &str = include_str!("../../charts/sluice/values.yaml");

/// One word that `explain` knows, and its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GlossaryEntry {
    word: String,
    meaning: String,
    /// The page of the documentation that explains the word and the heading there, `docs/order.md, "Plans"`, or `values of the chart`.
    place: String,
}

/// Prints the meaning of a word, or without a word the index of all words that `explain` knows.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) fn run(key: Option<&str>) -> Result<ExitCode> {
    let entries = entries();
    let Some(key) = key else {
        print!("{}", index(&entries));
        return Ok(ExitCode::SUCCESS);
    };
    let found = search(&entries, key)?;
    for GlossaryEntry {
        word,
        meaning,
        place,
    } in found
    {
        println!("{word}\n  {meaning}\n  ({place})");
    }
    Ok(ExitCode::SUCCESS)
}

fn entries() -> Vec<GlossaryEntry> {
    let pages = PAGES.iter().flat_map(|(name, text)| page(name, text));
    pages.chain(values(VALUES)).collect()
}

/// Every word without a space that `explain` knows, for completion by a shell; an annotation of sluice with and without its prefix.
pub(crate) fn words() -> BTreeSet<String> {
    let entries = entries();
    let words = entries.iter().flat_map(|it| [it.word.as_str(), it.short()]);
    // A word with spaces is several words to a shell.
    let words = words.filter(|it| !it.contains(' '));
    words.map(str::to_owned).collect()
}

impl GlossaryEntry {
    /// The word without the prefix `sluice.dev/`, if the word is one of sluice's annotations.
    fn short(&self) -> &str {
        self.word.strip_prefix(keys::PREFIX).unwrap_or(&self.word)
    }

    fn is(&self, key: &str) -> bool {
        self.word.eq_ignore_ascii_case(key) || self.short().eq_ignore_ascii_case(key)
    }
}

/// Finds the entries of a word: by the whole word, also without an ending of [`QUERIED`], else by a beginning that only one word has, else by the
/// nearest word; letter case aside. A beginning of several words is an error, and so is a word that is near to none.
fn search<'e>(entries: &'e [GlossaryEntry], key: &str) -> Result<Vec<&'e GlossaryEntry>> {
    // A query of Prometheus has more of a metric's name than its page.
    let metric = QUERIED.iter().find_map(|it| key.strip_suffix(it));
    let found = find(entries, key).or_else(|| find(entries, metric?));
    if let Some(found) = found {
        return Ok(found);
    }
    let begins = |word: &&str| {
        let begin = word.get(..key.len()).unwrap_or_default();
        begin.eq_ignore_ascii_case(key)
    };
    let begun: BTreeSet<_> = entries
        .iter()
        .map(GlossaryEntry::short)
        .filter(begins)
        .collect();
    let likely = match Vec::from_iter(begun).as_slice() {
        [one] => Some(*one),
        [] => nearest(key, entries.iter().flat_map(|it| [it.short(), &it.word])),
        several => bail!("{key:?} may be {}", several.join(", ")),
    };
    let found = likely.and_then(|word| find(entries, word));
    found.with_context(|| {
        format!("nothing is known of {key:?}; kubectl sluice explain shows every word")
    })
}

/// The entries of exactly this word, letter case aside, `None` where there are none. An annotation of sluice is also found without its prefix.
fn find<'e>(entries: &'e [GlossaryEntry], key: &str) -> Option<Vec<&'e GlossaryEntry>> {
    let found: Vec<_> = entries.iter().filter(|it| it.is(key)).collect();
    (!found.is_empty()).then_some(found)
}

/// The text that lists all words that `explain` knows, one a line, under the page and the heading that explain them.
fn index(entries: &[GlossaryEntry]) -> String {
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
        let found = find(&entries, key).unwrap_or_default();
        found.iter().map(|it| it.meaning.clone()).collect()
    }

    #[test]
    fn every_annotation_reason_and_exit_code_is_explained() {
        let own = [
            keys::DEPENDS_ON,
            keys::CONFIG_DEPENDS_ON,
            keys::GATE_POSITION,
            keys::PREFETCH,
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
        let (annotation, both) = (explained("sluice.dev/on-timeout"), explained("ON-timeout"));
        assert_eq!(both[..1], annotation, "and the key of an entry");
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
        // A key without a text of its own stands under the text of the key above it.
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
        let expected = "how long a pod may wait, counted from its start: 90s, 10m, 1h30m; for ever without it\n  more: \
             docs/annotations.md#when-it-takes-too-long-or-fails";
        assert_eq!(found.first().map(String::as_str), Some(expected));
    }

    #[test]
    fn what_is_nearly_a_word_is_explained_and_what_may_be_several_is_not() {
        let entries = entries();
        let found = |key: &str| {
            let found = search(&entries, key).map_err(|it| it.to_string())?;
            Ok::<_, String>(found[0].word.clone())
        };
        for (key, word) in [
            ("noendpoint", "NoEndpoints"),
            ("NotFnd", "NotFound"),
            ("depends_on", "sluice.dev/depends-on"),
            ("allow-dep", "sluice.dev/allow-dependents-from"),
            ("sluice_answers_total", "sluice_answers"),
            ("SluiceDown", "SluiceDown"),
            ("Init:1/2", "Init:0/1"),
            ("init:imagepullbackoff", "Init:ImagePullBackOff"),
        ] {
            assert_eq!(found(key), Ok(word.to_owned()), "{key}");
        }
        assert_eq!(found("Kind").as_deref(), Ok("kind"), "a whole word");
        let several = found("NotF").unwrap_err();
        assert_eq!(several, "\"NotF\" may be NotFound, NotFresh");
        let unknown = found("walrus").unwrap_err();
        assert!(unknown.starts_with("nothing is known of"), "{unknown}");
        assert!(words().contains("NoEndpoints") && words().contains("timeout"));
    }

    #[test]
    fn a_figure_is_no_word_and_what_gates_and_events_say_is() {
        for code in ["1", "3"] {
            let found = explained(code);
            assert_eq!(found.len(), 1, "{code}: {found:?}");
        }
        assert_eq!(explained("timeout").len(), 2, "of all, and of an entry");
        for event in [
            "Waiting",
            "Released",
            "TimedOut",
            "Stranded",
            "CaBundleMended",
        ] {
            assert!(!explained(event).is_empty(), "{event}");
        }
        assert!(explained("refused")[0].contains("gave up"));
        assert!(explained("Unjudgeable")[0].contains("you may not read"));
        let found = explained("Init:0/1");
        assert!(found[0].contains("kubectl sluice status"), "{found:?}");
        // Of two rows with one word, each begins with the whole symptom.
        let refused = explained("FailedCreate");
        let has = |symptom: &str| refused.iter().any(|it| it.contains(symptom));
        assert!(
            has("ReplicaSet FailedCreate, failed calling webhook: no replica"),
            "{refused:?}"
        );
        // Nothing stands below an answer.
        for GlossaryEntry { word, meaning, .. } in entries() {
            assert!(!meaning.ends_with("below"), "{word}: {meaning}");
        }
    }
}
