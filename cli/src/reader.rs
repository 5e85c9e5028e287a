//! The cluster as the rules look at it, read with the caller's own rights.
//!
//! The rules ask synchronously, the API server answers later: so a question that cannot be answered yet is noted, the
//! rules are told "syncing", and after [`Reader::fetch`] they are asked again. A handful of rounds answers everything.

use anyhow::{Context, Result, bail};
use kube::core::request::Request;
use kube::discovery::{self, ApiCapabilities, ApiResource, Scope};
use kube::{Client, Error};
use rules::kept::is_secret;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::selector::Selector;
use rules::world::Objects;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// More rounds than the longest chain of questions can need: pod, owners, kind, object, slices, class; and for a wave or a
/// part one kind after another.
const MAX_ROUNDS: usize = 64;

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
    declares_status: Lookup<bool>,
}

/// What has been asked and answered so far.
pub(crate) struct Reader {
    client: Client,
    known: HashMap<Question, Lookup<Reply>>,
    open: RefCell<Vec<Question>>,
}

impl Reader {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            known: HashMap::new(),
            open: RefCell::default(),
        }
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
                self.get(kind, namespace.as_deref(), name).await
            }
            Question::List(kind, namespace, selector) => {
                self.get_all(kind, namespace.as_deref(), selector).await
            }
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
        let declares_status = self.defined_with_status(&resource, &capabilities).await?;
        let namespaced = capabilities.scope == Scope::Namespaced;
        Ok(Reply::Kind(Served {
            resource,
            namespaced,
            declares_status,
        }))
    }

    /// As its definition says, and to who may not read that, as discovery tells everybody.
    async fn defined_with_status(
        &self,
        resource: &ApiResource,
        capabilities: &ApiCapabilities,
    ) -> Result<Lookup<bool>, Error> {
        let definitions = Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION);
        let name = format!("{}.{}", resource.plural, resource.group);
        let definition = match self.get(&definitions, None, &name).await {
            Ok(Reply::Object(definition)) => definition,
            Err(Error::Api(status)) if status.code == 403 => {
                let mut below = capabilities.subresources.iter();
                return Ok(Lookup::Found(below.any(|(it, _)| it.plural == "status")));
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
            Lookup::Found(version.pointer("/subresources/status").is_some())
        }))
    }

    async fn get(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Result<Reply, Error> {
        let request = Request::new(self.path(kind, namespace)?);
        let params = kube::api::GetParams::default();
        // Of a Secret no more than the metadata is asked for, as sluice does.
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

    /// Says what an object is: an item of a list, and what comes as bare metadata, does not.
    fn name_type(&self, kind: &Kind, object: &mut Value) {
        let (version, word) = self.type_of(kind);
        object["apiVersion"] = version.into();
        object["kind"] = word.into();
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

    /// The lists that were read: the label selector of each by its path, empty where several were asked for.
    pub(crate) fn lists(&self) -> BTreeMap<String, String> {
        let mut lists = BTreeMap::new();
        for (question, reply) in &self.known {
            let (Question::List(kind, namespace, selector), Lookup::Found(_)) = (question, reply)
            else {
                continue;
            };
            let Ok(path) = self.path(kind, namespace.as_deref()) else {
                continue;
            };
            let selector = selector.to_string();
            let both = lists.entry(path).or_insert_with(|| selector.clone());
            if *both != selector {
                both.clear();
            }
        }
        lists
    }

    /// How the API server names the objects of a kind: `certificates`.
    pub(crate) fn plural(&self, kind: &Kind) -> Lookup<String> {
        self.served_as(kind, |served| served.resource.plural)
    }

    /// The kind with the API server's own word for it, once that is known.
    pub(crate) fn canonical(&self, kind: Kind) -> Kind {
        match self.served_as(&kind, |served| served.resource.kind) {
            Lookup::Found(word) => Kind::Custom {
                group: kind.group().to_owned(),
                word,
            },
            Lookup::NotFound | Lookup::Unavailable(_) => kind,
        }
    }

    /// Whether the definition of a custom kind declares the status subresource; not found for a kind without a definition.
    pub(crate) fn declares_status(&self, kind: &Kind) -> Lookup<bool> {
        match kind {
            Kind::Builtin(_) => Lookup::NotFound,
            Kind::Custom { .. } => self
                .served_as(kind, |served| served.declares_status)
                .and_then(|declares| declares),
        }
    }

    fn served_as<T>(&self, kind: &Kind, field: impl Fn(Served) -> T) -> Lookup<T> {
        pick(
            self.look(Question::Kind(kind.clone())),
            |reply| match reply {
                Reply::Kind(served) => Some(field(served)),
                _ => None,
            },
        )
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

impl Objects for Reader {
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

    /// Objects are read with every field.
    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
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

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        match kind {
            Kind::Builtin(builtin) => Lookup::Found(builtin.namespaced),
            Kind::Custom { .. } => self.served_as(kind, |served| served.namespaced),
        }
    }
}

fn pick<T>(reply: Lookup<Reply>, take: impl Fn(Reply) -> Option<T>) -> Lookup<T> {
    match reply {
        Lookup::Found(reply) => take(reply).map_or(Lookup::NotFound, Lookup::Found),
        Lookup::NotFound => Lookup::NotFound,
        Lookup::Unavailable(why) => Lookup::Unavailable(why),
    }
}
