//! Reads every list of the API server, page by page.
//!
//! Tenants choose the number of objects and the length of each. So a page is read up to a bound. Of a longer page,
//! fewer objects are asked for. Of a single object that is too long, only the metadata is read, with the mark of
//! [`rules::kept::is_too_large`], so one object does not hide the others. Only a few long pages are held at a time,
//! whichever task lists ([`crate::client::Limits`]). Clippy refuses every other way to list.

use crate::client::{Beyond, Bound, TooLong};
use crate::lean::Lean;
use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use http_body_util::BodyExt;
use kube::api::ListParams;
use kube::core::Status;
use kube::core::request::Request;
use kube::{Client, Error};
use rules::kept::{LONGEST, mark_too_large};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use tokio::sync::OwnedSemaphorePermit;

/// The objects that a list request asks the API server for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// The path of the resource in the API: `/apis/apps/v1/deployments`.
    pub(crate) path: String,
    /// The label selector of the list request; `None` for every object.
    pub(crate) labels: Option<String>,
    /// The field selector of the list request; `None` for every object.
    pub(crate) fields: Option<String>,
    /// Whether the list request asks only for the metadata of the objects.
    pub(crate) metadata: bool,
}

/// A page of a list, as the API server sent it. A page of more than 256 KiB holds one of a few permits while it lives. The objects stay text until
/// each is read: as trees, all together would take many times the memory.
#[derive(Debug)]
pub(crate) struct Page {
    text: Bytes,
    /// The byte ranges of the objects in the text of the page.
    items: Vec<Range<usize>>,
    /// The `resourceVersion` of the list.
    pub(crate) version: String,
    /// The token of the next page; `None` on the last page.
    pub(crate) next: Option<String>,
    /// The `limit` of the request that the API server answered with this page. It is below the caller's where a page of that many objects was too
    /// long.
    pub(crate) limit: u32,
    /// Whether the one object of the page is too long, so that only its metadata was requested.
    too_large: bool,
    _room: Arc<OnceLock<OwnedSemaphorePermit>>,
}

#[derive(Deserialize)]
struct PageContent<'p> {
    #[serde(default)]
    metadata: PageMetadata,
    /// The objects, each as text; `None` where the API server writes null, as it does for an empty list of metadata.
    #[serde(default, borrow)]
    items: Option<Vec<&'p RawValue>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PageMetadata {
    resource_version: String,
    #[serde(rename = "continue")]
    next: Option<String>,
}

/// Reads a page of at most `limit` objects. `begins` is the token of the page; `None` for the first page. Where the page is too long, an eighth of
/// the objects is requested instead, and of a single object that is too long only the metadata.
///
/// # Errors
///
/// The API server cannot be reached, takes too long, or answers with an error or with a text that is no list. The size of an object is never an
/// error.
pub(crate) async fn page(
    client: &Client,
    selection: &Selection,
    mut limit: u32,
    begins: Option<String>,
) -> Result<Page, Error> {
    let mut params = ListParams {
        label_selector: selection.labels.clone(),
        field_selector: selection.fields.clone(),
        continue_token: begins,
        ..ListParams::default()
    };
    let mut metadata = selection.metadata;
    loop {
        params.limit = Some(limit);
        // Even the metadata of one object may be too long: owners and finalizers have no bound of their own.
        let beyond = if limit == 1 && metadata {
            Beyond::Sieved
        } else {
            Beyond::Refused
        };
        let bound = Bound {
            most: LONGEST,
            beyond,
            room: Arc::default(),
        };
        let room = Arc::clone(&bound.room);
        match text(client, &selection.path, &params, (metadata, bound)).await {
            Err(Error::Service(error)) if error.is::<TooLong>() && beyond == Beyond::Refused => {
                metadata |= limit == 1;
                limit = (limit / 8).max(1);
            }
            answer => {
                let text = answer?;
                let PageContent {
                    metadata:
                        PageMetadata {
                            resource_version,
                            next,
                        },
                    items,
                } = serde_json::from_slice(&text).map_err(Error::SerdeError)?;
                let begin = text.as_ptr().addr();
                let range = |item: &RawValue| {
                    let from = item.get().as_ptr().addr() - begin;
                    from..from + item.get().len()
                };
                return Ok(Page {
                    items: items.into_iter().flatten().map(range).collect(),
                    version: resource_version,
                    next: next.filter(|next| !next.is_empty()),
                    limit,
                    too_large: metadata && !selection.metadata,
                    _room: room,
                    text,
                });
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
async fn text(
    client: &Client,
    path: &str,
    params: &ListParams,
    (metadata, bound): (bool, Bound),
) -> Result<Bytes, Error> {
    let request = Request::new(path);
    let request = if metadata {
        request.list_metadata(params)
    } else {
        request.list(params)
    };
    let mut request = request.map_err(Error::BuildRequest)?;
    request.extensions_mut().insert(bound);
    let plain = HeaderValue::from_static("identity");
    request.headers_mut().insert(header::ACCEPT_ENCODING, plain);
    // Avoid the client's own readers of answers: they copy the text.
    let answer = client.send(request.map(Into::into)).await?;
    let code = answer.status();
    let text = answer.into_body().collect().await?.to_bytes();
    if code.is_success() {
        return Ok(text);
    }
    let status = serde_json::from_slice::<Status>(&text).unwrap_or_else(|_| {
        let said = String::from_utf8_lossy(&text);
        Status::failure(said.trim(), "").with_code(code.as_u16())
    });
    Err(Error::Api(status.boxed()))
}

impl Page {
    /// The length of the page's text, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Reads the objects of the page one after the other, without the names of the fields that each writer owns.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Result<Value, Error>> {
        self.objects_as::<Lean>()
    }

    /// Reads the objects of the page one after the other, each as a `T` that becomes a JSON value. An object of which only the metadata was
    /// requested gets the mark of [`rules::kept::is_too_large`].
    pub(crate) fn objects_as<T: DeserializeOwned + Into<Value>>(
        &self,
    ) -> impl Iterator<Item = Result<Value, Error>> {
        self.items.iter().map(|range| {
            let item = self.text.get(range.clone()).unwrap_or_default();
            let object: T = serde_json::from_slice(item).map_err(Error::SerdeError)?;
            let mut object = object.into();
            if self.too_large {
                mark_too_large(&mut object);
            }
            Ok(object)
        })
    }
}
