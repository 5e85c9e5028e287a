//! Jobs that admission creates suspended, by `sluice.dev/hold: suspend`.

use super::{annotated, answer, applied, operations, review, running, running_with, workload};
use serde_json::{Value, json};
use std::sync::Arc;
use webhook::{Admission, Holds, Options};

const HOLD: &str = "sluice.dev/hold";
const NOTE: &str = "sluice.dev/suspended";

fn on() -> Arc<Admission> {
    running_with(Options {
        holds: Holds::Asked,
        ..Options::default()
    })
}

/// Returns a Job with a list and with this word as its `sluice.dev/hold`.
fn job(word: &str) -> Value {
    let job = annotated(
        workload("batch/v1", "Job"),
        "sluice.dev/depends-on",
        "svc/db",
    );
    annotated(job, HOLD, word)
}

async fn created(admission: &Arc<Admission>, job: &Value) -> Value {
    let response = answer(admission, &review("CREATE", job, &Value::Null)).await;
    assert_eq!(response["allowed"], true, "{response}");
    match response.get("patch") {
        Some(_) => applied(job, &response),
        None => job.clone(),
    }
}

#[tokio::test]
async fn it_is_suspended_and_that_is_noted_and_nothing_else_changes() {
    let asks = job("suspend");
    let response = answer(&on(), &review("CREATE", &asks, &Value::Null)).await;
    assert_eq!(response["auditAnnotations"]["outcome"], "suspended");
    let stored = applied(&asks, &response);
    let mut expected = asks;
    expected["spec"]["suspend"] = json!(true);
    expected["metadata"]["annotations"][NOTE] = json!("true");
    expected["spec"]["template"]["metadata"]["annotations"]["sluice.dev/gated"] = json!("true");
    assert_eq!(stored, expected);
    assert_eq!(created(&on(), &stored).await, stored, "called again");
}

#[tokio::test]
async fn only_where_it_waits_asks_and_is_not_its_users_already() {
    let note = |job: &Value| job["metadata"]["annotations"][NOTE].clone();
    let mut by_its_user = job("suspend");
    by_its_user["spec"]["suspend"] = json!(true);
    let mut windows = job("suspend");
    windows["spec"]["template"]["spec"]["os"] = json!({"name": "windows"});
    let idle = annotated(workload("batch/v1", "Job"), HOLD, "suspend");
    for (admission, job) in [
        (on(), &job("true")),
        (on(), &by_its_user),
        (on(), &windows),
        (on(), &idle),
        (running(), &job("suspend")),
    ] {
        let stored = created(&admission, job).await;
        assert_eq!(note(&stored), Value::Null, "{job}");
        assert_eq!(stored["spec"]["suspend"], job["spec"]["suspend"], "{job}");
    }
    // As the API server shows it: with its defaults.
    let mut plain = job("suspend");
    plain["spec"]["suspend"] = json!(false);
    assert_eq!(created(&on(), &plain).await["spec"]["suspend"], true);
}

#[tokio::test]
async fn what_is_there_is_never_suspended() {
    let old = created(&running(), &job("true")).await;
    let mut new = old.clone();
    new["metadata"]["annotations"][HOLD] = json!("suspend");
    new["metadata"]["annotations"]["sluice.dev/depends-on"] = json!("svc/other");
    let response = answer(&on(), &review("UPDATE", &new, &old)).await;
    assert_eq!(response["allowed"], true);
    assert!(operations(&response).is_empty(), "{response}");
}

#[tokio::test]
async fn it_is_for_a_job_alone_and_on_the_job_itself_holds_on_or_off() {
    let listed =
        |kind: (&str, &str)| annotated(workload(kind.0, kind.1), "sluice.dev/depends-on", "svc/db");
    let mut inside = listed(("batch/v1", "Job"));
    inside["spec"]["template"]["metadata"]["annotations"][HOLD] = json!("suspend");
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "annotations": {"sluice.dev/gated": "true", HOLD: "suspend"}},
        "spec": {"containers": [{"name": "app"}]},
    });
    let deployment = annotated(listed(("apps/v1", "Deployment")), HOLD, "suspend");
    let mut cron_job = annotated(listed(("batch/v1", "CronJob")), HOLD, "suspend");
    let template = cron_job["spec"]["template"].take();
    cron_job["spec"] = json!({"jobTemplate": {"spec": {"template": template}}});
    for admission in [running(), on()] {
        for object in [&inside, &pod, &deployment, &cron_job] {
            let response = answer(&admission, &review("CREATE", object, &Value::Null)).await;
            assert_eq!(response["allowed"], false, "{object}");
            let message = response["status"]["message"].to_string();
            let expected = "sluice.dev/hold: line 1, column 1: only a Job can be suspended, by its own annotations and not by \
                            those of its pod template; write \\\"true\\\" to hold pods";
            assert!(message.contains(expected), "{message}");
        }
        let response = answer(&admission, &review("CREATE", &job("yes"), &Value::Null)).await;
        assert_eq!(response["allowed"], false);
        let message = response["status"]["message"].to_string();
        assert!(
            message.contains("the words are true, false, suspend"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn where_holds_are_off_it_is_a_warning() {
    let create = review("CREATE", &job("suspend"), &Value::Null);
    let told = "holds are off in this installation: the pod will wait in its init gate";
    let off = answer(&running(), &create).await["warnings"].to_string();
    assert!(off.contains(told), "{off}");
    let on = answer(&on(), &create).await["warnings"].to_string();
    assert!(!on.contains("holds are off"), "{on}");
}

/// A warning says that the deadline of a Job that is not suspended runs while its pod waits.
#[tokio::test]
async fn where_holds_are_off_the_deadline_of_the_job_is_told() {
    let mut bounded = job("suspend");
    bounded["spec"]["activeDeadlineSeconds"] = json!(900);
    let create = review("CREATE", &bounded, &Value::Null);
    let told = "the Job is not suspended, so its activeDeadlineSeconds (900) counts while it waits";
    let off = answer(&running(), &create).await["warnings"].to_string();
    assert!(off.contains(told), "{off}");
    let on = answer(&on(), &create).await["warnings"].to_string();
    assert!(!on.contains("activeDeadlineSeconds"), "{on}");
}

/// Admission refuses `sluice.dev/hold: suspend` on a hook or a wave that Argo CD or Flux would not wait for.
#[tokio::test]
async fn it_is_refused_where_its_installer_would_not_wait_for_the_end_of_the_job() {
    let hook = annotated(job("suspend"), "argocd.argoproj.io/hook", "PreSync");
    let wave = annotated(job("suspend"), "argocd.argoproj.io/sync-wave", "0");
    let of_helm = annotated(job("suspend"), "helm.sh/hook", "pre-install");
    let tracked = "shop:batch/Job:shop/migrate";
    let of_a_chart = annotated(of_helm.clone(), "argocd.argoproj.io/tracking-id", tracked);
    let mut of_flux = of_helm.clone();
    of_flux["metadata"]["labels"]["helm.toolkit.fluxcd.io/name"] = json!("shop");
    for admission in [running(), on()] {
        for job in [&hook, &wave, &of_a_chart, &of_flux] {
            let response = answer(&admission, &review("CREATE", job, &Value::Null)).await;
            assert_eq!(response["allowed"], false, "{job}");
            let message = response["status"]["message"].to_string();
            let expected = "takes one that is created suspended for done too soon";
            assert!(message.contains(expected), "{message}");
            // An object that was stored before stays writable.
            let response = answer(&admission, &review("UPDATE", job, job)).await;
            assert_eq!(response["allowed"], true, "{response}");
        }
    }
    assert_eq!(created(&on(), &of_helm).await["spec"]["suspend"], true);
}
