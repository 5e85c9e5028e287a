//! The cluster as the rules look at it, read with the caller's own rights.
//!
//! The rules ask synchronously, the API server answers later: so a question that cannot be answered yet is noted, the
//! rules are told "syncing", and after [`Reader::fetch`] they are asked again. A handful of rounds answers everything.

mod ask;
mod kinds_served;
mod served;

use crate::access;
use anyhow::{Result, bail};
use futures::{StreamExt, TryStreamExt, stream};
use kube::Client;
use rules::definition::Declared;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::object;
use rules::selector::Selector;
use rules::world::Objects;
use serde_json::Value;
use served::{GroupKinds, Groups};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// The most rounds of questions, more than the longest chain of questions can need: pod, owners, kinds, objects, slices, class; and a
/// cause and a cycle some objects further.
const MAX_ROUNDS: usize = 64;

/// The number of questions about one place from which on one question asks for all objects of the place.
const MANY: usize = 4;

/// One question to the API server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Question {
    /// All groups, with their kinds where the API server tells them in one answer.
    Groups,
    /// The kinds of a group, where the answer to `Groups` has not told them.
    Group(String),
    /// The declaration about status in a custom kind's CustomResourceDefinition.
    Definition(Kind),
    Object(Kind, Option<String>, String),
    List(Kind, Option<String>, Selector),
    /// All objects of a kind in a namespace, unless they are more than 1000.
    Place(Kind, Option<String>),
}

#[derive(Debug)]
enum Reply {
    Groups(Groups),
    Group(GroupKinds),
    Definition(Lookup<Declared>),
    Object(Value),
    List(ListedObjects),
}

/// The objects of a list, and the index of each by its name.
#[derive(Debug)]
struct ListedObjects {
    items: Vec<Value>,
    names: HashMap<String, usize>,
}

impl From<Vec<Value>> for ListedObjects {
    fn from(items: Vec<Value>) -> Self {
        let listed = items.iter().enumerate();
        let names = listed.map(|(at, it)| (object::name(it).to_owned(), at));
        Self {
            names: names.collect(),
            items,
        }
    }
}

/// The place of objects: a kind, and a namespace where there is one.
pub(crate) type KindInNamespace = (Kind, Option<String>);

impl Question {
    /// The place of the objects that the question asks for; `None` for a question about kinds.
    fn place(&self) -> Option<KindInNamespace> {
        match self {
            Self::Groups | Self::Group(_) | Self::Definition(_) => None,
            Self::Object(kind, namespace, _)
            | Self::List(kind, namespace, _)
            | Self::Place(kind, namespace) => Some((kind.clone(), namespace.clone())),
        }
    }

    /// The question for all objects of the kind and namespace that this question is about; `None` for a question about kinds.
    fn of_place(&self) -> Option<Self> {
        let (kind, namespace) = self.place()?;
        Some(Self::Place(kind, namespace))
    }
}

/// The answers of the API server so far, and the open questions.
pub(crate) struct Reader {
    client: Client,
    known: HashMap<Question, Lookup<Reply>>,
    open: RefCell<Vec<Question>>,
    /// The kinds that were asked for and are not served, or of which that is unknown.
    unserved: RefCell<HashSet<Kind>>,
}

impl Reader {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            known: HashMap::new(),
            open: RefCell::default(),
            unserved: RefCell::default(),
        }
    }

    /// Runs `ask`, requests from the API server the objects that it lacked, and runs it again, until it lacks none; then returns its result. An error
    /// where the API server does not answer, or after [`MAX_ROUNDS`] rounds.
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

    /// The places of all objects that were read, each with the label selector of the list that was read there; the selector is empty
    /// where several lists were read.
    pub(crate) fn places(&self) -> HashMap<KindInNamespace, String> {
        let mut places = HashMap::new();
        for question in self.known.keys() {
            let Some(place) = question.place() else {
                continue;
            };
            let selector = match question {
                Question::List(_, _, selector) => selector.to_string(),
                _ => String::new(),
            };
            let both = places.entry(place).or_insert_with(|| selector.clone());
            if *both != selector {
                both.clear();
            }
        }
        places
    }

    /// Forgets all answers about the objects of a place, so that they are requested again; also whether the kind is served, where that was no or
    /// unknown.
    pub(crate) fn forget(&mut self, place: &KindInNamespace) {
        if self.unserved.borrow().contains(&place.0) {
            self.forget_unserved();
        }
        let definition = Question::Definition(place.0.clone());
        self.known.retain(|question, reply| match reply {
            Lookup::Unavailable(_) if *question == definition => false,
            _ => question.place().as_ref() != Some(place),
        });
    }

    /// Forgets which kinds the API server serves, if a kind that was asked for was not served or could not be read.
    pub(crate) fn forget_unserved(&mut self) {
        if std::mem::take(self.unserved.get_mut()).is_empty() {
            return;
        }
        let is_of_kinds = |it: &Question| matches!(it, Question::Groups | Question::Group(_));
        self.known.retain(|question, _| !is_of_kinds(question));
    }

    /// Puts the open questions to the API server and keeps the answers; `false` if there were no questions.
    async fn fetch(&mut self) -> Result<bool> {
        let open = self.together(self.open.take());
        let asked = open.iter().map(|question| self.ask(question));
        let replies: Vec<_> = stream::iter(asked)
            .buffered(access::AT_ONCE)
            .try_collect()
            .await?;
        let any = !open.is_empty();
        self.known.extend(open.into_iter().zip(replies));
        Ok(any)
    }

    /// The open questions, with one question for all objects of a place instead of [`MANY`] or more about that place. ConfigMaps are asked for one
    /// by one.
    fn together(&self, open: Vec<Question>) -> Vec<Question> {
        let mut counts: HashMap<Question, usize> = HashMap::new();
        for place in open.iter().filter_map(Question::of_place) {
            *counts.entry(place).or_default() += 1;
        }
        counts.retain(|place, count| *count >= MANY && !self.known.contains_key(place));
        // The objects of these ConfigMaps may be long, and the names of them are known.
        counts.retain(|place, _| !matches!(place, Question::Place(kind, _) if *kind == Kind::Builtin(kinds::CONFIG_MAP)));
        let is_alone = |it: &Question| it.of_place().is_none_or(|it| !counts.contains_key(&it));
        let mut asked: Vec<Question> = open.into_iter().filter(is_alone).collect();
        asked.extend(counts.into_keys());
        asked
    }

    /// All objects of a kind and namespace, if they have been listed; `None` if not, or not all of them.
    fn listed(&self, kind: &Kind, namespace: Option<&str>) -> Option<&ListedObjects> {
        let namespace = namespace.map(ToOwned::to_owned);
        let place = Question::Place(kind.clone(), namespace.clone());
        let all = Question::List(kind.clone(), namespace, Selector::default());
        let mut known = [all, place]
            .into_iter()
            .filter_map(|it| self.known.get(&it));
        known.find_map(|it| match it {
            Lookup::Found(Reply::List(listed)) => Some(listed),
            _ => None,
        })
    }

    /// The known answer to a question. An unknown one is noted for the next [`Reader::fetch`], and the answer is `Syncing` until then.
    fn reply(&self, question: Question) -> Lookup<&Reply> {
        match self.known.get(&question) {
            Some(Lookup::Found(reply)) => Lookup::Found(reply),
            Some(Lookup::NotFound) => Lookup::NotFound,
            Some(Lookup::Unavailable(why)) => Lookup::Unavailable(*why),
            None => {
                self.open(question);
                Lookup::Unavailable(Unavailable::Syncing)
            }
        }
    }

    fn open(&self, question: Question) {
        let mut open = self.open.borrow_mut();
        if !open.contains(&question) {
            open.push(question);
        }
    }
}

impl Objects for Reader {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        self.is_served(kind).and_then(|()| {
            if let Some(listed) = self.listed(kind, namespace) {
                let at = listed.names.get(name);
                return at.map(|at| listed.items[*at].clone()).into();
            }
            let namespace = namespace.map(ToOwned::to_owned);
            let question = Question::Object(kind.clone(), namespace, name.to_owned());
            self.reply(question).and_then(|reply| match reply {
                Reply::Object(object) => Lookup::Found(object.clone()),
                _ => Lookup::NotFound,
            })
        })
    }

    /// Answers with the object itself: this reader reads objects with every field.
    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        self.list_where(kind, namespace, selector, &|_| true)
    }

    fn list_where(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
        wanted: &dyn Fn(&Value) -> bool,
    ) -> Lookup<Vec<Value>> {
        self.is_served(kind).and_then(|()| {
            if let Some(listed) = self.listed(kind, namespace) {
                let selected = listed.items.iter().filter(|it| selector.selects(it));
                return Lookup::Found(selected.filter(|it| wanted(it)).cloned().collect());
            }
            let namespace = namespace.map(ToOwned::to_owned);
            let question = Question::List(kind.clone(), namespace, selector.clone());
            self.reply(question).and_then(|reply| match reply {
                Reply::List(listed) => {
                    let items = listed.items.iter().filter(|it| wanted(it));
                    Lookup::Found(items.cloned().collect())
                }
                _ => Lookup::NotFound,
            })
        })
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        match kind {
            Kind::Builtin(builtin) => Lookup::Found(builtin.namespaced),
            Kind::Custom { .. } => self.served(kind).map(|it| it.namespaced),
        }
    }
}
