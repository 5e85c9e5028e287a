use super::*;
use rules::lookup::Unavailable;
use std::collections::BTreeSet;

fn fine() -> Before {
    Before {
        namespace: "sluice-system".to_owned(),
        version: Lookup::Found(json!({"gitVersion": "v1.36.3", "minor": "36+"})),
        refused: Vec::new(),
        deployments: Lookup::Found(Vec::new()),
        configuration: Lookup::NotFound,
        policies: Lookup::Found(Vec::new()),
    }
}

fn told(change: impl FnOnce(&mut Before)) -> Vec<String> {
    let mut before = fine();
    change(&mut before);
    judge(&before).iter().map(ToString::to_string).collect()
}

#[test]
fn a_cluster_without_sluice_has_a_line_for_each_check() {
    let expected = [
        "ok       version: Kubernetes v1.36.3",
        "ok       rights: you may create what the chart makes, in namespace sluice-system",
        "ok       webhook: no configuration is left behind",
        "ok       network: no NetworkPolicy keeps all pods of a namespace in",
    ];
    assert_eq!(told(|_| ()), expected);
}

#[test]
fn what_hinders_an_installation_is_told_with_the_way_out() {
    let old =
        told(|it| it.version = Lookup::Found(json!({"gitVersion": "v1.29.1", "minor": "29"})));
    let expected = "problem  version: Kubernetes v1.29.1: the chart needs 1.30 or newer; upgrade the cluster first";
    assert_eq!(old[0], expected);

    let refused = told(|it| {
        let of = |kind: &str| made().find(|it| it.kind == kind).unwrap();
        it.refused = vec![of("Deployment"), of("ClusterRole")];
    });
    let expected = "problem  rights: you may not create deployments.apps, clusterroles.rbac.authorization.k8s.io, which ";
    assert!(refused[1].starts_with(expected), "{}", refused[1]);

    let other = json!({"metadata": {"name": "sluice", "namespace": "elsewhere"}});
    let twice = told(|it| it.deployments = Lookup::Found(vec![other]));
    assert!(
        twice[2].starts_with("problem  installed: sluice is in namespace elsewhere already"),
        "{}",
        twice[2]
    );
    let left = told(|it| it.configuration = Lookup::Found(json!({})));
    assert!(
        left[2].ends_with("kubectl delete mutatingwebhookconfiguration sluice"),
        "{}",
        left[2]
    );
    let unseen = told(|it| it.policies = Lookup::Unavailable(Unavailable::Forbidden));
    assert!(unseen[3].starts_with("warning  network: "), "{}", unseen[3]);
}

#[test]
fn a_policy_that_lets_nothing_out_is_named() {
    let policy = |spec: Value| {
        let policy = json!({"metadata": {"namespace": "shop"}, "spec": spec});
        told(|it| it.policies = Lookup::Found(vec![policy])).remove(3)
    };
    for spec in [
        json!({"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}),
        json!({"podSelector": {"matchLabels": {}}, "policyTypes": ["Egress"], "egress": []}),
    ] {
        let line = policy(spec);
        assert!(
            line.starts_with("warning  network: NetworkPolicies let no pod out of shop; "),
            "{line}"
        );
    }
    for spec in [
        json!({"podSelector": {}, "policyTypes": ["Ingress"]}),
        json!({"podSelector": {"matchLabels": {"app": "a"}}, "policyTypes": ["Egress"]}),
        json!({"podSelector": {}, "policyTypes": ["Egress"], "egress": [{}]}),
    ] {
        let line = policy(spec);
        assert!(line.starts_with("ok       network: "), "{line}");
    }
}

#[test]
fn what_is_asked_for_is_what_the_chart_says() {
    assert_eq!(made().count(), MADE.len());
    let chart = include_str!("../../../../charts/sluice/Chart.yaml");
    assert!(chart.contains(&format!("1.{OLDEST}.0")), "{chart}");
}

#[test]
fn the_rights_that_are_asked_for_are_those_to_make_what_the_chart_renders() {
    let defaults =
        include_str!("../../../../tests/it/snapshots/it__chart__renders_the_defaults.snap");
    let kinds = defaults
        .lines()
        .filter_map(|line| line.strip_prefix("kind: "));
    let kinds: BTreeSet<_> = kinds.collect();
    assert_eq!(kinds, BTreeSet::from(MADE));
}
