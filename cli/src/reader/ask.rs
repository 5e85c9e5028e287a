//! Puts one question of the reader to the API server.

use super::served::{GroupKinds, Groups, GroupsAnswer, ServedKind};
use super::{Question, Reader, Reply};
use crate::access;
use anyhow::Result;
use axum::http::Request;
use axum::http::header::ACCEPT;
use kube::api::ListParams;
use kube::core::discovery::v2::ACCEPT_AGGREGATED_DISCOVERY_V2;
use kube::core::request::Request as ObjectRequest;
use kube::{Error, discovery};
use rules::definition::Declared;
use rules::kept::is_secret;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use serde_json::Value;
use std::time::Duration;

/// How often one question is asked, as client-go asks a request that is answered with 429.
const TIMES: u32 = 10;
/// The most objects of a place that are listed in place of questions about some of them.
const MOST: u32 = 1000;
/// The longest pause before a question is asked again: a person waits for the answer.
const PAUSE: Duration = Duration::from_secs(2);

/// The pause after which a question may be asked again that the API server has put off, after it was `asked` so often: a 429 says that
/// the server is busy, or that it prepares a new kind for a moment. `None` for every other error, and after [`TIMES`].
fn put_off(error: &Error, asked: u32) -> Option<Duration> {
    let Error::Api(status) = error else {
        return None;
    };
    let is_put_off = status.code == 429 && asked < TIMES;
    let seconds = status
        .details
        .as_ref()
        .map_or(1, |it| it.retry_after_seconds);
    is_put_off.then(|| Duration::from_secs(u64::from(seconds.max(1))).min(PAUSE))
}

impl Reader {
    pub(super) async fn ask(&self, question: &Question) -> Result<Lookup<Reply>> {
        let mut asked = 1;
        let answer = loop {
            let answer = self.once(question).await;
            let Some(pause) = answer.as_ref().err().and_then(|it| put_off(it, asked)) else {
                break answer;
            };
            tokio::time::sleep(pause).await;
            asked += 1;
        };
        let is_of_kinds = matches!(question, Question::Groups | Question::Group(_));
        match answer {
            Ok(reply) => Ok(reply),
            Err(Error::Api(status)) if status.code == 404 => Ok(match question {
                Question::Object(..) => Lookup::NotFound,
                _ => Lookup::Unavailable(Unavailable::NotServed),
            }),
            Err(Error::Discovery(_)) => Ok(Lookup::Unavailable(Unavailable::NotServed)),
            Err(Error::Api(status)) if status.code == 403 => {
                Ok(Lookup::Unavailable(Unavailable::Forbidden))
            }
            // The server behind an aggregated API is down.
            Err(Error::Api(status)) if is_of_kinds && status.code >= 500 => {
                Ok(Lookup::Unavailable(Unavailable::Undiscovered))
            }
            Err(error) => Err(access::failed(error)),
        }
    }

    async fn once(&self, question: &Question) -> Result<Lookup<Reply>, Error> {
        Ok(Lookup::Found(match question {
            Question::Groups => Reply::Groups(self.groups().await?),
            Question::Group(name) => {
                let group = discovery::group(&self.client, name).await?;
                Reply::Group(GroupKinds::from(&group))
            }
            Question::Definition(kind) => Reply::Definition(self.definition(kind).await?),
            Question::Object(kind, namespace, name) => {
                Reply::Object(self.get(kind, namespace.as_deref(), name).await?)
            }
            Question::List(kind, namespace, selector) => {
                let all = ListParams {
                    label_selector: Some(selector.to_string()).filter(|text| !text.is_empty()),
                    ..ListParams::default()
                };
                let (items, _) = self.get_all(kind, namespace.as_deref(), &all).await?;
                Reply::List(items.into())
            }
            Question::Place(kind, namespace) => {
                let some = ListParams::default().limit(MOST);
                let (items, more) = self.get_all(kind, namespace.as_deref(), &some).await?;
                if more {
                    return Ok(Lookup::Unavailable(Unavailable::TooLarge));
                }
                Reply::List(items.into())
            }
        }))
    }

    /// All groups, with their kinds where the API server tells them in one answer.
    async fn groups(&self) -> Result<Groups, Error> {
        let request = Request::get("/apis").header(ACCEPT, ACCEPT_AGGREGATED_DISCOVERY_V2);
        let request = request.body(Vec::new()).map_err(Error::HttpError)?;
        let answer: GroupsAnswer = self.client.request(request).await?;
        Ok(answer.into())
    }

    /// The facts of a kind's definition in the served version; `NotFound` where there is none. To a caller that may not read definitions, discovery
    /// tells whether there is a status.
    async fn definition(&self, kind: &Kind) -> Result<Lookup<Declared>, Error> {
        let Lookup::Found(ServedKind {
            resource,
            has_status,
            ..
        }) = self.known_kind(kind)
        else {
            return Ok(Lookup::NotFound);
        };
        let definitions = Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION);
        let name = format!("{}.{}", resource.plural, resource.group);
        let definition = match self.get(&definitions, None, &name).await {
            Ok(definition) => definition,
            Err(Error::Api(status)) if status.code == 403 => {
                return Ok(Lookup::Found(Declared {
                    status: *has_status,
                    summary: None,
                }));
            }
            Err(Error::Api(status)) if status.code == 404 => return Ok(Lookup::NotFound),
            Err(error) => return Err(error),
        };
        let versions = definition
            .pointer("/spec/versions")
            .and_then(Value::as_array);
        let mut versions = versions.into_iter().flatten();
        let ours = versions.find(|version| version["name"] == resource.version.as_str());
        Ok(ours.map(Declared::of).into())
    }

    async fn get(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Result<Value, Error> {
        let request = ObjectRequest::new(self.path(kind, namespace)?);
        let params = kube::api::GetParams::default();
        // Only the metadata of a Secret is requested; sluice does the same.
        if !is_secret(kind) {
            let request = request.get(name, &params).map_err(Error::BuildRequest)?;
            return self.client.request(request).await;
        }
        let request = request.get_metadata(name, &params);
        let request = request.map_err(Error::BuildRequest)?;
        let mut secret: Value = self.client.request(request).await?;
        self.name_type(kind, &mut secret);
        Ok(secret)
    }

    /// The objects of a place that the parameters select, and whether there are more than the parameters' limit.
    async fn get_all(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> Result<(Vec<Value>, bool), Error> {
        let request = ObjectRequest::new(self.path(kind, namespace)?);
        let request = if is_secret(kind) {
            request.list_metadata(params)
        } else {
            request.list(params)
        };
        let request = request.map_err(Error::BuildRequest)?;
        let mut page: Value = self.client.request(request).await?;
        let mut items = match page["items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        };
        for item in &mut items {
            self.name_type(kind, item);
        }
        let next = page["metadata"]["continue"].as_str();
        Ok((items, next.is_some_and(|it| !it.is_empty())))
    }

    /// Writes kind and version into an object: an item of a list, and bare metadata, has neither.
    fn name_type(&self, kind: &Kind, object: &mut Value) {
        let (version, word) = self.type_of(kind);
        object["apiVersion"] = version.into();
        object["kind"] = word.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::Status;
    use kube::core::response::StatusDetails;

    fn refused(code: u16, seconds: u32) -> Error {
        let details = StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: Vec::new(),
            retry_after_seconds: seconds,
        };
        let status = Status::failure("storage is (re)initializing", "TooManyRequests");
        Error::Api(Box::new(status.with_code(code).with_details(details)))
    }

    #[test]
    fn what_is_put_off_is_asked_again_for_some_seconds() {
        for (error, asked, expected) in [
            (refused(429, 1), 1, Some(1)),
            (refused(429, 0), 1, Some(1)),
            (refused(429, 60), 1, Some(2)),
            (refused(429, 1), TIMES, None),
            (refused(403, 1), 1, None),
            (refused(503, 1), 1, None),
        ] {
            let pause = put_off(&error, asked).map(|it| it.as_secs());
            assert_eq!(pause, expected, "{error}, {asked}");
        }
    }
}
