//! Lets go one object that is held, with the caller's own rights.

use super::change;
use crate::access;
use crate::installation::get;
use anyhow::{Result, anyhow, bail};
use axum::http::{self, header};
use kube::{Client, Error};
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::{gate, job};
use serde_json::Value;
use strum::IntoStaticStr;

/// The most tries to release one object, because it may change between being read and being written.
const TRIES: usize = 3;

/// The kinds of objects that can be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
pub(super) enum HeldKind {
    Pod,
    Job,
}

/// The options of the release of a held object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReleaseOptions<'a> {
    /// The reason of the release, for people that look later.
    pub(crate) reason: Option<&'a str>,
    /// Whether the API server only reports what it would do.
    pub(crate) dry_run: bool,
}

/// The result of the release of one held object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Freed {
    /// The object is not held by sluice any more; its new state, or in a dry run the state that it would have.
    Now(Value),
    /// The object does not exist any more, or another one has its name.
    Gone,
    /// A user or another controller has resumed the Job before its release.
    Resumed,
}

impl HeldKind {
    fn path(self, namespace: &str) -> String {
        match self {
            Self::Pod => format!("/api/v1/namespaces/{namespace}/pods"),
            Self::Job => format!("/apis/batch/v1/namespaces/{namespace}/jobs"),
        }
    }

    pub(super) fn kind(self) -> Kind {
        Kind::Builtin(match self {
            Self::Pod => kinds::POD,
            Self::Job => kinds::JOB,
        })
    }

    pub(super) fn word(self) -> &'static str {
        self.into()
    }
}

/// Releases a held pod or Job and opens its gates, with the `object` as it was read. If it has changed since, reads it again and retries. A Job that
/// is no longer held is [`Freed::Resumed`], and an object that is gone or was made anew [`Freed::Gone`]; an error after [`TRIES`] tries, and where
/// the caller may not patch it.
pub(super) async fn free(
    client: &Client,
    what: HeldKind,
    object: &Value,
    manner: ReleaseOptions<'_>,
) -> Result<Freed> {
    let [namespace, name] = ["namespace", "name"].map(|it| text(object, it));
    let path = what.path(namespace);
    let mut object = object.clone();
    let mut failed = None;
    for _ in 0..TRIES {
        let change = match what {
            HeldKind::Pod => change::of_pod(&object, manner.reason),
            HeldKind::Job if job::is_held(&object) => change::of_job(&object, manner.reason),
            HeldKind::Job => return Ok(Freed::Resumed),
        };
        let url = format!("{path}/{name}{}", query(manner));
        match write(client, &url, &change).await {
            Ok(now) => return Ok(Freed::Now(now)),
            Err(Error::Api(status)) if status.code == 404 => return Ok(Freed::Gone),
            Err(Error::Api(status)) if matches!(status.code, 409 | 422) => failed = Some(status),
            Err(Error::Api(status)) if status.message.contains("cannot patch resource") => {
                let resource = access::resource(&what.kind());
                bail!(access::missing("patch", &resource, Some(namespace)))
            }
            Err(error) => return Err(access::failed(error)),
        }
        match get(client, &path, name).await? {
            Lookup::Found(now) if text(&now, "uid") == text(&object, "uid") => object = now,
            Lookup::Found(_) | Lookup::NotFound => return Ok(Freed::Gone),
            // Whether the object has changed cannot be read.
            Lookup::Unavailable(_) => break,
        }
    }
    Err(failed.map_or_else(
        || anyhow!("it changes faster than it can be written; try again"),
        |status| access::failed(Error::Api(status)),
    ))
}

/// The end of a sentence with the names of other programs' scheduling gates that still keep a pod from its node; `None` where there are none.
pub(super) fn kept_by_others(pod: &Value) -> Option<String> {
    let others: Vec<_> = gate::others(pod).collect();
    (!others.is_empty()).then(|| {
        format!(
            "; scheduling gates that are not sluice's still keep it from a node: {}",
            others.join(", ")
        )
    })
}

async fn write(client: &Client, url: &str, change: &[Value]) -> Result<Value, Error> {
    let body = Value::from(change.to_vec()).to_string();
    let request = http::Request::patch(url)
        .header(header::CONTENT_TYPE, "application/json-patch+json")
        .body(body.into_bytes());
    let request = request.map_err(|error| Error::Service(error.into()))?;
    client.request(request).await
}

fn query(manner: ReleaseOptions<'_>) -> &'static str {
    if manner.dry_run { "?dryRun=All" } else { "" }
}

fn text<'o>(object: &'o Value, key: &str) -> &'o str {
    object["metadata"][key].as_str().unwrap_or_default()
}
