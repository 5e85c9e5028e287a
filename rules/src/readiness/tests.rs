use super::*;
use crate::kstatus::arbitrary::json as any_json;
use proptest::prelude::*;
use serde_json::json;

fn status() -> Value {
    json!({ "status": {
        "phase": "Running", "ready": true, "count": 5, "text": "5", "big": 9_007_199_254_740_993_u64, "none": null,
        "empty": "", "ratio": 0.5, "million": 1_000_000.0, "list": [1, "a"], "map": { "b": 1, "a": "x" },
        "conditions": [
            { "type": "Ready", "status": "True" },
            { "type": "Synced", "status": "True" },
        ],
        "status": { "phase": "Nested" },
    }})
}

/// Whether one expression is met, and else why not.
fn met(text: &str) -> String {
    let expression = match ReadinessExpression::parse(text) {
        Ok(expression) => expression,
        Err(problem) => return format!("refused: {problem}"),
    };
    match expression.met(&status(), &mut Effort::new()) {
        Ok(()) => "met".to_owned(),
        Err(miss) => miss.sentence(&expression),
    }
}

#[test]
fn expressions_compare_what_a_template_prints() {
    for text in [
        r#"{.phase} == "Running""#,
        "{.phase} == Running",
        "{.phase} == 'Running'",
        "  { .phase }   ==   Running  ",
        "{.status.phase} != Failed",
        "{.status['phase']} == Running",
        "{.status.status.phase} == Nested",
        "{.status} == {\"phase\":\"Nested\"}",
        "{.ready} == true",
        "{.ready} != false",
        "{.count} >= 5",
        "{.count} == 5.0",
        "{.count} == \"5\"",
        "{.text} >= 5",
        "{.text} == 5.0",
        "{.ratio} < 0.6",
        "{.big} == 9007199254740992",
        "{.none} == null",
        "{.empty} == \"\"",
        "{.million} == 1e6",
        r#"{.conditions[?(@.type=="Ready")].status} == "True""#,
        "{.conditions[*].status} == True True",
        "{.list} == [1,\"a\"]",
        "{.map} == {\"a\":\"x\",\"b\":1}",
        "{.list[*]} == 1 a",
    ] {
        assert_eq!(met(text), "met", "{text}");
    }
}

#[test]
fn expressions_that_are_not_met_say_why() {
    for (text, why) in [
        (
            "{.phase} == Ready",
            r#""{.phase} == Ready": it is "Running""#,
        ),
        (
            "{.phase} != Running",
            r#""{.phase} != Running": it is "Running""#,
        ),
        ("{.ready} == True", r#""{.ready} == True": it is "true""#),
        ("{.count} < 5", r#""{.count} < 5": it is "5""#),
        (
            "{.nope} != Failed",
            r#""{.nope} != Failed": nope is not there"#,
        ),
        // Where helm/helm#32314 prints nothing, and finds that nothing is not "False".
        (
            r#"{.conditions[?(@.type=="Other")].status} != "False""#,
            r#""{.conditions[?(@.type==\"Other\")].status} != \"False\"": the path reaches nothing"#,
        ),
        (
            "{.list[0:0]} == \"\"",
            r#""{.list[0:0]} == \"\"": the path reaches nothing"#,
        ),
        (
            "{.phase} >= 5",
            r#""{.phase} >= 5": >= orders numbers, and "Running" and "5" are not both numbers"#,
        ),
        (
            "{.count} > \"x\"",
            r#""{.count} > \"x\"": > orders numbers, and "5" and "\"x\"" are not both numbers"#,
        ),
    ] {
        assert_eq!(met(text), why, "{text}");
    }
}

#[test]
fn a_refusal_says_the_way_out() {
    for (text, refusal) in [
        (
            "",
            r#""" does not begin with {.path}; write e.g. {.phase} == "Running""#,
        ),
        (
            ".phase == x",
            r#"".phase == x" does not begin with {.path}; write e.g. {.phase} == "Running""#,
        ),
        (
            "{.phase == x",
            r#""{.phase == x" does not begin with {.path}; write e.g. {.phase} == "Running""#,
        ),
        ("{phase} == x", r#"the path "phase" must start with . or ["#),
        ("{} == x", r#"the path "" must start with . or ["#),
        (
            "{.phase}==x",
            r#""{.phase}==x" has an unsupported operator "==x"; write one of == != < <= > >=, with a space after it"#,
        ),
        (
            "{.phase} <> x",
            r#""{.phase} <> x" has an unsupported operator "<>"; write one of == != < <= > >=, with a space after it"#,
        ),
        (
            "{.phase} == ",
            r#""{.phase} ==" compares with nothing; write a value after the operator"#,
        ),
        (
            "{.a[b]} == x",
            r#"the path of "{.a[b]} == x": character 11 of the path: "b" is not an index, a slice or a name in single quotes"#,
        ),
    ] {
        assert_eq!(met(text), format!("refused: {refusal}"), "{text}");
    }
}

fn told(success: Option<&str>, failure: Option<&str>, object: &Value) -> String {
    match Readiness::read(success, failure) {
        Ok(None) => "no effect".to_owned(),
        Ok(Some(readiness)) => {
            let Finding {
                outcome,
                why,
                warnings,
            } = readiness.judge(object);
            format!("{outcome:?} {why} {}", warnings.len())
        }
        Err((side, problem)) => format!("{side:?}: {problem}"),
    }
}

#[test]
fn failure_wins_and_any_success_will_do() {
    let never = r#"["{.phase} == Never"]"#;
    let running = r#"["{.phase} == Never", "{.phase} == Running"]"#;
    let object = status();
    let told_of = |success, failure| told(Some(success), Some(failure), &object);
    assert_eq!(told_of(running, never), "Ready \"{.phase} == Running\" 0");
    assert_eq!(
        told_of(running, running),
        "Failed \"{.phase} == Running\" 0"
    );
    assert_eq!(
        told_of(never, never),
        "Pending \"{.phase} == Never\": it is \"Running\" 0"
    );
    let order = r#"["{.phase} > Never"]"#;
    let sentence =
        r#""{.phase} > Never": > orders numbers, and "Running" and "Never" are not both numbers"#;
    assert_eq!(told_of(order, order), format!("Pending {sentence} 2"));
    for bare in [
        json!({}),
        json!({ "status": null }),
        json!({ "status": [] }),
        json!("odd"),
    ] {
        let told = told(Some(r#"["{.x} != y"]"#), Some(never), &bare);
        assert_eq!(told, "Pending the object has no status yet 0");
    }
}

#[test]
fn both_lists_are_needed_and_read_before_either_is_judged() {
    let (good, bad) = (r#"["{.phase} == Running"]"#, r#"["{.phase} is Running"]"#);
    let told = |success, failure| told(success, failure, &status());
    assert_eq!(told(None, None), "no effect");
    assert_eq!(told(Some(good), None), "no effect");
    assert_eq!(told(None, Some(good)), "no effect");
    assert_eq!(told(Some(good), Some("[]")), "no effect");
    assert_eq!(told(Some(bad), Some("[]")), "no effect");
    assert!(
        told(Some(bad), Some(good))
            .starts_with("Success: \"{.phase} is Running\" has an unsupported operator")
    );
    assert!(
        told(Some(good), Some(bad))
            .starts_with("Failure: \"{.phase} is Running\" has an unsupported operator")
    );
    for odd in [
        "",
        "{.phase} == x",
        "- x",
        "[1]",
        "{}",
        "[\"x\"",
        "null",
        "[\"x\"] y",
    ] {
        assert!(
            told(Some(odd), None).starts_with("Success: not a JSON array of texts: "),
            "{odd}"
        );
    }
    let long = format!("[\"{}\"]", "x".repeat(8 * 1024));
    assert_eq!(
        told(None, Some(&long)),
        "Failure: the list is 8196 bytes long; at most 8192 are allowed"
    );
    let many = serde_json::to_string(&vec!["x"; 65]).unwrap();
    assert_eq!(
        told(None, Some(&many)),
        "Failure: more than 64 expressions; a list has at most 64"
    );
}

#[test]
fn numbers_are_those_of_go() {
    for (text, expected) in [
        ("1", true),
        ("+1.5e3", true),
        (".5", true),
        ("1.", true),
        ("-Inf", true),
        ("infinity", true),
        ("NaN", true),
        ("1e999", false),
        ("", false),
        (" 1", false),
        ("1_000", false),
        ("10Gi", false),
        ("true", false),
    ] {
        assert_eq!(float(text).is_some(), expected, "{text}");
    }
}

#[test]
fn a_long_text_is_not_compared() {
    let object = json!({ "status": { "list": vec!["x".repeat(1000); 1000], "text": "y".repeat(LONGEST + 1) } });
    for path in [".list", ".list[*]", "..", ".text"] {
        let list = format!("[\"{{{path}}} != x\"]");
        let told = told(Some(&list), Some(r#"["{.x} == y"]"#), &object);
        assert!(told.starts_with("Pending "), "{path}: {told}");
        assert!(
            told.contains("the path reaches more than 65536 bytes of text"),
            "{path}: {told}"
        );
    }
}

/// Pieces of lists, so that a random text gets past the first character.
fn lists() -> impl Strategy<Value = String> {
    const PIECES: [&str; 14] = [
        "{.phase}",
        "{.conditions[*].type}",
        "{..type}",
        "{..}",
        "{",
        "}",
        " == ",
        " != ",
        " >= ",
        "Ready",
        "7",
        "NaN",
        "\"",
        "é",
    ];
    let piece = prop::sample::select(PIECES.to_vec());
    let text = prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat());
    prop::collection::vec(text, 0..4)
        .prop_map(|texts| serde_json::to_string(&texts).unwrap_or_default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_lists_on_any_json(success in lists(), failure in lists(), status in any_json()) {
        let object = json!({ "status": status });
        let _ = lint(&success);
        if let Ok(Some(readiness)) = Readiness::read(Some(&success), Some(&failure)) {
            let finding = readiness.judge(&object);
            prop_assert!(!finding.why.is_empty());
        }
    }
}
