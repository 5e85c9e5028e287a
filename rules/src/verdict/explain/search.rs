//! The search for the pod, or other object, that keeps an object from being ready: the lists to read, one after another, and the cause that they
//! show.
//!
//! The reader (the controller from time to time, the command line at once) asks [`Search::asks`] for the next list, hands the
//! list over ([`Search::saw`]), and stops when there is no next one.

use crate::cause::{self, Behind, By, Cause, Page, Stuck};
use crate::dependency::State;
use crate::job;
use crate::kinds::{self, Kind};
use crate::lookup::Lookup;
use crate::object::{self, name};
use crate::profile;
use crate::selector::{Requirement, Selector};
use crate::suggest::{distance, nearest};
use crate::world::{World, has_made, owner_behind};
use jiff::Timestamp;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use wire::said::clean;

/// Deeper than any chain of owners that controllers make (PipelineRun, TaskRun, Pod), and a bound on forged ones.
const OWNERS: usize = 5;
/// The longest name or short message that is quoted of an object, in characters.
const WORD: usize = 120;
/// The longest message that is quoted of an object that is not a pod, in characters.
const SAYS: usize = 240;

/// A search for the cause why one object is not ready: the lists that are left to read, and the cause found so far.
pub struct Search<'b> {
    behind: &'b Behind,
    pages: std::vec::IntoIter<Page>,
    /// The UIDs of the objects whose children are read next.
    owners: Vec<String>,
    found: Option<Stuck>,
    over: bool,
    is_bare: bool,
}

impl<'b> Search<'b> {
    /// Begins a search behind one object, before any list is read.
    pub fn new(behind: &'b Behind) -> Self {
        Self {
            behind,
            pages: behind.pages().into_iter(),
            owners: behind.owner.iter().cloned().collect(),
            found: None,
            over: false,
            is_bare: true,
        }
    }

    /// The next list to read, in the namespace and by the labels of [`Behind`]; `None` when the search is over.
    pub fn asks(&mut self) -> Option<Page> {
        (!self.over).then(|| self.pages.next()).flatten()
    }

    /// Takes in the objects (`things`) of the list `page` that was read: updates the cause, and decides whether the search goes on. `claim`
    /// reads a PersistentVolumeClaim by its name.
    pub fn saw(
        &mut self,
        page: Page,
        things: &[Value],
        claim: impl Fn(&str) -> Lookup<Value>,
        world: &dyn World,
        now: Timestamp,
    ) {
        let own = self.own(things, world);
        self.is_bare &= own.is_empty();
        match self.behind.by {
            By::Labels if self.behind.owner.is_none() && own.iter().all(|it| is_leaving(it)) => {
                self.found = Some(nothing_selected(self.behind, world));
            }
            By::Labels => self.found = stuck_pod(&own, claim, world, now),
            By::Owners => {
                self.over = !own.is_empty();
                self.found = match page.kind.kind {
                    "Pod" => stuck_pod(&own, claim, world, now),
                    _ => stuck_thing(page, &own, world, now),
                };
            }
            By::Steps(_) => {
                self.over = own.is_empty();
                let found = stuck_thing(page, &own, world, now);
                self.found = found.or_else(|| self.found.take());
                let uids = own.iter().filter_map(|it| it["metadata"]["uid"].as_str());
                self.owners = uids.map(str::to_owned).collect();
            }
        }
    }

    /// Whether lists of the namespace that no label narrowed were read and held no object that belongs to the searched one: most custom kinds
    /// make no pods.
    pub fn is_in_vain(&self) -> bool {
        self.is_bare && self.behind.by == By::Owners && self.behind.selector.0.is_empty()
    }

    /// The pod, or other object, that keeps the searched object from being ready, as far as the lists were read; `None` where none shows a
    /// cause.
    pub fn found(self) -> Option<Stuck> {
        self.found
    }

    /// The objects among `things` that belong to the searched object. Labels only narrow the search: the owner decides.
    fn own<'t>(&self, things: &'t [Value], world: &dyn World) -> Vec<&'t Value> {
        let home = &self.behind.namespace;
        let mut known = BTreeMap::new();
        let is_own = |thing: &&Value| match (self.behind.by, &self.behind.owner) {
            (_, None) => true,
            (By::Labels, Some(uid)) => has_made(world, home, uid, thing),
            (By::Owners | By::Steps(_), Some(_)) => {
                leads_to(&self.owners, thing, home, world, &mut known)
            }
        };
        things.iter().filter(is_own).collect()
    }
}

/// Whether the chain of owners of an object leads to one of the UIDs in `to`, within [`OWNERS`] steps. `false` where an owner on the way cannot
/// be read, as with a custom kind that the administrator has not granted. `known` keeps the answers, by the UIDs of owners.
fn leads_to(
    to: &[String],
    thing: &Value,
    namespace: &str,
    world: &dyn World,
    known: &mut BTreeMap<String, bool>,
) -> bool {
    let mut passed = Vec::new();
    let mut next = owner(thing, to);
    let leads = loop {
        let (uid, reference) = match next {
            Above::Sought => break true,
            Above::Nothing => break false,
            Above::Owner(uid, reference) => (uid, reference),
        };
        if let Some(leads) = known.get(&uid) {
            break *leads;
        }
        passed.push(uid.clone());
        if passed.len() == OWNERS {
            break false;
        }
        let Some(object) = owner_behind(&reference, namespace, world) else {
            break false;
        };
        if object["metadata"]["uid"] != uid.as_str() {
            break false;
        }
        next = owner(&object, to);
    };
    known.extend(passed.into_iter().map(|uid| (uid, leads)));
    leads
}

/// The result of one step from an object to its owner.
enum Above {
    /// An owner is one of those that the search looks for.
    Sought,
    /// The owner is another object: its UID, and the reference to it.
    Owner(String, Value),
    /// The object has no owner.
    Nothing,
}

/// The step from an object to its owner: [`Above::Sought`] where any of its owners is sought, that is has its UID in `to`, else its controller. Some
/// controllers own the objects that they make without being called their controller, so the first owner counts where there is no controller.
fn owner(object: &Value, to: &[String]) -> Above {
    let references = object["metadata"]["ownerReferences"].as_array();
    let mut references = references.into_iter().flatten();
    let is_one = |it: &Value| {
        it["uid"]
            .as_str()
            .is_some_and(|uid| to.iter().any(|to| to == uid))
    };
    if references.clone().any(is_one) {
        return Above::Sought;
    }
    let next = object::controller_of(object).or_else(|| references.next());
    let found = next.and_then(|it| Some((it["uid"].as_str()?.to_owned(), it.clone())));
    found.map_or(Above::Nothing, |(uid, it)| Above::Owner(uid, it))
}

/// The pod with the most telling cause among `pods` ([`Stuck::among`]); `None` where no pod has a cause. For a pod without a node that has an
/// unbound PersistentVolumeClaim the claim is the cause. `claim` reads a claim by its name.
pub fn stuck_pod(
    pods: &[&Value],
    claim: impl Fn(&str) -> Lookup<Value>,
    world: &dyn World,
    now: Timestamp,
) -> Option<Stuck> {
    let mut stuck = Stuck::among(pods.iter().copied(), now)?;
    if matches!(stuck.cause, Cause::NoNode { .. })
        && let Some(pod) = pods.iter().find(|pod| name(pod) == stuck.name)
        && let Some((name, says)) =
            cause::claims(pod).find_map(|name| Some((name, unbound(claim(name), world, now)?)))
    {
        let name = clean(name, WORD);
        stuck.cause = Cause::Claim { name, says };
    }
    Some(stuck)
}

/// Why a PersistentVolumeClaim is not bound, also where it does not exist; `None` where the claim is bound or cannot be read.
fn unbound(found: Lookup<Value>, world: &dyn World, now: Timestamp) -> Option<String> {
    let says = match found {
        Lookup::Found(claim) => {
            let kind = Kind::Builtin(kinds::PERSISTENT_VOLUME_CLAIM);
            let judged = profile::judge(&kind, &claim, State::Ready, world, now);
            (!judged.satisfied).then_some(judged.message)?
        }
        Lookup::NotFound => "it does not exist".to_owned(),
        Lookup::Unavailable(_) => return None,
    };
    Some(clean(&says, WORD))
}

/// The youngest unready object among objects of one kind other than pods, with its message as the cause. Of a custom kind only the youngest
/// object is looked at, since a controller may make another after each failure. Jobs that sluice holds and objects that are being deleted do not
/// count.
fn stuck_thing(page: Page, own: &[&Value], world: &dyn World, now: Timestamp) -> Option<Stuck> {
    let kind = page.kind();
    let says = |thing: &Value| {
        let judged = profile::judge(&kind, thing, State::Ready, world, now);
        // For a Job that sluice holds, other words are found elsewhere.
        let unready = !judged.satisfied && !job::is_held(thing) && !is_leaving(thing);
        unready.then(|| profile::told(thing, judged.status).unwrap_or(judged.message))
    };
    let made = |thing: &&&Value| Reverse(object::created(thing));
    let mut own: Vec<&&Value> = own.iter().collect();
    own.sort_by_key(|thing| (made(thing), name(thing).to_owned()));
    // Objects of a custom kind may be made anew after each failure: only the last one counts.
    if matches!(kind, Kind::Custom { .. }) {
        own.truncate(1);
    }
    let (thing, says) = own.iter().find_map(|it| Some((it, says(it)?)))?;
    Some(Stuck {
        kind: page.kind.kind,
        name: name(thing).to_owned(),
        cause: Cause::Unready(clean(&says, SAYS)),
        alike: 1,
        of: 1,
    })
}

/// The cause of a Service whose labels no pod has.
fn nothing_selected(behind: &Behind, world: &dyn World) -> Stuck {
    let cause = Cause::NoPods {
        labels: clean(&behind.selector.to_string(), WORD),
        near: near(&behind.selector, &behind.namespace, world),
    };
    Stuck {
        kind: "Pod",
        name: String::new(),
        cause,
        alike: 0,
        of: 0,
    }
}

/// The words about a Deployment, StatefulSet or DaemonSet whose pods have all labels of the selector but one, which may be a slip: `those of
/// Deployment/db have app=db`. Of several the one counts whose label takes the fewest edits. A selector of a single label needs a label that is
/// spelt nearly so. `None` without such a workload.
fn near(selector: &Selector, namespace: &str, world: &dyn World) -> Option<String> {
    let usual = [kinds::DEPLOYMENT, kinds::STATEFUL_SET, kinds::DAEMON_SET].map(Kind::Builtin);
    let of_kind = |kind: &Kind| match world.list(kind, Some(namespace), &Selector::default()) {
        Lookup::Found(workloads) => {
            let near = workloads.iter().filter_map(|it| nearness(selector, it));
            let near = near.min_by_key(|(edits, ..)| *edits)?;
            Some((near, kind.to_string()))
        }
        Lookup::NotFound | Lookup::Unavailable(_) => None,
    };
    let ((_, name, told), kind) = usual
        .iter()
        .filter_map(of_kind)
        .min_by_key(|((edits, ..), _)| *edits)?;
    Some(clean(&format!("those of {kind}/{name} {told}"), WORD))
}

/// The number of edits between the only label of a selector that differs and that of a workload's pods, the name of the workload, and the words
/// about its label. A label that the pods lack counts as the most edits. `None` where another number of labels differs, or a selector of one
/// label is not nearly met.
fn nearness(selector: &Selector, workload: &Value) -> Option<(usize, String, String)> {
    let template = object::template(workload)?;
    let differs = |it: &&Requirement| !Selector(vec![(*it).clone()]).selects(template);
    let differing: Vec<&Requirement> = selector.0.iter().filter(differs).collect();
    let [only] = differing.as_slice() else {
        return None;
    };
    let wanted = only.to_string();
    let alone = selector.0.len() == 1;
    let (edits, told) = match template["metadata"]["labels"][&only.key].as_str() {
        Some(own) => {
            let own = format!("{}={own}", only.key);
            let is_near = !alone || nearest(&wanted, [own.as_str()]).is_some();
            is_near.then(|| (distance(&wanted, &own), format!("have {own}")))?
        }
        None if alone => return None,
        None => (usize::MAX, format!("lack {wanted}")),
    };
    Some((edits, name(workload).to_owned(), told))
}

fn is_leaving(thing: &Value) -> bool {
    thing["metadata"]["deletionTimestamp"].is_string()
}
