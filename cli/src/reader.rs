//! The cluster as the rules look at it, read with the caller's own rights.
//!
//! The rules ask synchronously, the API server answers later: so a question that cannot be answered yet is noted, the
//! rules are told "syncing", and after [`Reader::fetch`] they are asked again. A handful of rounds answers everything.

use anyhow::{Context, Result, bail};
use kube::core::request::Request;
use kube::discovery::{self, ApiResource, Scope};
use kube::{Client, Error};
use rules::holder::{Holder, Wave};
use rules::judged::Judged;
use rules::keys;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::selector::Selector;
use rules::slots::Entry;
use rules::world::World;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;

/// More rounds than the longest chain of questions (pod, owners, kind, object, slices, class) can need.
const MAX_ROUNDS: usize = 12;

/// The ConfigMap in sluice's own namespace that says who may run where there is a cap.
pub(crate) const SLOTS: &str = "sluice-slots";

/// One question to the API server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Question {
    Kind(Kind),
    Object(Kind, Option<String>, String),
    List(Kind, Option<String>, Selector),
}

#[derive(Debug, Clone)]
enum Reply {
    Kind(Served),
    Object(Value),
    List(Vec<Value>),
}

#[derive(Debug, Clone)]
struct Served {
    resource: ApiResource,
    namespaced: bool,
    declares_status: Option<bool>,
}

/// What has been asked and answered so far.
pub(crate) struct Reader {
    client: Client,
    known: HashMap<Question, Lookup<Reply>>,
    open: RefCell<Vec<Question>>,
    /// The namespace of sluice, where somebody knows it.
    installed_in: Option<String>,
}

impl Reader {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            known: HashMap::new(),
            open: RefCell::default(),
            installed_in: None,
        }
    }

    /// Says where sluice is installed, so that its slots can be looked at.
    pub(crate) fn installed_in(&mut self, namespace: Option<String>) {
        self.installed_in = namespace;
    }

    /// The rules' answer, asked again until nothing is left that they want to know.
    pub(crate) async fn settle<T>(&mut self, ask: impl Fn(&Self) -> Result<T>) -> Result<T> {
        for _ in 0..MAX_ROUNDS {
            let answer = ask(self);
            if !self.fetch().await? {
                return answer;
            }
        }
        bail!("the cluster changes faster than it can be read; try again")
    }

    /// Puts the open questions to the API server; `false` if there were none.
    async fn fetch(&mut self) -> Result<bool> {
        let open = self.open.take();
        for question in &open {
            let reply = self.ask(question).await?;
            self.known.insert(question.clone(), reply);
        }
        Ok(!open.is_empty())
    }

    async fn ask(&self, question: &Question) -> Result<Lookup<Reply>> {
        let answer = match question {
            Question::Kind(kind) => self.served(kind).await,
            Question::Object(kind, namespace, name) => {
                self.object(kind, namespace.as_deref(), name).await
            }
            Question::List(kind, namespace, selector) => {
                self.list(kind, namespace.as_deref(), selector).await
            }
        };
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
            Err(Error::Api(_)) if matches!(question, Question::Kind(_)) => {
                Ok(Lookup::Unavailable(Unavailable::Undiscovered))
            }
            Err(error) => Err(error).context("the API server did not answer"),
        }
    }

    async fn served(&self, kind: &Kind) -> Result<Reply, Error> {
        let group = discovery::group(&self.client, kind.group()).await?;
        let word = kind.word();
        let fits = |resource: &ApiResource| {
            resource.kind.eq_ignore_ascii_case(word) || resource.plural.eq_ignore_ascii_case(word)
        };
        let found = group
            .recommended_resources()
            .into_iter()
            .find(|(resource, _)| fits(resource));
        let (resource, capabilities) = found.ok_or_else(|| {
            Error::Discovery(kube::error::DiscoveryError::MissingKind(kind.to_string()))
        })?;
        let declares_status = self.declares_status(&resource).await;
        let namespaced = capabilities.scope == Scope::Namespaced;
        Ok(Reply::Kind(Served {
            resource,
            namespaced,
            declares_status,
        }))
    }

    async fn declares_status(&self, resource: &ApiResource) -> Option<bool> {
        let definitions = Kind::Builtin(kinds::builtin(
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
        )?);
        let name = format!("{}.{}", resource.plural, resource.group);
        let Ok(Reply::Object(definition)) = self.object(&definitions, None, &name).await else {
            return None;
        };
        let versions = definition.pointer("/spec/versions")?.as_array()?;
        let version = versions
            .iter()
            .find(|version| version["name"] == resource.version.as_str())?;
        Some(version.pointer("/subresources/status").is_some())
    }

    async fn object(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Reply, Error> {
        let request = Request::new(self.path(kind, namespace)?);
        let request = request
            .get(name, &kube::api::GetParams::default())
            .map_err(Error::BuildRequest)?;
        Ok(Reply::Object(self.client.request(request).await?))
    }

    async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Reply, Error> {
        let params = kube::api::ListParams {
            label_selector: Some(selector.to_string()).filter(|text| !text.is_empty()),
            ..Default::default()
        };
        let request = Request::new(self.path(kind, namespace)?)
            .list(&params)
            .map_err(Error::BuildRequest)?;
        let mut page: Value = self.client.request(request).await?;
        let (version, word) = self.type_of(kind);
        let mut items = match page["items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        };
        for item in &mut items {
            item["apiVersion"] = version.clone().into();
            item["kind"] = word.clone().into();
        }
        Ok(Reply::List(items))
    }

    /// `apiVersion` and `kind` of a kind's objects.
    fn type_of(&self, kind: &Kind) -> (String, String) {
        match (kind, self.known.get(&Question::Kind(kind.clone()))) {
            (Kind::Custom { .. }, Some(Lookup::Found(Reply::Kind(served)))) => (
                served.resource.api_version.clone(),
                served.resource.kind.clone(),
            ),
            (Kind::Builtin(builtin), _) if builtin.group.is_empty() => {
                (builtin.version.to_owned(), builtin.kind.to_owned())
            }
            (Kind::Builtin(builtin), _) => (
                format!("{}/{}", builtin.group, builtin.version),
                builtin.kind.to_owned(),
            ),
            (Kind::Custom { word, .. }, _) => (kind.group().to_owned(), word.clone()),
        }
    }

    /// Where the objects of a kind are, once the rules have asked for one.
    pub(crate) fn path(&self, kind: &Kind, namespace: Option<&str>) -> Result<String, Error> {
        let (version, _) = self.type_of(kind);
        let plural = match (kind, self.known.get(&Question::Kind(kind.clone()))) {
            (Kind::Builtin(builtin), _) => builtin.plural.to_owned(),
            (_, Some(Lookup::Found(Reply::Kind(served)))) => served.resource.plural.clone(),
            _ => {
                return Err(Error::Discovery(kube::error::DiscoveryError::MissingKind(
                    kind.to_string(),
                )));
            }
        };
        let root = if kind.group().is_empty() {
            "/api"
        } else {
            "/apis"
        };
        let namespace = namespace
            .map(|name| format!("/namespaces/{name}"))
            .unwrap_or_default();
        Ok(format!("{root}/{version}{namespace}/{plural}"))
    }

    /// Some pods of a namespace; none where the caller may not list them.
    fn pods(
        &self,
        namespace: &str,
        selector: &Selector,
        wanted: impl Fn(&Value) -> bool,
    ) -> Vec<Value> {
        let Some(kind) = kinds::builtin("", "Pod").map(Kind::Builtin) else {
            return Vec::new();
        };
        match World::list(self, &kind, Some(namespace), selector) {
            Lookup::Found(mut pods) => {
                pods.retain(wanted);
                pods
            }
            Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        }
    }

    fn look(&self, question: Question) -> Lookup<Reply> {
        if let Question::Object(kind @ Kind::Custom { .. }, ..)
        | Question::List(kind @ Kind::Custom { .. }, ..) = &question
            && !matches!(
                self.known.get(&Question::Kind(kind.clone())),
                Some(Lookup::Found(_))
            )
        {
            return self.look(Question::Kind(kind.clone()));
        }
        if let Some(reply) = self.known.get(&question) {
            return reply.clone();
        }
        let mut open = self.open.borrow_mut();
        if !open.contains(&question) {
            open.push(question);
        }
        Lookup::Unavailable(Unavailable::Syncing)
    }
}

impl World for Reader {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        let question = Question::Object(
            kind.clone(),
            namespace.map(ToOwned::to_owned),
            name.to_owned(),
        );
        pick(self.look(question), |reply| match reply {
            Reply::Object(object) => Some(object),
            _ => None,
        })
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        pick(
            self.look(Question::List(
                kind.clone(),
                namespace.map(ToOwned::to_owned),
                selector.clone(),
            )),
            |reply| match reply {
                Reply::List(items) => Some(items),
                _ => None,
            },
        )
    }

    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>> {
        let Some(kind) = kinds::builtin("", "ConfigMap").map(Kind::Builtin) else {
            return Lookup::NotFound;
        };
        let plans = Selector::label(keys::PLAN, "true");
        World::list(self, &kind, Some(namespace), &plans)
    }

    fn slots(&self, wave: &Wave) -> Lookup<Vec<Holder>> {
        let config_maps = kinds::builtin("", "ConfigMap").map(Kind::Builtin);
        let (Some(kind), Some(namespace)) = (config_maps, &self.installed_in) else {
            return Lookup::Unavailable(Unavailable::Forbidden);
        };
        match World::object(self, &kind, Some(namespace), SLOTS) {
            Lookup::Found(stored) => Lookup::Found(holders(&stored, wave)),
            Lookup::NotFound => Lookup::NotFound,
            Lookup::Unavailable(why) => Lookup::Unavailable(why),
        }
    }

    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Vec<Value> {
        let homeless = |pod: &Value| pod["spec"]["nodeName"].is_null();
        self.pods(namespace, selector, homeless)
    }

    fn gated(&self, namespace: &str) -> Vec<Value> {
        let gated = Selector::label(keys::GATED, keys::GATED_VALUE);
        self.pods(namespace, &gated, |_| true)
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        match kind {
            Kind::Builtin(builtin) => Lookup::Found(builtin.namespaced),
            Kind::Custom { .. } => pick(
                self.look(Question::Kind(kind.clone())),
                |reply| match reply {
                    Reply::Kind(served) => Some(served.namespaced),
                    _ => None,
                },
            ),
        }
    }

    fn declares_status(&self, kind: &Kind) -> Option<bool> {
        match self.known.get(&Question::Kind(kind.clone())) {
            Some(Lookup::Found(Reply::Kind(served))) => served.declares_status,
            _ => None,
        }
    }

    fn health(&self, object: &Value) -> Option<Judged> {
        rules::health::builtin(object)
    }
}

fn pick<T>(reply: Lookup<Reply>, take: impl Fn(Reply) -> Option<T>) -> Lookup<T> {
    match reply {
        Lookup::Found(reply) => take(reply).map_or(Lookup::NotFound, Lookup::Found),
        Lookup::NotFound => Lookup::NotFound,
        Lookup::Unavailable(why) => Lookup::Unavailable(why),
    }
}

/// Who runs in a wave, as the ConfigMap says.
fn holders(stored: &Value, wave: &Wave) -> Vec<Holder> {
    let texts = stored["data"].as_object().into_iter().flatten();
    let entries = texts.filter_map(|(_, text)| serde_json::from_str::<Entry>(text.as_str()?).ok());
    let mut ours = entries.filter(|entry| entry.wave == *wave);
    ours.next().map(|entry| entry.holders).unwrap_or_default()
}
