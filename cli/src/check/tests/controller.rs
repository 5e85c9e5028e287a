//! Tests the lines of `check` about the controller's Deployment and the versions.

use super::*;

#[test]
fn replicas_are_counted() {
    let none = in_deployment("/status/readyReplicas", json!(0));
    assert_line(
        &none,
        "problem  controller: Deployment sluice-system/sluice: 0 of 2 replicas are ready: annotated objects are refused",
        "logs deployment/sluice",
    );
    let some = in_deployment("/status/readyReplicas", json!(1));
    assert_line(
        &some,
        "warning  controller: Deployment sluice-system/sluice: 1 of 2",
        "describe pods",
    );
    let old = in_deployment("/status/updatedReplicas", json!(1));
    assert_line(&old, "warning  controller: ", "wait for the rollout");
    let none = in_deployment("/spec/replicas", json!(0));
    assert_line(
        &none,
        "problem  controller: Deployment sluice-system/sluice is scaled to 0",
        "kubectl -n sluice-system scale deployment/sluice --replicas 2",
    );
    let single = in_deployment("/spec/replicas", json!(1));
    assert_line(
        &single,
        "warning  controller: ",
        "set the chart's value replicas to 2",
    );
}

/// A pod of the controller whose image cannot be pulled.
fn without_an_image(name: &str) -> Value {
    let waiting = json!({"reason": "ImagePullBackOff", "message": "Back-off pulling image \"r/sluice-webhook:dev\": not found"});
    json!({
        "metadata": {"namespace": "sluice-system", "name": name},
        "status": {
            "phase": "Pending", "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
            "containerStatuses": [{"name": "webhook", "image": "r/sluice-webhook:dev", "state": {"waiting": waiting}}],
        },
    })
}

#[test]
fn an_image_that_cannot_be_pulled_is_told_without_its_consequences() {
    let told = |ready: u64| {
        wrong(|seen| {
            let mut deployment = deployment();
            deployment["status"]["readyReplicas"] = json!(ready);
            seen.installation.deployments = Lookup::Found(vec![deployment]);
            let pods = ["sluice-1", "sluice-2"].map(without_an_image);
            seen.own = Lookup::Found(pods.to_vec());
            if ready == 0 {
                let Lookup::Found(configuration) = &mut seen.configuration else {
                    return;
                };
                for entry in 0..4 {
                    configuration["webhooks"][entry]["clientConfig"]["caBundle"] = Value::Null;
                }
                let why = "failed calling webhook \"pods.sluice.dev\": connection refused";
                seen.tried.answer = TrialOutcome::Refused(why.to_owned());
            }
        })
    };
    let begin = "controller: Deployment sluice-system/sluice:";
    let why = "(its pod sluice-1 cannot pull image r/sluice-webhook:dev: not found (2 of 2 pods))";
    let way_out = "set the chart's value image.registry to the registry that has it, or load the image onto the nodes";
    let none = format!(
        "problem  {begin} 0 of 2 replicas are ready {why}: annotated objects are refused and gates wait; {way_out}"
    );
    assert_eq!(told(0), [none]);
    let some = format!("warning  {begin} 1 of 2 replicas are ready {why}; {way_out}");
    assert_eq!(told(1), [some]);
}

/// Where only one of the controller's pods lacks its image, the other one may have a trouble of its own, so the refusal of the tried pod is told
/// too.
#[test]
fn an_image_that_one_pod_cannot_pull_explains_no_silence_of_another() {
    let told = wrong(|seen| {
        let mut deployment = deployment();
        deployment["status"]["readyReplicas"] = json!(0);
        seen.installation.deployments = Lookup::Found(vec![deployment]);
        let mut runs = without_an_image("sluice-2");
        runs["status"]["phase"] = json!("Running");
        runs["status"]["containerStatuses"] =
            json!([{"name": "webhook", "state": {"running": {}}}]);
        seen.own = Lookup::Found(vec![without_an_image("sluice-1"), runs]);
        let why = "failed calling webhook \"pods.sluice.dev\": connection refused";
        seen.tried.answer = TrialOutcome::Refused(why.to_owned());
    });
    assert!(told[0].contains("cannot pull image"), "{told:?}");
    assert!(
        told.iter().any(|it| it.starts_with("problem  admission: ")),
        "{told:?}"
    );
}

#[test]
fn versions_that_differ_are_told() {
    let image = in_deployment(
        "/spec/template/spec/containers/0/image",
        json!("r/sluice-webhook:v2"),
    );
    assert_line(
        &image,
        "warning  versions: ",
        "image.tag and gate.image.tag alike",
    );
    let digest = in_deployment(
        "/spec/template/spec/containers/0/image",
        json!("r/sluice-webhook@sha256:1"),
    );
    assert_eq!(digest, Vec::<String>::new());
    let chart = in_deployment(
        "/metadata/labels/app.kubernetes.io~1version",
        json!("9.9.9"),
    );
    assert_line(
        &chart,
        "warning  versions: chart 9.9.9, ",
        "install the one of 9.9.9",
    );
}

#[test]
fn without_an_installation_only_that_is_told() {
    let lines = wrong(|seen| seen.installation.deployments = Lookup::Found(vec![]));
    assert_eq!(lines.len(), 3);
    let told = Home::own().installation(wire::VERSION);
    let expected = format!("problem  controller: sluice is not installed; {told}");
    assert_eq!(lines[0], expected);
    let page = include_str!("../../../../docs/cli.md");
    assert!(page.contains(&format!("\n{expected}\n")), "{expected}");
    assert!(
        lines[1].ends_with("kubectl delete mutatingwebhookconfiguration sluice"),
        "{lines:?}"
    );
    let expected = "problem  gates: without sluice these pods wait for ever: shop/api; if it was uninstalled, delete them, and their owners make \
                    others without a gate (a pod that nobody owns has to be made again by hand)";
    assert_eq!(lines[2], expected);
    let gone = wrong(|seen| {
        seen.installation.deployments = Lookup::Found(vec![]);
        seen.configuration = Lookup::NotFound;
        seen.pending = Lookup::Found(Vec::new());
    });
    assert_eq!(gone.len(), 1);
    let twice = wrong(|seen| {
        seen.installation.deployments = Lookup::Found(vec![deployment(), deployment()]);
        seen.configuration = Lookup::NotFound;
    });
    assert_line(
        &twice,
        "problem  controller: sluice is installed more than once",
        "uninstall all but one",
    );
}
