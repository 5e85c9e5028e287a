//! Keys that count on the pod template alone.

use super::*;

#[test]
fn the_place_of_the_gate_counts_on_the_template() {
    let told = |own: Value, template: Value| {
        let object = with(
            deployment(&own),
            "/spec/template/metadata/annotations",
            template,
        );
        let object = with(
            object,
            "/spec/template/spec/initContainers",
            json!([{"name": "fetch"}]),
        );
        let template = &object["spec"]["template"];
        let workload = Workload {
            group: "apps",
            kind: "Deployment",
            namespace: "shop",
            name: "api",
            object: &object,
            template,
        };
        of_position(&workload).map(|advice| advice.label())
    };
    let at = |position: &str| json!({"sluice.dev/gate-position": position});
    assert_eq!(told(at("last"), json!({})), Some("PositionOnWorkload"));
    assert_eq!(told(at("last"), at("first")), None);
    assert_eq!(told(json!({}), at("after=fetch")), None);
    let missing = told(json!({}), at("after=fetsh"));
    assert_eq!(missing, Some("NoSuchInitContainer"));
    assert_eq!(told(json!({}), at("nonsense")), None, "refused elsewhere");
}

#[test]
fn a_hold_counts_on_the_template_and_of_a_job_itself_only_its_suspension() {
    let told = |own: Value, template: Value| {
        let object = json!({"metadata": {"annotations": own}});
        let template = json!({"metadata": {"annotations": template}});
        let workload = Workload {
            group: "batch",
            kind: "Job",
            namespace: "shop",
            name: "seed",
            object: &object,
            template: &template,
        };
        of_hold(&workload).map(|advice| advice.to_string())
    };
    let says = |word: &str| json!({"sluice.dev/hold": word});
    let expected =
        "sluice.dev/hold has no effect here; move it to the annotations of the pod template";
    assert_eq!(told(says("true"), json!({})).as_deref(), Some(expected));
    assert_eq!(told(says("false"), json!({})).as_deref(), Some(expected));
    assert_eq!(told(says("true"), says("true")), None);
    assert_eq!(told(says("suspend"), json!({})), None);
    assert_eq!(told(json!({}), says("true")), None);
}

#[test]
fn early_pulls_count_on_the_template() {
    let told = |own: Value, template: Value| {
        let object = json!({"metadata": {"annotations": own}});
        let template = json!({"metadata": {"annotations": template}});
        let workload = Workload {
            group: "apps",
            kind: "Deployment",
            namespace: "shop",
            name: "api",
            object: &object,
            template: &template,
        };
        of_prefetch(&workload).map(|advice| advice.to_string())
    };
    let says = || json!({"sluice.dev/prefetch": "true"});
    let expected =
        "sluice.dev/prefetch has no effect here; move it to the annotations of the pod template";
    assert_eq!(told(says(), json!({})).as_deref(), Some(expected));
    assert_eq!(told(says(), says()), None);
    assert_eq!(told(json!({}), says()), None);
}
