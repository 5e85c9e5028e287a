use super::*;

fn pod(status: Value) -> Value {
    object("v1", "Pod", json!({}), status)
}

#[test]
fn ready_or_succeeded() {
    let ready = json!({ "phase": "Running", "conditions": conditions(&[("Ready", "True")]) });
    let running = json!({ "phase": "Running", "conditions": conditions(&[("Ready", "False")]) });
    assert_eq!(told(&pod(ready.clone())), "Current Satisfied: Pod is Ready");
    assert_eq!(
        told(&pod(running)),
        "InProgress InProgress: Pod is running but is not Ready"
    );
    assert_eq!(
        told(&pod(json!({ "phase": "Succeeded" }))),
        "Current Satisfied: Pod has completed successfully"
    );
    assert_eq!(
        told(&pod(json!({ "phase": "Failed", "reason": "Evicted" }))),
        "Failed Failed: Pod has completed, but not successfully: Evicted"
    );
    let complete = |status: Value| told_as(&pod(status), State::Complete, &Cluster::empty());
    assert_eq!(
        complete(ready),
        "InProgress InProgress: Pod runs and has not completed yet"
    );
    assert_eq!(
        complete(json!({ "phase": "Succeeded" })),
        "Current Satisfied: Pod has completed successfully"
    );
}

#[test]
fn the_message_says_what_a_container_waits_for() {
    let waiting = |name: &str, reason: &str| json!({ "name": name, "state": { "waiting": { "reason": reason } } });
    let status = json!({
        "phase": "Pending",
        "initContainerStatuses": [waiting("setup", "ImagePullBackOff")],
        "containerStatuses": [waiting("web", "PodInitializing")],
    });
    assert_eq!(
        told(&pod(status)),
        "InProgress InProgress: Pod is in the Pending phase, container \"setup\": ImagePullBackOff"
    );
}

#[test]
fn of_others_only_what_is_called_after_an_end_completes() {
    let config = object("v1", "ConfigMap", json!({}), json!({}));
    assert_eq!(
        told_as(&config, State::Complete, &Cluster::empty()),
        "InProgress NotSupported: nobody knows when a ConfigMap completes; write ready in place of complete"
    );
    let of = |kind: &str, phase: &str| {
        let object = object("example.com/v1", kind, json!({}), json!({ "phase": phase }));
        let told = told_as(&object, State::Complete, &Cluster::empty());
        told.split(':').next().unwrap().to_owned()
    };
    assert_eq!(of("Widget", "Running"), "InProgress NotSupported");
    assert_eq!(of("BuildRun", "Running"), "InProgress InProgress");
    assert_eq!(of("BuildRun", "Succeeded"), "Current Satisfied");
    assert_eq!(of("BuildRun", "Failed"), "Failed Failed");
}
