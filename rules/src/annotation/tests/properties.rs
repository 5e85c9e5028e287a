//! What holds for every text. `PROPTEST_CASES=100000` looks longer.

use super::super::*;
use crate::dependency::State;
use crate::kinds;
use proptest::prelude::*;

/// Pieces of the three grammars and of what they forbid, so that a random text gets past the first character.
const PIECES: [&str; 48] = [
    "job",
    "svc",
    "Deployment",
    "clusterrole",
    "node",
    "certificate.cert-manager.io",
    "deployment.apps",
    "group",
    "/",
    "/",
    "/",
    ":",
    ",",
    "\n",
    "\r\n",
    " ",
    "#",
    "- ",
    "- ",
    "-",
    "[",
    "]",
    "{",
    "}",
    "kind: ",
    "name: ",
    "state: ",
    "optional: ",
    "namespaces",
    "apps",
    "\"",
    "'",
    "a",
    "b-1",
    "ready",
    "present",
    "true",
    "\n  ",
    "\t",
    "&a",
    "*a",
    "!x",
    "---\n",
    "\0",
    "\u{435}",
    "…",
    "|\n",
    "? ",
];

fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    let cases = config.cases.max(1000);
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..config
    }
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40);
    prop_oneof![
        3 => pieces.prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

fn references() -> impl Strategy<Value = String> {
    let kinds = prop_oneof![
        (0..kinds::all().len()).prop_map(|index| kinds::all()[index].kind.to_owned()),
        "[a-z]{1,8}\\.[a-z]{1,5}\\.[a-z]{1,5}",
    ];
    let states = proptest::sample::select(&State::ALL[..]).prop_map(|it| format!(":{}", it.word()));
    let suffix = proptest::option::of(states).prop_map(Option::unwrap_or_default);
    let namespace = proptest::option::of("[a-z0-9]{1,5}/").prop_map(Option::unwrap_or_default);
    (
        namespace,
        kinds,
        "[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?",
        suffix,
    )
        .prop_map(|(namespace, kind, name, suffix)| {
            let cluster = kinds::by_word(&kind).is_some_and(|it| !it.namespaced);
            let namespace = if cluster { String::new() } else { namespace };
            format!("{namespace}{kind}/{name}{suffix}")
        })
}

fn short_form(list: &[Dependency], separator: &str) -> String {
    list.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(separator)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_text_makes_it_panic_and_every_error_has_a_place_in_the_text(text in texts()) {
        for error in [parse_depends_on(&text).err(), parse_config_depends_on(&text).err()].into_iter().flatten() {
            let place = error.place.expect("a list has lines");
            let line = text.split('\n').nth(place.line - 1).expect("a line of the text");
            prop_assert!(place.column <= line.chars().count() + 1, "{error}");
            prop_assert!(!error.to_string().chars().any(char::is_control), "{error:?}");
            prop_assert!(error.to_string().chars().count() < 500, "{error}");
        }
    }

    #[test]
    fn what_is_accepted_reads_back_from_its_short_form(list in proptest::collection::vec(references(), 1..8)) {
        let parsed = parse_depends_on(&list.join(", ")).expect("made to be right");
        prop_assert_eq!(parsed.len(), list.len());
        for separator in [",", "\n"] {
            prop_assert_eq!(&parse_depends_on(&short_form(&parsed, separator)), &Ok(parsed.clone()));
        }
        // An item of the long form is an entry of the short one.
        let items = format!("- {}\n", list.join("\n- "));
        prop_assert_eq!(&parse_depends_on(&items), &Ok(parsed));
    }

    #[test]
    fn whatever_the_short_form_accepts_reads_back(text in texts()) {
        if let Ok(parsed) = short_list(&text) {
            prop_assert_eq!(short_list(&short_form(&parsed, ", ")), Ok(parsed));
        }
    }
}

fn short_list(text: &str) -> Result<Vec<Dependency>, Flaw> {
    super::super::short::list(text)
}
