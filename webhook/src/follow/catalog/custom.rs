//! Custom kinds.
//!
//! One is found in the definitions, which are watched like any other kind: so a definition that comes later is seen the
//! moment it is established, and costs nobody a poll. A group without definitions may be an aggregated API, for which
//! discovery is asked.

use super::Catalog;
use crate::follow::discovery::{ASK_AGAIN, LOOK_AGAIN, Unanswered};
use crate::follow::served::{Served, defined};
use crate::follow::watch::Target;
use crate::known::{Freshness, Store, View};
use kube::discovery::ApiResource;
use rules::kept::Detail;
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::selector::Selector;
use rules::world::Objects;
use std::time::Duration;
use tracing::{debug, info, warn};

/// An established definition may need a moment until it is served.
const SOON: Duration = Duration::from_millis(100);

/// What is known of a custom kind.
enum Sought {
    Served(Served),
    NotServed,
    /// The API server was asked and did not say.
    Unanswered,
    /// The definitions have not arrived yet.
    Syncing,
}

/// What has become of the definition of a kind that is followed.
enum Redefined {
    /// It defines another resource.
    Otherwise,
    /// It is gone, or defines the kind no more.
    NoMore,
}

impl Catalog {
    /// Returns when the kind is not served: it is sought again with all others of which that was found.
    pub(super) async fn serve_custom(&self, kind: &Kind, group: &str, word: &str, store: &Store) {
        let mut pause = SOON;
        loop {
            let view = self.known.view();
            let found = match self.find(&view, group, word).await {
                Sought::Served(found) => found,
                Sought::NotServed => {
                    if store.condition() != Freshness::NotServed {
                        debug!("Not served; waiting for its definition");
                    }
                    self.known.note_absent(kind, store);
                    if view.has_changed() {
                        continue;
                    }
                    return;
                }
                Sought::Unanswered => {
                    if store.condition() != Freshness::Undiscovered {
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
                wishes: None,
            };
            let began = tokio::time::Instant::now();
            tokio::select! {
                () = self.follow_once(&target, store) => {}
                change = self.redefined(&target.resource, word, store) => match change {
                    Redefined::Otherwise => info!("Its definition has changed"),
                    // The watch of the kind is refused from now on, and would be believed for a while.
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

    /// Keeps what the definition says of a kind that is followed; returns when it says something else.
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
                // An aggregated API has none: its watch says whether it is served.
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
            // The definitions arrive in a moment and are the better source; only a ban on them leaves discovery alone.
            Lookup::Unavailable(rules::lookup::Unavailable::Syncing) => return Sought::Syncing,
            Lookup::NotFound | Lookup::Unavailable(_) => {}
        }
        match self.discovery.find(&self.client, group, word).await {
            Ok(found) => sought(found),
            Err(Unanswered) => Sought::Unanswered,
        }
    }
}
