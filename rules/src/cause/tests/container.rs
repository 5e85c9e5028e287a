//! A container that cannot start, crashes or is not ready.

use super::*;

/// No container after the gate starts before the gate does, so the trouble of the gate is the cause.
#[test]
fn a_gate_that_cannot_start_says_why() {
    let gate = |reason: &str, message: &str| {
        let mut pod = pod("Pending", &json!([waiting("PodInitializing", "")]));
        pod["status"]["initContainerStatuses"] = json!([
            {"name": "sluice-gate", "image": "example.com/gate:1", "state": {"waiting": {"reason": reason, "message": message}}},
        ]);
        told(&pod)
    };
    assert_eq!(
        gate(
            "ImagePullBackOff",
            "Back-off pulling image \"example.com/gate:1\""
        ),
        "its pod db-0 cannot pull image example.com/gate:1"
    );
    let said = gate(
        "CreateContainerConfigError",
        "container has runAsNonRoot and image will run as root",
    );
    assert_eq!(
        said,
        "its pod db-0 cannot start container \"sluice-gate\": container has runAsNonRoot and image will run as root"
    );
}

#[test]
fn an_image_that_cannot_be_pulled() {
    let reference = "\"docker.io/postgres:17.2\"";
    let word = format!(
        "rpc error: code = NotFound desc = failed to pull and unpack image {reference}: failed to resolve reference \
         {reference}: docker.io/library/postgres:17.2: not found"
    );
    let said = "its pod db-0 cannot pull image docker.io/postgres:17.2";
    for (reason, message, says) in [
        ("ErrImagePull", word.clone(), ": not found"),
        (
            "ImagePullBackOff",
            format!("Back-off pulling image {reference}: ErrImagePull: {word}"),
            ": not found",
        ),
        (
            "ImagePullBackOff",
            format!("Back-off pulling image {reference}"),
            "",
        ),
        (
            "InvalidImageName",
            "couldn't parse image name: invalid reference format".to_owned(),
            ": couldn't parse image name: invalid reference format",
        ),
    ] {
        assert_eq!(
            told_of("Pending", &waiting(reason, &message)),
            format!("{said}{says}")
        );
    }
}

#[test]
fn a_container_that_cannot_be_made() {
    let missing = waiting(
        "CreateContainerConfigError",
        "secret \"db-password\" not found",
    );
    assert_eq!(
        told_of("Pending", &missing),
        "its pod db-0 cannot start container \"db\": secret \"db-password\" not found"
    );
    assert_eq!(
        told_of("Pending", &waiting("RunContainerError", "")),
        "its pod db-0 cannot start container \"db\": RunContainerError"
    );
}

#[test]
fn a_container_that_crashes_says_the_same_between_its_crashes() {
    let mut crashing = waiting(
        "CrashLoopBackOff",
        "back-off 5m0s restarting failed container=db",
    );
    let mut running = container(runs(NOW));
    let mut ends = container(ended(137, "OOMKilled"));
    for status in [&mut crashing, &mut running, &mut ends] {
        status["lastState"] = ended(137, "OOMKilled");
        status["restartCount"] = json!(7);
    }
    for status in [crashing, running, ends] {
        assert_eq!(
            told_of("Running", &status),
            "its pod db-0 crashes: container \"db\" ended with exit code 137 (OOMKilled), and counts as ready whenever it runs, since it has no \
             readiness probe"
        );
    }
    let mut plain = waiting("CrashLoopBackOff", "");
    plain["lastState"] = ended(1, "Error");
    assert_eq!(
        told_of("Running", &plain),
        "its pod db-0 crashes: container \"db\" ended with exit code 1"
    );
    plain["lastState"] = ended(128, "StartError");
    let says = "exec: \"serve\": executable file not found in $PATH";
    plain["lastState"]["terminated"]["message"] = json!(says);
    assert_eq!(
        told_of("Running", &plain),
        format!("its pod db-0 crashes: container \"db\" cannot be started: {says}")
    );
    // The last message of an application is never shown: it may hold a secret.
    plain["lastState"] = ended(1, "Error");
    plain["lastState"]["terminated"]["message"] = json!("password=hunter2");
    assert!(!told_of("Running", &plain).contains("hunter2"));
}

#[test]
fn a_probe_that_fails_once_the_container_has_had_its_time() {
    let mut status = container(runs(THEN));
    assert_eq!(
        told_of("Running", &status),
        "its pod db-0 is not ready: the startup probe of container \"db\" has not succeeded: \"kubectl describe pod\" says why"
    );
    status["started"] = json!(true);
    assert_eq!(
        told_of("Running", &status),
        "its pod db-0 is not ready: the readiness probe of container \"db\" fails: \"kubectl describe pod\" says why"
    );
    status["state"] = runs("2026-01-01T00:59:56Z");
    assert_eq!(told_of("Running", &status), "");
    let mut gated = pod("Running", &json!([]));
    gated["status"]["conditions"][1] = json!({
        "type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady",
        "message": "corresponding condition of pod readiness gate \"lb\" does not exist.",
    });
    assert_eq!(
        told(&gated),
        "its pod db-0 is not ready: corresponding condition of pod readiness gate \"lb\" does not exist."
    );
}

#[test]
fn an_init_container_holds_up_the_others() {
    let with_init = |status: Value| {
        let idle = waiting("PodInitializing", "");
        let mut pod = pod("Pending", &json!([idle]));
        pod["status"]["initContainerStatuses"] = json!([status]);
        pod
    };
    let init = |state: Value| json!({"name": "schema", "image": "i:1", "state": state});
    let crashing = with_init(init(ended(2, "Error")));
    assert_eq!(
        told(&crashing),
        "its pod db-0 crashes: container \"schema\" ended with exit code 2"
    );
    assert_eq!(
        told(&with_init(init(runs(THEN)))),
        "its pod db-0 has come no further than its init container \"schema\""
    );
    assert_eq!(told(&with_init(init(runs("2026-01-01T00:59:31Z")))), "");
    // Only its probe holds up a sidecar.
    let mut sidecar = with_init(init(runs(THEN)));
    sidecar["spec"]["initContainers"] = json!([{"name": "schema", "restartPolicy": "Always"}]);
    sidecar["status"]["initContainerStatuses"][0]["started"] = json!(false);
    assert_eq!(
        told(&sidecar),
        "its pod db-0 is not ready: the startup probe of container \"schema\" has not succeeded: \"kubectl describe pod\" says why"
    );
}
