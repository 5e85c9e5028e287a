use super::*;
use serde_json::{Value, json};

fn told(script: &str, init: bool) -> Vec<String> {
    let value = json!({"name": "x", "command": ["sh", "-c", script]});
    let container = Container::of(&value, init, &Value::Null).unwrap();
    let waits = of(&container).waits.into_iter();
    waits
        .map(|it| match it.for_what {
            For::Address(it) => format!("{}:{}", it.host, it.port),
            For::Nothing(reason) => format!("{reason:?}"),
            For::Data(it) => format!("Data({:?})", it.program),
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn one_of_two_addresses_is_no_list_of_both() {
    for (script, expected) in [
        (
            "until nc -z a 1 || nc -z b 1; do sleep 1; done",
            vec!["OneOf"],
        ),
        (
            "until [ $(curl -s http://a:1) ] || [ $(curl -s http://b:1) ]; do sleep 1; done",
            vec!["OneOf"],
        ),
        (
            "until nc -z a 1 && nc -z b 1; do sleep 1; done",
            vec!["a:1", "b:1"],
        ),
        (
            "nc -z a 1 || exit 1\nnc -z b 1 || exit 1",
            vec!["a:1", "b:1"],
        ),
        ("(nc -z a 1 || exit 1) && nc -z b 1", vec!["a:1", "b:1"]),
        (
            "pg_isready -h a -p 1 || psql -h a -p 1 -c 'select 1'",
            vec!["a:1"],
        ),
    ] {
        assert_eq!(told(script, true), expected, "{script}");
    }
}

#[test]
fn what_is_done_to_a_server_is_no_wait() {
    let login = "until kcadm.sh config credentials --server http://a:1; do sleep 1; done";
    let script = format!("{login}; while read it; do kcadm.sh create roles -s name=$it; done");
    assert_eq!(told(&script, false), ["a:1"]);
}

#[test]
fn an_answer_that_is_read_tells_more_than_an_open_port() {
    let asks = |script: &str| {
        let value = json!({"name": "x", "command": ["sh", "-c", script]});
        let container = Container::of(&value, true, &Value::Null).unwrap();
        let wait = of(&container).waits.remove(0);
        let For::Address(address) = wait.for_what else {
            panic!("{wait:?}")
        };
        address.asks
    };
    let asked = "while [ \"$X\" != imok ]; do X=$(echo ruok | nc zk 2181); sleep 1; done";
    assert_eq!(asks(asked), Asks::Protocol);
    assert_eq!(asks("until nc -z zk 2181; do sleep 1; done"), Asks::Port);
}

#[test]
fn a_text_in_a_pipe_asks_for_data() {
    let ask =
        |text: &str| format!("until echo \"{text}\" | psql -h db -p 1 | grep x; do sleep 1; done");
    assert_eq!(told(&ask("select 1"), true), ["db:1"]);
    assert_eq!(
        told(&ask("SELECT title FROM boards"), true),
        ["Data(\"psql\")"]
    );
    let list = "until kafka-topics --bootstrap-server db:1 --list";
    assert_eq!(told(&format!("{list}; do sleep 1; done"), true), ["db:1"]);
    let looked = format!("{list} | grep orders; do sleep 1; done");
    assert_eq!(told(&looked, true), ["Data(\"kafka-topics\")"]);
}

#[test]
fn a_loop_that_goes_on_while_something_answers_waits_until_it_is_gone() {
    for (script, expected) in [
        ("while nc -z old 1; do sleep 1; done", vec!["Deleted"]),
        ("until ! nc -z old 1\ndo sleep 1; done", vec!["Deleted"]),
        ("while ! nc -z db 1; do sleep 1; done", vec!["db:1"]),
        ("until nc -z db 1; do sleep 1; done", vec!["db:1"]),
        (
            "while kubectl get job a | grep 0/1; do sleep 1; done",
            vec![
                "Object(NamedObject { kind: \"job\", name: \"a\", namespace: None, state: None, same_node: false })",
            ],
        ),
        (
            "fails() { ! nc -z db 1; }; while fails; do sleep 1; done",
            vec!["db:1"],
        ),
    ] {
        assert_eq!(told(script, true), expected, "{script}");
    }
}

#[test]
fn a_server_that_asks_for_ever_waits_for_nothing() {
    let asks = "while true; do curl -sf http://api:1/x; sleep 30; done";
    let waits = "while true; do if curl -sf http://api:1/x; then break; fi; sleep 3; done; app";
    let calls = "done_() { exit 0; }; while :; do nc -z api 1 && done_; sleep 1; done";
    for (script, init, expected) in [
        (asks, false, vec![]),
        (asks, true, vec!["api:1"]),
        (waits, false, vec!["api:1"]),
        (calls, false, vec!["api:1"]),
        (
            "while true; do until nc -z api 1; do sleep 1; done; work; done",
            false,
            vec!["api:1"],
        ),
        ("while true; do nc -z api 1; sleep 1; done", false, vec![]),
        (
            "while true; do nc -z api 1; sleep 1; done",
            true,
            vec!["api:1"],
        ),
    ] {
        assert_eq!(told(script, init), expected, "{script}");
    }
}
