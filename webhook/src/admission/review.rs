//! AdmissionReview v1, as much of it as is used.
//!
//! Not kube's types: they tie the patch to kube's version of json-patch, and their answer to a body that cannot be read
//! has no uid, which the API server reports to the user as a mismatch of uids.

use crate::lean;
use serde::de::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// The request in a review.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AdmissionRequest {
    pub(super) uid: String,
    pub(super) kind: GroupKind,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) operation: String,
    #[serde(skip)]
    pub(super) object: Value,
    #[serde(skip)]
    pub(super) old_object: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GroupKind {
    pub(super) group: String,
    pub(super) kind: String,
}

/// Why a body is not a review.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("the body is not JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("the body is not an {KIND} of {API_VERSION}")]
    NotAReview,
    #[error("the review has no request with a uid")]
    NoRequest,
    /// The only one that can be answered as a review.
    #[error("the request cannot be read: {error}")]
    Malformed {
        uid: String,
        error: serde_json::Error,
    },
}

impl AdmissionRequest {
    /// Reads a review, each object of it once. `serde_json` stops at 128 levels, and does not descend into what is passed over, so
    /// depth costs no stack.
    pub(super) fn read(body: &[u8]) -> Result<Self, Unreadable> {
        let text = str::from_utf8(body).map_err(Error::custom);
        let review = text.and_then(lean::review);
        let mut review = review.map_err(Unreadable::NotJson)?;
        if review["apiVersion"] != API_VERSION || review["kind"] != KIND {
            return Err(Unreadable::NotAReview);
        }
        let mut request = review
            .get_mut("request")
            .map(Value::take)
            .unwrap_or_default();
        let uid = request["uid"].as_str().filter(|uid| !uid.is_empty());
        let uid = uid.ok_or(Unreadable::NoRequest)?.to_owned();
        let mut object = |key| request.get_mut(key).map(Value::take).unwrap_or_default();
        let (object, old_object) = (object("object"), object("oldObject"));
        let rest = serde_json::from_value(request);
        let rest: Self = rest.map_err(|error| Unreadable::Malformed { uid, error })?;
        Ok(Self {
            object,
            old_object,
            ..rest
        })
    }
}

impl Default for AdmissionRequest {
    fn default() -> Self {
        Self {
            uid: String::new(),
            kind: GroupKind::default(),
            namespace: String::new(),
            name: String::new(),
            operation: String::new(),
            object: Value::Null,
            old_object: Value::Null,
        }
    }
}

/// The answer in a review.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    /// The request's, exactly.
    pub(super) uid: String,
    pub(super) allowed: bool,
    /// Patch and type come together or not at all: one without the other is a failure of the webhook.
    #[serde(flatten)]
    pub(super) patch: Option<Patch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<Status>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) audit_annotations: BTreeMap<&'static str, &'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Patch {
    /// Base64 of the operations.
    pub(super) patch: String,
    pub(super) patch_type: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct Status {
    pub(super) code: u16,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// The review that carries an answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reply {
    api_version: &'static str,
    kind: &'static str,
    response: Response,
}

impl From<Response> for Reply {
    fn from(response: Response) -> Self {
        Self {
            api_version: API_VERSION,
            kind: KIND,
            response,
        }
    }
}
