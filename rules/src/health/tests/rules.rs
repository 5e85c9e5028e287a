//! Rules: their order, their kinds, and the message of a broken one.

use super::*;

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
            .judge(&thing(group, kind, &status(field)), false)
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
                .judge(
                    &thing("example.com", "Thing", &json!({ "ok": true })),
                    false
                )
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
            .judge(
                &thing("example.com", "Thing", &json!({ "ok": true })),
                false,
            )
            .unwrap();
        assert_eq!(
            (judged.satisfied, judged.reason),
            (false, Reason::RuleError),
            "{text}"
        );
        let deployment = json!({ "apiVersion": "apps/v1", "kind": "Deployment" });
        assert_eq!(rules.judge(&deployment, false), None, "{text}");
    }
}

#[test]
fn an_error_of_evaluation_is_unknown() {
    let (rules, _) = read("- {apiVersion: example.com/v1, current: status.nothing}");
    let judged = rules
        .judge(&thing("example.com", "Thing", &json!({"ok": true})), false)
        .unwrap();
    assert_eq!(
        (judged.satisfied, judged.status, judged.reason),
        (false, Status::Unknown, Reason::RuleError)
    );
}

/// An object without a status waits, and is no error, under a rule of the library that an administrator has copied into the own rules.
#[test]
fn an_object_without_a_status_is_waited_for_and_no_error() {
    let (rules, problems) = read(
        "- apiVersion: example.com/v1\n  current: \"status.?conditions.orValue([]).exists(c, c.type == 'Ready' && c.status == 'True')\"",
    );
    assert_eq!(problems, [""; 0]);
    for status in [json!(null), json!({}), json!({"conditions": []})] {
        let mut new = thing("example.com", "Thing", &status);
        if status.is_null() {
            new.as_object_mut().unwrap().remove("status");
        }
        let judged = |statusless: bool| rules.judge(&new, statusless).unwrap();
        let told = judged(false);
        let expected = if status == json!(null) {
            Reason::NoStatusYet
        } else {
            Reason::InProgress
        };
        assert_eq!(
            (told.satisfied, told.status, told.reason),
            (false, Status::InProgress, expected),
            "{status}"
        );
        // A kind that is known to have no status never gets one.
        let expected = if status == json!(null) {
            Reason::RuleError
        } else {
            Reason::InProgress
        };
        assert_eq!(judged(true).reason, expected, "{status}");
    }
    let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    assert!(
        rules
            .judge(&thing("example.com", "Thing", &ready), false)
            .unwrap()
            .satisfied
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
