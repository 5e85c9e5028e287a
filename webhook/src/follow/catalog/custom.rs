//! Follows custom kinds.
//!
//! A custom kind is found in the definitions, which are watched like any other kind. So a kind whose definition comes later is
//! followed from the moment at which the definition is established, without polling. A group without definitions may be an
//! aggregated API, for which discovery is asked.

use super::Catalog;
use crate::follow::LOOK_AGAIN;
use crate::follow::discovery::{ASK_AGAIN, Unanswered};
use crate::follow::served::{Served, defined};
use crate::follow::watch::Target;
use crate::known::{Freshness, Store, View};
use kube::discovery::ApiResource;
use rules::kept::Detail;
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::selector::Selector;
use rules::world::Objects;
use std::sync::Arc;
use std::time::Duration;
use tracing::{debug, info, warn};

/// The first pause before a kind is sought again: an established definition may need a moment until the API server serves its kind.
const SOON: Duration = Duration::from_millis(100);

/// The pause after a change of a definition, before the kinds are sought again. One search serves several changes, and the tasks that
/// have just found their kind not served have ended by then.
const GATHER: Duration = Duration::from_millis(50);

/// The result of the search for a custom kind.
enum Sought {
    Served(Served),
    NotServed,
    /// The API server did not answer the search for the kind.
    Unanswered,
    /// The CustomResourceDefinitions have not arrived yet.
    Syncing,
}

/// The way in which the definition of a followed kind has changed.
enum Redefined {
    /// The CustomResourceDefinition now defines another resource for the kind.
    Otherwise,
    /// The CustomResourceDefinition is gone, or no longer defines the kind.
    NoMore,
}

impl Catalog {
    /// Finds and follows a custom kind. Returns when the kind is not served, and [`Catalog::seek_absent`] looks for it again; or when
    /// the kind is followed already under another spelling.
    pub(super) async fn serve_custom(&self, kind: &Kind, group: &str, word: &str, store: &Store) {
        let mut pause = SOON;
        loop {
            let view = self.known.view();
            let found = match self.find(&view, group, word).await {
                Sought::Served(found) => found,
                Sought::NotServed => {
                    if store.freshness() != Freshness::NotServed {
                        debug!("Not served; waiting for its definition");
                    }
                    self.known.note_absent(store);
                    if view.has_changed() {
                        continue;
                    }
                    return;
                }
                Sought::Unanswered => {
                    if store.freshness() != Freshness::Undiscovered {
                        warn!("The API server cannot tell whether it serves this kind");
                        store.clear(Freshness::Undiscovered);
                    }
                    let _ = tokio::time::timeout(ASK_AGAIN, view.changed()).await;
                    continue;
                }
                Sought::Syncing => {
                    let _ = tokio::time::timeout(LOOK_AGAIN, view.changed()).await;
                    continue;
                }
            };
            let canonical = Kind::Custom {
                group: group.to_owned(),
                word: found.resource.kind.clone(),
            };
            if canonical != *kind && self.known.alias(kind, &canonical) {
                debug!(%canonical, "Another spelling is watched already");
                return;
            }
            store.describe(found.details);
            let target = Target {
                observer: self.observer_of_ends(&canonical),
                kind: canonical,
                resource: found.resource,
                selector: None,
                fields: None,
                namespace: None,
                detail: Detail::Object,
                whole_budget: None,
                large_budget: Some(Arc::clone(&self.known.budgets().large)),
            };
            let began = tokio::time::Instant::now();
            tokio::select! {
                () = self.follow_once(&target, store) => {}
                change = self.redefined(&target.resource, word, store) => match change {
                    Redefined::Otherwise => info!("Its definition has changed"),
                    // The API server refuses the watch from now on, and the store would be believed for a while.
                    Redefined::NoMore => {
                        info!("Its definition is gone");
                        store.clear(Freshness::NotServed);
                    }
                },
            }
            pause = if began.elapsed() > LOOK_AGAIN {
                SOON
            } else {
                (pause * 2).min(LOOK_AGAIN)
            };
            let _ = tokio::time::timeout(pause, view.changed()).await;
        }
    }

    /// Keeps the details of a followed custom kind in `store` as its CustomResourceDefinition declares them. Returns when the
    /// CustomResourceDefinition defines another resource for the kind, or is gone. Never returns for a kind without one.
    async fn redefined(&self, resource: &ApiResource, word: &str, store: &Store) -> Redefined {
        let definitions = Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION);
        let name = format!("{}.{}", resource.plural, resource.group);
        let mut was_defined = false;
        loop {
            let view = self.known.view();
            let found = match view.object(&definitions, None, &name) {
                Lookup::Found(definition) => defined(&definition, word),
                Lookup::NotFound => None,
                Lookup::Unavailable(_) => {
                    view.changed().await;
                    continue;
                }
            };
            match found {
                Some(found) if found.resource != *resource => return Redefined::Otherwise,
                Some(found) => {
                    store.describe(found.details);
                    was_defined = true;
                }
                None if was_defined => return Redefined::NoMore,
                // An aggregated API has no definition: its watch tells whether the kind is served.
                None => {}
            }
            view.changed().await;
        }
    }

    async fn find(&self, view: &View, group: &str, word: &str) -> Sought {
        let sought = |found: Option<Served>| found.map_or(Sought::NotServed, Sought::Served);
        let definitions = Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION);
        match view.list(&definitions, None, &Selector::default()) {
            Lookup::Found(definitions) => {
                let mut of_group = definitions
                    .iter()
                    .filter(|definition| definition["spec"]["group"] == group)
                    .peekable();
                if of_group.peek().is_some() {
                    return sought(of_group.find_map(|definition| defined(definition, word)));
                }
            }
            // The definitions arrive in a moment and are the better source. Discovery is asked only where the definitions are
            // forbidden.
            Lookup::Unavailable(rules::lookup::Unavailable::Syncing) => return Sought::Syncing,
            Lookup::NotFound | Lookup::Unavailable(_) => {}
        }
        match self.discovery.find(&self.client, group, word).await {
            Ok(found) => sought(found),
            Err(Unanswered) => Sought::Unanswered,
        }
    }

    /// Looks again for the kinds that are not served, for as long as the process runs: when a definition changes, and now and then,
    /// since an aggregated API has no definition. One task looks for all kinds, because lists may name many, and each kind costs
    /// nothing in between.
    pub(super) async fn seek_absent(self) {
        let definitions = Kind::Builtin(kinds::CUSTOM_RESOURCE_DEFINITION);
        loop {
            self.known.absent_noted().await;
            let view = self.known.view();
            // The list only registers the interest: each search reads the definitions by itself.
            let _ = view.list(&definitions, None, &Selector::default());
            let _ = tokio::time::timeout(LOOK_AGAIN, view.changed()).await;
            tokio::time::sleep(GATHER).await;
            let sought = self.known.seek_absent();
            debug!(sought, "Kinds that were not served are sought again");
        }
    }
}
