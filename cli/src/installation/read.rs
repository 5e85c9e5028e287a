//! Single questions to the API server. An object that may not be read is an answer, not an error.

use crate::access;
use anyhow::Result;
use kube::api::{GetParams, ListParams};
use kube::core::request::Request;
use kube::{Client, Error};
use rules::lookup::{Lookup, Unavailable};
use serde_json::Value;

pub(crate) async fn get(client: &Client, path: &str, name: &str) -> Result<Lookup<Value>> {
    let request = Request::new(path).get(name, &GetParams::default())?;
    seen(client.request(request).await)
}

/// Lists the objects of an API path that the label and field selectors of `params` select, in one request. The answers 404 and 403 are a
/// `Lookup`, every other failure is an error.
pub(crate) async fn list(
    client: &Client,
    path: &str,
    params: &ListParams,
) -> Result<Lookup<Vec<Value>>> {
    let request = Request::new(path).list(params)?;
    let page = seen(client.request::<Value>(request).await)?;
    Ok(page.map(|mut page| match page["items"].take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    }))
}

/// The number of objects in one answer of [`list_where`].
const PAGE: u32 = 500;

/// Lists the objects of an API path that `params` selects and that are `wanted`, page by page; only these are kept in memory. The answers 404
/// and 403 are a `Lookup`, every other failure is an error.
pub(crate) async fn list_where(
    client: &Client,
    path: &str,
    mut params: ListParams,
    wanted: fn(&Value) -> bool,
) -> Result<Lookup<Vec<Value>>> {
    params.limit = Some(PAGE);
    let mut found = Vec::new();
    loop {
        let request = Request::new(path).list(&params)?;
        let mut page = match seen(client.request::<Value>(request).await)? {
            Lookup::Found(page) => page,
            Lookup::NotFound => return Ok(Lookup::NotFound),
            Lookup::Unavailable(why) => return Ok(Lookup::Unavailable(why)),
        };
        if let Value::Array(items) = page["items"].take() {
            found.extend(items.into_iter().filter(wanted));
        }
        match page["metadata"]["continue"].as_str() {
            None | Some("") => return Ok(Lookup::Found(found)),
            Some(next) => params.continue_token = Some(next.to_owned()),
        }
    }
}

fn seen(answer: kube::Result<Value>) -> Result<Lookup<Value>> {
    match answer {
        Ok(value) => Ok(Lookup::Found(value)),
        Err(Error::Api(status)) if status.code == 404 => Ok(Lookup::NotFound),
        Err(Error::Api(status)) if status.code == 403 => {
            Ok(Lookup::Unavailable(Unavailable::Forbidden))
        }
        Err(error) => Err(access::failed(error)),
    }
}
