//! Judges parts: groups, sub-charts and releases.

use super::basis::Judge;
use super::consent::Consent;
use super::finding::EntryFinding;
use super::home::Home;
use super::several::{self, Member};
use crate::dependency::{Dependency, Part, Parts};
use crate::judged::{Judged, Reason, not_found, unavailable, unmet};
use crate::keys;
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::lookup::Lookup;
use crate::object::name;
use crate::scope::Scope;
use crate::world::leaves_out;
use serde_json::Value;

/// An object with its kind.
pub(in crate::verdict) type Typed = (Kind, Value);

impl Judge<'_> {
    /// Judges a group, a sub-chart or a release. Returns whether its objects are in another namespace, so that the message must not be shown,
    /// and the finding.
    pub(super) fn part(&self, parts: &Parts, entry: &Dependency) -> (bool, EntryFinding) {
        let own = self.dependent.namespace.as_str();
        let namespace = parts.namespace.as_deref().unwrap_or(own);
        let home = Home {
            namespace: Some(namespace),
            foreign: namespace != own,
        };
        if home.foreign {
            let consent = Consent::of_namespace(own, namespace, self.policy, self.world);
            if let Some(refusal) = consent.refusal() {
                return (true, refusal.into());
            }
        }
        let found = match self.objects_of(parts, namespace) {
            Ok(objects) if objects.is_empty() => self.empty(parts, entry),
            Ok(objects) => self.together(objects, parts, home, entry),
            Err(judged) => judged.into(),
        };
        (home.foreign, found)
    }

    /// The objects of a group, sub-chart or release in a namespace: of workloads, granted custom kinds and, for a group, Services, claims and
    /// pods. Without the dependent and its pods, objects that a controller made, and hooks of Helm.
    ///
    /// # Errors
    ///
    /// The finding where a kind cannot be read, or where a sub-chart is named by a dependent without a scope.
    pub(in crate::verdict) fn objects_of(
        &self,
        parts: &Parts,
        namespace: &str,
    ) -> Result<Vec<Typed>, Judged> {
        let part = &parts.part;
        let own = self.dependent.scope.as_ref();
        let scope = match part {
            Part::Release(name) => Some(name.as_str()),
            Part::Group(_) => own.map(|scope| scope.name.as_str()),
            Part::SubChart(_) => match own {
                Some(scope) => Some(scope.name.as_str()),
                None => return Err(no_scope(part)),
            },
        };
        let mut found = self.gathered(part, namespace, scope, &|object| {
            parts.is_of(own, Scope::of(object).as_ref())
        })?;
        Part::narrow(&mut found, |(_, object)| part.holds_exactly(object));
        Ok(found)
    }

    /// The objects that may be in a part and for which `counts` is true, from the scopes of the name `scope`, or with `None` from the whole
    /// namespace. Without the dependent and its pods, objects that a controller made, and hooks of Helm. The error is the finding where a kind cannot
    /// be read that [`leaves_out`] does not pass over.
    fn gathered(
        &self,
        part: &Part,
        namespace: &str,
        scope: Option<&str>,
        counts: &dyn Fn(&Value) -> bool,
    ) -> Result<Vec<Typed>, Judged> {
        let mut found = Vec::new();
        let mut unread = None;
        for kind in self.kinds()?.into_iter().chain(part.outspoken()) {
            match self.world.members(&kind, namespace, scope, &part.indexed()) {
                Lookup::Found(objects) => found.extend(
                    objects
                        .into_iter()
                        .filter(|object| counts(object) && part.may_hold(object))
                        .map(|object| (kind.clone(), object)),
                ),
                Lookup::NotFound => {}
                Lookup::Unavailable(why) if leaves_out(self.world, &kind, why) => {}
                Lookup::Unavailable(why) => {
                    unread.get_or_insert_with(|| unavailable(why, &kind, false));
                }
            }
        }
        if let Some(unread) = unread {
            return Err(unread);
        }
        // An object of the dependent's name in another namespace is not the dependent.
        let here = namespace == self.dependent.namespace;
        found.retain(|(kind, object)| {
            crate::object::controller_of(object).is_none()
                && !crate::scope::is_hook(object)
                && !(here && self.dependent.includes(kind, object))
        });
        Ok(found)
    }

    /// Judges a part that has no objects. Such a sub-chart is satisfied once the scope has been quiet, unless an object of that chart does not
    /// tell its release. Any other part, and a sub-chart whose namespace the entry names, waits unless the entry is optional.
    fn empty(
        &self,
        Parts {
            part, namespace, ..
        }: &Parts,
        entry: &Dependency,
    ) -> EntryFinding {
        let message = format!("no object of {part} has been created yet");
        let scope = match (part, &self.dependent.scope) {
            (Part::SubChart(_), Some(scope)) if namespace.is_none() => scope,
            _ => return self.absent(entry.optional, &message),
        };
        match self.unclaimed(part, scope) {
            Err(unread) => return unread.into(),
            Ok(Some((kind, object))) => {
                let told = format!(
                    "no object of {part} says that it is of release {release}, but {kind}/{} is of that chart and may be: give it {}: \
                     {release}, or name it in the list",
                    name(&object),
                    keys::SCOPE,
                    release = scope.name,
                );
                return unmet(Status::NotFound, Reason::NotFound, told).into();
            }
            Ok(None) => {}
        }
        let judged = self.may_yet_come(&message).unwrap_or_else(|| Judged {
            message: format!("no object of it is in release {}", scope.name),
            ..not_found(true, "")
        });
        judged.into()
    }

    /// The first object of a sub-chart in the dependent's namespace that is in no scope, or whose label `release` names the dependent's release;
    /// `None` where there is none. For a sub-chart without objects in the release: such an object may belong to it.
    fn unclaimed(&self, part: &Part, own: &Scope) -> Result<Option<Typed>, Judged> {
        let may_be_ours = |object: &Value| {
            let release = object["metadata"]["labels"]["release"].as_str();
            Scope::of(object).is_none() || release == Some(&*own.name)
        };
        let found = self.gathered(part, &own.namespace, None, &may_be_ours)?;
        Ok(found.into_iter().next())
    }

    fn together(
        &self,
        objects: Vec<Typed>,
        parts: &Parts,
        home: Home<'_>,
        entry: &Dependency,
    ) -> EntryFinding {
        let members: Vec<Member> = objects
            .into_iter()
            .map(|(kind, object)| {
                let judged = self.object(&kind, &object, home, entry);
                let name = format!("{kind}/{}", name(&object));
                Member::of(name, EntryFinding::of(&kind, object, judged))
            })
            .collect();
        let needed = parts.min.map_or(members.len(), |min| min.of(members.len()));
        several::all(members, needed, entry.state)
    }
}

fn no_scope(part: &Part) -> Judged {
    let message = format!(
        "the dependent is in no release, so it has no {}; name the objects themselves, or give both sluice.dev/scope",
        part.word()
    );
    unmet(Status::NotFound, Reason::NotFound, message)
}
