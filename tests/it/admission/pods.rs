use super::{
    annotated, answer, answer_at, applied, operations, policy, review, running, running_as,
    running_with, workload,
};
use serde_json::{Value, json};
use webhook::{Operation, Options, Request, Resources, Skip, Subject, pod};

pub(super) fn pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "annotations": {"sluice.dev/gated": "true"}},
        "spec": {"containers": [{"name": "app"}]},
    })
}

pub(super) async fn create(pod: &Value) -> Value {
    answer(&running(), &review("CREATE", pod, &Value::Null)).await
}

#[tokio::test]
async fn the_policy_decides_user_pull_policy_and_resources() {
    let mut own = policy();
    own.run_as_user = None;
    own.image_pull_policy = Some("Always".to_owned());
    let amounts = |text: &str| text.parse().ok();
    own.resources =
        Resources::new(amounts("cpu=5m,memory=8Mi"), amounts("cpu=75m,memory=32Mi")).unwrap();
    let admission = running_as(Options::default(), own);
    let mut pod = pod();
    pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    let response = answer(&admission, &review("CREATE", &pod, &Value::Null)).await;
    let gate = &applied(&pod, &response)["spec"]["initContainers"][0];
    assert_eq!(gate["securityContext"].get("runAsUser"), None);
    assert_eq!(gate["securityContext"]["runAsNonRoot"], true);
    assert_eq!(gate["imagePullPolicy"], "Always");
    assert_eq!(gate["resources"]["limits"]["cpu"], "75m");
}

/// The gate gets no resources of the administrator where the pod has its own as a whole: the administrator's might exceed them. One key is enough,
/// with any amount.
#[tokio::test]
async fn a_pod_that_says_what_it_needs_as_a_whole_gives_the_gate_nothing_of_the_administrators() {
    let mut own = policy();
    let amounts = |text: &str| text.parse().ok();
    own.resources =
        Resources::new(amounts("cpu=5m,memory=8Mi"), amounts("cpu=50m,memory=32Mi")).unwrap();
    let admission = running_as(Options::default(), own);
    for level in [
        json!({"limits": {"cpu": "5m", "memory": "8Mi"}}),
        json!({"requests": {"cpu": "0"}}),
    ] {
        let mut pod = pod();
        pod["spec"]["resources"] = level;
        pod["spec"]["containers"][0]["resources"] = json!({"requests": {"memory": "1Mi"}});
        let response = answer(&admission, &review("CREATE", &pod, &Value::Null)).await;
        let gated = applied(&pod, &response);
        assert_eq!(gated["spec"]["initContainers"][0].get("resources"), None);
        let gated = applied(&pod, &create(&pod).await);
        let resources = &gated["spec"]["initContainers"][0]["resources"];
        assert_eq!(resources, &pod["spec"]["containers"][0]["resources"]);
    }
}

/// The gate gets no user of its own where the pod sets one other than 0, which a policy or a platform may ask for. As user 0 a gate would refuse to
/// run.
#[tokio::test]
async fn the_gate_is_the_user_that_its_pod_is() {
    for (user, expected) in [
        (json!(null), json!(65532)),
        (json!(0), json!(65532)),
        (json!(1500), json!(null)),
    ] {
        let mut pod = pod();
        pod["spec"]["securityContext"] = json!({"runAsUser": user});
        let gated = applied(&pod, &create(&pod).await);
        let context = &gated["spec"]["initContainers"][0]["securityContext"];
        assert_eq!(context["runAsUser"], expected, "{user}");
        assert_eq!(context["runAsNonRoot"], true);
    }
}

/// A pod of a controller is admitted although its list cannot be read: its template may have been stored before sluice was installed, and its pods
/// would be missed.
#[tokio::test]
async fn a_pod_of_a_controller_is_never_refused_for_its_text() {
    for (key, text) in [
        ("sluice.dev/depends-on", "jobb/x"),
        ("sluice.dev/depends-on", "- {kind: Job"),
        ("sluice.dev/timeout", "5"),
        ("sluice.dev/gate-position", "frist"),
        ("sluice.dev/hold", "maybe"),
        ("sluice.dev/colour", "red"),
        ("config.kubernetes.io/depends-on", "batch/Jobb/x"),
    ] {
        let mut bare = pod();
        bare["metadata"]["annotations"][key] = json!(text);
        let mut made = bare.clone();
        made["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "api-1", "uid": "1", "controller": true,
        }]);
        assert_eq!(create(&bare).await["allowed"], false, "{key}: {text}");
        let response = create(&made).await;
        assert_eq!(response["allowed"], true, "{key}: {text}");
        assert_eq!(response["auditAnnotations"]["outcome"], "injected");
        assert_eq!(response.get("warnings"), None, "nobody reads them");
        made["metadata"]["ownerReferences"][0]["controller"] = json!(false);
        assert_eq!(
            create(&made).await["allowed"],
            false,
            "an owner that makes no pods"
        );
    }
}

/// `config.kubernetes.io/depends-on` is not sluice's own key: a list there that is not in its grammar is another product's.
#[tokio::test]
async fn a_list_in_another_format_under_the_key_of_others_asks_for_nothing() {
    const THEIRS: &str = "config.kubernetes.io/depends-on";
    let told = |what: &str| {
        format!(
            "shop/{what}: {THEIRS}: \"my-own-format\" is not in its grammar (group/Kind/name), so this list is taken for \
             another product's, and nothing waits for it; write sluice.dev/depends-on to order pods"
        )
    };
    let text = "batch/Job/x, my-own-format";
    let mut bare = pod();
    bare["metadata"]["annotations"] = json!({THEIRS: text});
    let response = create(&bare).await;
    assert_eq!(response["auditAnnotations"]["outcome"], "skipped-not-asked");
    assert_eq!(response["warnings"], json!([told("Pod/p")]));
    bare["metadata"]["annotations"]["sluice.dev/depends-on"] = json!("job/y");
    let response = create(&bare).await;
    assert_eq!(
        response["auditAnnotations"]["outcome"], "injected",
        "by its other list"
    );

    let plain = workload("apps/v1", "Deployment");
    let listed = annotated(plain.clone(), THEIRS, text);
    for (operation, old) in [("CREATE", &Value::Null), ("UPDATE", &plain)] {
        let response = answer(&running(), &review(operation, &listed, old)).await;
        assert_eq!(response["auditAnnotations"]["outcome"], "skipped-not-asked");
        assert_eq!(response["warnings"], json!([told("Deployment/api")]));
    }
    let mut rolled = listed.clone();
    rolled["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:2");
    let response = answer(&running(), &review("UPDATE", &rolled, &listed)).await;
    assert_eq!(response["auditAnnotations"]["outcome"], "skipped-not-asked");
    assert_eq!(response.get("warnings"), None, "it was there before");
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

/// Admits a pod with these init containers and this `sluice.dev/gate-position`. Returns the names of its init containers afterwards, and the
/// warnings.
async fn order(position: &str, init: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut pod = pod();
    pod["metadata"]["annotations"]["sluice.dev/gate-position"] = json!(position);
    let list = init.iter().map(|name| json!({"name": name}));
    pod["spec"]["initContainers"] = list.collect();
    let response = create(&pod).await;
    let texts = |list: &Value, key: &str| -> Vec<String> {
        let items = list.as_array().into_iter().flatten();
        items
            .filter_map(|item| item.get(key).unwrap_or(item).as_str())
            .map(str::to_owned)
            .collect()
    };
    let gated = applied(&pod, &response);
    (
        texts(&gated["spec"]["initContainers"], "name"),
        texts(&response["warnings"], ""),
    )
}

#[tokio::test]
async fn the_gate_stands_where_the_pod_says() {
    let init = ["fetch", "migrate"];
    for (position, expected) in [
        ("first", ["sluice-gate", "fetch", "migrate"]),
        ("last", ["fetch", "migrate", "sluice-gate"]),
        ("after=fetch", ["fetch", "sluice-gate", "migrate"]),
    ] {
        let (names, warnings) = order(position, &init).await;
        assert_eq!(names, expected);
        assert!(warnings.is_empty(), "{warnings:?}");
    }
    let (names, warnings) = order("after=fetsh", &init).await;
    assert_eq!(names, ["sluice-gate", "fetch", "migrate"], "as without it");
    assert!(
        warnings[0].starts_with("shop/Pod/p: it has no init container \"fetsh\""),
        "{warnings:?}"
    );
    assert!(warnings[0].ends_with("correct the name"), "{warnings:?}");
}

#[tokio::test]
async fn a_position_that_cannot_be_read_is_refused_with_its_place() {
    let mut pod = pod();
    pod["metadata"]["annotations"]["sluice.dev/gate-position"] = json!("frist");
    let response = create(&pod).await;
    assert_eq!(response["allowed"], false);
    let message = response["status"]["message"].as_str().unwrap();
    assert!(
        message.contains("line 1, column 1: unknown word \"frist\"; did you mean \"first\"?"),
        "{message}"
    );
}

/// A copy with a gate but without the label gets the label. `kubectl debug --copy-to` keeps the containers and drops labels, and annotations unless
/// it is told otherwise.
#[tokio::test]
async fn a_copy_gets_the_label_by_which_its_gate_is_answered() {
    let gated = applied(&pod(), &create(&pod()).await);
    for annotated in [false, true] {
        let mut copy = gated.clone();
        let metadata = copy["metadata"].as_object_mut().unwrap();
        metadata.remove("labels");
        if !annotated {
            metadata.remove("annotations");
        }
        let response = create(&copy).await;
        assert_eq!(response["auditAnnotations"]["outcome"], "labelled");
        let made = applied(&copy, &response);
        assert_eq!(
            made["metadata"]["labels"],
            json!({"sluice.dev/gated": "true"})
        );
        assert_eq!(made["spec"], copy["spec"]);
        assert_eq!(
            create(&made).await["auditAnnotations"]["outcome"],
            "skipped-already-injected"
        );
    }
}

#[tokio::test]
async fn a_bundle_that_kubelets_renew_is_mounted_beside_the_token() {
    let gated = async |bundle: Option<&str>| {
        let mut own = policy();
        own.cluster_trust_bundle = bundle.map(str::to_owned);
        let admission = running_as(Options::default(), own);
        let response = answer(&admission, &review("CREATE", &pod(), &Value::Null)).await;
        applied(&pod(), &response)
    };
    let mut expected = gated(None).await;
    let source = json!({"clusterTrustBundle": {"name": "sluice", "path": "sluice-ca.pem", "optional": true}});
    let file = "/var/run/secrets/kubernetes.io/serviceaccount/sluice-ca.pem";
    let variable = json!({"name": "SLUICE_CA_FILE", "value": file});
    for (list, item) in [
        ("/spec/volumes/0/projected/sources", source),
        ("/spec/initContainers/0/env", variable),
    ] {
        let list = expected.pointer_mut(list).and_then(Value::as_array_mut);
        list.unwrap().push(item);
    }
    assert_eq!(gated(Some("sluice")).await, expected);
}

#[tokio::test]
async fn pull_secrets_are_added_beside_those_that_are_there() {
    let mut own = policy();
    own.image_pull_secrets = vec!["mirror".to_owned(), "shared".to_owned()];
    let admission = running_as(Options::default(), own);
    for (before, after) in [
        (json!(null), json!([{"name": "mirror"}, {"name": "shared"}])),
        (
            json!([{"name": "shared"}, {"name": "app"}]),
            json!([{"name": "shared"}, {"name": "app"}, {"name": "mirror"}]),
        ),
    ] {
        let mut pod = pod();
        pod["spec"]["imagePullSecrets"] = before;
        let response = answer(&admission, &review("CREATE", &pod, &Value::Null)).await;
        let gated = applied(&pod, &response);
        assert_eq!(gated["spec"]["imagePullSecrets"], after);
        let again = answer(&admission, &review("CREATE", &gated, &Value::Null)).await;
        assert!(again.get("patch").is_none());
    }
}

/// The gate mounts its own token at the place of the pod's: the ServiceAccount plugin runs after sluice, and adds no mount where there is one.
#[tokio::test]
async fn the_gate_mounts_its_own_token_where_the_pods_would_be() {
    let gated = applied(&pod(), &create(&pod()).await);
    let mounts = &gated["spec"]["initContainers"][0]["volumeMounts"];
    assert_eq!(
        mounts[0],
        json!({"name": "sluice-token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true})
    );
}

/// The gate gets the IP address of the Service first, because the resolver of such a pod may not know the cluster's names.
#[tokio::test]
async fn a_pod_with_a_resolver_of_its_own_is_given_an_address() {
    let mut pod = pod();
    pod["spec"]["dnsPolicy"] = json!("None");
    pod["spec"]["dnsConfig"] = json!({"nameservers": ["192.0.2.1"]});
    let gated = applied(&pod, &create(&pod).await);
    let addresses = gated["spec"]["initContainers"][0]["env"][0]["value"].as_str();
    assert!(addresses.unwrap().starts_with("10.96.0.7:9764,"));
    assert_eq!(gated["spec"]["dnsConfig"], pod["spec"]["dnsConfig"]);
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
    let options = Options {
        config_depends_on: false,
        ..Options::default()
    };
    let decision = pod::decide(&request, options, Some(&policy().into()));
    assert_eq!(decision, Skip::NotAsked.into());
}

#[tokio::test]
async fn a_namespace_may_ask_for_a_gate_in_every_pod() {
    let mut plain = pod();
    plain["metadata"]["annotations"] = json!({});
    let asked = review("CREATE", &plain, &Value::Null);
    let admission = running();
    assert!(answer(&admission, &asked).await.get("patch").is_none());
    let response = answer_at(&admission, "/admit/every-pod", &asked).await;
    let gated = applied(&plain, &response);
    assert_eq!(gated["spec"]["initContainers"][0]["name"], "sluice-gate");
    assert_eq!(gated["metadata"]["labels"]["sluice.dev/gated"], "true");
    let again = review("CREATE", &gated, &Value::Null);
    let response = answer_at(&admission, "/admit/every-pod", &again).await;
    assert!(response.get("patch").is_none(), "once is enough");
}

/// A pod for Windows is admitted ungated with a warning where `skip_windows` is set: there is no gate for Windows, and the administrator may prefer
/// that to a refusal.
#[tokio::test]
async fn a_windows_pod_may_start_without_a_gate() {
    let mut windows = pod();
    windows["metadata"]["annotations"] = json!({"sluice.dev/depends-on": "svc/db"});
    windows["spec"]["nodeSelector"] = json!({"kubernetes.io/os": "windows"});
    let options = Options {
        skip_windows: true,
        ..Options::default()
    };
    let admission = running_with(options);
    let response = answer(&admission, &review("CREATE", &windows, &Value::Null)).await;
    assert_eq!(response["auditAnnotations"]["outcome"], "skipped-windows");
    let told =
        "shop/Pod/p: it runs on Windows, for which sluice has no gate: it starts without waiting";
    assert_eq!(response["warnings"], json!([told]));

    let mut workload = workload("apps/v1", "Deployment");
    workload["spec"]["template"]["spec"]["os"] = json!({"name": "windows"});
    let workload = annotated(workload, "sluice.dev/depends-on", "svc/db");
    let response = answer(&admission, &review("CREATE", &workload, &Value::Null)).await;
    let told = response["warnings"].to_string();
    assert!(told.contains("runs on Windows"), "{told}");
}
