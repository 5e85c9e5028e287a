//! Health of custom resources by their own annotations, and by the library of health rules.

use harness::cluster::{Defined, Namespace, deployment, with_namespace};
use serde_json::json;

/// Health annotations of an object whose kind kstatus always takes for current.
struct Form {
    name: &'static str,
    annotations: &'static [(&'static str, &'static str)],
    /// A status with which the expressions are not met.
    not_yet: &'static str,
    /// The change of the status with which the expressions are met.
    then: &'static str,
}

const FORMS: [Form; 3] = [
    Form {
        name: "list",
        annotations: &[(
            "sluice.dev/health",
            "- /status/ready >= 2\n- /status/shards/each/state != Moving\n",
        )],
        not_yet: r#"{"ready": 2, "shards": [{"state": "Settled"}, {"state": "Moving"}]}"#,
        then: r#"{"shards": [{"state": "Settled"}, {"state": "Settled"}]}"#,
    },
    Form {
        name: "path",
        annotations: &[
            ("sluice.dev/health.status.shards.each.state", "== Settled"),
            ("sluice.dev/health.status.ready", ">= 1"),
        ],
        not_yet: r#"{"ready": 0, "shards": [{"state": "Settled"}]}"#,
        then: r#"{"ready": 1}"#,
    },
    Form {
        name: "pair",
        annotations: &[
            (
                "helm.sh/readiness-success",
                r#"["{.word} == \"Settled\"", "{.ready} >= 1"]"#,
            ),
            ("helm.sh/readiness-failure", r#"["{.lost} > 0"]"#),
        ],
        not_yet: r#"{"word": "Moving", "lost": 0}"#,
        then: r#"{"ready": 1}"#,
    },
];

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn each_form_of_health_decides_when_its_object_counts() {
    with_namespace("health", async |ns| {
        let widget = Defined::widget(ns);
        widget.grant(ns).await;
        widget.define(ns).await;
        for form in &FORMS {
            let (object, annotations) = (widget.one(form.name), form.annotations);
            let object = annotations
                .iter()
                .fold(object, |object, (key, value)| object.annotated(key, value));
            let api = deployment(form.name).depends_on(&widget.dependency(form.name));
            ns.apply([object, api]).await.ok();
            is_now(ns, &widget, form.name, form.not_yet).await;
        }
        for form in &FORMS {
            let api = ns.pod_of(form.name).await;
            api.waits_for(&widget.dependency(form.name), "HealthNotMet")
                .await;
            is_now(ns, &widget, form.name, form.then).await;
            api.starts().await;
        }
    })
    .await;
}

async fn is_now(ns: &Namespace, widget: &Defined, name: &str, status: &str) {
    let status = serde_json::from_str(status).expect("JSON");
    ns.set_status(&widget.reference(name), &status).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_expression_of_failure_outweighs_those_of_success() {
    with_namespace("failure", async |ns| {
        let widget = Defined::widget(ns);
        widget.grant(ns).await;
        widget.define(ns).await;
        let (success, failure) = (r#"["{.ready} >= 1"]"#, r#"["{.lost} > 0"]"#);
        let one = widget.one("one");
        let one = one.annotated("helm.sh/readiness-success", success);
        let one = one.annotated("helm.sh/readiness-failure", failure);
        let api = deployment("api").depends_on(&widget.dependency("one"));
        ns.apply([one, api]).await.ok();
        let reference = widget.reference("one");
        ns.set_status(&reference, &json!({"ready": 1, "lost": 1}))
            .await;
        let api = ns.pod_of("api").await;
        api.waits_for(&widget.dependency("one"), "HealthFailed")
            .await;

        ns.set_status(&reference, &json!({"lost": 0})).await;
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn health_on_a_kind_of_kubernetes_takes_the_place_of_its_rule() {
    with_namespace("health-rule", async |ns| {
        let db = deployment("db").with("/spec/replicas", 2).ready_when_told();
        let db = db.annotated("sluice.dev/health", "/status/readyReplicas >= 1");
        let api = deployment("api").depends_on("deployment/db");
        ns.apply([db, api]).await.ok();
        let api = ns.pod_of("api").await;
        for db in ns.pods_of("db", 2).await {
            db.says("started").await;
        }
        api.waits_for("Deployment/db", "HealthNotMet").await;

        ns.tell_ready("deployment/db").await; // one of the two
        api.starts().await;
    })
    .await;
}

/// The library knows the status field of a known kind: kstatus takes its objects for current as soon as they exist.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_library_knows_the_fields_of_known_kinds() {
    with_namespace("library", async |ns| {
        let postgresql = Defined::new("acid.zalan.do", "v1", "postgresql");
        let there = ns.kubectl(["get", &postgresql.definition()]).await;
        if there.code == Some(0) {
            eprintln!("skipped: somebody runs that operator here");
            return;
        }
        postgresql.grant(ns).await;
        postgresql.define(ns).await;
        let api = deployment("api").depends_on(&postgresql.dependency("one"));
        ns.apply([postgresql.one("one"), api]).await.ok();
        let reference = postgresql.reference("one");
        ns.set_status(&reference, &json!({"PostgresClusterStatus": "Creating"}))
            .await;
        let api = ns.pod_of("api").await;
        api.waits_for(&postgresql.dependency("one"), "InProgress")
            .await;
        api.stays_shut().await;

        ns.set_status(&reference, &json!({"PostgresClusterStatus": "Running"}))
            .await;
        api.starts().await;
    })
    .await;
}
