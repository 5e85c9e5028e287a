//! Lists, page by page.

use super::{Arriving, Target, kept, path};
use crate::client::{MostBytes, TooLong};
use crate::known::Entry;
use crate::lean::Lean;
use kube::api::ListParams;
use kube::core::request::Request;
use kube::{Client, Error};
use rules::kept::Detail;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::task::yield_now;

/// How many objects the first page of a list holds. A page is in memory as the server wrote it, and nobody knows yet how large
/// its objects are.
const FIRST_PAGE: u32 = 10;
/// As many as client-go asks for.
const LARGEST_PAGE: u32 = 500;
/// The next page is to have so many bytes, by what the one before it had.
const PAGE_BYTES: usize = 2 << 20;
/// A page is not read any further than this: larger objects follow upon small ones, and fewer of them are asked for.
const MOST_BYTES: usize = 8 << 20;
/// So many objects are trimmed at once, then whoever else has to do something on this thread comes first.
const IN_A_ROW: usize = 10;

/// The objects stay text until each is trimmed: together, as trees, they take many times the room of what is kept.
#[derive(Deserialize)]
struct Page<'a> {
    metadata: PageMetadata,
    #[serde(default, borrow)]
    items: Vec<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PageMetadata {
    resource_version: String,
    #[serde(rename = "continue")]
    next: Option<String>,
}

/// Every object, as it is kept, and the version of the list.
pub(super) async fn list<T: Arriving>(
    client: &Client,
    target: &Target,
) -> Result<(Vec<Entry>, String), Error> {
    let mut objects = Vec::new();
    let (mut text, mut limit) = page(client, target, FIRST_PAGE, None).await?;
    loop {
        let Page { metadata, items } = serde_json::from_str(&text).map_err(Error::SerdeError)?;
        let wanted = next_page(limit, text.len());
        let next = metadata.next.filter(|next| !next.is_empty());
        // The API server looks for the next page while this one is trimmed.
        let following = async {
            match next {
                Some(next) => page(client, target, wanted, Some(next)).await.map(Some),
                None => Ok(None),
            }
        };
        let trimmed = async {
            for (number, item) in items.into_iter().enumerate() {
                let object: T = serde_json::from_str(item.get()).map_err(Error::SerdeError)?;
                objects.push(kept(target, object.into()).into());
                if number % IN_A_ROW == 0 {
                    yield_now().await;
                }
            }
            Ok(())
        };
        let (following, ()) = tokio::try_join!(biased; following, trimmed)?;
        match following {
            Some(following) => (text, limit) = following,
            None => return Ok((objects, metadata.resource_version)),
        }
    }
}

/// A page of at most so many objects that begins where the one before it ended, and how many were asked for in the end.
pub(in crate::follow) async fn page(
    client: &Client,
    target: &Target,
    mut limit: u32,
    begins: Option<String>,
) -> Result<(String, u32), Error> {
    let request = Request::new(path(target));
    let mut params = ListParams {
        label_selector: target.selector.clone(),
        field_selector: target.fields.clone(),
        continue_token: begins,
        ..ListParams::default()
    };
    loop {
        params.limit = Some(limit);
        let request = match target.detail {
            Detail::Metadata => request.list_metadata(&params),
            Detail::Object | Detail::Whole => request.list(&params),
        };
        let mut request = request.map_err(Error::BuildRequest)?;
        request.extensions_mut().insert(MostBytes(MOST_BYTES));
        match client.request_text(request).await {
            Err(Error::Service(error)) if limit > 1 && error.is::<TooLong>() => {
                limit = (limit / 8).max(1);
            }
            answer => return Ok((answer?, limit)),
        }
    }
}

/// Where the page behind a page begins; `None` where there is none.
pub(in crate::follow) fn next(page: &str) -> Result<Option<String>, Error> {
    let page: Page<'_> = serde_json::from_str(page).map_err(Error::SerdeError)?;
    Ok(page.metadata.next.filter(|next| !next.is_empty()))
}

/// The objects of a page, as they came but for who owns which field.
pub(in crate::follow) fn items(page: &str) -> Result<Vec<Value>, Error> {
    let read = |item: &RawValue| serde_json::from_str::<Lean>(item.get()).map(Value::from);
    let page: Result<Page<'_>, _> = serde_json::from_str(page);
    let items = page.and_then(|page| page.items.into_iter().map(read).collect());
    items.map_err(Error::SerdeError)
}

/// How many objects the next page has, after one of so many that had so many bytes.
fn next_page(limit: u32, bytes: usize) -> u32 {
    let wanted = u64::from(limit) * PAGE_BYTES as u64 / bytes.max(1) as u64;
    let most = LARGEST_PAGE.min(limit * 4);
    u32::try_from(wanted).map_or(most, |wanted| wanted.clamp(1, most))
}
