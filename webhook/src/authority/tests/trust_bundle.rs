//! The ClusterTrustBundle, where the administrator wants one.

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};

use super::{fake::refuse, *};

const GROUP: &str = "/apis/certificates.k8s.io/{version}";

/// The routes of the fake API server for ClusterTrustBundles: discovery of their API group, and reading, creating and replacing one.
pub(super) fn routes() -> Router<Fake> {
    let all = format!("{GROUP}/clustertrustbundles");
    let one = format!("{all}/{{name}}");
    Router::new()
        .route(GROUP, get(discover))
        .route(&all, axum::routing::post(create))
        .route(&one, get(read).put(update))
}

/// Answers the discovery of one version of the API group. Only the version that [`Fake`] serves has ClusterTrustBundles; `v1` is always
/// there, for CertificateSigningRequests.
async fn discover(State(fake): State<Fake>, Path(version): Path<String>) -> Response {
    let serves = fake.objects().serves == Some(version.as_str());
    if !serves && version != "v1" {
        return refuse(StatusCode::NOT_FOUND, "NotFound");
    }
    let kind = if serves {
        "ClusterTrustBundle"
    } else {
        "CertificateSigningRequest"
    };
    let resource =
        json!({"name": "x", "singularName": "", "namespaced": false, "kind": kind, "verbs": []});
    let group = format!("certificates.k8s.io/{version}");
    Json(json!({"kind": "APIResourceList", "groupVersion": group, "resources": [resource]}))
        .into_response()
}

async fn read(State(fake): State<Fake>, Path((version, name)): Path<(String, String)>) -> Response {
    let objects = fake.objects();
    let found = objects.trust_bundle.clone();
    let found = found.filter(|_| name == "sluice" && objects.serves == Some(version.as_str()));
    found.map_or_else(
        || refuse(StatusCode::NOT_FOUND, "NotFound"),
        |found| Json(found).into_response(),
    )
}

async fn create(
    State(fake): State<Fake>,
    Path(version): Path<String>,
    Json(made): Json<Value>,
) -> Response {
    let mut objects = fake.objects();
    if objects.serves != Some(version.as_str()) {
        return refuse(StatusCode::NOT_FOUND, "NotFound");
    }
    assert_eq!(made["apiVersion"], format!("certificates.k8s.io/{version}"));
    assert_eq!(made["metadata"]["name"], "sluice");
    let made = objects.versioned(made, "create bundle");
    objects.trust_bundle = Some(made.clone());
    objects.answer(made)
}

async fn update(State(fake): State<Fake>, Json(wanted): Json<Value>) -> Response {
    let mut objects = fake.objects();
    let version = |it: &Value| it["metadata"]["resourceVersion"].clone();
    if objects.trust_bundle.as_ref().map(version) != Some(version(&wanted)) {
        return refuse(StatusCode::CONFLICT, "Conflict");
    }
    let updated = objects.versioned(wanted, "update bundle");
    objects.trust_bundle = Some(updated.clone());
    objects.answer(updated)
}

fn writing(fake: &Fake) -> Replica {
    let own = replica(fake).authority.config;
    let config = Config {
        cluster_trust_bundle: Some("sluice".to_owned()),
        ..own
    };
    replica_of(&fake.client(), config)
}

fn text(fake: &Fake) -> Value {
    let objects = fake.objects();
    let found = objects.trust_bundle.as_ref();
    found.map_or(Value::Null, |it| it["spec"]["trustBundle"].clone())
}

#[tokio::test]
async fn the_bundle_is_written_for_kubelets_and_mended() {
    for version in ["v1", "v1beta1"] {
        let fake = Fake::with_configuration();
        fake.objects().serves = Some(version);
        let mut replica = writing(&fake);
        replica.round(day(0)).await.unwrap();
        let bundle = json!(replica.bundle());
        assert_eq!(text(&fake), bundle);
        let owner =
            fake.objects().trust_bundle.clone().unwrap()["metadata"]["ownerReferences"].take();
        assert_eq!(
            (&owner[0]["kind"], &owner[0]["uid"]),
            (&json!("MutatingWebhookConfiguration"), &json!("u-1"))
        );
        replica.round(day(0)).await.unwrap();
        let written = ["create", "patch", "create bundle"];
        assert_eq!(fake.objects().writes, written, "once");

        fake.objects().trust_bundle.as_mut().unwrap()["spec"]["trustBundle"] = json!("other");
        replica.round(day(0)).await.unwrap();
        assert_eq!(text(&fake), bundle, "overwritten");
        fake.objects().trust_bundle = None;
        replica.round(day(0)).await.unwrap();
        assert_eq!(text(&fake), bundle, "deleted");
    }
}

#[tokio::test]
async fn a_new_ca_is_in_the_bundle_of_kubelets() {
    let fake = Fake::with_configuration();
    fake.objects().serves = Some("v1beta1");
    writing(&fake).round(day(0)).await.unwrap();
    let old = text(&fake);
    fake.objects().secret = None;
    let mut fresh = writing(&fake);
    fresh.finds_no_ca_for_long(day(1)).await;
    let new = text(&fake);
    assert_ne!(new, old);
    assert_eq!(new, json!(fresh.bundle()));
    let _ = fresh.round(day(1)).await;
    assert_eq!(text(&fake), new, "and stays");
}

/// A missing API, or a missing configuration to own the bundle, costs nothing else.
#[tokio::test]
async fn without_it_everything_else_goes_on() {
    let fake = Fake::with_configuration();
    let mut replica = writing(&fake);
    let error = replica.round(day(0)).await.unwrap_err().to_string();
    assert!(
        error.starts_with("the API server serves no ClusterTrustBundle"),
        "{error}"
    );
    assert_eq!(replica.missing(), Vec::<String>::new());
    assert_eq!(
        fake.objects().bundles(),
        [replica.bundle(), replica.bundle()]
    );

    fake.objects().serves = Some("v1beta1");
    replica.round(day(0)).await.unwrap();
    assert_eq!(text(&fake), json!(replica.bundle()));
    // A newer API server serves another version, and no longer the old one.
    fake.objects().serves = Some("v1");
    replica.round(day(0)).await.unwrap_err();
    replica.round(day(0)).await.unwrap();

    let configuration = fake.objects().configuration.take();
    fake.objects().trust_bundle = None;
    replica.round(day(0)).await.unwrap_err();
    assert_eq!(
        text(&fake),
        Value::Null,
        "nothing is written without a configuration"
    );
    fake.objects().configuration = configuration;
    replica.round(day(0)).await.unwrap();
    assert_eq!(text(&fake), json!(replica.bundle()));
}
