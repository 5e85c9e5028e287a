//! A reader of the cache that notes what it read.

use super::Cache;
use super::scopes::Members;
use super::store::{Condition, Details, Interest, STALE_AFTER, Store};
use crate::memory::Memory;
use jiff::Timestamp;
use rules::kinds::{self, Kind};
use rules::scope::{self, Part, Scope};
use rules::selector::{Requirement, Selector, Test};
use rules::slots::{Holder, Wave};
use rules::verdict::Judged;
use rules::world::{CompletedJob, Lookup, Unavailable, World};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// One round of judging: answers from memory and, afterwards, waits for a change of anything that was read.
///
/// It registers before it reads, so a change between the reading and the waiting is not lost.
#[derive(Debug)]
pub struct View {
    cache: Arc<Cache>,
    id: u64,
    notify: Arc<Notify>,
    reads: Mutex<Vec<(Arc<Store>, Interest)>>,
    waves: Mutex<Vec<(Arc<Store>, Scope)>>,
    slots: Mutex<Vec<Wave>>,
}

impl View {
    pub(super) fn new(cache: Arc<Cache>, id: u64) -> Self {
        Self {
            cache,
            id,
            notify: Arc::default(),
            reads: Mutex::default(),
            waves: Mutex::default(),
            slots: Mutex::default(),
        }
    }

    /// Returns when something that was read has changed since it was read.
    pub async fn changed(&self) {
        self.notify.notified().await;
    }

    /// One of the gated pods.
    pub fn gated_pod(&self, namespace: &str, name: &str) -> Lookup<Value> {
        let store = Arc::clone(self.cache.gated());
        self.object_of(&store, namespace, name)
    }

    /// The gated pods of a namespace.
    pub fn gated_pods(&self, namespace: &str) -> Lookup<Vec<Value>> {
        let store = Arc::clone(self.cache.gated());
        self.list_of(&store, Some(namespace), &Selector::default())
    }

    /// The plans of every namespace.
    pub fn all_plans(&self) -> Lookup<Vec<Value>> {
        let store = Arc::clone(self.cache.plans());
        self.list_of(&store, None, &Selector::default())
    }

    fn list_of(
        &self,
        store: &Arc<Store>,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        let label = selector.indexable();
        let interest = Interest::List {
            namespace: namespace.map(Into::into),
            label: label.map(|(key, value)| (key.into(), value.into())),
        };
        self.read(store, interest);
        match usable(store) {
            Ok(()) => Lookup::Found(store.list(namespace, selector)),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    /// What is remembered of objects that are gone.
    pub fn memory(&self) -> &Memory {
        self.cache.memory()
    }

    fn read(&self, store: &Arc<Store>, interest: Interest) {
        store.register(interest.clone(), self.id, &self.notify);
        self.reads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((Arc::clone(store), interest));
    }

    fn object_of(&self, store: &Arc<Store>, namespace: &str, name: &str) -> Lookup<Value> {
        self.read(store, Interest::Object((namespace.into(), name.into())));
        match usable(store) {
            Ok(()) => store
                .get(namespace, name)
                .map_or(Lookup::NotFound, Lookup::Found),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn details(&self, kind: &Kind) -> (Arc<Store>, Details) {
        let store = self.cache.store(kind);
        // Any interest hears of changed details; this one hears of little else.
        self.read(&store, Interest::Object(("".into(), "".into())));
        let details = store.details();
        (store, details)
    }
}

impl World for View {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        self.object_of(&self.cache.store(kind), namespace.unwrap_or_default(), name)
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        self.list_of(&self.cache.store(kind), namespace, selector)
    }

    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>> {
        let store = Arc::clone(self.cache.plans());
        self.list_of(&store, Some(namespace), &Selector::default())
    }

    /// Beside the workloads every custom kind that somebody depends on.
    fn kinds(&self) -> Vec<Kind> {
        let custom = self.cache.custom_kinds();
        scope::workloads().chain(custom).collect()
    }

    fn members(
        &self,
        kind: &Kind,
        namespace: &str,
        scope: Option<&str>,
        part: &Part,
    ) -> Lookup<Vec<Value>> {
        let store = self.cache.store(kind);
        let members = Members {
            namespace: namespace.into(),
            scope: scope.map(Into::into),
            part: part.clone(),
        };
        self.read(&store, Interest::Members(members));
        match usable(&store) {
            Ok(()) => Lookup::Found(store.members(namespace, scope, part)),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn first_unready(
        &self,
        kind: &Kind,
        scope: &Scope,
        below: i64,
        is_ready: &dyn Fn(&Value) -> bool,
    ) -> Lookup<Option<Value>> {
        let store = self.cache.store(kind);
        let first = store.first_unready(scope, below, is_ready, (self.id, &self.notify));
        self.waves
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((Arc::clone(&store), scope.clone()));
        match usable(&store) {
            Ok(()) => Lookup::Found(first),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn is_pending(&self, scope: &Scope) -> bool {
        let Some(secrets) = kinds::builtin("", "Secret").map(Kind::Builtin) else {
            return false;
        };
        if !self.cache.reads_secrets() {
            return false;
        }
        let test = |key: &str, values: &[&str]| Requirement {
            key: key.to_owned(),
            test: Test::In(values.iter().map(|it| (*it).to_owned()).collect()),
        };
        // The labels of Helm's own record of a release; its contents are never asked for.
        let records = Selector(vec![
            test("name", &[&scope.name]),
            test("owner", &["helm"]),
            test(
                "status",
                &["pending-install", "pending-upgrade", "pending-rollback"],
            ),
        ]);
        let kept_in = scope.kept_in.as_deref().unwrap_or(&scope.namespace);
        let found = self.list(&secrets, Some(kept_in), &records);
        matches!(found, Lookup::Found(pending) if !pending.is_empty())
    }

    fn slots(&self, wave: &Wave) -> Lookup<Vec<Holder>> {
        let asked = &mut *self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(wave.clone());
        let known = self.cache.slots().ask(wave, (self.id, &self.notify));
        known.map_or(Lookup::Unavailable(Unavailable::Syncing), Lookup::Found)
    }

    fn active(&self, scope: &Scope) -> Option<Timestamp> {
        let stores = self.cache.stores();
        stores
            .iter()
            .filter_map(|(_, store)| store.active(scope))
            .max()
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        if let Kind::Builtin(builtin) = kind {
            return Lookup::Found(builtin.namespaced);
        }
        let (store, details) = self.details(kind);
        match (usable(&store), details.namespaced) {
            (_, Some(namespaced)) => Lookup::Found(namespaced),
            (Err(why), None) => Lookup::Unavailable(why),
            (Ok(()), None) => Lookup::Unavailable(Unavailable::Syncing),
        }
    }

    fn completed_job(&self, namespace: &str, name: &str) -> Option<CompletedJob> {
        self.cache.memory().completed(namespace, name)
    }

    fn declares_status(&self, kind: &Kind) -> Option<bool> {
        match kind {
            Kind::Builtin(_) => None,
            Kind::Custom { .. } => self.details(kind).1.declares_status,
        }
    }

    /// Changed rules wake every view, so this is no read to note.
    fn health(&self, object: &Value) -> Option<Judged> {
        self.cache.health_rules().judge(object)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        for (store, interest) in self
            .reads
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .drain(..)
        {
            store.unregister(&interest, self.id);
        }
        let waves = self.waves.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (store, scope) in waves.drain(..) {
            store.unregister_wave(&scope, self.id);
        }
        let slots = self.slots.get_mut().unwrap_or_else(PoisonError::into_inner);
        for wave in slots.drain(..) {
            self.cache.slots().forget(&wave, self.id);
        }
    }
}

/// Whether what the store holds may be used.
fn usable(store: &Store) -> Result<(), Unavailable> {
    match store.condition() {
        Condition::Live => Ok(()),
        Condition::Disconnected(since) if since.elapsed() < STALE_AFTER => Ok(()),
        Condition::Disconnected(_) => Err(Unavailable::Stale),
        Condition::Syncing => Err(Unavailable::Syncing),
        Condition::Forbidden => Err(Unavailable::Forbidden),
        Condition::NotServed => Err(Unavailable::NotServed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use rules::dependency::Reference;
    use serde_json::json;
    use std::time::{Duration, Instant};

    fn widget() -> Kind {
        Kind::Custom {
            group: "example.com".into(),
            word: "Widget".into(),
        }
    }

    #[test]
    fn the_first_read_of_a_kind_asks_for_its_watch_once() {
        let (cache, mut requests) = Cache::new();
        let view = cache.view();
        assert_eq!(
            view.object(&widget(), Some("a"), "x"),
            Lookup::Unavailable(Unavailable::Syncing)
        );
        let _ = view.object(&widget(), Some("a"), "y");
        assert_eq!(requests.try_recv().unwrap(), widget());
        assert!(requests.try_recv().is_err());
    }

    #[test]
    fn a_view_is_woken_by_what_it_read_even_before_it_waits() {
        let (cache, _requests) = Cache::new();
        let store = cache.store(&widget());
        store.replace(&[]);
        let view = cache.view();
        assert_eq!(view.object(&widget(), Some("a"), "x"), Lookup::NotFound);
        assert!(view.changed().now_or_never().is_none());
        store.apply(&json!({"metadata": {"namespace": "a", "name": "other"}}));
        assert!(view.changed().now_or_never().is_none(), "not what was read");
        store.apply(&json!({"metadata": {"namespace": "a", "name": "x"}}));
        assert!(view.changed().now_or_never().is_some());
    }

    fn labelled(name: &str, labels: &Value) -> Value {
        json!({"metadata": {"namespace": "a", "name": name, "labels": labels}})
    }

    fn required(text: &str) -> Selector {
        let list = format!("- {{kind: Pod, selector: '{text}'}}");
        let parsed = rules::annotation::parse_depends_on(&list).unwrap();
        match &parsed[0].reference {
            Reference::Selected(selection) => selection.selector.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_selector_is_woken_by_what_can_alter_it() {
        let (cache, _requests) = Cache::new();
        let store = cache.store(&widget());
        store.replace(&[]);
        for (selector, by_x, by_db, by_web, by_leaving) in [
            ("app=web,tier!=canary", false, false, true, true),
            ("tier=front,app in (web)", false, false, true, true),
            ("app in (web,db)", true, true, true, true),
            ("!app", true, true, true, true),
        ] {
            let selector = required(selector);
            let woken_by = |labels: &Value| {
                let view = cache.view();
                let _ = view.list(&widget(), Some("a"), &selector);
                store.apply(&labelled("x", labels));
                view.changed().now_or_never().is_some()
            };
            store.delete(&labelled("x", &json!({})));
            let seen = [
                woken_by(&json!({"x": "y"})),
                woken_by(&json!({"app": "db"})),
                woken_by(&json!({"app": "web", "tier": "front"})),
                woken_by(&json!({})),
            ];
            assert_eq!(seen, [by_x, by_db, by_web, by_leaving], "{selector}");
        }
    }

    #[test]
    fn a_selector_reads_what_it_selects() {
        let (cache, _requests) = Cache::new();
        cache.store(&widget()).replace(&[
            labelled("x", &json!({"app": "web", "tier": "canary"})),
            labelled("y", &json!({"app": "web"})),
            labelled("z", &json!({"app": "db"})),
        ]);
        let names = |selector: &str| -> Vec<String> {
            let Lookup::Found(found) = cache.view().list(&widget(), Some("a"), &required(selector))
            else {
                panic!("live")
            };
            let name = |object: &Value| object["metadata"]["name"].as_str().map(str::to_owned);
            found.iter().filter_map(name).collect()
        };
        assert_eq!(names("app=web,tier!=canary"), ["y"]);
        assert_eq!(names("app in (web,db)"), ["x", "y", "z"]);
        assert_eq!(names("!tier"), ["y", "z"]);
    }

    #[test]
    fn what_was_known_is_used_for_half_a_minute_and_no_longer() {
        let (cache, _requests) = Cache::new();
        let store = cache.store(&widget());
        store.replace(&[json!({"metadata": {"namespace": "a", "name": "x"}})]);
        let ask = || cache.view().object(&widget(), Some("a"), "x");
        let now = Instant::now();
        store.set_condition(Condition::Disconnected(now));
        assert!(matches!(ask(), Lookup::Found(_)));
        let Some(long_ago) = now.checked_sub(STALE_AFTER + Duration::from_secs(1)) else {
            return;
        };
        store.set_condition(Condition::Disconnected(long_ago));
        assert_eq!(ask(), Lookup::Unavailable(Unavailable::Stale));
    }

    #[test]
    fn two_spellings_share_one_store() {
        let (cache, _requests) = Cache::new();
        let plural = Kind::Custom {
            group: "example.com".into(),
            word: "widgets".into(),
        };
        let view = cache.view();
        let _ = view.object(&plural, Some("a"), "x");
        let _ = cache.store(&widget());
        assert!(cache.alias(&plural, &widget()));
        assert!(view.changed().now_or_never().is_some());
        assert!(Arc::ptr_eq(&cache.store(&plural), &cache.store(&widget())));
    }

    #[test]
    fn helm_is_at_work_as_long_as_its_record_says_so() {
        let (cache, _requests) = Cache::new();
        let secrets = rules::kinds::by_word("secret").map(Kind::Builtin).unwrap();
        let scope = Scope {
            namespace: "a".to_owned(),
            name: "shop".to_owned(),
            kept_in: None,
        };
        let record = |name: &str, status: &str| {
            labelled(
                name,
                &json!({"owner": "helm", "name": "shop", "status": status}),
            )
        };
        let store = cache.store(&secrets);
        store.replace(&[record("v1", "deployed"), record("v2", "pending-upgrade")]);
        assert!(!cache.view().is_pending(&scope), "nobody may look");
        cache.read_secrets();
        let view = cache.view();
        assert!(view.is_pending(&scope));
        store.apply(&record("v2", "deployed"));
        assert!(view.changed().now_or_never().is_some());
        assert!(!cache.view().is_pending(&scope));
    }
}
