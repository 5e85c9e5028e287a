//! The dependency lists of one object, and its other annotations of sluice: whether it has any, and whether they can be read.

use super::template::{is_job, template};
use super::{Deny, GateParts, ListPlace, Request, annotations};
use rules::advice::{self, Advice};
use rules::annotation::{self, GatePosition, ParseError};
use rules::dependency::Dependency;
use rules::keys;
use serde_json::{Map, Value};

type Annotations = Map<String, Value>;

/// The administrator's options that decide on gates and holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a value of the chart of its own"
)]
pub struct Options {
    /// Whether `config.kubernetes.io/depends-on` is honoured; a chart value turns it off.
    pub config_depends_on: bool,
    /// Whether a pod is gated without a key of its own, because its namespace asks for gates in all of its pods.
    pub every_pod: bool,
    /// Whether a pod on Windows is let through without a gate; otherwise it is refused.
    pub skip_windows: bool,
    /// The gated pods that are held before they take a node.
    pub holds: Holds,
    /// The gated pods whose images are pulled before their gates begin.
    pub prefetch: Prefetch,
    /// Whether the creation of an object that asks for it is held.
    pub creation_holds: bool,
}

/// The setting of early pulls: the gated pods whose images are pulled before their gates begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prefetch {
    /// No pod: the API server has no image volumes.
    Unsupported,
    /// The pods that ask for early pulls.
    #[default]
    Asked,
    /// All pods but those that decline early pulls.
    All,
}

/// The setting of holds: the gated pods that are held before they take a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Holds {
    /// No pod: this process would not release it.
    #[default]
    Off,
    /// The pods that ask for a hold.
    Asked,
    /// All pods but those that decline a hold.
    All,
}

impl Holds {
    /// Returns the setting for a namespace that asks that all of its pods be held: `All`, unless holds are off.
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
            prefetch: Prefetch::Asked,
            creation_holds: false,
        }
    }
}

impl Options {
    /// Returns the options without early pulls where the API server has no image volumes.
    pub(crate) fn within(self, parts: Option<&GateParts>) -> Self {
        let prefetch = match parts {
            Some(parts) if !parts.spec.image_volumes => Prefetch::Unsupported,
            Some(_) | None => self.prefetch,
        };
        Self { prefetch, ..self }
    }

    /// Returns the values of the annotations that ask for a gate (the lists, the weight, the cap), not parsed, in the order of [`keys::ASKING`];
    /// `None` for one that is missing or not honoured.
    fn lists(self, annotations: Option<&Annotations>) -> [Option<&Value>; keys::ASKING.len()] {
        let honoured = |key| key != keys::CONFIG_DEPENDS_ON || self.shares(annotations);
        keys::ASKING.map(|key| annotations?.get(key).filter(|_| honoured(key)))
    }

    /// Returns whether a list under `config.kubernetes.io/depends-on`, a key that other products use too, would count. A list in another
    /// format belongs to another product.
    fn shares(self, annotations: Option<&Annotations>) -> bool {
        self.config_depends_on && annotations.and_then(annotation::foreign).is_none()
    }

    /// Returns whether admission reads this key of these annotations: each key of sluice but the marker, and
    /// `config.kubernetes.io/depends-on` where that counts.
    fn ours(self, key: &str, annotations: &Annotations) -> bool {
        key == keys::CONFIG_DEPENDS_ON && self.shares(Some(annotations))
            || key.starts_with(keys::PREFIX) && key != keys::GATED
    }
}

/// The annotations of an object and of its pod template (`None` for a pod), both new and as stored.
#[derive(Clone, Copy, Default)]
pub(super) struct Lists<'a> {
    pub(super) object: Option<&'a Annotations>,
    pub(super) template: Option<&'a Annotations>,
    pub(super) old_object: Option<&'a Annotations>,
    pub(super) old_template: Option<&'a Annotations>,
    /// Whether the object is a Job, which may be created suspended.
    pub(super) of_a_job: bool,
    /// The pod, or the pod template, whose containers have the variables that a list may name.
    pub(super) pod: Option<&'a Value>,
    /// Whether `pod` is the template of a workload.
    pub(super) has_template: bool,
}

impl<'a> Lists<'a> {
    /// Reads the annotations of the object in a request.
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
            pod: template(subject, object),
            has_template: template(subject, object).is_some(),
        }
    }

    /// Returns whether the object asks for a gate. The key decides, and not its text: the marker must not depend on
    /// this version of the parser.
    pub(super) fn asked(self, options: Options) -> bool {
        [self.object, self.template]
            .into_iter()
            .any(|place| options.lists(place).iter().any(Option::is_some))
    }

    /// Returns the advice on a `config.kubernetes.io/depends-on` in the format of another product, if this request adds or changes it and the
    /// options honour that key.
    pub(super) fn foreign(self, options: Options) -> Option<Advice> {
        let mut written = self.places().into_iter();
        let key = keys::CONFIG_DEPENDS_ON;
        let found =
            written.find_map(|(new, old)| advice::of_list(new?).filter(|_| adds(new, old, key)));
        found.filter(|_| options.config_depends_on)
    }

    /// The annotations of the object and of its pod template, each now and before this request.
    fn places(self) -> [(Option<&'a Annotations>, Option<&'a Annotations>); 2] {
        [
            (self.object, self.old_object),
            (self.template, self.old_template),
        ]
    }

    /// Returns whether this request adds, changes or removes an annotation that asks for a gate: a list, a weight or a cap.
    pub(super) fn changed(self, options: Options) -> bool {
        options.lists(self.object) != options.lists(self.old_object)
            || options.lists(self.template) != options.lists(self.old_template)
    }

    /// Returns whether this request adds, changes or removes this key in the object's own annotations, not those of the template.
    pub(super) fn writes(self, key: &str) -> bool {
        let on = |place: Option<&'a Annotations>| place?.get(key);
        on(self.object) != on(self.old_object)
    }

    /// Returns whether this request newly asks for a hold while holds are off: of a Job itself, or in the annotations that pods get.
    pub(super) fn holds_in_vain(self, options: Options) -> bool {
        let (new, old) = self.of_pods();
        let of_pods = hold(new) == Some(true) && hold(old) != Some(true);
        let of_a_job = self.suspends() && self.old_object.is_none_or(|old| !suspends(old));
        options.holds == Holds::Off && (of_pods || of_a_job)
    }

    /// Returns whether this request newly asks that the creation of the object be held, where the administrator has such holds off.
    pub(super) fn holds_creation_in_vain(self, options: Options) -> bool {
        let asks = self.object.is_some_and(annotation::holds_creation);
        asks && !options.creation_holds && self.writes(keys::HOLD)
    }

    /// Returns the key of the weight, else that of the cap, if this request adds or changes it on the object or on its pod template.
    pub(super) fn writes_wave(self) -> Option<&'static str> {
        let mut waves = [keys::WEIGHT, keys::PARALLELISM].into_iter();
        let places = self.places();
        waves.find(|key| places.iter().any(|(new, old)| adds(*new, *old, key)))
    }

    /// Returns whether this request newly asks for early pulls, in the annotations that pods get, where the API server has no image volumes.
    pub(super) fn prefetches_in_vain(self, options: Options) -> bool {
        let (new, old) = self.of_pods();
        let asks = prefetch(new) == Some(true) && prefetch(old) != Some(true);
        options.prefetch == Prefetch::Unsupported && asks
    }

    /// Returns the annotations that pods get, new and as stored: those of the pod template, or without one those of the object itself.
    fn of_pods(self) -> (Option<&'a Annotations>, Option<&'a Annotations>) {
        match self.template {
            Some(template) => (Some(template), self.old_template),
            None => (self.object, self.old_object),
        }
    }

    /// Returns whether the object is a Job that asks to be created suspended.
    pub(super) fn suspends(self) -> bool {
        self.of_a_job && self.object.is_some_and(suspends)
    }

    /// Refuses an annotation of sluice, mostly a list, that this request adds or changes on the object or its template, and that cannot be
    /// read. One that was stored before is left alone.
    pub(super) fn check(self, options: Options) -> Result<(), Deny> {
        self.checked(options, ListPlace::Object)?;
        self.checked(options, ListPlace::Template).map(drop)
    }

    /// Reads the entries of the lists that this request adds or changes in one place.
    ///
    /// # Errors
    ///
    /// A new or changed annotation of sluice there cannot be read, or a list names an environment variable that the pods lack.
    pub(super) fn checked(
        self,
        options: Options,
        place: ListPlace,
    ) -> Result<Vec<Dependency>, Deny> {
        let changed = match place {
            ListPlace::Object => changed(options, self.object, self.old_object),
            ListPlace::Template => changed(options, self.template, self.old_template),
        };
        // On a Job itself the key takes `suspend`, which the reader for other objects would refuse.
        let hold = match place {
            ListPlace::Object if self.of_a_job => Ok(()),
            ListPlace::Object => annotation::hold_of_object(&changed),
            ListPlace::Template => annotation::hold(&changed).map(drop),
        };
        let entries = hold.and_then(|()| annotation::declared(&changed));
        entries
            .and_then(|entries| self.variables(place, &changed).map(|()| entries))
            .map_err(|error| Deny::BadList { place, error })
    }

    /// Checks that the pods will have the environment variables that a changed list names. A list on a workload itself may name none, since
    /// its pods do not carry the list.
    fn variables(self, place: ListPlace, changed: &Annotations) -> Result<(), ParseError> {
        match (place, self.pod) {
            (ListPlace::Object, _) if self.has_template => annotation::no_variables(changed),
            (_, Some(pod)) => annotation::variables(changed, pod).map(drop),
            (_, None) => Ok(()),
        }
    }

    /// Returns the dependencies of all lists of the object together. An error if an annotation of sluice that counts cannot be read.
    pub(super) fn declared(self, options: Options) -> Result<Vec<Dependency>, ParseError> {
        annotation::declared(&self.effective(options))
    }

    /// Returns the annotations of sluice that count. The pod template wins where both places have the same key.
    pub(super) fn effective(self, options: Options) -> Annotations {
        let mut effective = changed(options, self.object, None);
        effective.extend(changed(options, self.template, None));
        effective
    }
}

/// Returns the gate's position by the annotations of a pod or a pod template; `None` where they name none, or an unreadable
/// one, which is refused elsewhere.
pub(super) fn gate_position(annotations: Option<&Annotations>) -> Option<GatePosition> {
    annotation::gate_position(annotations?).ok().flatten()
}

/// Returns whether a pod with these annotations asks for a hold; `None` where they do not say, or cannot be read.
pub(super) fn hold(annotations: Option<&Annotations>) -> Option<bool> {
    annotation::hold(annotations?).ok().flatten()
}

/// Returns whether a pod with these annotations asks that its images be pulled early; `None` where they do not say, or cannot be read.
pub(super) fn prefetch(annotations: Option<&Annotations>) -> Option<bool> {
    annotation::prefetch(annotations?).ok().flatten()
}

/// Returns whether a Job with these annotations asks to be created suspended; `false` if they cannot be read.
fn suspends(annotations: &Annotations) -> bool {
    annotation::suspends(annotations).unwrap_or(false)
}

/// Returns the annotations of sluice in `new` that `old` lacks or has with another value.
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
/// Whether a request adds or changes the value of a key, by the annotations of one place now and before.
fn adds(new: Option<&Annotations>, old: Option<&Annotations>, key: &str) -> bool {
    let value = new.and_then(|it| it.get(key));
    value.is_some() && value != old.and_then(|it| it.get(key))
}
