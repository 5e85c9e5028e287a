//! Tests the graph with custom kinds that have the name of a built-in one, and with kinds that lists name by their plural.

use super::*;

/// A workload of a custom kind, with a list; `version` is its apiVersion.
fn custom(version: &str, kind: &str, name: &str, list: &str) -> Value {
    json!({
        "apiVersion": version, "kind": kind,
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": name}, "annotations": {"sluice.dev/depends-on": list}},
        "spec": {"template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": []}}},
    })
}

fn drawn(values: Vec<Value>) -> String {
    let objects: Vec<_> = values.into_iter().map(|it| place("", 1, it)).collect();
    plain(&of_manifests(&objects, None).drawing)
}

#[test]
fn the_list_of_a_service_of_knative_is_shown() {
    let knative = custom("serving.knative.dev/v1", "Service", "web", "job/migrate");
    let expected = "\
STEP  OBJECT                           WAITS FOR
1     Job/migrate                      (it is not there)
2     Service.serving.knative.dev/web  Job/migrate
";
    assert_eq!(drawn(vec![knative]), expected);
}

#[test]
fn a_selector_finds_a_custom_kind_by_its_plural() {
    let list = "[{kind: gateways.gateway.networking.k8s.io, selector: app=front}]";
    let front = custom("gateway.networking.k8s.io/v1", "Gateway", "front", "");
    let text = drawn(vec![custom("apps/v1", "Deployment", "api", list), front]);
    assert!(
        text.contains("2     Deployment/api "),
        "it starts after the gateway: {text}"
    );
}

/// The pods of a `Job` of another group tell when it was ready, like the pods of any workload.
#[test]
fn a_job_of_another_group_has_the_times_of_its_pods() {
    let job = custom("batch.volcano.sh/v1alpha1", "Job", "train", "");
    let mut pod = pod(("Job", "train"), "train-0", 0, Some(5), Some(9));
    pod["metadata"]["ownerReferences"][0]["apiVersion"] = "batch.volcano.sh/v1alpha1".into();
    let objects = [place("", 1, job)];
    let graph = Graph::new(&objects);
    let shown = build::shown(&graph, None);
    let model = Model::new(&graph, &shown, &Findings::default());
    let seen = cluster::Inventory {
        namespace: "shop".to_owned(),
        owners: [(("Pod", "train-0"), ("Job", "train"))]
            .map(|(own, owner)| (named(own), named(owner)))
            .into(),
        pods: vec![pod],
        ..cluster::Inventory::default()
    };
    let rules = Rules::default();
    let world = Manifest::new(std::iter::empty(), &rules);
    let times = times::of(&seen, &graph, &model, &world, at(59).parse().unwrap());
    let ready = times.spans[&0].ready.map(|it| it.to_string());
    assert_eq!(ready, Some(at(9)));
}

fn named((kind, name): (&str, &str)) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}
