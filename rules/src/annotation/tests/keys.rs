//! Each key of the long form with each sort of wrong value: the refusal names the key, the place and the way out.

use super::super::item::KEYS;
use super::refused;

/// An item in which the value of a key is left open.
fn item(key: &str) -> &'static str {
    match key {
        "kind" => "- kind: VALUE\n  name: a",
        "apiVersion" => "- kind: Deployment\n  name: a\n  apiVersion: VALUE",
        "name" => "- kind: Job\n  name: VALUE",
        "selector" => "- kind: Job\n  selector: VALUE",
        "namespace" => "- kind: Job\n  name: a\n  namespace: VALUE",
        "state" => "- kind: Job\n  name: a\n  state: VALUE",
        "min" => "- kind: Job\n  selector: app\n  min: VALUE",
        "any" => "- any: VALUE",
        "revision" => "- kind: Job\n  name: a\n  revision: VALUE",
        "fresh" => "- kind: Job\n  name: a\n  fresh: VALUE",
        "sameNode" => "- kind: DaemonSet\n  name: a\n  sameNode: VALUE",
        "optional" => "- kind: Job\n  name: a\n  optional: VALUE",
        "health" => "- kind: Job\n  name: a\n  health: VALUE",
        "timeout" => "- kind: Job\n  name: a\n  timeout: VALUE",
        "on-timeout" => "- kind: Job\n  name: a\n  timeout: 1m\n  on-timeout: VALUE",
        "stable" => "- kind: Job\n  name: a\n  stable: VALUE",
        "group" => "- group: VALUE",
        "subchart" => "- subchart: VALUE",
        "release" => "- release: VALUE",
        "tcp" => "- tcp: VALUE",
        "http" => "- http: VALUE",
        "dns" => "- dns: VALUE",
        "status" => "- http: web\n  status: VALUE",
        "container" => "- tcp: $(URL)\n  container: VALUE",
        other => panic!("no item for {other:?}"),
    }
}

#[test]
fn a_refusal_names_the_key_the_place_and_the_way_out() {
    // Nothing, an empty text, a text that is no word, a template, a number below zero, a list, a list in a list, a mapping.
    let wrong = [
        "",
        "~",
        "''",
        "'a b!'",
        "'{{ x }}'",
        "-1",
        "[a]",
        "[[a]]",
        "{a: b}",
    ];
    for key in KEYS {
        for value in wrong {
            // The only list that may stand there; its items have keys of their own.
            if (key, value) == ("any", "[a]") || (key, value) == ("any", "[[a]]") {
                continue;
            }
            let list = item(key).replace("VALUE", value);
            let told = refused(&list);
            let line = 1 + list[..list.find(&format!("{key}:")).unwrap()]
                .matches('\n')
                .count();
            let (place, sentence) = told
                .split_once(&format!("line {line}, column "))
                .expect(&told);
            assert_eq!(place, "sluice.dev/depends-on: ", "{list}");
            let (_, sentence) = sentence.split_once(": ").unwrap();
            let named = sentence.starts_with(key)
                || sentence.contains(&format!("{key:?}"))
                || sentence.contains(&format!("{key} \""))
                || sentence.contains(&format!("a {key} "));
            assert!(named, "{list}\n{told}");
            let way_out = [" takes ", "; ", " is expected", " are allowed", " such as "];
            assert!(
                way_out.iter().any(|it| sentence.contains(it)),
                "{list}\n{told}"
            );
        }
    }
}

#[test]
fn the_key_is_named_within_alternatives_too() {
    let told = refused("- any:\n  - {kind: Job, name: a, stable: soon}\n  - job/b");
    let expected = "sluice.dev/depends-on: line 2, column 34: \"stable\": \"soon\" is no duration";
    assert!(told.starts_with(expected), "{told}");
    assert!(!told.contains("\"any\""), "{told}");
}
