//! Properties of every text. `PROPTEST_CASES=100000` tries more texts.

use super::super::*;
use crate::dependency::{
    Alternatives, Asks, Min, Need, Part, Parts, Patience, Reference, Revision, Selection, State,
};
use crate::expression::Expression;
use crate::kinds::{self, Kind};
use crate::selector::{Requirement, Selector, Test};
use crate::terms::OnTimeout;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

/// Pieces of the three grammars and of the texts that they forbid, so that a random text gets past the first character.
const PIECES: [&str; 58] = [
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
    "selector: ",
    "min: ",
    "any: ",
    "fresh: ",
    "app",
    "=",
    "!",
    "in (",
    ")",
    "%",
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
    let states = proptest::sample::select(State::ALL).prop_map(|it| format!(":{}", it.word()));
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
            let addressed = matches!(kind.as_str(), "Service" | "Ingress") || kind.contains('.');
            let complete = matches!(kind.as_str(), "Job" | "Pod") || kind.contains('.');
            let suffix = match suffix.as_str() {
                ":addressed" if !addressed => String::new(),
                ":complete" if !complete => String::new(),
                ":connects" if kind != "Service" => String::new(),
                _ => suffix,
            };
            format!("{namespace}{kind}/{name}{suffix}")
        })
}

fn requirements() -> impl Strategy<Value = Requirement> {
    let key = "([a-z]{1,4}\\.[a-z]{1,4}/)?[a-zA-Z]([-_.a-z]{0,4}[a-zA-Z0-9])?";
    let values = || proptest::collection::vec("([a-zA-Z0-9]([-_.a-z]{0,4}[a-z0-9])?)?", 1..4);
    let test = prop_oneof![
        values().prop_map(Test::In),
        values().prop_map(Test::NotIn),
        Just(Test::Exists),
        Just(Test::Absent),
    ];
    (key, test).prop_map(|(key, test)| Requirement { key, test })
}

fn mins() -> impl Strategy<Value = Option<Min>> {
    proptest::option::of(prop_oneof![
        (1..4_usize).prop_map(Min::Count),
        (1..=100_u8).prop_map(Min::Percent),
    ])
}

/// Generates dependencies of every shape, with and without `timeout`, `on-timeout` and `stable`.
fn dependencies() -> impl Strategy<Value = Dependency> {
    let seconds = || proptest::option::of((1..100_000_u64).prop_map(Duration::from_secs));
    let words = proptest::sample::select(&WORDS[..]);
    (references_and_states(), seconds(), words, seconds()).prop_map(
        |(dependency, timeout, (_, then), stable)| Dependency {
            patience: timeout.map(|timeout| Patience { timeout, then }),
            stable,
            ..dependency
        },
    )
}

const WORDS: [(&str, OnTimeout); 3] = [
    ("wait", OnTimeout::Wait),
    ("fail", OnTimeout::Fail),
    ("proceed", OnTimeout::Proceed),
];

/// Generates addresses outside of the cluster; their variables may be those of one container.
fn addresses() -> impl Strategy<Value = Dependency> {
    const TEXTS: [&str; 6] = [
        "tcp://db.example.com:5432",
        "tcp://[fd00::1]:1",
        "tcp://$(HOST):$(PORT)",
        "dns://$(URL)",
        "https://web/a?b=c",
        "http://$(URL)",
    ];
    (
        proptest::sample::select(&TEXTS[..]),
        100..600_u16,
        any::<bool>(),
    )
        .prop_map(|(text, code, of_one)| {
            let mut entry = parse_depends_on(text).expect("legal").remove(0);
            let Reference::Address(address) = &mut entry.reference else {
                panic!("an address")
            };
            if let Asks::Answer(codes) = &mut address.asks {
                codes.from = codes.from.min(code);
                codes.to = codes.to.max(code);
            }
            let varies = address.variables().next().is_some();
            address.container = (of_one && varies).then(|| "app".to_owned());
            entry
        })
}

/// Generates dependencies of every shape that an item may have, up to two levels of `any` deep, without the item's times.
fn references_and_states() -> impl Strategy<Value = Dependency> {
    let named = references().prop_map(|text| {
        let mut list = parse_depends_on(&text).expect("made to be right");
        list.remove(0)
    });
    let selected = (
        proptest::collection::vec(requirements(), 1..4),
        mins(),
        proptest::option::of("[a-z]{1,5}"),
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(requirements, min, namespace, [fresh, same_node, lockstep])| {
                let word = if same_node { "Pod" } else { "Job" };
                let selection = Selection {
                    kind: kinds::by_word(word).map(Kind::Builtin).expect("built in"),
                    namespace,
                    selector: Selector(requirements),
                    min,
                };
                Dependency {
                    fresh: fresh && !same_node,
                    same_node,
                    revision: if lockstep {
                        Revision::Lockstep
                    } else {
                        Revision::Any
                    },
                    ..Dependency::on(Reference::Selected(selection))
                }
            },
        );
    let parted = (
        proptest::sample::select(&[Part::Group, Part::SubChart, Part::Release][..]),
        "[a-z0-9]([-_.a-zA-Z0-9]{0,8}[a-z0-9])?",
        mins(),
        proptest::option::of("[a-z]{1,5}"),
    )
        .prop_map(
            |(part, name, min, namespace): (fn(String) -> Part, _, _, _)| {
                let part = part(name);
                let namespace = namespace.filter(|_| !matches!(part, Part::Group(_)));
                Dependency::on(Reference::Part(Parts {
                    part,
                    namespace,
                    min,
                }))
            },
        );
    let leaf = (
        prop_oneof![named, selected, parted],
        any::<bool>(),
        0..3_usize,
    )
        .prop_map(|(dependency, optional, expressions)| {
            let here = match &dependency.reference {
                Reference::Object(it) => it.namespace.is_none(),
                Reference::Selected(it) => it.namespace.is_none(),
                _ => false,
            };
            let fits = dependency.state == State::Ready && here;
            let text = "/metadata/labels/app != \"a: b\"";
            let expression = Expression::parse(text).expect("legal");
            Dependency {
                optional,
                health: vec![expression; if fits { expressions } else { 0 }],
                ..dependency
            }
        });
    prop_oneof![3 => leaf, 1 => addresses()].prop_recursive(2, 12, 4, |inner| {
        let items = proptest::collection::vec(inner, 3..5);
        (items, mins(), any::<bool>()).prop_map(|(of, min, optional)| Dependency {
            optional,
            ..Dependency::on(Reference::Any(Alternatives { of, min }))
        })
    })
}

/// An item of the long form, as JSON.
fn item(dependency: &Dependency) -> Value {
    let mut item = match &dependency.reference {
        Reference::Object(it) => {
            json!({"kind": it.kind.to_string(), "name": it.name, "namespace": it.namespace})
        }
        Reference::Selected(it) => json!({
            "kind": it.kind.to_string(), "selector": it.selector.to_string(),
            "namespace": it.namespace, "min": it.min.map(|min| min.to_string()),
        }),
        Reference::Part(it) => json!({
            it.part.word(): it.part.name(), "namespace": it.namespace,
            "min": it.min.map(|min| min.to_string()),
        }),
        Reference::Address(it) => {
            let (key, codes) = match it.asks {
                Asks::Connection => ("tcp", None),
                Asks::Answer(codes) => ("http", Some(codes.to_string())),
                Asks::Name => ("dns", None),
            };
            json!({key: it.to, "status": codes, "container": it.container})
        }
        Reference::Any(it) => {
            let of: Vec<Value> = it.of.iter().map(item).collect();
            json!({"any": of, "min": it.min.map(|min| min.to_string())})
        }
    };
    let is_address = matches!(dependency.reference, Reference::Address(_));
    if !is_address && !matches!(dependency.reference, Reference::Any(_)) {
        item["state"] = json!(dependency.state.word());
        let any = dependency.revision == Revision::Any;
        item["revision"] = json!(any.then_some("any"));
    }
    if matches!(
        dependency.reference,
        Reference::Object(_) | Reference::Selected(_)
    ) {
        item["fresh"] = json!(dependency.fresh);
        item["sameNode"] = json!(dependency.same_node);
        let health: Vec<String> = dependency.health.iter().map(ToString::to_string).collect();
        item["health"] = json!((!health.is_empty()).then_some(health));
    }
    let seconds = |it: Duration| format!("{}s", it.as_secs());
    item["stable"] = json!(dependency.stable.map(seconds));
    if let Some(Patience { timeout, then }) = dependency.patience {
        let (word, _) = WORDS[then as usize];
        item["timeout"] = json!(seconds(timeout));
        item["on-timeout"] = json!(word);
    }
    item["optional"] = match dependency.status {
        Need::Optional => json!("status"),
        Need::Required if is_address => Value::Null,
        Need::Required => json!(dependency.optional),
    };
    let Value::Object(mut fields) = item else {
        panic!("a map")
    };
    fields.retain(|_, value| !value.is_null());
    Value::Object(fields)
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
    fn every_item_reads_back_from_json(list in proptest::collection::vec(dependencies(), 1..3)) {
        let items: Vec<Value> = list.iter().map(item).collect();
        let text = Value::Array(items).to_string();
        prop_assert_eq!(parse_depends_on(&text).map_err(|error| format!("{error}: {text}")), Ok(list));
    }

    #[test]
    fn every_duration_reads_back(seconds in 1..1_000_000_000_u64, nanoseconds in 0..1_000_000_000_u32) {
        let text = format!("{}h{}m{}.{nanoseconds:09}s", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let read = super::super::duration::duration(Piece::whole(&text));
        prop_assert_eq!(read, Ok(std::time::Duration::new(seconds, nanoseconds)));
    }

    #[test]
    fn no_text_makes_the_terms_panic(text in "[-+.0-9nuµmshd {\\n]{0,12}|\\PC{0,8}") {
        for key in keys::TERMS {
            let _ = super::super::terms::write(&mut Terms::default(), key, Piece::whole(&text));
        }
    }

    #[test]
    fn whatever_the_short_form_accepts_reads_back(text in texts()) {
        if let Ok(parsed) = short_list(&text) {
            prop_assert_eq!(short_list(&short_form(&parsed, ", ")), Ok(parsed));
        }
    }
}

fn short_list(text: &str) -> Result<Vec<Dependency>, Flaw> {
    super::super::short::list(Piece::whole(text))
}
