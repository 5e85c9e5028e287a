//! Who waits for a scope, or for a part of one, over the objects of every kind that is looked for there.
//!
//! A wave may hold objects of any kind that is granted, and of hundreds there is none in it. So a waiter stands here once for all of
//! them, and each store that may hold such objects tells here of a change.

use super::scopes::Standing;
use super::waiters::{Bell, Fingerprint, Subscription, Waiters, Woken};
use rules::dependency::Part;
use rules::scope::{Position, Scope};
use std::sync::Arc;

/// What somebody waits for.
#[derive(Debug, Clone, Copy, Hash)]
pub(super) enum Look<'a> {
    /// Which kinds there are, and whether they can be read.
    Kinds,
    /// The first object of a scope that is not ready. A [`Limit`] narrows that down.
    Wave(&'a Scope),
    /// The objects that may be in a part, of the scopes of that name in a namespace, or without a scope anywhere in it.
    Members {
        /// Where they are.
        namespace: &'a str,
        /// What the scope is called.
        scope: Option<&'a str>,
        /// The part.
        part: &'a Part,
    },
}

/// The last position, or the first weight, whose change matters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Limit {
    /// Nothing behind this alters the answer.
    UpTo(Position),
    /// Nothing of this weight, or of a greater one, does.
    Below(i64),
}

impl Limit {
    fn holds(&self, position: &Position) -> bool {
        match self {
            Self::UpTo(last) => position <= last,
            Self::Below(weight) => position.weight < *weight,
        }
    }

    /// Roughly how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let texts = match self {
            Self::UpTo(last) => last.kind.len() + last.name.len(),
            Self::Below(_) => 0,
        };
        size_of::<Self>() + texts
    }
}

/// All of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Lookers(Waiters<Fingerprint, Limit>);

/// What one of them waits for.
pub(super) type LookedAt = Subscription<Fingerprint, Limit>;

impl Lookers {
    /// To wake `waiter`, who looks at nothing yet.
    pub(super) fn subscription(&self, waiter: &Arc<Bell>) -> LookedAt {
        self.0.subscription(waiter)
    }

    /// What stands for a look here.
    pub(super) fn fingerprint(&self, look: Look<'_>) -> Fingerprint {
        self.0.fingerprint(look)
    }

    /// An object stands there, or has stood there before a change.
    pub(super) fn find(&self, namespace: &str, place: &Standing, woken: &mut Woken) {
        if self.0.is_empty() {
            return;
        }
        looks(place, namespace, &mut |look, position| {
            let here = self.0.fingerprint(look);
            let concerns = |limit: &Limit| position.is_some_and(|it| limit.holds(it));
            self.0.find(&here, concerns, woken);
        });
    }

    /// Adds everybody: a kind can be read, or can no longer be, or everything is to be judged anew.
    pub(super) fn find_all(&self, woken: &mut Woken) {
        self.0.find_all(woken);
    }

    /// Wakes everybody.
    pub(super) fn wake_all(&self) {
        self.0.wake_all();
    }
}

/// Tells every look that a change of the object at this place alters, and where it stands in a wave.
fn looks(place: &Standing, namespace: &str, tell: &mut dyn FnMut(Look<'_>, Option<&Position>)) {
    let own = place.scope.as_ref().map(|scope| scope.name.as_str());
    let release = own.map(|name| Part::Release(name.to_owned()));
    for part in place.parts.iter().chain(&release) {
        for scope in [None, own] {
            let look = Look::Members {
                namespace,
                scope,
                part,
            };
            tell(look, None);
        }
    }
    if let (Some(scope), Some(position)) = (&place.scope, &place.position) {
        tell(Look::Wave(scope), Some(position));
    }
}
