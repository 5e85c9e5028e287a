//! One question put to the API server.

use super::{Question, Reader, Reply, Served};
use crate::access;
use anyhow::Result;
use kube::Error;
use kube::core::request::Request;
use kube::discovery::{self, ApiCapabilities, ApiResource, Scope};
use rules::definition::Declared;
use rules::kept::is_secret;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::selector::Selector;
use serde_json::Value;
use std::time::Duration;

/// How often one question is asked, as client-go asks a request that is answered with 429.
const TIMES: u32 = 10;
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
        let is_kind = matches!(question, Question::Kind(_));
        match answer {
            Ok(reply) => Ok(Lookup::Found(reply)),
            Err(Error::Api(status)) if status.code == 404 => Ok(match question {
                Question::Object(..) => Lookup::NotFound,
                Question::Kind(_) | Question::List(..) => {
                    Lookup::Unavailable(Unavailable::NotServed)
                }
            }),
            Err(Error::Discovery(_)) => Ok(Lookup::Unavailable(Unavailable::NotServed)),
            Err(Error::Api(status)) if status.code == 403 => {
                Ok(Lookup::Unavailable(Unavailable::Forbidden))
            }
            // The server behind an aggregated API is down.
            Err(Error::Api(status)) if is_kind && status.code >= 500 => {
                Ok(Lookup::Unavailable(Unavailable::Undiscovered))
            }
            Err(error) => Err(access::failed(error)),
        }
    }

    async fn once(&self, question: &Question) -> Result<Reply, Error> {
        match question {
            Question::Kind(kind) => self.served(kind).await,
            Question::Object(kind, namespace, name) => {
                self.get(kind, namespace.as_deref(), name).await
            }
            Question::List(kind, namespace, selector) => {
                self.get_all(kind, namespace.as_deref(), selector).await
            }
        }
    }

    async fn served(&self, kind: &Kind) -> Result<Reply, Error> {
        let group = discovery::group(&self.client, kind.group()).await?;
        let word = kind.word();
        let fits = |resource: &ApiResource| {
            resource.kind.eq_ignore_ascii_case(word) || resource.plural.eq_ignore_ascii_case(word)
        };
        // Some kinds are served only in a version that their group does not prefer.
        let found = group
            .resources_by_stability()
            .into_iter()
            .find(|(resource, _)| fits(resource));
        let (resource, capabilities) = found.ok_or_else(|| {
            Error::Discovery(kube::error::DiscoveryError::MissingKind(kind.to_string()))
        })?;
        let declared = self.declared_by(&resource, &capabilities).await?;
        let namespaced = capabilities.scope == Scope::Namespaced;
        Ok(Reply::Kind(Served {
            resource,
            namespaced,
            declared,
        }))
    }

    /// The facts of a kind's definition; to a caller that may not read definitions, discovery tells whether there is a status.
    async fn declared_by(
        &self,
        resource: &ApiResource,
        capabilities: &ApiCapabilities,
    ) -> Result<Lookup<Declared>, Error> {
        let definitions = Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION);
        let name = format!("{}.{}", resource.plural, resource.group);
        let definition = match self.get(&definitions, None, &name).await {
            Ok(Reply::Object(definition)) => definition,
            Err(Error::Api(status)) if status.code == 403 => {
                let mut below = capabilities.subresources.iter();
                return Ok(Lookup::Found(Declared {
                    status: below.any(|(it, _)| it.plural == "status"),
                    summary: None,
                }));
            }
            Err(Error::Api(status)) if status.code == 404 => return Ok(Lookup::NotFound),
            Err(error) => return Err(error),
            Ok(_) => return Ok(Lookup::NotFound),
        };
        let versions = definition
            .pointer("/spec/versions")
            .and_then(Value::as_array);
        let mut versions = versions.into_iter().flatten();
        let ours = versions.find(|version| version["name"] == resource.version.as_str());
        Ok(ours.map_or(Lookup::NotFound, |version| {
            Lookup::Found(Declared::of(version))
        }))
    }

    async fn get(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Result<Reply, Error> {
        let request = Request::new(self.path(kind, namespace)?);
        let params = kube::api::GetParams::default();
        // Only the metadata of a Secret is requested; sluice does the same.
        if !is_secret(kind) {
            let request = request.get(name, &params).map_err(Error::BuildRequest)?;
            return Ok(Reply::Object(self.client.request(request).await?));
        }
        let request = request.get_metadata(name, &params);
        let request = request.map_err(Error::BuildRequest)?;
        let mut secret: Value = self.client.request(request).await?;
        self.name_type(kind, &mut secret);
        Ok(Reply::Object(secret))
    }

    async fn get_all(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Reply, Error> {
        let params = kube::api::ListParams {
            label_selector: Some(selector.to_string()).filter(|text| !text.is_empty()),
            ..Default::default()
        };
        let request = Request::new(self.path(kind, namespace)?);
        let request = if is_secret(kind) {
            request.list_metadata(&params)
        } else {
            request.list(&params)
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
        Ok(Reply::List(items))
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
