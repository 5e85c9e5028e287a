//! Label selectors: the readable ones, and every refusal.

use super::super::piece::Piece;
use super::super::selector::selector;
use super::refused;
use insta::assert_snapshot;

#[test]
fn selectors_are_read_as_kubectl_reads_them() {
    for (text, expected) in [
        ("app=web", "app=web"),
        ("app==web", "app=web"),
        (" app = web ", "app=web"),
        ("app!=web", "app!=web"),
        ("app", "app"),
        ("!app", "!app"),
        ("! app", "!app"),
        ("app in (a, b)", "app in (a,b)"),
        ("app in(a)", "app=a"),
        ("app notin (a,b)", "app notin (a,b)"),
        ("app notin (a)", "app!=a"),
        ("app=", "app="),
        ("app=,tier", "app=,tier"),
        ("app in ()", "app="),
        ("app in (a,,b)", "app in (a,,b)"),
        ("a=b,c!=d,e,!f,g in (h)", "a=b,c!=d,e,!f,g=h"),
        ("in", "in"),
        ("notin notin (in)", "notin!=in"),
        (
            "app.kubernetes.io/name=My_App.v1",
            "app.kubernetes.io/name=My_App.v1",
        ),
    ] {
        let parsed =
            selector(Piece::whole(text)).unwrap_or_else(|flaw| panic!("{text:?}: {flaw:?}"));
        assert_eq!(parsed.to_string(), expected, "{text:?}");
        assert_eq!(
            selector(Piece::whole(expected)),
            Ok(parsed),
            "{expected:?} reads back"
        );
    }
}

fn refused_selector(text: &str) -> String {
    refused(&format!("- kind: Pod\n  selector: '{text}'"))
}

#[test]
fn selectors_are_refused_at_the_place() {
    assert_snapshot!(refused_selector(" "),
        @r#"sluice.dev/depends-on: line 2, column 14: selector is empty; write one"#);
    assert_snapshot!(refused("- kind: Pod\n  selector: {app: web}"),
        @r#"sluice.dev/depends-on: line 2, column 13: "selector" takes a text, not a mapping"#);
    assert_snapshot!(refused_selector("app=web,"),
        @r#"sluice.dev/depends-on: line 2, column 22: in a selector a label key is expected here, not the end"#);
    assert_snapshot!(refused_selector("=web"),
        @r#"sluice.dev/depends-on: line 2, column 14: in a selector a label key is expected here, not "=""#);
    assert_snapshot!(refused_selector("app is web"),
        @r#"sluice.dev/depends-on: line 2, column 18: in a selector =, ==, !=, in, notin, a comma or the end is expected here, not "is""#);
    assert_snapshot!(refused_selector("app=web tier=front"),
        @r#"sluice.dev/depends-on: line 2, column 22: in a selector a comma or the end is expected here, not "tier""#);
    assert_snapshot!(refused_selector("!app=web"),
        @r#"sluice.dev/depends-on: line 2, column 18: in a selector a comma or the end is expected here, not "=""#);
    assert_snapshot!(refused_selector("app in web"),
        @r#"sluice.dev/depends-on: line 2, column 21: in a selector "(" and the values, e.g. (a, b), is expected here, not "web""#);
    assert_snapshot!(refused_selector("app in (a"),
        @r#"sluice.dev/depends-on: line 2, column 23: in a selector a comma or ")" is expected here, not the end"#);
    assert_snapshot!(refused_selector("app in (a b)"),
        @r#"sluice.dev/depends-on: line 2, column 24: in a selector a comma or ")" is expected here, not "b""#);
    assert_snapshot!(refused_selector("size>3"),
        @r#"sluice.dev/depends-on: line 2, column 18: "selector": label key "size>3" has '>' in it; letters, digits, "-", "_" and "." are allowed"#);
}

#[test]
fn keys_and_values_are_checked_as_kubernetes_checks_them() {
    assert_snapshot!(refused_selector("app=we/b"),
        @r#"sluice.dev/depends-on: line 2, column 20: "selector": label value "we/b" has '/' in it; letters, digits, "-", "_" and "." are allowed"#);
    assert_snapshot!(refused_selector("app=-web"),
        @r#"sluice.dev/depends-on: line 2, column 18: "selector": label value "-web" begins with '-'; a letter or a digit is allowed there"#);
    assert_snapshot!(refused_selector("app in (web, web_)"),
        @r#"sluice.dev/depends-on: line 2, column 30: "selector": label value "web_" ends with '_'; a letter or a digit is allowed there"#);
    assert_snapshot!(refused_selector(&format!("app={}", "a".repeat(64))),
        @r#"sluice.dev/depends-on: line 2, column 18: "selector": label value "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" is 64 characters long; at most 63 are allowed"#);
    assert_snapshot!(refused_selector("App.Example.com/name=x"),
        @r#"sluice.dev/depends-on: line 2, column 14: "selector": label prefix "App.Example.com" has 'A' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused_selector("example.com/=x"),
        @r#"sluice.dev/depends-on: line 2, column 26: "selector": label key is empty; write one"#);
    assert_snapshot!(refused_selector("a.b/c/d=x"),
        @r#"sluice.dev/depends-on: line 2, column 19: "selector": label key "c/d" has '/' in it; letters, digits, "-", "_" and "." are allowed"#);
    assert_snapshot!(refused_selector("app=w\u{435}b"),
        @r#"sluice.dev/depends-on: line 2, column 19: "selector": label value "wеb" has 'е' (U+0435) in it; letters, digits, "-", "_" and "." are allowed"#);
    assert_snapshot!(refused_selector("app={{ .Values.app }}"),
        @r#"sluice.dev/depends-on: line 2, column 18: "selector": "app={{ .Values.app }}" holds a template, and sluice evaluates none; write the text itself"#);
}
