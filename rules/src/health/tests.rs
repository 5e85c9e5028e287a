//! Flux's meaning of a rule, what is refused, and that nothing escapes the bounds.

use super::*;
use crate::kstatus::Status;
use proptest::prelude::*;
use serde_json::json;

fn holds(text: &str, object: &Value) -> Result<bool, String> {
    Expression::compile(text)
        .map_err(|broken| broken.to_string())?
        .holds(object)
}

fn read(text: &str) -> (Rules, Vec<String>) {
    let (rules, problems) = Rules::read([("rules.yaml", text)]);
    (rules, problems.iter().map(ToString::to_string).collect())
}

fn thing(group: &str, kind: &str, status: &Value) -> Value {
    json!({ "apiVersion": format!("{group}/v1"), "kind": kind, "metadata": { "name": "x" }, "status": status })
}

#[test]
fn numbers_add_and_compare_as_in_flux() {
    let object =
        json!({ "status": { "a": 1, "b": 18_446_744_073_709_551_615_u64, "c": 1.5, "d": -2 } });
    for text in [
        "status.a + 1 == 2",
        "status.a < status.b",
        "status.c > 1",
        "status.d + status.a == -1",
        "status.a == 1.0",
    ] {
        assert_eq!(holds(text, &object), Ok(true), "{text}");
    }
}

#[test]
fn the_environment_has_what_flux_has() {
    let object = json!({ "status": { "phase": "Ready", "list": ["a", "b"] } });
    for text in [
        "status.?nothing.orValue('x') == 'x'",
        "status.phase.lowerAscii() == 'ready'",
        "sets.contains(status.list, ['a'])",
        "!sets.contains(status.list, ['c'])",
        "sets.intersects(status.list, ['b', 'c'])",
        "sets.equivalent(status.list, ['b', 'a', 'a'])",
        "base64.decode('aGk=') == b'hi'",
        "duration('1h') > duration('30m')",
        "timestamp('2024-01-01T00:00:00Z') < timestamp('2024-01-02T00:00:00Z')",
        "status.phase.matches('^R.*y$')",
        "status.nothing || true",
        "!has(status.nothing)",
        "status.list.all(x, x in ['a', 'b'])",
    ] {
        assert_eq!(holds(text, &object), Ok(true), "{text}");
    }
}

#[test]
fn an_error_is_told_and_is_not_true() {
    let object = json!({ "status": {} });
    let told = holds("status.phase == 'Ready'", &object).unwrap_err();
    assert_eq!(
        told,
        "failed to evaluate the CEL expression 'status.phase == 'Ready'': no such key: phase"
    );
    assert!(
        holds("has(status.x)", &json!({}))
            .unwrap_err()
            .contains("no such attribute(s): status")
    );
    assert!(
        holds("'yes'", &object)
            .unwrap_err()
            .contains("does not give true or false")
    );
    assert!(holds("sets.contains(1, [2])", &object).is_err());
}

#[test]
fn what_costs_too_much_is_refused() {
    let nested = |depth: usize| "status.l.all(x, ".repeat(depth) + "true" + &")".repeat(depth);
    let object = |length: usize| json!({ "status": { "l": vec![0; length] } });
    assert_eq!(holds(&nested(1), &object(50_000)), Ok(true));
    assert_eq!(holds(&nested(2), &object(300)), Ok(true));
    assert!(
        holds(&nested(2), &object(1000))
            .unwrap_err()
            .contains("too many steps")
    );
    assert!(
        holds("true", &json!({ "data": "x".repeat(300_000) }))
            .unwrap_err()
            .contains("too large")
    );
    assert_eq!(Expression::compile("").unwrap_err(), Broken::Empty);
    assert_eq!(
        Expression::compile(&" ".repeat(5000)).unwrap_err(),
        Broken::Empty
    );
    assert_eq!(
        Expression::compile(&"1".repeat(5000)).unwrap_err(),
        Broken::TooLong(5000)
    );
    let loops = vec!["[1].all(x, true)"; 33].join(" && ");
    assert!(matches!(
        Expression::compile(&loops),
        Err(Broken::TooComplex(_))
    ));
}

/// On a thread with the stack that the async runtime gives its own.
#[test]
fn what_nests_does_not_exhaust_the_stack() {
    let shapes = [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("!", "true", ""),
        ("-", "1", ""),
        ("{1: ", "1", "}"),
        ("size(", "''", ")"),
        ("true ? true : ", "true", ""),
        ("", "1", " + 1"),
        ("", "true", " && true"),
        ("", "true", " == true"),
        ("", "a", ".a"),
        ("", "a", "[0]"),
        ("", "a", ".f()"),
        ("", "[1]", ".map(x, x)"),
        ("[1].map(x, ", "x", ")"),
        ("", "a", ".?b"),
        ("a(", "", ""),
        ("'", "", ""),
    ];
    let thread = std::thread::Builder::new()
        .stack_size(2 * 1024 * 1024)
        .spawn(move || {
            for (before, middle, after) in shapes {
                for times in [
                    10,
                    30,
                    55,
                    60,
                    65,
                    120,
                    300,
                    4096 / (before.len() + after.len()) - 10,
                ] {
                    let text = before.repeat(times) + middle + &after.repeat(times);
                    if let Ok(expression) = Expression::compile(&text) {
                        let _ = expression.holds(&json!({ "a": [[[1]]] }));
                    }
                }
            }
        });
    thread.unwrap().join().unwrap();
}

#[test]
fn the_order_is_inprogress_failed_current() {
    let rule = Rule::new("data.c", Some("data.i"), Some("data.f"));
    let status =
        |i: bool, f: bool, c: bool| rule.evaluate(&json!({ "data": { "i": i, "f": f, "c": c } }));
    assert_eq!(status(true, true, true), Ok(Status::InProgress));
    assert_eq!(status(false, true, true), Ok(Status::Failed));
    assert_eq!(status(false, false, true), Ok(Status::Current));
    assert_eq!(status(false, false, false), Ok(Status::InProgress));
    let behind = json!({ "metadata": { "generation": 2 }, "status": { "observedGeneration": 1 } });
    assert_eq!(
        Rule::new("true", None, None).evaluate(&behind),
        Ok(Status::InProgress)
    );
}

#[test]
fn a_kind_beats_its_group_and_a_group_its_domain() {
    let (rules, problems) = read(
        "- {apiVersion: a.example.com/v1, kind: One, current: status.one}\n\
         - {apiVersion: a.example.com/v1beta1, current: status.group}\n\
         - {apiVersion: '*.example.com/v1', current: status.domain}\n",
    );
    assert_eq!(problems, [""; 0]);
    let status = |field: &str| json!({ "one": field == "one", "group": field == "group", "domain": field == "domain" });
    let satisfied = |group: &str, kind: &str, field: &str| {
        rules
            .judge(&thing(group, kind, &status(field)))
            .map(|judged| judged.satisfied)
    };
    for (group, kind, field) in [
        ("a.example.com", "One", "one"),
        ("a.example.com", "Two", "group"),
        ("b.example.com", "One", "domain"),
        ("c.b.example.com", "One", "domain"),
    ] {
        for other in ["one", "group", "domain"] {
            assert_eq!(
                satisfied(group, kind, other),
                Some(other == field),
                "{group} {kind} {other}"
            );
        }
    }
    assert_eq!(satisfied("example.com", "One", "domain"), None);
}

#[test]
fn a_library_of_flux_can_be_pasted_in_each_of_its_shapes() {
    let list = "apiVersion: example.com/v1\n    kind: Thing\n    current: status.ok";
    for text in [
        format!("- {}", list.replace("\n    ", "\n  ")),
        format!("healthCheckExprs:\n  - {list}"),
        format!("spec:\n  healthCheckExprs:\n  - {list}"),
        format!(
            "---\n---\nhealthCheckExprs:\n  - {list}\n---\n- {{apiVersion: b.example.com/v1, current: 'true'}}"
        ),
    ] {
        let (rules, problems) = read(&text);
        assert_eq!(problems, [""; 0], "{text}");
        assert!(
            rules
                .judge(&thing("example.com", "Thing", &json!({ "ok": true })))
                .unwrap()
                .satisfied
        );
    }
}

#[test]
fn a_broken_rule_is_told_and_never_satisfied() {
    for (text, problem) in [
        (
            "- {apiVersion: example.com/v1, kind: Thing, current: 'status.('}",
            "rules.yaml: rule 1: current: failed to parse the CEL expression 'status.('",
        ),
        (
            "- {apiVersion: example.com/v1, kind: Thing}",
            "rules.yaml: rule 1: lacks current",
        ),
        (
            "- {apiVersion: example.com/v1, kind: Thing, current: 'true', inprogress: 'true'}",
            "rules.yaml: rule 1: has the unknown field \"inprogress\"",
        ),
        (
            "- {apiVersion: example.com/v1, kind: Thing, current: true}",
            "rules.yaml: rule 1: current is no text; put it in quotes",
        ),
        (
            "- &a {apiVersion: example.com/v1, kind: Thing, current: 'true'}\n- *a",
            "rules.yaml: rule 2: there is another rule for Thing of group \"example.com\"",
        ),
        (
            "- {kind: Thing, current: 'true'}",
            "rules.yaml: rule 1: lacks apiVersion",
        ),
        (
            "- {apiVersion: a/b/c, current: 'true'}",
            "rules.yaml: rule 1: apiVersion \"a/b/c\" is no group/version",
        ),
        ("- 7", "rules.yaml: rule 1: is no mapping"),
        ("{a: b}", "rules.yaml: is no list of rules"),
        ("[", "rules.yaml: is no YAML"),
    ] {
        let (rules, problems) = read(text);
        assert!(
            problems.len() == 1 && problems[0].starts_with(problem),
            "{text}: {problems:?}"
        );
        let judged = rules
            .judge(&thing("example.com", "Thing", &json!({ "ok": true })))
            .unwrap();
        assert_eq!(
            (judged.satisfied, judged.reason),
            (false, Reason::RuleError),
            "{text}"
        );
        let deployment = json!({ "apiVersion": "apps/v1", "kind": "Deployment" });
        assert_eq!(rules.judge(&deployment), None, "{text}");
    }
}

#[test]
fn an_error_of_evaluation_is_unknown() {
    let (rules, _) = read("- {apiVersion: example.com/v1, current: status.nothing}");
    let judged = rules
        .judge(&thing("example.com", "Thing", &json!({})))
        .unwrap();
    assert_eq!(
        (judged.satisfied, judged.status, judged.reason),
        (false, Status::Unknown, Reason::RuleError)
    );
}

#[test]
fn there_may_be_a_thousand_rules() {
    let rule = |at| format!("- {{apiVersion: g{at}.example.com/v1, current: 'true'}}\n");
    let many = |count: usize| (0..count).map(rule).collect::<Vec<_>>().concat();
    assert_eq!(read(&many(MOST_RULES)).1, [""; 0]);
    assert_eq!(
        read(&many(MOST_RULES + 1)).1,
        ["rules.yaml: rule 1001: there are more than 1000 rules"]
    );
}

#[test]
fn every_rule_of_the_library_compiles() {
    let (rules, problems) = Rules::read([("library", library::TEXT)]);
    assert_eq!(problems, []);
    assert!(rules.len() > 200, "{}", rules.len());
}

#[test]
fn the_library_waits_for_a_status_and_its_generation() {
    let reason = |object: &Value| builtin(object).map(|judged| judged.reason);
    let certificate = |status: Value| thing("cert-manager.io", "Certificate", &status);
    assert_eq!(reason(&certificate(json!(null))), Some(Reason::NoStatusYet));
    let ready = |observed: i64| json!({ "conditions": [{ "type": "Ready", "status": "True", "observedGeneration": observed }] });
    let mut latest = certificate(ready(2));
    latest["metadata"]["generation"] = json!(2);
    assert_eq!(reason(&latest), Some(Reason::Satisfied));
    latest["status"] = ready(1);
    assert_eq!(reason(&latest), Some(Reason::NotObserved));
    let not = json!({ "conditions": [{ "type": "Ready", "status": "False", "message": "soon" }] });
    assert_eq!(
        builtin(&certificate(not)).unwrap().message,
        "by the health rule of its kind it is in progress: soon"
    );
    assert_eq!(reason(&thing("example.com", "Thing", &json!({}))), None);
    for (group, kind) in [
        ("aws.upbound.io", "ProviderConfig"),
        ("argoproj.io", "CronWorkflow"),
    ] {
        assert_eq!(
            reason(&thing(group, kind, &json!(null))),
            Some(Reason::Satisfied),
            "{kind}"
        );
    }
}

/// Texts that are nearly CEL.
fn nearly_cel() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "status",
        ".",
        "?",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'a'",
        "1",
        "-",
        "!",
        "+",
        "==",
        "&&",
        "||",
        "in",
        "has",
        "all",
        "exists",
        "map",
        "x",
        ",",
        ":",
        "orValue",
        "size",
        "sets.contains",
        "\"",
        "b'",
        "1e9",
        "0u",
        " ",
        "\n",
        "ü",
        "`",
    ]);
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_expression_over_any_object_gives_an_answer(
        text in prop_oneof![nearly_cel(), any::<String>()],
        object in crate::kstatus::arbitrary::json(),
    ) {
        let _ = holds(&text, &object);
    }

    #[test]
    fn any_text_is_read(text in prop_oneof![any::<String>(), nearly_cel().prop_map(|cel| format!("- {{apiVersion: a/v1, current: {cel:?}}}"))]) {
        let (rules, problems) = read(&text);
        prop_assert!(rules.len() <= 1 || problems.is_empty());
    }

    #[test]
    fn the_library_takes_any_status(status in crate::kstatus::arbitrary::json(), at in any::<prop::sample::Index>()) {
        static ENTRIES: std::sync::LazyLock<Vec<Value>> =
            std::sync::LazyLock::new(|| serde_saphyr::from_str(library::TEXT).unwrap());
        let entry = at.get(&ENTRIES);
        let group = entry["apiVersion"].as_str().unwrap().split('/').next().unwrap().replace('*', "x");
        let object = thing(&group, entry["kind"].as_str().unwrap_or("Any"), &status);
        prop_assert!(builtin(&object).is_some());
    }
}
