//! Tests the lines of `check` about the label `sluice.dev/inject` of namespaces.

use super::*;

#[test]
fn a_label_without_effect_is_told() {
    let label = |name: &str, value: &str| {
        let namespace = json!({"metadata": {"name": name, "labels": {"sluice.dev/inject": value}}});
        wrong(|seen| seen.namespaces = Lookup::Found(vec![namespace]))
    };
    assert_line(
        &label("shop", "true"),
        "warning  namespaces: shop carries sluice.dev/inject: \"true\"",
        "write enabled",
    );
    assert_line(
        &label("kube-system", "enabled"),
        "warning  namespaces: kube-system ",
        "remove the label",
    );
}
