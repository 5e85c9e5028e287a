//! Expressions that can hold on no object.

use super::*;

#[test]
fn a_text_that_is_compared_with_a_boolean_never_holds() {
    let entry = |health: &str| {
        let list = format!("- {{kind: ConfigMap, name: flags, health: ['{health}']}}");
        told(&list, &Cluster::default())
    };
    assert_eq!(
        entry("/data/migrated == true"),
        "it waits for ConfigMap/flags: /data/migrated == true never holds, since that field is a text; write == \"true\""
    );
    assert_eq!(entry("/data/migrated == done"), "");
    let list = annotation::parse_depends_on(
        "- any: [configmap/a, {kind: ConfigMap, name: b, health: ['/data/version >= 3']}]",
    );
    let advice = super::super::expressions::of(&list.expect("a list")[0]);
    let told: Vec<_> = advice.iter().map(|it| (it.label(), it.level())).collect();
    assert_eq!(told, [("NeverHolds", Level::Error)], "an alternative");
}
