mod properties;

use super::*;
use serde_json::json;

fn object() -> Value {
    json!({
        "metadata": { "labels": { "app.kubernetes.io/name": "x", "my_label": "y" } },
        "spec": { "each": { "any": { "-": { "-x": 1 } } }, "paused": false },
        "status": {
            "replicas": 3, "ratio": 0.5, "big": 9_007_199_254_740_993_u64, "phase": "Ready", "version": "5",
            "ready": true, "message": "all is well", "none": null, "quantity": "10Gi", "zero": "",
            "items": [
                { "phase": "Ready", "parts": [{ "n": 1 }, { "n": 2 }] },
                { "phase": "Ready", "parts": [{ "n": 3 }] },
                { "phase": "Pending", "parts": [] },
            ],
            "names": ["a", "b"], "empty": [],
        },
    })
}

fn told(text: &str) -> String {
    match Expression::parse(text) {
        Ok(expression) => match expression.holds(&object()) {
            Held::Holds => "holds".to_owned(),
            Held::Fails(why) => why,
        },
        Err(ExpressionError { at, problem }) => format!("{at:?} {problem}"),
    }
}

#[test]
fn expressions_that_hold() {
    for text in [
        "/status/replicas >= 3",
        "/status/replicas>=3",
        "  /status/replicas  ==  3.0  ",
        "/status/replicas/ == 3",
        "/status/replicas != 4",
        "/status/replicas > -1",
        "/status/ratio < 0.51",
        "/status/big == 9007199254740993",
        "/status/big > 9007199254740992",
        "/status/phase == Ready",
        "/status/phase == \"Ready\"",
        "/status/phase == 'Ready'",
        "/status/phase==Ready",
        "/status/phase != Failed",
        "/status/version == \"5\"",
        "/status/version != \"6\"",
        "/status/zero == ''",
        "/status/ready == true",
        "/status/ready != false",
        "/spec/paused == false",
        "/status/message == all is well",
        "/status/quantity == 10Gi",
        "/status/items/any/phase == Pending",
        "/status/items/-/phase == Pending",
        "/status/items/each/phase != Failed",
        "/status/items/any/parts/each/n >= 3",
        "/status/items/any/parts/any/n == 2",
        "/status/names/any == b",
        "/status/names/each != c",
        "/metadata/labels/app.kubernetes.io_sname == x",
        "/metadata/labels/app_dkubernetes_dio_sname == x",
        "/metadata/labels/my_ulabel == y",
        "/spec/_each/_any/_-/-x == 1",
        "/spec/_each/_any/_-x/-x == 1",
    ] {
        assert_eq!(told(text), "holds", "{text}");
    }
}

#[test]
fn expressions_that_do_not_hold_say_why() {
    for (text, why) in [
        ("/status/replicas >= 4", "/status/replicas is 3"),
        ("/status/replicas < 3", "/status/replicas is 3"),
        (
            "/status/big == 9007199254740992",
            "/status/big is 9007199254740993",
        ),
        ("/status/phase == ready", "/status/phase is \"Ready\""),
        ("/status/phase != Ready", "/status/phase is \"Ready\""),
        // A value that is missing, empty or of another type holds for no operator.
        ("/status/qqq == 1", "/status/qqq is missing"),
        ("/status/qqq != 1", "/status/qqq is missing"),
        (
            "/stauts/nope != 1",
            "/stauts is missing; did you mean \"status\"?",
        ),
        (
            "/status/replica >= 1",
            "/status/replica is missing; did you mean \"replicas\"?",
        ),
        ("/status/phase/nope != 1", "/status/phase/nope is missing"),
        ("/status/none != 1", "/status/none is null, not a number"),
        ("/status/none/x != 1", "/status/none/x is missing"),
        (
            "/status/version >= 5",
            "/status/version is \"5\", not a number",
        ),
        (
            "/status/version != 6",
            "/status/version is \"5\", not a number",
        ),
        (
            "/status/replicas == \"3\"",
            "/status/replicas is 3, not a text",
        ),
        ("/status/replicas != x", "/status/replicas is 3, not a text"),
        (
            "/status/ready == \"true\"",
            "/status/ready is true, not a text",
        ),
        ("/status/ready == True", "/status/ready is true, not a text"),
        (
            "/status/phase != true",
            "/status/phase is \"Ready\", not a boolean",
        ),
        (
            "/status/items != 1",
            "/status/items is a list, not a number",
        ),
        ("/status != 1", "/status is a map, not a number"),
        (
            "/status/quantity >= 10",
            "/status/quantity is \"10Gi\", not a number",
        ),
        ("/status/empty/each == 1", "/status/empty is empty"),
        ("/status/empty/any != 1", "/status/empty is empty"),
        ("/status/empty/-/x != 1", "/status/empty is empty"),
        (
            "/status/items/phase == Ready",
            "/status/items is a list; write each or any after it",
        ),
        (
            "/status/items/each/phase == Ready",
            "/status/items/2/phase is \"Pending\"",
        ),
        (
            "/status/items/each/parts/any/n > 0",
            "/status/items/2/parts is empty",
        ),
        (
            "/status/items/any/phase == Failed",
            "/status/items/0/phase is \"Ready\", and none of the 3 elements fits",
        ),
        (
            "/status/items/any/parts/each/n > 9",
            "/status/items/0/parts/0/n is 1, and none of the 3 elements fits",
        ),
        ("/status/each/x == 1", "/status is a map, not a list"),
        (
            "/status/phase/any == 1",
            "/status/phase is \"Ready\", not a list",
        ),
        ("/each/x == 1", "the object is a map, not a list"),
        ("/spec/each == 1", "/spec is a map, not a list"),
    ] {
        assert_eq!(told(text), why, "{text}");
    }
}

#[test]
fn a_refusal_names_the_place_and_the_way_out() {
    for (text, refusal) in [
        (
            "",
            r#"Some(0) "" is not a path from the root of the object; write e.g. /status/replicas"#,
        ),
        (
            " .status.replicas >= 1",
            r#"Some(1) ".status.replicas" is not a path from the root of the object; did you mean "/status/replicas"?"#,
        ),
        (
            "{.status.phase} == x",
            r#"Some(0) "{.status.phase}" is not a path from the root of the object; did you mean "/status/phase"?"#,
        ),
        (
            "status/phase == x",
            r#"Some(0) "status/phase" is not a path from the root of the object; did you mean "/status/phase"?"#,
        ),
        (
            "/ == 1",
            "Some(1) a step of the path is empty; write one name between two slashes (dots in a key)",
        ),
        (
            "/a//b == 1",
            "Some(3) a step of the path is empty; write one name between two slashes (dots in a key)",
        ),
        (
            "/status/my_field == 1",
            r#"Some(8) the underscore in "my_field" means nothing; write "my_ufield""#,
        ),
        (
            "/a/b_ == 1",
            r#"Some(3) the underscore in "b_" means nothing; write "b_u""#,
        ),
        (
            "/a",
            "Some(2) there is no operator; write one of == != < <= > >=",
        ),
        (
            "/a is 1",
            "Some(3) there is no operator; write one of == != < <= > >=",
        ),
        (
            "/a = 1",
            r#"Some(3) unknown operator "="; did you mean "=="?"#,
        ),
        (
            "/a => 1",
            r#"Some(3) unknown operator "=>"; did you mean ">="?"#,
        ),
        (
            "/a<>1",
            r#"Some(2) unknown operator "<>"; did you mean "!="?"#,
        ),
        (
            "/a =~ x",
            r#"Some(3) unknown operator "=~"; the operators are == != < <= > >="#,
        ),
        (
            "/a == ",
            "Some(6) there is nothing to compare with; write a number, true, false or a text",
        ),
        ("/a == \"x", r#"Some(6) "\"x" is not one text in quotes"#),
        ("/a == \"", r#"Some(6) "\"" is not one text in quotes"#),
        (
            "/a == \"x\" y \"z\"",
            r#"Some(6) "\"x\" y \"z\"" is not one text in quotes"#,
        ),
        (
            "/a != null",
            "Some(6) nothing equals null, because a value that is missing never holds; leave the expression out",
        ),
        (
            "/a == b && /c == d",
            r#"Some(6) "b && /c == d" looks like several expressions; give each an item of its own, or put the text in quotes"#,
        ),
        ("/a > b", r#"Some(5) > compares numbers, and "b" is none"#),
        (
            "/a >= \"1\"",
            r#"Some(6) >= compares numbers, and "\"1\"" is none"#,
        ),
        (
            "/a < true",
            r#"Some(5) < compares numbers, and "true" is none"#,
        ),
    ] {
        assert_eq!(told(text), refusal, "{text}");
    }
    let deep = format!("{} == 1", "/a".repeat(MAX_SEGMENTS + 1));
    assert_eq!(told(&deep), "Some(129) the path has more than 64 steps");
    let deep = format!("{} == 1", "/a".repeat(MAX_SEGMENTS));
    assert_eq!(told(&deep), "/a is missing");
}

#[test]
fn a_key_names_one_path() {
    for (path, value, expected) in [
        ("status.items.each.phase", "!= Failed", "holds"),
        ("status.items.any.phase", "==Pending", "holds"),
        ("status.items.-.phase", "==Pending", "holds"),
        ("status.replicas", "<=3", "holds"),
        ("status.replicas", " > 3 ", "/status/replicas is 3"),
        ("metadata.labels.app_dkubernetes_dio_sname", "==x", "holds"),
        ("spec._each._any._-x.-x", "==1", "holds"),
        (
            "status..x",
            "== 1",
            "None a step of the path is empty; write one name between two slashes (dots in a key)",
        ),
        (
            "",
            "== 1",
            "None a step of the path is empty; write one name between two slashes (dots in a key)",
        ),
        (
            "status.phase",
            "Ready",
            "Some(0) there is no operator; write one of == != < <= > >=",
        ),
        (
            "status.phase",
            " = Ready",
            "Some(1) unknown operator \"=\"; did you mean \"==\"?",
        ),
    ] {
        let found = match Expression::parse_key(path, value) {
            Ok(expression) => match expression.holds(&object()) {
                Held::Holds => "holds".to_owned(),
                Held::Fails(why) => why,
            },
            Err(ExpressionError { at, problem }) => format!("{at:?} {problem}"),
        };
        assert_eq!(found, expected, "{path} {value}");
    }
    let expression = Expression::parse_key("status.phase", " ==Ready ").unwrap();
    assert_eq!(expression.to_string(), "/status/phase ==Ready");
    assert_eq!(
        Expression::parse(&expression.to_string()).unwrap(),
        expression
    );
}

#[test]
fn what_was_meant_is_said_of_the_name_that_is_missing() {
    for (text, told_as) in [
        (
            "/status/items/any/phse == Ready",
            "/status/items/0/phse is missing; did you mean \"phase\"?, and none of the 3 elements fits",
        ),
        (
            "/status/items/each/parts/each/m == 1",
            "/status/items/0/parts/0/m is missing",
        ),
        (
            "/status/phse/x == 1",
            "/status/phse is missing; did you mean \"phase\"?",
        ),
        ("/status/phase/x == 1", "/status/phase/x is missing"),
    ] {
        assert_eq!(told(text), told_as);
    }
}
