//! The reasons why a wait stays as it is, each with the way out.

use crate::compose::Unlabelled;
use std::fmt;

/// The reason why a wait stays as it is, from a closed set: no list can say the wait, or the chart does not tell enough about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// A client without an address in its arguments or in its environment. The text is the client's program, or `it`.
    NoHost(String),
    /// A variable, `$NAME`, that has no value in the container.
    Unsaid(String),
    /// A variable, `NAME`, whose value is in a Secret, a ConfigMap or the pod.
    Elsewhere(String),
    /// A host outside of the cluster.
    Outside(String),
    /// A host that the chart's values say, and that no Service of the chart has.
    OfValues(String),
    /// The entry of an address that values say, which a list would have to name.
    Address(String),
    /// A name that no object of the render has.
    NotHere(String),
    /// A look at the Service of this name, which does not tell which state of the Service is wanted.
    OfService(String),
    /// A look into a store. The text is the program that looks.
    Data(String),
    /// The waiting workload itself, or a Service behind which its pods are.
    Own(String),
    /// A Job, by its name, that Helm runs before it creates any other object.
    EarlyJob(String),
    /// A template text, or the words `the address`, that has no value.
    NoValue(String),
    /// A template text whose meaning depends on its place, so it cannot be moved into the annotation.
    Bound(String),
    /// A host of two parts, of which the second may be a namespace or a domain, and the entry for the namespace.
    Ambiguous { host: String, entry: String },
    /// A Service behind which no pods of the cluster are.
    NoPods(String),
    /// A command of `kubectl` that names no object.
    NoObject,
    /// A command that looks into a container.
    Inside,
    /// An object that has to be deleted.
    Deleted,
    /// One of several waits, joined by `||`, of which one is enough.
    OneOf,
    /// An entry of a kind that needs its group.
    Kind(String),
    /// A Secret that is waited for.
    Secret(String),
    /// A file on the node, by its path.
    NodeFile(String),
    /// Vault's content.
    Vault,
    /// A protocol that no probe speaks.
    Sctp,
    /// A host that is pinged, by its name or its address.
    Ping(String),
    /// No Job of the chart migrates.
    NoMigration,
    /// The chart was rendered as often as it may be before this list was tried.
    Late(String),
    /// The command runs once its container has started.
    AfterStart,
    /// The Job that migrates, by its name, is run after everything else.
    LateJob(String),
    /// A hook that migrates after everything else is there.
    LateHook,
    /// An entry of a Compose file's `depends_on`.
    Compose(Unlabelled),
    /// The Job that migrates is one of these, by name.
    ManyJobs(Vec<String>),
    /// No container of this name is known.
    NoContainer(String),
    /// The reader of admission refuses the entry.
    Refused { entry: String, why: String },
    /// The list of this entry would not mean the same as the loop.
    Untrue(String),
    /// The entry of a wait in a text that nothing renders, so the entry cannot be tried.
    Untried(String),
    /// The workload has a list already.
    Listed,
    /// The annotations are computed, or those of another chart, so this list cannot be written there.
    Closed(String),
    /// The wait for this entry is in a helper, and no workload that includes the helper is known.
    Helper(String),
    /// The container has the name of a wait, or a loop, and its commands do not tell what it waits for.
    Unread,
}

impl fmt::Display for Reason {
    #[expect(clippy::too_many_lines, reason = "one sentence for each variant")]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHost(program) => write!(
                out,
                "{program} is not told here where to look; write the Service or the workload that it means"
            ),
            Self::Unsaid(name) => write!(
                out,
                "nothing here says what {name} is; write the Service that it names, or let the env of the application's container have \
                 it, and write tcp://$(NAME):PORT with the name that it has there"
            ),
            Self::Elsewhere(name) => write!(
                out,
                "the value of {name} is in a Secret, a ConfigMap or the pod; write the Service that it names, or let the env of the \
                 application's container have it too, and write tcp://$({name}) if it has a port, else tcp://$({name}):PORT"
            ),
            Self::Outside(host) => write!(
                out,
                "{host} is no Service of the cluster, and no port is said; write tcp://{host}:PORT"
            ),
            Self::OfValues(host) => write!(
                out,
                "{host} is what the chart's values say, and no Service of the chart; where it is one, write service/{host}, else \
                 tcp://{host}:PORT"
            ),
            Self::Address(entry) => write!(
                out,
                "nothing here says by which values a list can name the address; with the chart's own it is {entry}"
            ),
            Self::Own(name) => write!(
                out,
                "{name} is what waits, or its pods are behind it; a list that names it would never open; if it only has to exist, write \
                 service/{name}:present"
            ),
            Self::NotHere(name) => write!(
                out,
                "{name} is no Service of these objects; where it is one, write service/{name}"
            ),
            Self::OfService(name) => write!(
                out,
                "nothing here says what it reads of the Service {name}; write service/{name}:addressed for a load balancer's address, \
                 service/{name} for pods that are ready"
            ),
            Self::Data(program) => write!(
                out,
                "{program} looks for what is in a store; write the Job or the workload that puts it there"
            ),
            Self::EarlyJob(job) => write!(
                out,
                "the Job {job} is a hook that Helm runs before this is there, so that there is nothing to wait for; delete the loop"
            ),
            Self::NoValue(text) => write!(
                out,
                "{text} has no value in values.yaml; give it one with --set, and ask again"
            ),
            Self::Bound(text) => write!(
                out,
                "what {text} is depends on where it stands; give the values with --set with which the template renders, and ask again"
            ),
            Self::Ambiguous { host, entry } => write!(
                out,
                "{host} may be a Service or a name outside of the cluster; write {entry} if it is a Service"
            ),
            Self::NoPods(name) => write!(
                out,
                "the Service {name} selects no pods, so that nothing of the cluster tells whether what is behind it answers"
            ),
            Self::NoObject => out.write_str("it names no object; name the one that it means, or select it by labels"),
            Self::Inside => out.write_str(
                "it looks into a container; make that the container's readiness probe, and wait for its workload",
            ),
            Self::Deleted => out.write_str("it waits until something is gone, and a list waits for what is there; it stays"),
            Self::OneOf => out.write_str(
                "the loop ends as soon as this or another address answers; write both below any, as in {any: [service/a, service/b]}",
            ),
            Self::Kind(entry) => write!(
                out,
                "the group of {entry} is not said; write Kind.group/name, and let rbac.kinds have sluice follow it"
            ),
            Self::Secret(name) => write!(
                out,
                "sluice sees Secrets only where its chart's rbac.secrets is on, and never what is in them; there write secret/{name}"
            ),
            Self::NodeFile(path) => write!(
                out,
                "the file {path} of the node is written by an agent there; make the file that agent's readiness probe, and wait for its \
                 DaemonSet with sameNode: true"
            ),
            Self::Vault => out.write_str(
                "what is in Vault is no object of the cluster; let the readiness probe of a Deployment ask for it, and wait for that Deployment",
            ),
            Self::Sctp => out.write_str("it asks by SCTP, which no list does; wait for the workload behind the address"),
            Self::Ping(host) => write!(
                out,
                "it pings {host}, which no list does; wait for the workload behind the address"
            ),
            Self::NoMigration => out.write_str(
                "it looks whether a database is migrated; wait for the Job that migrates it, which is not among these objects",
            ),
            Self::LateJob(job) => write!(
                out,
                "the Job {job} migrates, and Helm runs it after everything else is there; make it a plain Job with the release's revision \
                 in its name, and wait for that"
            ),
            Self::Compose(why) => why.fmt(out),
            Self::LateHook => out.write_str(
                "this hook migrates after everything else is there; make it a plain Job with the release's revision in its name, and let \
                 its dependents wait for job/NAME",
            ),
            Self::ManyJobs(jobs) => write!(
                out,
                "it looks whether a database is migrated; wait for the Job that does that, one of {}",
                jobs.join(", ")
            ),
            Self::NoContainer(name) => write!(
                out,
                "no workload of these has a container {name}; wait for the workload that has"
            ),
            Self::Late(entry) => write!(
                out,
                "the chart has so many switches that a list of it was not tried; if the loop means {entry}, add \
                 sluice.dev/depends-on: {entry}"
            ),
            Self::AfterStart => out.write_str(
                "it waits once its container has started, and a list waits before; it stays, or the container waits for the same by a list",
            ),
            Self::Refused { entry, why } => write!(out, "{entry} is no entry of a list: {why}"),
            Self::Untrue(why) => write!(out, "no list was found that says the same whatever the values are: {why}"),
            Self::Untried(entry) => write!(
                out,
                "nothing renders this template, so that no list of it can be tried; if the loop means {entry}, add \
                 sluice.dev/depends-on: {entry}"
            ),
            Self::Listed => out.write_str("its workload has a list already"),
            Self::Closed(list) => write!(
                out,
                "its annotations cannot be changed here; add sluice.dev/depends-on: {list}"
            ),
            Self::Helper(entry) => write!(
                out,
                "it is in no workload of this file; where it is used, annotate with {entry}"
            ),
            Self::Unread => out.write_str(
                "it looks like a wait, and nothing here says for what; write what it waits for by hand",
            ),
        }
    }
}
