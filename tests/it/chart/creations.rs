//! The webhook configuration of held creations: when it is rendered, and the requests for which the API server calls it.

use super::helm::{Render, helm};
use super::strings;
use rules::health::CelExpression;
use serde_json::{Value, json};

const ON: &str = "creationHolds.enabled=true,creationHolds.apiServers={10.0.0.0/24,fd00::/64}";
const NAME: &str = "0-sluice-creations";

fn configuration() -> Option<Value> {
    let manifest = Render::new(&helm()?).flags(&[ON]).manifest();
    let all = manifest.all("MutatingWebhookConfiguration");
    let found = all.into_iter().find(|it| it["metadata"]["name"] == NAME);
    Some(found.expect("it is rendered").clone())
}

/// Whether all match conditions hold, so that the API server asks sluice about the creation of this object.
fn is_asked(configuration: &Value, object: &Value, request: &Value) -> bool {
    let conditions = configuration["webhooks"][0]["matchConditions"].as_array();
    conditions.expect("conditions").iter().all(|condition| {
        let text = condition["expression"].as_str().expect("a text");
        let cel = CelExpression::compile(text).expect("it is CEL");
        let about = json!({"object": object, "request": request});
        cel.holds(&about).expect(text)
    })
}

#[test]
fn it_is_there_only_where_the_administrator_says_who_may_ask() {
    let manifest = render!();
    assert!(!manifest.text().contains("creations"));
    let Some(helm) = helm() else { return };
    let refused = Render::new(&helm)
        .flags(&["creationHolds.enabled=true"])
        .run();
    let refused = refused.expect_err("nothing says who may ask");
    assert!(refused.contains("creationHolds.apiServers"), "{refused}");
    let manifest = render!(ON);
    let deployment = manifest.only("Deployment");
    let args = strings(&deployment["spec"]["template"]["spec"]["containers"][0]["args"]);
    for flag in [
        "--creations-configuration=0-sluice-creations",
        "--api-servers=10.0.0.0/24,fd00::/64",
    ] {
        assert!(args.contains(&flag), "{args:?}");
    }
    let proven = render!("creationHolds.enabled=true", "admission.clientCA=x");
    assert_eq!(proven.all("MutatingWebhookConfiguration").len(), 2);
}

#[test]
fn it_is_asked_before_others_and_its_absence_refuses() {
    let Some(configuration) = configuration() else {
        return;
    };
    // API servers sort by the names of configurations, and ask mutating webhooks first.
    for other in [
        "0-sluice-webhook",
        "1password",
        "aws-load-balancer",
        "cert-manager-webhook",
        "sluice",
    ] {
        assert!(NAME < other, "{other}");
    }
    let webhook = &configuration["webhooks"][0];
    assert_eq!(webhook["failurePolicy"], "Fail");
    assert_eq!(webhook["reinvocationPolicy"], "Never");
    assert_eq!(webhook["sideEffects"], "NoneOnDryRun");
    assert_eq!(webhook["rules"][0]["operations"], json!(["CREATE"]));
    let kept_out = webhook["namespaceSelector"]["matchExpressions"][0]["values"].clone();
    let kept_out = strings(&kept_out);
    assert!(kept_out.contains(&"kube-system") && kept_out.contains(&"sluice-system"));
}

#[test]
fn only_an_object_that_asks_reaches_it() {
    let Some(configuration) = configuration() else {
        return;
    };
    let asks = |object: &Value, request: &Value| is_asked(&configuration, object, request);
    let of = |group: &str, resource: &str| json!({"resource": {"group": group, "resource": resource}, "dryRun": false});
    let issuers = of("cert-manager.io", "issuers");
    let object =
        |annotations: Value| json!({"metadata": {"name": "ca", "annotations": annotations}});
    let held = object(json!({"sluice.dev/hold": "create"}));
    assert!(asks(&held, &issuers));
    for other in [
        json!({}),
        json!({"metadata": {"name": "ca"}}),
        object(json!({"team": "a"})),
        object(json!({"sluice.dev/depends-on": "svc/db"})),
        object(json!({"sluice.dev/hold": "true"})),
        object(json!({"sluice.dev/hold": "suspend"})),
    ] {
        let condition = &configuration["webhooks"][0]["matchConditions"][0];
        let text = condition["expression"].as_str().expect("a text");
        let cel = CelExpression::compile(text).expect("it is CEL");
        let about = json!({"object": other, "request": issuers});
        assert_eq!(cel.holds(&about), Ok(false), "{other}");
    }
    let mut dry = issuers.clone();
    dry["dryRun"] = json!(true);
    assert!(!asks(&held, &dry));
    let mut owned = held.clone();
    owned["metadata"]["ownerReferences"] = json!([{"controller": true}]);
    assert!(!asks(&owned, &issuers), "a controller copies annotations");
    owned["metadata"]["ownerReferences"] = json!([{"name": "x"}]);
    assert!(asks(&owned, &issuers));
    for (group, resource) in [
        ("", "events"),
        ("events.k8s.io", "events"),
        ("coordination.k8s.io", "leases"),
        ("authentication.k8s.io", "tokenreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
        ("certificates.k8s.io", "certificatesigningrequests"),
        ("", "nodes"),
    ] {
        assert!(!asks(&held, &of(group, resource)), "{resource}");
    }
    for resource in ["configmaps", "namespaces", "services", "pods"] {
        assert!(asks(&held, &of("", resource)), "{resource}");
    }
}

/// A policy of the chart warns of a list on an object without pods, and where creations are not held also of `sluice.dev/hold: create`.
#[test]
fn the_api_server_warns_of_an_idle_list_and_of_a_hold_that_is_off() {
    let policy = |flag: &str| {
        let manifest = Render::new(&helm()?).flags(&[flag]).manifest();
        let all = manifest.all("ValidatingAdmissionPolicy");
        let found = all
            .into_iter()
            .find(|it| it["metadata"]["name"] == "sluice-idle-lists");
        Some(found.expect("it is rendered").clone())
    };
    let (Some(on), Some(off)) = (policy(ON), policy("replicas=2")) else {
        return;
    };
    let listed = json!({"sluice.dev/depends-on": "svc/db"});
    let mut held = listed.clone();
    held["sluice.dev/hold"] = json!("create");
    let is = |text: &Value, annotations: &Value| {
        let cel = CelExpression::compile(text.as_str().expect("a text")).expect("it is CEL");
        cel.holds(&json!({"object": {"metadata": {"annotations": annotations}}}))
    };
    let warns = |policy: &Value, annotations: &Value| {
        let conditions = policy["spec"]["matchConditions"].as_array();
        let mut conditions = conditions.expect("conditions").iter();
        conditions.all(|it| is(&it["expression"], annotations) == Ok(true))
    };
    assert!(warns(&on, &listed) && !warns(&on, &held));
    assert!(warns(&off, &listed) && warns(&off, &held));
    let [of_hold, _] = off["spec"]["validations"]
        .as_array()
        .expect("two")
        .as_slice()
    else {
        panic!("{off}")
    };
    assert_eq!(is(&of_hold["expression"], &held), Ok(false));
    assert_eq!(is(&of_hold["expression"], &listed), Ok(true));
    let message = of_hold["message"].as_str().expect("a text");
    assert!(message.contains("creationHolds.enabled"), "{message}");
}
