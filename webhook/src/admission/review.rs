//! AdmissionReview v1, with the fields that sluice uses.
//!
//! kube's types do not fit: they tie the patch to kube's version of json-patch, and their answer to an unreadable
//! body has no uid. The API server would report that answer to the user as a mismatch of uids.

use crate::inject::Edit;
use crate::lean::{self, About};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{self, IntoResponse};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// The usual length of an answer for a gate, in bytes. A buffer of this size is not copied while it grows.
const USUAL_REPLY: usize = 6 * 1024;

/// The closing braces of the response and of the review around it.
const ENDS: &[u8] = b"}}";

/// The request in an AdmissionReview.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AdmissionRequest {
    pub(super) uid: String,
    pub(super) kind: GroupKind,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) operation: String,
    pub(super) dry_run: Option<bool>,
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

/// The reason why a body cannot be read as a review.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("the body is not JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("the body is not an {KIND} of {API_VERSION}")]
    NotAReview,
    #[error("the review has no request with a uid")]
    NoRequest,
    /// The request has a uid, but other fields of it cannot be read. The other variants have no uid, so this one alone is answered as a review.
    #[error("the request cannot be read: {error}")]
    Malformed {
        uid: String,
        error: serde_json::Error,
    },
}

impl AdmissionRequest {
    /// Reads the request of the review in a body, without the fields that admission does not use. `serde_json` stops at 128 levels and does not
    /// descend into skipped values, so a deep body costs no stack.
    pub(super) fn read(body: &[u8], about: About) -> Result<Self, Unreadable> {
        let text = str::from_utf8(body).map_err(Error::custom);
        let review = text.and_then(|text| lean::review(text, about));
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
            dry_run: None,
            object: Value::Null,
            old_object: Value::Null,
        }
    }
}

/// The answer in an AdmissionReview.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    /// The `uid` of the admission request, exactly as it came.
    pub(super) uid: String,
    pub(super) allowed: bool,
    /// The operations of the patch; empty where the object stays unchanged.
    #[serde(skip)]
    pub(super) patch: Vec<Edit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<Status>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) audit_annotations: BTreeMap<&'static str, &'static str>,
}

#[derive(Debug, Serialize)]
pub(super) struct Status {
    pub(super) code: u16,
    pub(super) reason: &'static str,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<RetryDetails>,
}

/// The part of a status that tells a client when to send its request again. The API server makes the header `Retry-After` of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RetryDetails {
    pub(super) retry_after_seconds: i64,
}

/// The AdmissionReview that carries an answer.
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

impl Reply {
    /// Writes the review as JSON text, with the patch, in base64, last. The patch and its type come together or not at all: the API server takes
    /// one alone for a failure of the webhook. The base64 of the patch is inserted as it is, because base64 needs no escaping; looking for
    /// characters to escape would take a twelfth of an admission.
    fn text(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = Vec::with_capacity(USUAL_REPLY);
        serde_json::to_writer(&mut text, self)?;
        if !self.response.patch.is_empty() {
            text.truncate(text.len() - ENDS.len());
            text.extend_from_slice(br#","patchType":"JSONPatch","patch":""#);
            let patch = serde_json::to_vec(&self.response.patch)?;
            text.extend_from_slice(BASE64_STANDARD.encode(patch).as_bytes());
            text.push(b'"');
            text.extend_from_slice(ENDS);
        }
        Ok(text)
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> response::Response {
        match self.text() {
            Ok(text) => {
                let json = HeaderValue::from_static("application/json");
                ([(CONTENT_TYPE, json)], text).into_response()
            }
            Err(error) => {
                let text =
                    format!("the answer cannot be written, which is a bug in sluice: {error}\n");
                (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
            }
        }
    }
}
