//! Tests of `injection.backend`, the choice between webhook and policies, and of the policy that refuses a pod that asked for a gate and got none.

use super::helm::{Manifest, Render, helm};
use super::rights::rules;
use super::strings;
use serde_json::{Value, json};

#[test]
fn the_backstop_is_left_out_where_it_is_turned_off() {
    let manifest = render!("backstop.enabled=false");
    for kind in [
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ] {
        let names = manifest.all(kind).into_iter();
        let names: Vec<Value> = names.map(|it| it["metadata"]["name"].clone()).collect();
        assert_eq!(
            names,
            [
                "sluice-custom-kinds",
                "sluice-foreign-keys",
                "sluice-idle-lists",
                "sluice-own-configuration"
            ]
        );
    }
}

#[test]
fn auto_takes_the_policy_where_it_is_served() {
    const SERVED: &[&str] = &["admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"];
    let Some(helm) = helm() else { return };
    let policies = |flag: &str, version: &str| {
        let render = Render::new(&helm)
            .flags(&[flag])
            .kubernetes(version, SERVED);
        render.manifest().all("MutatingAdmissionPolicy").len()
    };
    assert_eq!(policies("injection.backend=auto", "1.36.3"), 3);
    assert_eq!(policies("injection.backend=auto", "1.35.9"), 0);
    assert_eq!(policies("injection.backend=webhook", "1.36.3"), 0);
    assert_eq!(policies("injection.backend=policy", "1.36.3"), 3);
}

/// The policies make the API server itself give pods their gates. So a failure of the webhook is ignored, except for pods of a namespace in which
/// every pod gets a gate; and the controller fills the parameters of the policies.
#[test]
fn with_the_policy_the_webhook_only_advises() {
    let manifest = render!("injection.backend=policy", "admission.failurePolicy=Fail");
    let webhooks = manifest.only("MutatingWebhookConfiguration")["webhooks"].clone();
    for webhook in webhooks.as_array().expect("webhooks") {
        let every = webhook["name"] == "every-pod.sluice.dev";
        let policy = if every { "Fail" } else { "Ignore" };
        assert_eq!(webhook["failurePolicy"], policy);
    }
    for policy in manifest.all("MutatingAdmissionPolicy") {
        let pods = policy["metadata"]["name"] == "sluice-pods";
        let failure = if pods { "Ignore" } else { "Fail" };
        assert_eq!(policy["spec"]["failurePolicy"], failure);
        assert_eq!(policy["spec"]["reinvocationPolicy"], "IfNeeded");
    }
    let injection = |object: &&Value| object["metadata"]["name"] == "sluice-injection";
    let config_maps = manifest.all("ConfigMap");
    let parameters = config_maps.iter().find(injection).expect("parameters");
    assert_eq!(parameters.get("data"), None, "the controller's");
    let args = &manifest.only("Deployment")["spec"]["template"]["spec"]["containers"][0]["args"];
    assert!(strings(args).contains(&"--injection-config-map=sluice-injection"));
    let written =
        |(_, rule): &(String, Value)| rule["resourceNames"] == json!(["sluice-injection"]);
    let rule = rules(&manifest).into_iter().find(written).expect("a rule");
    assert_eq!(
        (rule.0.as_str(), strings(&rule.1["verbs"])),
        ("Role", vec!["get", "patch"])
    );
}

/// A policy that demands its parameters would refuse every pod while the parameters are missing, even one that asks for no gate. So the
/// policy for pods does not demand them, and another one without parameters refuses a pod that asked for a gate and got none.
#[test]
fn the_policy_refuses_only_pods_that_ask() {
    let flags = ["injection.backend=policy"];
    let manifest = render!(flags[0]);
    let pods = |kind: &str, manifest: &Manifest| {
        let named = |it: &Value| it["metadata"]["name"] == "sluice-pods";
        manifest.all(kind).into_iter().find(named)
    };
    let made = pods("MutatingAdmissionPolicy", &manifest).expect("pods");
    let bound = pods("MutatingAdmissionPolicyBinding", &manifest).expect("pods");
    assert_eq!(
        bound["spec"]["paramRef"]["parameterNotFoundAction"],
        "Allow"
    );
    let refused = pods("ValidatingAdmissionPolicy", &manifest).expect("pods");
    assert_eq!(refused["spec"]["validations"][0]["reason"], "Forbidden");
    assert!(refused["spec"]["paramKind"].is_null());
    assert_eq!(
        refused["spec"]["matchConditions"],
        made["spec"]["matchConditions"]
    );
    let ignored = render!(flags[0], "admission.failurePolicy=Ignore");
    assert_eq!(pods("ValidatingAdmissionPolicy", &ignored), None);
}

#[test]
fn the_policy_puts_the_gates_settings_into_pods() {
    let text = |flags: &[&str]| {
        let manifest = Render::new(&helm()?).flags(flags).manifest();
        let policies = manifest.all("MutatingAdmissionPolicy");
        let pods = policies
            .iter()
            .find(|it| it["metadata"]["name"] == "sluice-pods");
        Some(pods.expect("pods")["spec"]["mutations"].to_string())
    };
    let Some(default) = text(&["injection.backend=policy"]) else {
        return;
    };
    assert!(default.contains("runAsUser: 65532") && !default.contains("imagePullSecrets"));
    assert!(!default.contains("clusterTrustBundle") && !default.contains("SLUICE_CA_FILE"));
    let own = text(&[
        "injection.backend=policy",
        "gate.runAsUser=null",
        "gate.image.pullSecrets={mirror,shared}",
        "gate.resources.limits.cpu=75m",
    ]);
    let own = own.expect("helm is here");
    assert!(!own.contains("runAsUser"));
    assert!(own.contains("['mirror', 'shared'].filter") && own.contains("'75m'"));
}

/// The image volumes are named in the rules and in the chart: both must agree, since the API server's policies know only the chart.
#[test]
fn the_policy_knows_the_image_volumes_of_the_rules() {
    let text = |flag: &str| {
        let manifest = Render::new(&helm()?)
            .flags(&["injection.backend=policy", flag])
            .manifest();
        let policies = manifest.all("MutatingAdmissionPolicy");
        let pods = policies
            .iter()
            .find(|it| it["metadata"]["name"] == "sluice-pods");
        Some(pods.expect("pods")["spec"].to_string())
    };
    let Some(default) = text("prefetch.default=false") else {
        return;
    };
    let names = format!("['{}']", rules::gate::PREFETCH_VOLUMES.join("', '"));
    assert!(default.contains(&names), "{default}");
    let policy = format!("pullPolicy: '{}'", rules::gate::PULL_POLICY);
    assert!(default.contains(&policy), "{default}");
    assert!(default.contains("== 'true' : false"), "{default}");
    let all = text("prefetch.default=true").expect("helm is here");
    assert!(all.contains("== 'true' : true"), "{all}");
}

/// The policy that refuses a pod without a gate looks for the keys that are honoured, and gives the reason `Forbidden`: the API server's default
/// reason makes tools delete the object.
#[test]
fn the_backstop_asks_for_what_the_webhook_gates_and_refuses_gently() {
    let policy = |manifest: &Manifest| manifest.only("ValidatingAdmissionPolicy")["spec"].clone();
    let spec = policy(&render!());
    assert_eq!(spec["validations"][0]["reason"], "Forbidden");
    let keys = |spec: &Value| spec["matchConditions"][1]["expression"].to_string();
    assert!(keys(&spec).contains("config.kubernetes.io/depends-on"));
    let own = policy(&render!("annotations.configDependsOn=false"));
    assert!(!keys(&own).contains("config.kubernetes.io/depends-on"));
}
