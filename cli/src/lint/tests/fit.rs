//! Tests the findings on pods that LimitRanges and ResourceQuotas of the input refuse.

use super::{NOTHING, deployment, lint};

const RANGE: &str = "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: small}\n\
                     spec: {limits: [{type: Container, min: {memory: 32Mi}}]}\n";

fn db(memory: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: db}}\n\
         spec: {{template: {{metadata: {{labels: {{app: db}}}}, spec: {{containers: [{{name: db, readinessProbe: {{exec: {{command: \
         ['true']}}}}, resources: {{requests: {{memory: {memory}}}}}}}]}}}}}}\n"
    )
}

#[test]
fn pods_that_a_limit_range_refuses_are_a_warning() {
    let api = || deployment("api", "deployment/db");
    let expected = "warning: 11: Deployment db: its pods are refused: LimitRange/small asks for requests.memory of at least 32Mi, and \
                    container \"db\" has less; raise it in its resources, or change LimitRange/small";
    let found = lint(&[RANGE, &api(), &db("8Mi")].concat());
    let without_line = |it: &str| it.replace(char::is_numeric, "");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(without_line(&found[0]), without_line(expected));
    assert_eq!(lint(&[RANGE, &api(), &db("64Mi")].concat()), NOTHING);
    assert_eq!(lint(&[api(), db("8Mi")].concat()), NOTHING);
}

#[test]
fn pods_in_no_order_and_ranges_elsewhere_are_no_matter_of_lint() {
    assert_eq!(lint(&[RANGE, &db("8Mi")].concat()), NOTHING);
    let elsewhere = RANGE.replace("{name: small}", "{name: small, namespace: other}");
    let api = deployment("api", "deployment/db");
    assert_eq!(lint(&[elsewhere, api, db("8Mi")].concat()), NOTHING);
}
