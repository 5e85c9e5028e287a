//! The lists of one object: whether it has any, and whether they can be read.

use super::workload::{is_job, template};
use super::{Deny, Place, Request, annotations};
use rules::advice::{self, Advice};
use rules::annotation::{self, GatePosition, ParseError};
use rules::dependency::Dependency;
use rules::keys;
use serde_json::{Map, Value};

type Annotations = Map<String, Value>;

/// What counts as asking for a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether `config.kubernetes.io/depends-on` is honoured; a chart value turns it off.
    pub config_depends_on: bool,
    /// Whether a pod needs no key of its own, because its namespace asks for all of them.
    pub every_pod: bool,
    /// Whether a pod on Windows, for which there is no gate, is let through without one; else it is refused.
    pub skip_windows: bool,
    /// Which gated pods are held before they take a node.
    pub holds: Holds,
}

/// Which gated pods are held before they take a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Holds {
    /// None: nobody here would let them go.
    #[default]
    Off,
    /// Those that ask for it.
    Asked,
    /// All but those that ask not to be.
    All,
}

impl Holds {
    /// Those of a namespace that asks for all of its pods.
    pub(crate) fn of_all(self) -> Self {
        match self {
            Self::Off => Self::Off,
            Self::Asked | Self::All => Self::All,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            config_depends_on: true,
            every_pod: false,
            skip_windows: false,
            holds: Holds::Off,
        }
    }
}

impl Options {
    /// What asks for a gate among some annotations, unread: the lists, a wave, a cap.
    fn lists(self, annotations: Option<&Annotations>) -> [Option<&Value>; keys::ASKING.len()] {
        let honoured = |key| key != keys::CONFIG_DEPENDS_ON || self.shares(annotations);
        keys::ASKING.map(|key| annotations?.get(key).filter(|_| honoured(key)))
    }

    /// Whether the list counts whose key is not sluice's alone. One that is in another format is another product's.
    fn shares(self, annotations: Option<&Annotations>) -> bool {
        self.config_depends_on && annotations.and_then(annotation::foreign).is_none()
    }

    /// Whether a key of these annotations is checked here.
    fn ours(self, key: &str, annotations: &Annotations) -> bool {
        key == keys::CONFIG_DEPENDS_ON && self.shares(Some(annotations))
            || key.starts_with(keys::PREFIX) && key != keys::GATED
    }
}

/// The annotations of an object, of its pod template (`None` for a pod), and both as stored before.
#[derive(Clone, Copy, Default)]
pub(super) struct Lists<'a> {
    pub(super) object: Option<&'a Annotations>,
    pub(super) template: Option<&'a Annotations>,
    pub(super) old_object: Option<&'a Annotations>,
    pub(super) old_template: Option<&'a Annotations>,
    /// Whether the object is a Job, which may be created suspended.
    pub(super) of_a_job: bool,
}

impl<'a> Lists<'a> {
    /// Those of the object in a request; a pod has no template beside itself.
    pub(super) fn of(request: &Request<'a>) -> Self {
        let Request {
            subject,
            object,
            old,
            ..
        } = *request;
        let in_template = |object| template(subject, object).and_then(annotations);
        Self {
            object: annotations(object),
            template: in_template(object),
            old_object: annotations(old),
            old_template: in_template(old),
            of_a_job: is_job(subject),
        }
    }

    /// Whether there is a list. The key decides, not the text: the marker must not depend on what this version of the
    /// parser makes of it.
    pub(super) fn asked(self, options: Options) -> bool {
        [self.object, self.template]
            .into_iter()
            .any(|place| options.lists(place).iter().any(Option::is_some))
    }

    /// What there is to say of another product's list that this request writes.
    pub(super) fn foreign(self, options: Options) -> Option<Advice> {
        let written = |new: Option<&'a Annotations>, old: Option<&'a Annotations>| {
            let value = new?.get(keys::CONFIG_DEPENDS_ON);
            let stored = old.and_then(|old| old.get(keys::CONFIG_DEPENDS_ON));
            advice::of_list(new?).filter(|_| options.config_depends_on && value != stored)
        };
        written(self.object, self.old_object).or_else(|| written(self.template, self.old_template))
    }

    /// Whether a list was written, changed or removed.
    pub(super) fn changed(self, options: Options) -> bool {
        options.lists(self.object) != options.lists(self.old_object)
            || options.lists(self.template) != options.lists(self.old_template)
    }

    /// Whether this request writes this key on the workload itself.
    pub(super) fn writes(self, key: &str) -> bool {
        let on = |place: Option<&'a Annotations>| place?.get(key);
        on(self.object) != on(self.old_object)
    }

    /// Whether this request asks for a hold that nobody here would take away: of a Job, or in the annotations that become those of pods.
    pub(super) fn holds_in_vain(self, options: Options) -> bool {
        let (new, old) = match self.template {
            Some(template) => (Some(template), self.old_template),
            None => (self.object, self.old_object),
        };
        let of_pods = hold(new) == Some(true) && hold(old) != Some(true);
        let of_a_job = self.suspends() && self.old_object.is_none_or(|old| !suspends(old));
        options.holds == Holds::Off && (of_pods || of_a_job)
    }

    /// Whether a Job is to be created suspended.
    pub(super) fn suspends(self) -> bool {
        self.of_a_job && self.object.is_some_and(suspends)
    }

    /// Refuses a list that cannot be read and that this request writes or changes; one that was stored before may be
    /// anything.
    pub(super) fn check(self, options: Options) -> Result<(), Deny> {
        let places = [
            (Place::Object, self.object, self.old_object),
            (Place::Template, self.template, self.old_template),
        ];
        for (place, new, old) in places {
            let changed = changed(options, new, old);
            // Only a Job itself has more to say here.
            let hold = match place {
                Place::Object if self.of_a_job => Ok(None),
                Place::Object | Place::Template => annotation::hold(&changed),
            };
            hold.and_then(|_| annotation::declared(&changed))
                .map_err(|error| Deny::BadList { place, error })?;
        }
        Ok(())
    }

    /// What the lists say together.
    pub(super) fn declared(self, options: Options) -> Result<Vec<Dependency>, ParseError> {
        // The pod template wins where both name the same key.
        let mut effective = changed(options, self.object, None);
        effective.extend(changed(options, self.template, None));
        annotation::declared(&effective)
    }
}

/// Where the gate is to stand, by the annotations of a pod or a pod template. What cannot be read is refused elsewhere.
pub(super) fn gate_position(annotations: Option<&Annotations>) -> Option<GatePosition> {
    annotation::gate_position(annotations?).ok().flatten()
}

/// Whether a pod with these annotations is to be held; `None` where they do not say.
pub(super) fn hold(annotations: Option<&Annotations>) -> Option<bool> {
    annotation::hold(annotations?).ok().flatten()
}

/// Whether a Job with these annotations is to be created suspended.
fn suspends(annotations: &Annotations) -> bool {
    annotation::suspends(annotations).unwrap_or(false)
}

/// Our annotations that are new or changed.
fn changed(options: Options, new: Option<&Annotations>, old: Option<&Annotations>) -> Annotations {
    let stored = |key: &String| old.and_then(|old| old.get(key));
    let Some(new) = new else {
        return Annotations::default();
    };
    new.iter()
        .filter(|(key, value)| options.ours(key, new) && stored(key) != Some(value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
