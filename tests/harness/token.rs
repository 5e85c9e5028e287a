//! Tokens as Kubernetes issues them to gates, with a forged signature.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use rules::keys::AUDIENCE;
use serde_json::{Value, json};

/// Returns a token of the gate in this pod, valid for ten minutes from now. Its signature is no real one.
pub fn of_gate(namespace: &str, pod: &str, uid: &str) -> String {
    let part = |value: Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let now = Timestamp::now();
    let until = now + SignedDuration::from_mins(10);
    let claims = json!({
        "aud": [AUDIENCE], "iss": "https://kubernetes.default.svc.cluster.local",
        "sub": format!("system:serviceaccount:{namespace}:default"),
        "iat": now.as_second(), "nbf": now.as_second(), "exp": until.as_second(),
        "kubernetes.io": {
            "namespace": namespace, "pod": {"name": pod, "uid": uid}, "serviceaccount": {"name": "default"},
        },
    });
    let head = json!({"alg": "RS256", "kid": "forged"});
    format!("{}.{}.{}", part(head), part(claims), part(json!(pod)))
}

/// Returns the namespace, the pod's name and the pod's UID in a token.
///
/// # Panics
///
/// The text is no token.
pub fn names(token: &str) -> [String; 3] {
    let claims = token.split('.').nth(1).expect("a token has three parts");
    let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).expect("base64");
    let claims: Value = serde_json::from_slice(&claims).expect("JSON");
    let bound = &claims["kubernetes.io"];
    let names = [
        &bound["namespace"],
        &bound["pod"]["name"],
        &bound["pod"]["uid"],
    ];
    names.map(|name| name.as_str().unwrap_or_default().to_owned())
}
