//! The cluster as the rules look at it, read with the caller's own rights.
//!
//! The rules ask synchronously, the API server answers later: so a question that cannot be answered yet is noted, the
//! rules are told "syncing", and after [`Reader::fetch`] they are asked again. A handful of rounds answers everything.

mod ask;

use crate::access;
use anyhow::{Result, bail};
use futures::{StreamExt, TryStreamExt, stream};
use kube::discovery::ApiResource;
use kube::{Client, Error};
use rules::definition::Declared;
use rules::kinds::Kind;
use rules::lookup::{Lookup, Unavailable};
use rules::object;
use rules::selector::Selector;
use rules::world::Objects;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

/// The most rounds of questions, more than the longest chain of questions can need: pod, owners, kinds, objects, slices, class; and a
/// cause and a cycle some objects further.
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
    declared: Lookup<Declared>,
}

/// The place of objects: a kind, and a namespace where there is one.
pub(crate) type KindInNamespace = (Kind, Option<String>);

impl Question {
    /// The place of the objects that the question asks for; `None` for the question whether a kind is served.
    fn place(&self) -> Option<KindInNamespace> {
        match self {
            Self::Kind(_) => None,
            Self::Object(kind, namespace, _) | Self::List(kind, namespace, _) => {
                Some((kind.clone(), namespace.clone()))
            }
        }
    }
}

/// The answers of the API server so far, and the open questions.
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

    /// The client that asks the API server.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// The places of all objects that were read, each with the label selector of what was asked for there: empty where that is more
    /// than one list.
    pub(crate) fn places(&self) -> HashMap<KindInNamespace, String> {
        let mut places = HashMap::new();
        for question in self.known.keys() {
            let Some(place) = question.place() else {
                continue;
            };
            let selector = match question {
                Question::List(_, _, selector) => selector.to_string(),
                Question::Kind(_) | Question::Object(..) => String::new(),
            };
            let both = places.entry(place).or_insert_with(|| selector.clone());
            if *both != selector {
                both.clear();
            }
        }
        places
    }

    /// Forgets the answers of a place. A kind that was not served, or could not be read, may be by now.
    pub(crate) fn forget(&mut self, place: &KindInNamespace) {
        let unserved = Question::Kind(place.0.clone());
        self.known.retain(|question, reply| match reply {
            Lookup::Unavailable(_) if *question == unserved => false,
            _ => question.place().as_ref() != Some(place),
        });
    }

    /// Forgets the kinds that were not served, or could not be read.
    pub(crate) fn forget_unserved(&mut self) {
        self.known.retain(|question, reply| {
            !matches!(
                (question, reply),
                (Question::Kind(_), Lookup::Unavailable(_))
            )
        });
    }

    /// Puts the open questions to the API server; `false` if there were none.
    async fn fetch(&mut self) -> Result<bool> {
        let open = self.open.take();
        let asked = open.iter().map(|question| self.ask(question));
        let replies: Vec<_> = stream::iter(asked)
            .buffered(access::AT_ONCE)
            .try_collect()
            .await?;
        let any = !open.is_empty();
        self.known.extend(open.into_iter().zip(replies));
        Ok(any)
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

    /// The path of the objects of a kind, once the rules have asked for one.
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

    /// How the API server names the objects of a kind: `certificates`.
    pub(crate) fn plural(&self, kind: &Kind) -> Lookup<String> {
        self.served_as(kind, |served| served.resource.plural)
    }

    /// The kind with the API server's own word for it, once that is known.
    pub(crate) fn canonical(&self, kind: Kind) -> Kind {
        if let Kind::Builtin(_) = kind {
            return kind;
        }
        match self.served_as(&kind, |served| served.resource.kind) {
            Lookup::Found(word) => Kind::Custom {
                group: kind.group().to_owned(),
                word,
            },
            Lookup::NotFound | Lookup::Unavailable(_) => kind,
        }
    }

    /// The facts of a custom kind's definition on its status; not found for a kind without a definition.
    pub(crate) fn declared(&self, kind: &Kind) -> Lookup<Declared> {
        match kind {
            Kind::Builtin(_) => Lookup::NotFound,
            Kind::Custom { .. } => self
                .served_as(kind, |served| served.declared)
                .and_then(|declared| declared),
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

    /// An object that was listed with all of its kind and place.
    fn among_listed(&self, question: &Question) -> Option<Lookup<Reply>> {
        let Question::Object(kind, namespace, name) = question else {
            return None;
        };
        let all = Question::List(kind.clone(), namespace.clone(), Selector::default());
        let Lookup::Found(Reply::List(objects)) = self.known.get(&all)? else {
            return None;
        };
        let object = objects.iter().find(|it| object::name(it) == name);
        Some(object.map_or(Lookup::NotFound, |it| {
            Lookup::Found(Reply::Object(it.clone()))
        }))
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
        if let Some(found) = self.among_listed(&question) {
            return found;
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
