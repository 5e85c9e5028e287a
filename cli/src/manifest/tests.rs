use super::*;
use serde_json::json;

fn read(text: &str) -> Vec<Result<Entry, Fault>> {
    Entries::new(text.as_bytes()).collect()
}

fn objects(text: &str) -> Vec<Value> {
    let entries = read(text).into_iter().map(Result::unwrap);
    entries
        .inspect(|entry| assert_eq!(entry.problem, None))
        .map(|entry| entry.object)
        .collect()
}

/// The value that this YAML has as the field `a` of a document.
fn value(yaml: &str) -> Value {
    objects(&format!("a: {yaml}\n")).remove(0)["a"].take()
}

fn problem(text: &str) -> String {
    read(text).remove(0).unwrap().problem.unwrap().to_string()
}

/// The lines of a quoted text need no indentation, as for kubectl 1.36 and Helm 4; places in the text stay right.
#[test]
fn a_quoted_text_may_be_indented_less_than_its_key() {
    let text =
        "a: 1\n---\nb:\n- c: \"\n  -D x\n\n  y\n    \"\n  d: '1\n2'\n---\n- \n---\ne: 3\ne: 4\n";
    let read = read(text);
    let values: Vec<_> = read.iter().map(|it| &it.as_ref().unwrap().object).collect();
    let quoted = json!({"b": [{"c": " -D x\ny ", "d": "1 2"}]});
    assert_eq!(values[..2], [&json!({"a": 1}), &quoted]);
    let [.., last] = read.as_slice() else {
        panic!("{read:?}")
    };
    let last = last.as_ref().unwrap();
    assert_eq!(last.object, json!({"e": 4}));
    assert_eq!(last.origin.at, text.find("e: 3").unwrap());
    assert_eq!(last.twice[0].place.to_string(), "line 15, column 1");
    let broken = Entries::new(b"a: \"x\ny\"\nb: [\n").last();
    assert!(broken.unwrap().is_err());
}

#[test]
fn documents_are_taken_apart_wherever_they_meet() {
    for text in [
        "a: 1\n---\na: 2",
        "---\na: 1\n---\n---\n# nothing\n---\na: 2\n---\n",
        "--- {a: 1}\n--- # two\na: 2\n",
        "a: 1\n...\na: 2\n",
        "%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\na: 2\n",
        "\u{feff}a: 1\r\n---\r\na: 2\r\n",
        "{\"a\": 1}\n{\"a\": 2}\n",
        "{\"a\": 1} {\"a\": 2}",
        "{\n  \"a\": 1\n}{\n  \"a\":\n2}",
        "{\"a\": 1}\n---\n{\"a\": 2}\n---\n",
        "# one\n---\n# Source: x\n{\"a\": 1}\n# two\n---\na: 2\n",
        "{a: 1}\n---\n{\"a\": 2,} # not JSON\n",
        "{\n a: 1}\n---\n{'a': 2}\n",
        "null\n---\na: 1\n---\n~\n---\na: 2",
    ] {
        assert_eq!(objects(text), [json!({"a": 1}), json!({"a": 2})], "{text}");
    }
}

#[test]
fn an_entry_knows_its_document() {
    let text = "---\n# nothing\n---\na: 1\n---\nkind: List\nitems: [{a: 2}, {a: 3}]\n---\n{\"a\": 4} {\"a\": 5}";
    let found: Vec<_> = read(text)
        .into_iter()
        .map(|entry| entry.unwrap().document)
        .collect();
    assert_eq!(found, [1, 2, 2, 3, 4]);
}

#[test]
fn nothing_is_no_object() {
    for text in ["", "\n\n", "---\n", "# a\n---\n---\n# b", "...\n"] {
        assert!(read(text).is_empty(), "{text:?}");
    }
}

#[test]
fn a_brace_or_a_separator_within_a_text_ends_nothing() {
    let text = "{\"a\": \"}\\\"{\",\n\"b\": [\"]\"]\n}\n{\"a\": 2}";
    let expected = [json!({"a": "}\"{", "b": ["]"]}), json!({"a": 2})];
    assert_eq!(objects(text), expected);
    assert_eq!(objects("a: |\n  ---\n  x\n"), [json!({"a": "---\nx\n"})]);
}

#[test]
fn a_list_is_its_items() {
    let items = "items:\n- {kind: A, apiVersion: v1}\n- {metadata: {name: b}}\n";
    let untyped = json!({"metadata": {"name": "b"}});
    let first = json!({"kind": "A", "apiVersion": "v1"});
    assert_eq!(
        objects(&format!("apiVersion: v1\nkind: List\n{items}")),
        [first.clone(), untyped]
    );
    let typed = json!({"kind": "Thing", "apiVersion": "x.io/v1", "metadata": {"name": "b"}});
    assert_eq!(
        objects(&format!("apiVersion: x.io/v1\nkind: ThingList\n{items}")),
        [first, typed]
    );
    let nested = "kind: List\nitems:\n- kind: List\n  items: [{a: 1}]\n- {a: 2}\n";
    assert_eq!(objects(nested), [json!({"a": 1}), json!({"a": 2})]);
    for empty in ["kind: List\nitems: []", "kind: List\nitems:", "kind: List"] {
        assert!(objects(empty).is_empty(), "{empty}");
    }
    // Kinds whose names end like a list's.
    for kind in ["kind: AllowList", "kind: AllowList\nitems: {a: 1}"] {
        assert_eq!(objects(kind).len(), 1, "{kind}");
    }
}

#[test]
fn what_is_no_mapping_is_an_entry_with_a_problem() {
    let problems: Vec<_> = read("a: 1\n---\n- a\n---\ntext\n---\n5\n---\na: 2\n")
        .into_iter()
        .map(|entry| {
            let problem = entry.unwrap().problem;
            problem.map_or_else(String::new, |it| it.to_string())
        })
        .collect();
    assert_eq!(
        problems,
        [
            "",
            "line 3, column 1: an object is a mapping, this is a list",
            "line 5, column 1: an object is a mapping, this is a text",
            "line 7, column 1: an object is a mapping, this is a number",
            "",
        ]
    );
    assert_eq!(
        problem("kind: List\nitems: [null]"),
        "line 1, column 1: item 0: an object is a mapping, this is nothing"
    );
}

#[test]
fn what_means_nothing_is_told_with_its_place() {
    for (text, expected) in [
        (
            "\n\na: .inf\n",
            "line 3, column 4: .inf is no number in JSON",
        ),
        ("a: 1\nnull: 2\n", "line 2, column 1: a key is not null"),
        (
            "[b]: 1\n",
            "line 1, column 1: a key is a text, a number or a boolean",
        ),
        (
            "a: !!int x\n",
            "line 1, column 10: \"x\" does not have its type, !!int",
        ),
        (
            "a: &a [*a]\n",
            "line 1, column 8: the alias stands within what it names",
        ),
        (
            "a:\n  <<: 5\n",
            "line 2, column 3: << takes a mapping, or a list of mappings",
        ),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
}

#[test]
fn of_a_key_that_is_there_twice_the_last_value_counts() {
    let entry = read("b: 1\na: 1\nc: {d: 1, d: 2}\na: 2\n")
        .remove(0)
        .unwrap();
    assert_eq!(entry.problem, None);
    assert_eq!(entry.object, json!({"b": 1, "a": 2, "c": {"d": 2}}));
    let twice: Vec<_> = entry.twice.iter().map(ToString::to_string).collect();
    let expected = [
        "line 3, column 11: the key \"d\" is there twice; the last one counts",
        "line 4, column 1: the key \"a\" is there twice; the last one counts",
    ];
    assert_eq!(twice, expected);
}

#[test]
fn aliases_do_not_grow_without_bound() {
    let level = |level| {
        let names = format!("*a{},", level - 1).repeat(10);
        format!("a{level}: &a{level} [{names}]\n")
    };
    let levels: String = (1..30).map(level).collect();
    let problem = problem(&format!("a0: &a0 x\n{levels}"));
    assert!(problem.contains("more than 1000000 values"), "{problem}");
}

#[test]
fn a_syntax_error_ends_the_run_and_names_its_place() {
    let mut entries = read("a: 1\n---\nb: 2\nc: [1\nd: e: f\n---\na: 3\n");
    assert_eq!(entries.len(), 2);
    let error = entries.pop().unwrap().unwrap_err().to_string();
    assert!(error.starts_with("line 5, column "), "{error}");

    let cut = read("{\"a\": 1}\n{\"a\": ").pop().unwrap();
    let error = cut.unwrap_err().to_string();
    assert!(error.starts_with("line 2, column "), "{error}");

    let unmarked = read("[a]\nb: 2\n").pop().unwrap();
    let error = unmarked.unwrap_err().to_string();
    assert!(error.starts_with("line 2, column 1"), "{error}");

    let error = Entries::new(b"a: 1\nb: \xff\n".as_slice()).next().unwrap();
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "line 2, column 4: the text is not UTF-8");
}

#[test]
fn scalars_are_those_of_go_yaml() {
    for (yaml, expected) in [
        ("yes", json!(true)),
        ("Off", json!(false)),
        ("y", json!(true)),
        ("\"yes\"", json!("yes")),
        ("!!str yes", json!("yes")),
        ("! 5", json!("5")),
        ("!mine 5", json!("5")),
        ("!!float 5", json!(5)),
        ("!!int '5'", json!(5)),
        ("~", json!(null)),
        ("", json!(null)),
        ("017", json!(15)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("-0b101", json!(-5)),
        ("1_000", json!(1000)),
        ("08", json!(8)),
        ("0.5", json!(0.5)),
        (".5", json!(0.5)),
        ("2.0", json!(2)),
        ("-0.0", json!(0)),
        ("1e3", json!(1000)),
        ("1e21", json!(1e21)),
        ("1e999", json!("1e999")),
        ("9223372036854775808", json!(9_223_372_036_854_775_808_u64)),
        (
            "18446744073709551616",
            json!(18_446_744_073_709_551_616_f64),
        ),
        ("+9223372036854775808", json!(9_223_372_036_854_775_808_f64)),
        ("2024-01-01", json!("2024-01-01")),
        ("2024-01-01T00:00:00Z", json!("2024-01-01T00:00:00Z")),
        ("12:30", json!("12:30")),
        ("1.2.3", json!("1.2.3")),
        ("=", json!("=")),
        (
            "{1: a, yes: b, 1.5: c, 1e10: d}",
            json!({"1": "a", "true": "b", "1.5": "c", "1e+10": "d"}),
        ),
        ("{b: 0, <<: {b: 1, c: 2}, c: 3}", json!({"b": 1, "c": 3})),
        ("{<<: [{b: 1}, {b: 2, c: 3}]}", json!({"b": 1, "c": 3})),
        ("[&x {b: 1}, *x]", json!([{"b": 1}, {"b": 1}])),
    ] {
        assert_eq!(value(yaml), expected, "{yaml}");
    }
}

#[test]
fn json_numbers_are_those_of_go() {
    let text = "{\"a\": [-0, -0.0, 2.0, 1e2, -01.5e0]}";
    assert_eq!(
        read(text).remove(0).unwrap().object["a"],
        json!([0, 0, 2, 100, -1.5]),
        "not JSON, so YAML"
    );
    assert_eq!(
        objects("{\"a\": [-0.0, 2.0, 1e2, \"-0\"]}")[0]["a"],
        json!([-0.0, 2.0, 100.0, "-0"])
    );
}

#[test]
fn a_json_patch_is_told_from_another_list() {
    let is_one = |text: &str| {
        let entry = Entries::new(text.as_bytes()).next().unwrap().unwrap();
        is_json_patch(&entry.object)
    };
    for patch in [
        "- {op: replace, path: /spec/replicas, value: 2}\n- {op: test, path: /a, value: 1}\n",
        r#"[{"op": "remove", "path": "/a"}]"#,
    ] {
        assert!(is_one(patch), "{patch}");
    }
    for other in [
        "[]",
        "- a\n",
        "- {op: like, path: /a}\n",
        "- {op: add}\n",
        "op: add\npath: /a\n",
    ] {
        assert!(!is_one(other), "{other}");
    }
}

#[test]
fn a_list_in_json_is_one_document() {
    for text in [
        "[{\"a\": 1}]",
        "[{\"a\": 1}]\n---\n[{\"a\": 1}]\n",
        "# b\n[\n  {\"a\": 1}\n]\n",
    ] {
        for entry in read(text) {
            assert_eq!(entry.unwrap().object, json!([{"a": 1}]), "{text}");
        }
    }
}
