use super::{answer, applied, operations, policy, review, running, starting};
use serde_json::{Value, json};
use webhook::admission::Limits;
use webhook::inject::{Keys, Operation, Request, Resources, Skip, Subject, pod};

fn pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "annotations": {"sluice.dev/gated": "true"}},
        "spec": {"containers": [{"name": "app"}]},
    })
}

async fn create(pod: &Value) -> Value {
    answer(&running(), &review("CREATE", pod, &Value::Null)).await
}

#[tokio::test]
async fn the_policy_decides_user_pull_policy_and_resources() {
    let mut own = policy();
    own.run_as_user = None;
    own.image_pull_policy = Some("Always".to_owned());
    own.resources = Resources::default();
    own.resources.limits.cpu = "75m".to_owned();
    let admission = starting(Limits::default());
    admission.set_policy(own);
    let mut pod = pod();
    pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    let response = answer(&admission, &review("CREATE", &pod, &Value::Null)).await;
    let gate = &applied(&pod, &response)["spec"]["initContainers"][0];
    assert_eq!(gate["securityContext"].get("runAsUser"), None);
    assert_eq!(gate["securityContext"]["runAsNonRoot"], true);
    assert_eq!(gate["imagePullPolicy"], "Always");
    assert_eq!(gate["resources"]["limits"]["cpu"], "75m");
}

#[tokio::test]
async fn a_pod_that_says_what_it_needs_as_a_whole_gives_the_gate_nothing_of_its_own() {
    let mut pod = pod();
    pod["spec"]["resources"] = json!({"limits": {"cpu": "5m", "memory": "8Mi"}});
    let gated = applied(&pod, &create(&pod).await);
    assert_eq!(gated["spec"]["initContainers"][0].get("resources"), None);
}

#[tokio::test]
async fn a_mesh_that_comes_after_the_gate_is_told_once() {
    let mut gated = applied(&pod(), &create(&pod()).await);
    gated["spec"]["containers"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "istio-proxy"}));
    let response = create(&gated).await;
    assert_eq!(response["auditAnnotations"]["outcome"], "port-excluded");
    assert_eq!(operations(&response).len(), 1);
    let told = applied(&gated, &response);
    assert_eq!(
        told["metadata"]["annotations"]["traffic.sidecar.istio.io/excludeOutboundPorts"],
        "9764"
    );
    assert_eq!(
        create(&told).await["auditAnnotations"]["outcome"],
        "skipped-already-injected"
    );
}

#[tokio::test]
async fn a_stored_pod_is_never_touched() {
    let mut changed = pod();
    changed["metadata"]["finalizers"] = json!([]);
    let response = answer(&running(), &review("UPDATE", &changed, &pod())).await;
    assert_eq!(response["allowed"], true);
    assert_eq!(response["auditAnnotations"]["outcome"], "skipped-operation");
}

#[test]
fn a_key_that_is_not_honoured_asks_for_nothing() {
    let mut pod = pod();
    pod["metadata"]["annotations"] = json!({"config.kubernetes.io/depends-on": "whatever"});
    let subject = Subject::default();
    let request = Request {
        operation: Operation::Create,
        subject: &subject,
        object: &pod,
        old: &Value::Null,
    };
    let keys = Keys {
        config_depends_on: false,
    };
    let decision = pod::decide(&request, keys, Some(&policy()));
    assert_eq!(decision, Skip::NotAsked.into());
}
