//! Groups, sub-charts and releases.

use super::consent::Consent;
use super::cycle::Found;
use super::edge::{Home, Judge};
use super::several::{self, Member};
use crate::dependency::{Dependency, Part, Parts};
use crate::judged::{Judged, Reason, not_found, unavailable, unmet};
use crate::kstatus::Status;
use crate::lookup::Lookup;
use crate::scope::Scope;
use crate::world::leaves_out;
use serde_json::Value;

impl Judge<'_> {
    /// What was found of a part, and whether its message texts must stay in another namespace.
    pub(super) fn part(&self, parts: &Parts, dependency: &Dependency) -> (bool, Judged) {
        let own = self.dependent.namespace.as_str();
        let namespace = parts.namespace.as_deref().unwrap_or(own);
        let home = Home {
            namespace: Some(namespace),
            foreign: namespace != own,
        };
        if home.foreign {
            let consent = Consent::of_namespace(own, namespace, self.policy, self.world);
            if let Some(refusal) = consent.refusal() {
                return (true, refusal);
            }
        }
        let judged = match self.found_in(parts, namespace) {
            Ok(found) if found.is_empty() => self.empty(parts, dependency),
            Ok(found) => self.together(&found, parts, home, dependency),
            Err(judged) => judged,
        };
        (home.foreign, judged)
    }

    /// The objects of a part, the dependent itself apart. Every kind is asked for, as for a wave.
    pub(super) fn found_in(&self, parts: &Parts, namespace: &str) -> Result<Vec<Found>, Judged> {
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
        let is_of_scope = |object: &Value| parts.is_of(own, Scope::of(object).as_ref());
        let mut found = Vec::new();
        let mut unread = None;
        for kind in self.kinds()?.into_iter().chain(part.outspoken()) {
            match self.world.members(&kind, namespace, scope, &part.indexed()) {
                Lookup::Found(objects) => found.extend(
                    objects
                        .into_iter()
                        .filter(|object| is_of_scope(object) && part.may_hold(object))
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
        // What has its name elsewhere is another.
        let here = namespace == self.dependent.namespace;
        found.retain(|(kind, object)| {
            crate::object::controller_of(object).is_none()
                && !crate::scope::is_hook(object)
                && !(here && self.dependent.includes(kind, object))
        });
        Part::narrow(&mut found, |(_, object)| part.holds_exactly(object));
        Ok(found)
    }

    /// A sub-chart that is not part of the release holds nobody back, once nothing more of it can be on its way. Whoever says
    /// where one is, says that it is.
    fn empty(
        &self,
        Parts {
            part, namespace, ..
        }: &Parts,
        dependency: &Dependency,
    ) -> Judged {
        let message = format!("no object of {part} has been created yet");
        if !matches!(part, Part::SubChart(_)) || namespace.is_some() {
            return self.absent(dependency.optional, &message);
        }
        let scope = self.dependent.scope.as_ref();
        let quiet = match self.returned() {
            Ok(began) => self.quiet_at(began, scope),
            Err(unknown) => return unknown,
        };
        if self.reached(quiet) {
            return not_found(true, "");
        }
        let message = format!("{message}; it may be until {quiet}");
        unmet(Status::NotFound, Reason::Settling, message)
    }

    fn together(
        &self,
        found: &[Found],
        parts: &Parts,
        home: Home<'_>,
        dependency: &Dependency,
    ) -> Judged {
        let members: Vec<Member> = found
            .iter()
            .map(|(kind, object)| Member {
                name: format!(
                    "{kind}/{}",
                    object["metadata"]["name"].as_str().unwrap_or_default()
                ),
                judged: self.found(kind, object, home, dependency),
            })
            .collect();
        let needed = parts.min.map_or(members.len(), |min| min.of(members.len()));
        several::all(&members, needed, dependency.state)
    }
}

fn no_scope(part: &Part) -> Judged {
    let message = format!(
        "the dependent is in no release, so it has no {}; name the objects themselves, or give both sluice.dev/scope",
        part.word()
    );
    unmet(Status::NotFound, Reason::NotFound, message)
}
