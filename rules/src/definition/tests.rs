use super::*;

/// A version of a custom resource definition after [`shorten`].
fn shortened(version: &Value) -> Value {
    let mut version = version.clone();
    shorten(version.as_object_mut().unwrap());
    version
}

/// The facts of a version of a custom resource definition, which are the same after [`shorten`].
fn declared(version: &Value) -> Declared {
    let whole = Declared::of(version);
    assert_eq!(Declared::of(&shortened(version)), whole, "{version}");
    whole
}

fn with_schema(schema: &Value) -> Value {
    json!({"schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}})
}

fn status(status: &Value) -> Value {
    json!({"type": "object", "properties": {"status": status}})
}

#[test]
fn a_status_that_can_say_nothing_is_none() {
    for written in [
        status(&json!({"properties": {"phase": {"type": "string"}}})),
        status(&json!({"additionalProperties": {"type": "string"}})),
        status(&json!({PRESERVE: true})),
        json!({PRESERVE: true}),
    ] {
        assert!(declared(&with_schema(&written)).status, "{written}");
    }
    for empty in [
        status(&json!({"type": "object"})),
        status(&json!({"type": "object", "properties": {}})),
        status(&json!({"additionalProperties": false, PRESERVE: false})),
        json!({"properties": {"spec": {PRESERVE: true}}}),
    ] {
        assert!(!declared(&with_schema(&empty)).status, "{empty}");
    }
    assert!(declared(&json!({"subresources": {"status": {}}})).status);
    assert!(!declared(&json!({"subresources": {}})).status);
    assert!(!declared(&json!({"schema": {}})).status);
}

/// A status that the schema or a printer column names counts without a subresource: the kinds of Velero and Litmus and Argo's Workflow have such a
/// status.
#[test]
fn a_status_that_the_schema_or_a_column_names_needs_no_subresource() {
    let named = |field: &str| status(&json!({"properties": {field: {"type": "string"}}}));
    for field in ["phase", "id"] {
        let version = json!({"schema": {"openAPIV3Schema": named(field)}});
        assert!(declared(&version).status, "{field}");
    }
    let column = json!([{"name": "Phase", "jsonPath": ".status.phase"}]);
    let open = json!({"schema": {"openAPIV3Schema": {PRESERVE: true}}, COLUMNS: column});
    assert!(declared(&open).status);
    let of_the_spec = json!([{"name": "Size", "jsonPath": ".spec.size"}]);
    let open = json!({"schema": {"openAPIV3Schema": {PRESERVE: true}}, COLUMNS: of_the_spec});
    assert!(!declared(&open).status);
}

fn summary(version: &Value) -> Summary {
    declared(version).summary.unwrap()
}

#[test]
fn a_column_is_read_in_each_of_its_spellings() {
    let shown = |path: &str| {
        let version = json!({ COLUMNS: [{"name": "A", "jsonPath": path}] });
        summary(&version).columns.pop().map(|column| column.shown)
    };
    let ready = Some(Shown::Condition("Ready".to_owned()));
    for path in [
        ".status.conditions[?(@.type==\"Ready\")].status",
        ".status.conditions[?(@.type=='Ready')].status",
        ".status.conditions[?(@.type == \"Ready\")].reason",
        "{.status.conditions[?(@.type==\"Ready\")].status}",
        "$.status.conditions[?(.type==\"Ready\")].status",
        "status.conditions[?@.type==\"Ready\"].status",
        ".status.conditions[?(@.type=\"Ready\")].status",
    ] {
        assert_eq!(shown(path), ready, "{path}");
    }
    for path in [
        ".status.conditions[0].status",
        ".status.conditions[-1:].type",
        ".status.conditions[*].type",
        ".status.conditions[?(@.status==\"True\")].type",
        ".status.conditions",
    ] {
        assert_eq!(shown(path), Some(Shown::Conditions), "{path}");
    }
    let field = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned());
        Some(Shown::Field(names.collect()))
    };
    assert_eq!(shown(".status.phase"), field(&["phase"]));
    assert_eq!(shown(".status.health.state"), field(&["health", "state"]));
    assert_eq!(
        shown(".status.conditionsReady"),
        field(&["conditionsReady"])
    );
    let endless = format!(".status.{}", "a".repeat(LONGEST_PATH));
    for path in [
        ".spec.size",
        ".metadata.creationTimestamp",
        ".status",
        ".statuses.a",
        ".status.",
        ".status.parents[*].name",
        "",
        &endless,
    ] {
        assert_eq!(shown(path), None, "{path}");
    }
}

const LONGEST_PATH: usize = 200;

#[test]
fn of_the_schema_the_names_of_fields_are_kept() {
    let fields = json!({"id": {}, "readyReplicas": {}, "conditions": {"items": {}}, "phase": {}});
    let version = with_schema(&status(&json!({"properties": fields})));
    let of = summary(&version);
    let mut names = of.fields.clone();
    names.sort_unstable();
    assert_eq!(names, ["conditions", "id", "phase", "readyReplicas"]);
    let none = with_schema(&status(&json!({"properties": {"a".repeat(50): {}}})));
    assert_eq!(summary(&none).fields, [""; 0]);
    assert_eq!(
        declared(&version).or(declared(&none)).summary.unwrap(),
        of,
        "an object may be of either version"
    );
}

/// Little is kept of a large definition, because the definitions of all kinds are kept at once.
#[test]
fn little_is_kept_of_a_large_definition() {
    let mut fields = Map::new();
    for at in 0..2_000 {
        let text = "a long description of a field ".repeat(20);
        fields.insert(format!("field{at}"), json!({"description": text}));
    }
    let column = json!({"name": "n".repeat(5_000), "type": "string", "description": "d".repeat(5_000), "jsonPath": ".status.phase"});
    let version = json!({
        "name": "v1", "subresources": {"status": {}}, COLUMNS: vec![column; 500],
        "schema": {"openAPIV3Schema": status(&json!({"properties": fields}))},
    });
    assert!(declared(&version).status);
    let kept = shortened(&version).to_string();
    assert!(kept.len() < 4_000, "{}", kept.len());
    let usual = json!({
        "name": "v1", "subresources": {"status": {}},
        COLUMNS: [
            {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ],
        "schema": {"openAPIV3Schema": status(&json!({"properties": {"conditions": {"type": "array"}}}))},
    });
    let kept = shortened(&usual).to_string();
    assert!(kept.len() < 300, "{}: {kept}", kept.len());
}
