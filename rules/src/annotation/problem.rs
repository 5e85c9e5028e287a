//! The faults of an annotation, and for each of them the sentence with which admission refuses it.

mod cli_utils;
mod hold;
mod phrase;
mod plan;

pub use cli_utils::CliUtilsFault;
pub use hold::HoldFault;
pub use plan::PlanFault;

use super::fault::{AddressFault, DurationFault, NameFault, NodeRuleFault};
use super::{MAX_BYTES, MAX_ENTRIES, MAX_LEVELS};
use crate::expression::ExpressionProblem;
use crate::text::Quoted;
use crate::variables::VariableFault;
use phrase::{Misspelt, did_you_mean, group_named, near, one_of_the_states};

/// A problem, and the byte of the annotation's value at which it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    pub(super) at: usize,
    pub(super) problem: Problem,
}

impl Flaw {
    pub(super) fn at(at: usize, problem: impl Into<Problem>) -> Self {
        let problem = problem.into();
        Self { at, problem }
    }
}

/// A fault of an annotation, as a sentence that quotes the text and says the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum Problem {
    // The annotation.
    #[error("the value is not a text; put it in quotes")]
    NotText,
    #[error("unknown annotation{}", did_you_mean(.0.as_deref(), "; remove it"))]
    UnknownAnnotation(Option<String>),
    #[error(
        "it is a label of a {of}, and no annotation; write it as a label there, with the value {value:?}"
    )]
    Label {
        of: &'static str,
        value: &'static str,
    },

    // A hold.
    #[error(transparent)]
    Hold(#[from] HoldFault),

    // Custom health.
    #[error("{0}")]
    Expression(ExpressionProblem),

    // The list.
    #[error("the list is {0} bytes long; at most {MAX_BYTES} are allowed; name fewer objects")]
    TooLong(usize),
    #[error("more than {MAX_ENTRIES} entries; name fewer, or a group or a selector for several")]
    TooMany,
    #[error("more than {MAX_LEVELS} levels deep; nest less")]
    TooDeep,

    // An entry of the short form, or an item that is a text.
    #[error(
        "{} is more than one reference; separate references by commas or line breaks, in a YAML list give each an item of its own",
        Quoted(.0)
    )]
    SeveralReferences(String),
    #[error("{} holds a template, and sluice evaluates none; write the text itself", Quoted(.0))]
    Template(String),
    #[error("{} names no object; write kind/name, e.g. job/migrate", Quoted(.0))]
    NoName(String),
    #[error("too many slashes in {}; write kind/name or namespace/kind/name", Quoted(.0))]
    TooManySlashes(String),
    #[error(
        "{} is in the grammar of config.kubernetes.io/depends-on; write namespace/kind/name here",
        Quoted(.0)
    )]
    ConfigGrammar(String),
    #[error(
        "group {} is one of the dependent's own scope, so a namespace means nothing; write group/name",
        Quoted(.0)
    )]
    NamespacedGroup(String),
    #[error("{0:?} is no kind; write \"{0}: name\"")]
    PartAsKind(&'static str),
    #[error(
        "state {state:?} means nothing for a {word}, whose objects are of several kinds; leave it out, or write present, started or available"
    )]
    IdlePartState {
        state: &'static str,
        word: &'static str,
    },
    #[error(
        "unknown state \"{0}\": an object has no port here; leave \":{0}\" out, or write the address, such as tcp://HOST:{0}"
    )]
    PortAsState(u16),
    #[error(
        "name {name:?} has '.' in it; if {namespace:?} is the namespace, write {:?}",
        format!("{namespace}/service/{service}")
    )]
    NamespaceBehind {
        name: String,
        service: String,
        namespace: String,
    },
    #[error("unknown state {}{}", Misspelt(.state), did_you_mean(*.likely, &one_of_the_states()))]
    UnknownState {
        state: String,
        likely: Option<&'static str>,
    },
    #[error(
        "state {state:?} means nothing for kind {kind:?}, only for {only}; leave it out, or write ready"
    )]
    IdleState {
        state: &'static str,
        kind: &'static str,
        only: &'static str,
    },

    // An address outside of the cluster.
    #[error(transparent)]
    Variable(VariableFault),
    #[error(
        "unknown scheme {} of an address; the schemes are {}",
        Misspelt(.scheme),
        .words.join(", ")
    )]
    UnknownScheme {
        scheme: String,
        words: [&'static str; 4],
    },
    #[error("address {} {fault}", Quoted(.text))]
    Address { text: String, fault: AddressFault },
    #[error(
        "variable {} begins with {}, as those do that the gate is set up by; give it another name in the container",
        Quoted(.0),
        wire::env::PREFIX
    )]
    OurVariable(String),
    #[error(
        "\"optional\" means nothing for an address outside of the cluster, of which nobody can say that it does not exist; remove \
         it, and write \"timeout\" and \"on-timeout: proceed\" to go on without the address"
    )]
    OptionalAddress,
    #[error("\"status\" is a status code, and means nothing without \"http\"; remove it")]
    IdleStatusCode,
    #[error(
        "\"container\" says whose variables an address is made of, and here is no $(NAME); remove it"
    )]
    IdleContainer,
    #[error(
        "{} is in namespace {}, and the entry says {}; keep one of them",
        Quoted(.name),
        Quoted(.own),
        Quoted(.other)
    )]
    TwoNamespaces {
        name: String,
        own: String,
        other: String,
    },
    #[error(
        "it is the name of one pod of a Service; write {} for the pod, or {} for all of them",
        Quoted(.pod),
        Quoted(.service)
    )]
    PodOfService { pod: String, service: String },

    // A kind.
    #[error(
        "unknown kind {}{}",
        Misspelt(.kind),
        did_you_mean(.likely.as_deref(), "; a kind that is not built into Kubernetes needs its group, e.g. Certificate.cert-manager.io")
    )]
    UnknownKind {
        kind: String,
        likely: Option<String>,
    },
    #[error(
        "unknown kind {} in {}{}",
        Misspelt(.kind),
        group_named(.group),
        did_you_mean(.likely.as_deref(), "; a kind that is not built into Kubernetes needs its own group")
    )]
    UnknownKindIn {
        kind: String,
        group: String,
        likely: Option<String>,
    },
    #[error(
        "kind {} is in {}, not in {}; write that group, or none",
        Quoted(.kind),
        group_named(.actual),
        group_named(.written)
    )]
    OtherGroup {
        kind: &'static str,
        actual: &'static str,
        written: String,
    },
    #[error(
        "unknown group {}{}",
        Quoted(.group),
        did_you_mean(*.likely, "; a group that is not built into Kubernetes has a dot in it, e.g. cert-manager.io")
    )]
    UnknownGroup {
        group: String,
        likely: Option<&'static str>,
    },

    // A name, a namespace, a group, a kind that is not built in.
    #[error("{what} {} {fault}", Quoted(.text))]
    Name {
        what: &'static str,
        text: String,
        fault: NameFault,
    },
    #[error("{what} is empty; write one")]
    Empty { what: &'static str },
    #[error("kind {kind:?} is not in any namespace; leave the namespace {} out", Quoted(.namespace))]
    ClusterScoped {
        kind: &'static str,
        namespace: String,
    },

    // The long form.
    #[error("the list is not valid YAML: {reason}{}", near(.text))]
    Yaml { reason: String, text: String },
    #[error("YAML {0} are not allowed in a list; write every item out")]
    YamlFeature(&'static str),
    #[error("a second YAML document; put all items into one list")]
    SecondDocument,
    #[error("not a list; begin each item on a line of its own with \"- \", or write [item, item]")]
    NotAList,
    #[error("an item is kind/name, or a mapping with kind and name or with any, not {0}")]
    BadItem(&'static str),
    #[error("{0:?} means nothing beside {1:?}; remove it")]
    BesidePart(&'static str, &'static str),
    #[error("the item lacks {0:?}; write kind and name, or kind and selector")]
    MissingKey(&'static str),
    #[error("a key is a plain word; write one such as \"kind\"")]
    BadKey,
    #[error("{0:?} appears twice in one item; keep one of them")]
    DuplicateKey(&'static str),
    #[error(
        "unknown key {}{}",
        Misspelt(.key),
        did_you_mean(*.likely, &format!("; the keys are {}", .keys.join(", ")))
    )]
    UnknownKey {
        key: String,
        keys: &'static [&'static str],
        likely: Option<&'static str>,
    },
    #[error("{0:?}: {1}")]
    OfKey(&'static str, Box<Problem>),
    #[error("{key:?} takes {takes}, not {found}")]
    BadValue {
        key: &'static str,
        takes: &'static str,
        found: String,
    },
    #[error("\"name\" and \"selector\" in one item; keep one of them")]
    NameAndSelector,
    #[error("{0:?} means nothing beside \"any\"; write it into the items of \"any\"")]
    BesideAny(&'static str),
    #[error(
        "\"on-timeout\" says what happens after the item's \"timeout\", and it has none; write one, or remove it"
    )]
    IdleOnTimeout,
    #[error(
        "\"timeout\" means nothing inside of \"any\", whose items are waited for together; write it beside \"any\", for all of them"
    )]
    TimeoutWithinAny,
    #[error("\"any\" lists nothing; write at least one item")]
    NoAlternatives,
    #[error(
        "\"min\" counts what several objects are found by (\"selector\", \"any\", \"group\", \"subchart\", \"release\"), and here is none of these; remove it"
    )]
    NothingToCount,
    #[error("\"min\" asks for {min} of {items}; write at most {items}")]
    MinBeyond { min: usize, items: usize },
    #[error("\"fresh\" means nothing for kind {}, only for Job; remove it", Quoted(.0))]
    IdleFresh(String),
    #[error(
        "\"sameNode\" means nothing here, only for a DaemonSet by its name or for kind Pod with a selector; remove it"
    )]
    IdleSameNode,
    #[error(
        "\"optional: status\" means nothing here, only for a custom kind in state ready, of which no controller writes a \
         status; remove it"
    )]
    IdleStatus,
    #[error(
        "\"health\" means nothing beside state {0:?}, because it says when an object is ready; remove one of them"
    )]
    IdleHealth(&'static str),
    #[error(
        "\"health\" beside \"sameNode\" may mean the DaemonSet or its pod; select its pods by kind Pod and a selector"
    )]
    HealthOnNode,
    #[error("{0}; name one of these")]
    NeverRead(String),
    #[error(
        "{} looks beyond /status, which is all that may be asked of an object in another namespace; leave \"namespace\" out where it is the dependent's own",
        Quoted(.0)
    )]
    ElsewhereOnlyStatus(String),
    #[error("in a selector {expected} is expected here, not {found}")]
    Selector {
        expected: &'static str,
        found: String,
    },
    #[error("apiVersion {} is not group/version; write one such as apps/v1, or v1 for the core group", Quoted(.0))]
    BadApiVersion(String),
    #[error("kind says group {} and apiVersion says {}; keep one of them", Quoted(.kind), group_named(.api_version))]
    GroupConflict { kind: String, api_version: String },

    // The terms on which a dependent waits.
    #[error("unknown word {}{}", Misspelt(.word), did_you_mean(*.likely, &format!("; the words are {}", .words.join(", "))))]
    UnknownWord {
        word: String,
        words: &'static [&'static str],
        likely: Option<&'static str>,
    },
    #[error("{} is {length} bytes long; write at most {most}", Quoted(.text))]
    LongText {
        text: String,
        length: usize,
        most: usize,
    },
    #[error("{} is no integer; write one such as 0, 10 or -5", Quoted(.0))]
    NoInteger(String),
    #[error("{} is beyond 64 bits; write a number nearer to 0", Quoted(.0))]
    LargeInteger(String),
    #[error("{} is no duration: {fault}; write one such as 90s, 10m or 1h30m", Quoted(.text))]
    Duration { text: String, fault: DurationFault },

    // A plan, and a rule of the administrator for nodes.
    #[error(transparent)]
    Plan(#[from] PlanFault),
    #[error(transparent)]
    NodeRule(NodeRuleFault),

    // The grammar of cli-utils.
    #[error(transparent)]
    CliUtils(#[from] CliUtilsFault),
}

impl Problem {
    /// Whether the problem's sentence already names this key of an item: `name "Seed" has ...`, `"min" takes ...`, `unknown kind "Jb"`, `in a
    /// selector ...`.
    pub(super) fn names(&self, key: &str) -> bool {
        let sentence = self.to_string();
        let named = [format!("{key:?}"), format!("{key} \""), format!("a {key} ")];
        sentence.starts_with(key) || named.iter().any(|it| sentence.contains(it))
    }
}
