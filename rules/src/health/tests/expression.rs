//! Expressions: Flux's meaning, and the bounds that nothing escapes.

use super::*;

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
    assert_eq!(CelExpression::compile("").unwrap_err(), Broken::Empty);
    assert_eq!(
        CelExpression::compile(&" ".repeat(5000)).unwrap_err(),
        Broken::Empty
    );
    assert_eq!(
        CelExpression::compile(&"1".repeat(5000)).unwrap_err(),
        Broken::TooLong(5000)
    );
    let loops = vec!["[1].all(x, true)"; 33].join(" && ");
    assert!(matches!(
        CelExpression::compile(&loops),
        Err(Broken::TooComplex(_))
    ));
}

/// Texts that nest deep do not exhaust the stack of a thread as the async runtime has them, neither when they are parsed nor when they are evaluated.
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
                    if let Ok(expression) = CelExpression::compile(&text) {
                        let _ = expression.holds(&json!({ "a": [[[1]]] }));
                    }
                }
            }
        });
    thread.unwrap().join().unwrap();
}
