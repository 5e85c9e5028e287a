//! The model of the dependencies of a dependent.

mod address;
mod spelling;

pub use address::{Address, Asks, Codes, is_variable, variables};

use crate::expression::Expression;
use crate::kinds::Kind;
use crate::selector::Selector;
use crate::terms::{OnTimeout, deadline};
use jiff::Timestamp;
use std::time::Duration;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// One dependency of a dependent: an entry of a list or a plan, a lighter wave, or a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edge {
    /// An entry of a list or of a plan.
    Listed(Dependency),
    /// Every object of the dependent's scope whose `sluice.dev/weight` is less than this.
    Wave(i64),
    /// One of this many slots of the dependent's own wave: its `sluice.dev/parallelism`.
    Slot(usize),
    /// The entry of a node rule of the administrator.
    NodeRule(Dependency),
}

/// One entry: the object or objects that it names, and the state that they must have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dependency {
    /// The object or objects that the entry names.
    pub reference: Reference,
    /// The state that each object must have.
    pub state: State,
    /// Whether the entry is satisfied when its object does not exist.
    pub optional: bool,
    /// Whether an object of a kind that declares a status must have one.
    pub status: Need,
    /// The revision of an object that counts.
    pub revision: Revision,
    /// Whether only a Job counts that was created at or after the time at which the dependent's revision appeared.
    pub fresh: bool,
    /// Whether only pods on the dependent's node count: the one pod of a `DaemonSet`, or selected pods.
    pub same_node: bool,
    /// The expressions that make an object ready for this dependent, in place of the rule of its kind; empty for that rule.
    pub health: Vec<Expression>,
    /// How long the entry may hold its dependent back, and the effect of its timeout; `None` without a timeout.
    pub patience: Option<Patience>,
    /// How long the entry must be satisfied without a break before it counts; zero for not at all, `None` for the default of the
    /// object's kind.
    pub stable: Option<Duration>,
}

/// The time limit of one entry of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Patience {
    /// How long, from the start of each pod; never zero.
    pub timeout: Duration,
    /// The effect when the entry's timeout has passed.
    pub then: OnTimeout,
}

/// Whether an object of a kind that declares a status must have one to be satisfied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Need {
    /// The dependent waits until the object has a status.
    #[default]
    Required,
    /// An object that has no status is satisfied 30 seconds after its last write.
    Optional,
}

/// The object or objects that a dependency names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reference {
    /// One object, by its kind and name.
    Object(ObjectRef),
    /// Every object of a kind that a selector finds.
    Selected(Selection),
    /// The objects of a group, a sub-chart or a release.
    Part(Parts),
    /// Several dependencies, of which one, or a minimum, must be satisfied (`any`).
    Any(Alternatives),
    /// An address that the gate tries from its pod, such as `tcp://db.example.com:5432`.
    Address(Address),
}

/// An object by name. `namespace` is `None` where the user wrote none: the dependent's own, or none at all for a
/// cluster-scoped kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// The kind of the object that the entry names.
    pub kind: Kind,
    /// The object's namespace as the user wrote it.
    pub namespace: Option<String>,
    /// `metadata.name` of the object, checked as Kubernetes checks names.
    pub name: String,
}

/// The objects of one kind in one namespace that have certain labels. `namespace` is `None` where the user wrote none; it is then the
/// dependent's namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selection {
    /// The kind of the objects that the selector selects.
    pub kind: Kind,
    /// The objects' namespace as the user wrote it.
    pub namespace: Option<String>,
    /// The selector of the objects' labels; never empty.
    pub selector: Selector,
    /// How many of the objects must be satisfied; `None` for all.
    pub min: Option<Min>,
}

/// The objects of a part of a scope: of a group, a sub-chart or a release.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Parts {
    /// The part of the scope: a group, a sub-chart or the release.
    pub part: Part,
    /// The namespace that the user wrote: that of a release, or of a sub-chart of the dependent's own release; `None` for the dependent's.
    /// Always `None` for a group.
    pub namespace: Option<String>,
    /// How many of the objects must be satisfied; `None` for all.
    pub min: Option<Min>,
}

/// A part of a scope, as a reference names it: a group, a sub-chart or the whole release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The objects that say that they are in this group.
    Group(String),
    /// The objects of the sub-chart of this name; `airflow/postgresql` is the sub-chart `postgresql` inside of `airflow`.
    SubChart(String),
    /// Every object of the release.
    Release(String),
}

/// Alternative dependencies, of which a minimum must be satisfied.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Alternatives {
    /// The alternative dependencies; never empty.
    pub of: Vec<Dependency>,
    /// How many of the alternatives must be satisfied; `None` for one.
    pub min: Option<Min>,
}

/// The order of the parts of one scope: of its groups, sub-charts and objects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The steps in the order of the text. No subject occurs twice, and the steps have no cycle.
    pub steps: Vec<Step>,
    /// The dependencies of every pod of the plan's namespace, in any release or none (`everyPod`). No such dependency names a group, sub-chart
    /// or release.
    pub every_pod: Vec<Dependency>,
}

/// One step of a plan: its subject, and the dependencies of the subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// A part of the release, an object, or the objects that a selector finds.
    pub subject: Reference,
    /// The dependencies that the step gives to its subject.
    pub after: Vec<Dependency>,
}

/// A rule of the administrator: pods of the whole cluster wait for the pod of a `DaemonSet` on their own node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRule {
    /// The `DaemonSet`, with its namespace and with [`Dependency::same_node`].
    pub entry: Dependency,
    /// Selects the pods that wait, among those of the namespaces with [`crate::keys::INJECT`]; a selector without a requirement selects every
    /// pod there.
    pub pods: Selector,
}

/// The node rules of the administrator, in the order of the chart's value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeRules(pub Vec<NodeRule>);

/// The number of objects that are enough to satisfy an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Min {
    /// A number of objects, from 1.
    Count(usize),
    /// A percentage of the objects, from 1 to 100; a fraction of an object counts as a whole one.
    Percent(u8),
}

/// The revision of an object that counts, where the object carries [`crate::keys::REVISION`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Revision {
    /// Only an object of the dependent's own revision counts.
    #[default]
    Lockstep,
    /// An object of any revision counts.
    Any,
}

/// The state that an edge asks of its dependency.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Hash, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum State {
    /// The state that the object exists, whether it is ready or not.
    Present,
    /// The state that kstatus calls `Current`, so a running Job counts; a suspended Job does not.
    Started,
    /// The state that the object is ready by the rules of [`crate::profile`].
    #[default]
    Ready,
    /// A Deployment with condition Available; `ready` for everything else.
    Available,
    /// The state of a Job that completed, or a Pod that succeeded.
    Complete,
    /// The state of a Service of type LoadBalancer, or of an Ingress, that has an address.
    Addressed,
    /// The state of a Service whose name and port accept a TCP connection from the dependent's pod.
    Connects,
}

impl Edge {
    /// Whether the edge has one verdict for all pods of a controller that are alike ([`crate::dependent::alike`]). `false` for a slot, and for
    /// an entry with `sameNode`, with pods, or with an address that a gate tries.
    pub(crate) fn is_of_all_alike(&self) -> bool {
        match self {
            Self::Listed(entry) | Self::NodeRule(entry) => {
                !entry.is_per_pod() && !entry.means_pods() && !entry.is_probed()
            }
            Self::Wave(_) => true,
            Self::Slot(_) => false,
        }
    }

    /// The key by which edges are sorted. A slot comes last, because a dependent asks for it once everything else is satisfied,
    /// so the slot is never the reason of a wait that has other reasons.
    pub fn name(&self) -> String {
        match self {
            Self::Listed(entry) | Self::NodeRule(entry) => entry.name(),
            Self::Wave(below) => format!("weight below {below}"),
            Self::Slot(_) => "~slot".to_owned(),
        }
    }

    /// The entry, if the edge comes from a list, a plan or a node rule; waves and slots have none.
    pub fn entry(&self) -> Option<&Dependency> {
        match self {
            Self::Listed(entry) | Self::NodeRule(entry) => Some(entry),
            Self::Wave(_) | Self::Slot(_) => None,
        }
    }
}

impl Dependency {
    /// An entry for this reference with all other keys at their defaults: it asks that the objects are ready.
    pub fn on(reference: Reference) -> Self {
        Self {
            reference,
            state: State::default(),
            optional: false,
            status: Need::default(),
            revision: Revision::default(),
            fresh: false,
            same_node: false,
            health: Vec::new(),
            patience: None,
            stable: None,
        }
    }

    /// Whether the verdict on the entry may differ between pods of one revision, because the entry or an alternative of it has `sameNode`.
    pub fn is_per_pod(&self) -> bool {
        match &self.reference {
            Reference::Object(_) | Reference::Selected(_) => self.same_node,
            Reference::Part(_) | Reference::Address(_) => false,
            Reference::Any(alternatives) => alternatives.of.iter().any(Self::is_per_pod),
        }
    }

    /// Whether the entry, or an alternative of it, names pods by name or selector; the dependent's own pod may be among them.
    fn means_pods(&self) -> bool {
        match &self.reference {
            Reference::Object(object) => object.kind.is_pod(),
            Reference::Selected(selection) => selection.kind.is_pod(),
            Reference::Part(_) | Reference::Address(_) => false,
            Reference::Any(alternatives) => alternatives.of.iter().any(Self::means_pods),
        }
    }

    /// Whether only a gate can judge the entry, or an alternative of it, because a connection from the pod's own network must be tried.
    pub fn is_probed(&self) -> bool {
        match &self.reference {
            Reference::Address(_) => true,
            Reference::Any(alternatives) => alternatives.of.iter().any(Self::is_probed),
            Reference::Object(_) | Reference::Selected(_) | Reference::Part(_) => {
                self.state == State::Connects
            }
        }
    }

    /// The addresses that the entry or its alternatives name. The address of a Service with the state `connects` is not among them.
    pub fn addresses(&self) -> Vec<&Address> {
        match &self.reference {
            Reference::Address(address) => vec![address],
            Reference::Any(alternatives) => {
                alternatives.of.iter().flat_map(Self::addresses).collect()
            }
            Reference::Object(_) | Reference::Selected(_) | Reference::Part(_) => Vec::new(),
        }
    }

    /// The key by which entries are sorted: the name of the object, group, sub-chart or release, the text of the selector or address, or the
    /// least key of the alternatives.
    fn name(&self) -> String {
        match &self.reference {
            Reference::Object(object) => object.name.clone(),
            Reference::Selected(selection) => selection.selector.to_string(),
            Reference::Part(parts) => parts.part.name().to_owned(),
            Reference::Address(address) => address.to.clone(),
            Reference::Any(alternatives) => {
                let names = alternatives.of.iter().map(Self::name);
                names.min().unwrap_or_default()
            }
        }
    }
}

impl Patience {
    /// The time at which the entry's timeout passes for a pod that started at this time; `None` for a pod that has not started.
    pub fn deadline(&self, started: Option<Timestamp>) -> Option<Timestamp> {
        deadline(self.timeout, started)
    }
}

impl Part {
    /// The word that a list has before the name of the part, in the place of a kind: `group`, `subchart` or `release`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Group(_) => "group",
            Self::SubChart(_) => "subchart",
            Self::Release(_) => "release",
        }
    }

    /// The name of the group, sub-chart or release that the part is.
    pub fn name(&self) -> &str {
        let (Self::Group(name) | Self::SubChart(name) | Self::Release(name)) = self;
        name
    }
}

impl Min {
    /// The number of objects that are enough, of `total`: a count as it is, even above `total`; a percentage of `total`, rounded up.
    pub fn of(self, total: usize) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Percent(percent) => (total * usize::from(percent)).div_ceil(100),
        }
    }
}

impl State {
    /// Every state, in the order in which the documentation lists them.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The word by which a user asks for the state.
    pub fn word(self) -> &'static str {
        self.into()
    }
}
