//! Checks that numbers on the pages are those of the code's constants.

use super::{read, root};
use webhook::{AdmissionLimits, Port, ServerLimits};

/// Pairs of a page and a sentence on it.
type Sentences = &'static [(&'static str, &'static str)];

/// Constants, each with its file, its name, and the sentences that tell its number in the place of `{}`, by page. The number of a duration is in
/// seconds, or in minutes where the sentence says so.
const TOLD: &[(&str, &str, Sentences)] = &[
    (
        "wire/src/lib.rs",
        "SIGN",
        &[("ARCHITECTURE.md", "Every {} s the service sends a blank")],
    ),
    (
        "rules/src/verdict/judge/settle.rs",
        "QUIET",
        &[
            ("docs/glossary.md", "created or changed for {} seconds"),
            ("docs/order.md", "scope for {} seconds"),
            ("docs/readiness.md", "quiet for {} seconds"),
            ("CONTRIBUTING.md", "created or written for {} seconds"),
        ],
    ),
    (
        "webhook/src/known/pod_causes.rs",
        "FIRST",
        &[
            (
                "docs/troubleshooting.md",
                "once a wait has lasted {} seconds",
            ),
            ("docs/performance.md", "20 of its pods after {}, 7"),
        ],
    ),
    (
        "rules/src/gate/prefetch.rs",
        "LONGEST_IMAGE",
        &[("docs/holds.md", "reference of more than {} bytes")],
    ),
    (
        "rules/src/version.rs",
        "IMAGE_VOLUMES",
        &[
            ("docs/holds.md", "They need Kubernetes 1.{}"),
            ("docs/limits.md", "which need Kubernetes 1.{}"),
        ],
    ),
    (
        "rules/src/reboot.rs",
        "LONGEST",
        &[
            ("docs/readiness.md", "After {} s of asking"),
            (
                "docs/troubleshooting.md",
                "{} s after the gate began to ask",
            ),
        ],
    ),
    (
        "rules/src/reboot.rs",
        "PODS_AFTER_NODE",
        &[("rules/TIMES.md", "`Ready` of the Node, {} s ago or more")],
    ),
    (
        "rules/src/verdict/explain/too_late.rs",
        "MISSING_AFTER",
        &[
            ("docs/metrics.md", "has not existed for {} seconds"),
            ("docs/metrics.md", "A wait that ends within {} seconds"),
        ],
    ),
    (
        "rules/src/annotation.rs",
        "MAX_ENTRIES",
        &[
            ("docs/annotations.md", "8 KiB of text, {} entries"),
            ("tests/THREATS.md", "8 KiB, {} entries"),
        ],
    ),
    (
        "rules/src/annotation.rs",
        "MAX_LEVELS",
        &[
            ("docs/annotations.md", "included), {} levels"),
            ("tests/THREATS.md", "entries, {} levels"),
        ],
    ),
    (
        "gate/src/wait.rs",
        "SAID_AGAIN_AFTER",
        &[("docs/troubleshooting.md", "and one {}: `kubectl logs")],
    ),
    (
        "webhook/src/known/freshness.rs",
        "BELIEVED_FOR",
        &[
            ("ARCHITECTURE.md", "Every reader believes a store for {} s"),
            (
                "ARCHITECTURE.md",
                "without a sign of the API server for {} s",
            ),
        ],
    ),
    (
        "webhook/src/follow/watch.rs",
        "WATCH_FOR",
        &[("ARCHITECTURE.md", "Each watch ends after {} s")],
    ),
    (
        "webhook/src/status/tell/events/news.rs",
        "AGAIN_AFTER",
        &[("docs/metrics.md", "renews its Event every {} minutes")],
    ),
    (
        "webhook/src/event/pace.rs",
        "AT_MOST_EVERY",
        &[("docs/metrics.md", "an object gets one Event {}.")],
    ),
    (
        "webhook/src/event/pace.rs",
        "TO_SPARE",
        &[("docs/metrics.md", "It may get {} more")],
    ),
    (
        "webhook/src/event/backlog.rs",
        "SHARE",
        &[("docs/metrics.md", "Of one namespace {} wait to be written")],
    ),
    (
        "webhook/src/status/identity.rs",
        "TURN_WITHIN",
        &[(
            "webhook/BOUNDS.md",
            "a question without a turn for {} s gets 503",
        )],
    ),
    (
        "webhook/src/follow/slots/lost_shards.rs",
        "NO_SLOTS_FOR",
        &[("ARCHITECTURE.md", "has been seen to have: {} s")],
    ),
    (
        "webhook/src/follow/slots/namespace.rs",
        "STEP",
        &[("ARCHITECTURE.md", "a step asks about {} holders")],
    ),
    (
        "webhook/src/follow/slots/namespace.rs",
        "PAUSE",
        &[("ARCHITECTURE.md", "waits for {} times as long")],
    ),
    (
        "webhook/src/follow/watch/list.rs",
        "FIRST_PAGE",
        &[("ARCHITECTURE.md", "The first page has {} objects")],
    ),
    (
        "webhook/src/client/limits.rs",
        "LONG",
        &[("ARCHITECTURE.md", "holds {} long pages or events at once")],
    ),
    (
        "webhook/src/known/budgets.rs",
        "UNREAD_KINDS",
        &[("webhook/BOUNDS.md", "1 MiB: {} kinds")],
    ),
    (
        "webhook/src/known/budgets.rs",
        "UNREAD_KINDS_OF_A_NAMESPACE",
        &[
            ("ARCHITECTURE.md", "with a share of {} kinds"),
            ("webhook/BOUNDS.md", "512 KiB: {} kinds"),
        ],
    ),
    (
        "webhook/src/known/stores.rs",
        "KEPT",
        &[(
            "ARCHITECTURE.md",
            "is forgotten {} minutes after it was last named",
        )],
    ),
    (
        "rules/src/shards.rs",
        "COUNT",
        &[("ARCHITECTURE.md", "each namespace has one of {}")],
    ),
    (
        "certs/src/ca.rs",
        "FORMERS",
        &[("ARCHITECTURE.md", "keeps the keys of the {} CAs before it")],
    ),
];

/// Returns the spellings of a number that pages use: digits, digits with the last three set apart by a blank or a comma, up to twelve the English
/// word, and for 60 `a minute`.
fn spellings(number: u64) -> Vec<String> {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let digits = number.to_string();
    let (head, tail) = digits.split_at(digits.len().saturating_sub(3));
    let mut all = vec![digits.clone()];
    if !head.is_empty() {
        all.extend([format!("{head} {tail}"), format!("{head},{tail}")]);
    }
    let word = usize::try_from(number).ok().and_then(|it| WORDS.get(it));
    all.extend(word.map(|it| (*it).to_owned()));
    if number == 60 {
        all.push("a minute".to_owned());
    }
    all
}

/// Returns the number of a constant in a file, of a duration in seconds. Fails on a constant that is neither a number nor a duration.
fn constant(file: &str, name: &str) -> u64 {
    let text = read(&root().join(file));
    let begins = text.split_once(&format!("const {name}: "));
    let (_, rest) = begins.expect(name);
    let (_, value) = rest.split_once('=').expect("it has a value");
    let value = value.split(';').next().expect("it has an end").trim();
    let unit = if value.contains("from_mins(") { 60 } else { 1 };
    let value = value.rsplit('(').next().unwrap_or_default();
    let digits = value.trim_end_matches(')').replace('_', "");
    let number = digits.parse::<u64>();
    unit * number.expect(name)
}

/// Returns the text of a page in one line, so that a sentence is found wherever its lines break.
fn page(name: &str) -> String {
    let text = read(&root().join(name));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn tells(page: &str, sentence: &str, number: u64) -> bool {
    let mut told = spellings(number).into_iter();
    told.any(|it| page.contains(&sentence.replace("{}", &it)))
}

#[test]
fn every_number_of_a_page_is_that_of_its_constant() {
    let mut wrong = Vec::new();
    for (file, name, sentences) in TOLD {
        let number = constant(file, name);
        for (on, sentence) in *sentences {
            let number = if sentence.contains("minutes") {
                number / 60
            } else {
                number
            };
            if !tells(&page(on), sentence, number) {
                wrong.push(format!(
                    "{on}: {sentence:?}, but {name} of {file} is {number}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Numbers on the pages that are computed from constants, such as sums and products, have the right value.
#[test]
fn numbers_that_follow_from_constants_are_on_their_pages() {
    let (architecture, operating) = (page("ARCHITECTURE.md"), page("docs/operating.md"));
    let bounds_page = page("webhook/BOUNDS.md");
    let silence = wire::SILENCE.as_secs();
    assert!(tells(
        &architecture,
        "a gate that hears nothing for {} s",
        silence
    ));
    let bounds = AdmissionLimits::default();
    let deadline = bounds.deadline.as_secs();
    assert!(tells(
        &bounds_page,
        "may take to arrive, {} seconds",
        deadline
    ));
    assert!(page("charts/sluice/values.yaml").contains("memory: 256Mi"));
    for (memory, sentence) in [
        (Some(256 << 20), "With the chart's 256Mi that is {}"),
        (None, "without a limit {}"),
    ] {
        let room = |port| {
            let bounds = ServerLimits::of(port, memory).connections;
            u64::try_from(bounds.all * bounds.sharing).unwrap()
        };
        let gates = room(Port::Status);
        assert!(
            tells(&operating, sentence, gates),
            "{sentence}: {gates} gates"
        );
        for (port, sentence) in [
            (Port::Admission, "{} connections of API servers"),
            (Port::Admin, "and {} others at each replica"),
        ] {
            let others = room(port);
            assert!(
                memory.is_none() || tells(&operating, sentence, others),
                "{sentence}: {others}"
            );
        }
    }
}
