//! The answers of a view to the questions of the rules about objects.

use super::View;
use crate::known::ObjectName;
use crate::known::read_whole::OF_A_NAMESPACE;
use crate::known::store::{Interest, NODE, Store};
use rules::kept;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::selector::Selector;
use rules::world::Objects;
use serde_json::Value;
use std::borrow::Cow;

impl Objects for View {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        match self.want(kind) {
            Ok(store) => self.object_of(&store, namespace.unwrap_or_default(), name),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn whole<'o>(&self, kind: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        // Of a custom resource every field is kept, and of a Secret no other field is ever read.
        if matches!(kind, Kind::Custom { .. }) || kept::is_secret(kind) {
            return Lookup::Found(Cow::Borrowed(object));
        }
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let named = ObjectName {
            kind: kind.clone(),
            namespace: namespace.into(),
            name: name.into(),
        };
        let places = OF_A_NAMESPACE;
        let Some(reading) = self.known.whole(&named) else {
            self.judge_anew();
            return Lookup::Unavailable(Unavailable::AwaitsTurn { places });
        };
        let found = self.object_of(&reading.store, namespace, name);
        match found {
            // The reading of the last turn is no longer believed, or there was none.
            Lookup::Unavailable(Unavailable::Syncing | Unavailable::Stale)
                if !reading.is_its_turn =>
            {
                Lookup::Unavailable(Unavailable::AwaitsTurn { places })
            }
            // The other readings of the namespace fill its share of the memory.
            Lookup::Found(object) if kept::is_cut(&object) => {
                Lookup::Unavailable(Unavailable::AwaitsTurn { places })
            }
            found => found.map(Cow::Owned),
        }
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        match self.want(kind) {
            Ok(store) => self.list_of(&store, namespace, selector),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn pods_on(
        &self,
        node: &str,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        let store = self.known.want(&Kind::Builtin(kinds::POD));
        let label = Some((NODE, node));
        let beyond = Some(selector).filter(|it| !it.0.is_empty());
        let list = |store: &Store| store.pods_on(node, namespace, selector);
        self.listed_by(&store, Interest::List { namespace, label }, beyond, list)
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        if let Kind::Builtin(builtin) = kind {
            return Lookup::Found(builtin.namespaced);
        }
        let (store, details) = match self.details(kind) {
            Ok(found) => found,
            Err(why) => return Lookup::Unavailable(why),
        };
        match (self.usable(&store), details.namespaced) {
            (_, Some(namespaced)) => Lookup::Found(namespaced),
            (Err(why), None) => Lookup::Unavailable(why),
            (Ok(()), None) => Lookup::Unavailable(Unavailable::Syncing),
        }
    }
}
