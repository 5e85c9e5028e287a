//! The objects that advice may look at, as a list.

use super::*;

/// A cluster of a few objects, each under `Kind/name`.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    pub(super) objects: Vec<(&'static str, Value)>,
    pub(super) served: Option<Served>,
    pub(super) elsewhere: &'static [&'static str],
    pub(super) forbidden: Option<&'static str>,
    pub(super) same_release: Option<bool>,
    /// Whether every kind is watched, so that an object outside of the list does not exist.
    pub(super) complete: bool,
}

impl Seen for Cluster {
    fn object(&self, _: &Workload<'_>, named: &ObjectRef) -> Lookup<Target> {
        let key = format!("{}/{}", named.kind, named.name);
        match self.objects.iter().find(|(it, _)| *it == key) {
            Some((_, object)) => Lookup::Found(Target {
                object: object.clone(),
                same_release: self.same_release,
            }),
            None if self.complete => Lookup::NotFound,
            None => Lookup::Unavailable(Unavailable::Syncing),
        }
    }

    fn selected(&self, _: &Workload<'_>, selection: &Selection) -> Lookup<Vec<Target>> {
        let kind = format!("{}/", selection.kind);
        let of_kind = self
            .objects
            .iter()
            .filter(|(key, _)| key.starts_with(&kind));
        let targets = of_kind.map(|(_, object)| Target {
            object: object.clone(),
            same_release: self.same_release,
        });
        Lookup::Found(targets.collect())
    }

    fn served_by_others(&self, _: &Workload<'_>, _: &ObjectRef) -> Served {
        self.served.unwrap_or(Served::Unknown)
    }

    fn elsewhere(&self, _: &Workload<'_>, _: &Part) -> Vec<String> {
        self.elsewhere.iter().map(ToString::to_string).collect()
    }

    fn is_forbidden(&self, kind: &Kind) -> bool {
        self.forbidden == Some(&kind.to_string())
    }

    fn tells_of_other_namespaces(&self) -> bool {
        false
    }
}
