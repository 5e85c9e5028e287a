//! Tokens as the kubelet asks for them, and the API server's review of each.

use crate::status::token::forged;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// The time of the tests, in seconds since 1970: every expired token of a test ends before it.
const NOW: i64 = 1;
/// The UID of a pod that was deleted.
pub(super) const GONE: &str = "u0";

/// The token of the gate of the pod `api-1`, which is valid at any time.
pub(super) fn its_own() -> String {
    token(&json!({"nbf": -1_000_000, "exp": 1_000_000}))
}

/// A token of the pod `api-1` as the kubelet asks for it, with the claims `own` in place of the usual ones.
pub(super) fn token(own: &Value) -> String {
    let mut claims = json!({
        "iss": "https://kubernetes.default.svc.cluster.local", "aud": ["sluice"], "exp": 600, "iat": 0, "nbf": 0,
        "sub": "system:serviceaccount:shop:default",
        "kubernetes.io": {"namespace": "shop", "pod": {"name": "api-1", "uid": "u1"}, "serviceaccount": {"name": "default", "uid": "a1"}},
    });
    for (claim, value) in own.as_object().unwrap() {
        claims[claim] = value.clone();
    }
    forged(&claims, "c2lnbmVk")
}

/// The status of the API server's review of a token, as Kubernetes answers. It refuses a token of another audience, an expired one, and one of the
/// pod [`GONE`]. It accepts a token of the user `jane` without an audience, and one without a pod without the extra fields.
pub(super) fn reviewed(review: &Value) -> Value {
    let token = review["spec"]["token"].as_str().unwrap_or_default();
    let Some(claims) = claims(token) else {
        return json!({"authenticated": false, "error": "no"});
    };
    let is_for = |audience: &Value| {
        review["spec"]["audiences"]
            .as_array()
            .unwrap()
            .contains(audience)
    };
    let for_us = claims["aud"].as_array().unwrap().iter().any(is_for);
    let pod = &claims["kubernetes.io"]["pod"];
    match &claims {
        // A user that is no service account comes by a way without audiences.
        user if user["sub"] == "jane" => {
            json!({"authenticated": true, "user": {"username": "jane"}})
        }
        _ if !for_us || claims["exp"].as_i64() < Some(NOW) || pod["uid"] == GONE => {
            json!({"authenticated": false, "error": "no"})
        }
        _ if pod.is_null() => {
            json!({"authenticated": true, "audiences": ["sluice"], "user": {"username": claims["sub"]}})
        }
        _ => vouched(
            "default",
            pod["name"].as_str().unwrap(),
            pod["uid"].as_str().unwrap(),
        ),
    }
}

fn vouched(account: &str, pod: &str, uid: &str) -> Value {
    json!({
        "authenticated": true, "audiences": ["sluice"],
        "user": {"username": format!("system:serviceaccount:shop:{account}"), "extra": {
            "authentication.kubernetes.io/pod-name": [pod], "authentication.kubernetes.io/pod-uid": [uid],
        }},
    })
}

fn claims(token: &str) -> Option<Value> {
    let part = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&part).ok()
}
