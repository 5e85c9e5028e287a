//! The reasons why a wait stays as it is, each with the way out.

use crate::compose::Unlabelled;
use std::fmt;

/// The reason why a wait stays as it is, from a closed set: no list can say the wait, or the chart does not tell enough about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// A client has no address in its arguments or in its environment. The text is the client's program, or `it` where no program is known.
    NoHost(String),
    /// The address has a variable, `$NAME`, without a value in the container.
    Unsaid(String),
    /// The address has a variable, `NAME`, whose value is in a Secret, a ConfigMap or the pod.
    Elsewhere(String),
    /// The host, which is the text, is outside of the cluster, and its address has no port that the gate could try.
    Outside(String),
    /// The host comes from the chart's values, and no Service of the chart has its name.
    OfValues(String),
    /// The address comes from values that the entry, which is the text, would have to name.
    Address(String),
    /// No object of the rendered chart has this name.
    NotHere(String),
    /// The command looks at the Service of this name, and does not tell which state of the Service it wants.
    OfService(String),
    /// The command looks for data in a store. The text is the program.
    Data(String),
    /// The wait is for the waiting workload itself, or for a Service of its own pods, with this name.
    Own(String),
    /// The Job of this name is run by Helm before any other object is created.
    EarlyJob(String),
    /// The template text, or `the address`, has no value.
    NoValue(String),
    /// The template text means something else in another place of the template, so the annotation cannot have it.
    Bound(String),
    /// The second part of the host may be a namespace or a domain. `entry` is the entry for a namespace.
    Ambiguous { host: String, entry: String },
    /// The Service of this name selects no pods of the cluster.
    NoPods(String),
    /// A command of `kubectl` names no object.
    NoObject,
    /// The command looks into a container.
    Inside,
    /// The command waits until an object is deleted.
    Deleted,
    /// The wait is one of several that `||` joins, and one of them is enough.
    OneOf,
    /// The kind in the entry needs its group, because several groups have such a kind.
    Kind(String),
    /// The wait is for a Secret.
    Secret(String),
    /// The wait is for a file on the node, with this path.
    NodeFile(String),
    /// The wait is for content of Vault.
    Vault,
    /// The address is of SCTP, a protocol that no probe speaks.
    Sctp,
    /// The command pings this host, by its name or its address.
    Ping(String),
    /// The wait is for a migration, and no Job of the chart migrates.
    NoMigration,
    /// No render was left to try the list with this entry.
    Late(String),
    /// The command runs once its container has started, and a list waits before that.
    AfterStart,
    /// Helm runs the Job that migrates, with this name, after every other object.
    LateJob(String),
    /// Helm runs the Job of this name after the hook that waits.
    LaterHook(String),
    /// The hook that migrates runs after every other object is there.
    LateHook,
    /// An entry of a Compose file's `depends_on` has no counterpart.
    Compose(Unlabelled),
    /// Several Jobs, with these names, may be the one that migrates.
    ManyJobs(Vec<String>),
    /// The wait is for a container, and no workload has one of this name.
    NoContainer(String),
    /// No workload makes pods whose names begin with this text, or several workloads do.
    NoWorkload(String),
    /// The Service of this name publishes pods before they are ready.
    NotReady(String),
    /// The reader of admission refuses the entry.
    Refused { entry: String, why: String },
    /// The list with this entry would not mean the same as the loop with some values.
    Untrue(String),
    /// The loop asks this host by HTTP with credentials, and the gate has none.
    LogsIn(String),
    /// The list with this entry would say something else than the loop with another text of these values.
    Varied { entry: String, values: String },
    /// The wait stands in a text that Helm does not render, so its entry cannot be tried.
    Untried(String),
    /// The workload has a list already.
    Listed,
    /// The annotations are computed, or belong to another chart, so the list with this entry cannot be written there.
    Closed(String),
    /// The wait for this entry is in a helper, and no workload that includes the helper is known.
    Helper(String),
    /// The container is called like a wait, or has a loop, but its commands do not tell for which thing it waits.
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
            Self::NotReady(name) => write!(
                out,
                "the Service {name} publishes pods before they are ready, and the loop ends as early; a list waits until they are ready, which they \
                 may never be where they wait for this workload; write service/{name} if they do not"
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
            Self::LaterHook(job) => write!(
                out,
                "Helm runs the Job {job} only once this hook is done; give it a lower helm.sh/hook-weight, or leave the hook without a list"
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
            Self::NoWorkload(name) => write!(
                out,
                "not one workload of these makes pods whose names begin with {name}; wait for the workload that does"
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
            Self::LogsIn(host) => write!(
                out,
                "it asks {host} with credentials, and no gate has any; write tcp://{host}:PORT if an open port will do"
            ),
            Self::Varied { entry, values } => write!(
                out,
                "no list was found that still says the same with another {values}; write {entry} in a form that follows that"
            ),
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
