//! Reads the waits of a container from its words and its environment.

mod alternatives;
mod answers;

use super::acts;
use super::clients;
use super::container::Container;
use super::host::{self, Host};
use super::kubectl;
use super::reason::Reason;
use super::shell::{self, Call, Looped};
use super::wait::{Address, Asks, For, Sought, StoreData, Wait};
use super::waiting_images;
use alternatives::leave_alternatives;
use answers::counts_answers;
use std::collections::BTreeMap;

/// The waits that were read from a container, and further facts about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) waits: Vec<Wait>,
    /// Whether the container looks like a wait, even if its commands do not tell for which thing.
    pub(super) looks: bool,
    /// Whether a loop of the container pauses between its rounds. A server may have such a loop too.
    pub(super) pauses: bool,
    /// The first command of the container that does something else than wait; `None` where all of them wait or are harmless.
    pub(super) does: Option<String>,
}

impl Reading {
    /// Adds the waits of a script that the container runs, unless another command waits for the same. The own command that only runs the script no
    /// longer counts as one that does something else than wait.
    pub(super) fn join(&mut self, other: Self) {
        let is_new = |it: &Wait| self.waits.iter().all(|own| own.for_what != it.for_what);
        let new: Vec<Wait> = other.waits.into_iter().filter(is_new).collect();
        self.waits.extend(new);
        self.looks |= other.looks;
        self.pauses |= other.pauses;
        let own = self.does.take().filter(|it| !acts::runs_a_script(it));
        self.does = own.or(other.does);
    }

    /// The reading of a container of a Job, if `is_job`. A Job comes to an end, so its loop with a pause is a wait.
    pub(super) fn of_job(mut self, is_job: bool) -> Self {
        self.looks |= is_job && self.pauses;
        self
    }
}

/// The waits of a script's command, read with the variables of the pod's other containers of the same image as well; `None` where these
/// have no further variable, or where the command is no known client.
fn with_the_pods_variables(container: &Container, call: &Call, looks: bool) -> Option<Vec<For>> {
    if container.beside.is_empty() {
        return None;
    }
    let more = container.env.iter().chain(&container.beside);
    let more: BTreeMap<String, String> = more.map(|(a, b)| (a.clone(), b.clone())).collect();
    clients::of(call, looks, &more)
}

/// Changes waits by facts about their container: an HTTP address becomes data where the script counts the answer, each wait of a hook stays, and
/// an answer that refuses is enough where the script takes it.
fn heed_container(waits: &mut [Wait], container: &Container) {
    let counts = container.words.iter().any(|it| counts_answers(it));
    for wait in waits {
        match &mut wait.for_what {
            For::Address(address) if counts && address.asks == Asks::Http => {
                let program = wait.what.split(' ').next().unwrap_or_default();
                wait.for_what = For::Data(StoreData {
                    program: program.to_owned(),
                    address: Some(address.clone()),
                    names: Vec::new(),
                    sought: Sought::Other,
                });
            }
            For::File(_) => {}
            For::Address(address) if host::of(&address.host) == Host::Itself => {}
            other if container.after_start => *other = For::Nothing(Reason::AfterStart),
            For::Address(address) => address.succeeds &= !container.takes_refusals(),
            _ => {}
        }
    }
}

/// Reads the waits of a container: those of its commands, each thing once, and those that its environment declares. A file counts only where the
/// container waits for nothing else. A `curl`, `wget`, `dig` or piece of code that asks only once counts in an init container that is called like
/// a wait, and nowhere else; the endless loop of a server does not count.
pub(super) fn of(container: &Container) -> Reading {
    let script = shell::of_words(&container.words, &container.env);
    let mut waits = waiting_images::of(container);
    let is_declared = !waits.is_empty();
    let mut does = None;
    // The statement and the side of `||` of each wait, by the number of the wait.
    let mut sides = BTreeMap::new();
    let named = container.init && is_called_like_a_wait(&container.name);
    for (at, call) in script.calls.iter().enumerate() {
        if !named && clients::asks_once(call) {
            does = does.or_else(|| acts::program(call));
            continue;
        }
        // A server asks other servers as long as it lives, and begins without them.
        if call.looped == Looped::Endless && !container.init {
            continue;
        }
        let looks = container.init || call.is_looped();
        let before = at.checked_sub(1).map(|it| &script.calls[it]);
        let members = looks && clients::asks_for_members(before, call);
        let asked = clients::asked_through_a_pipe(before, call.is_read);
        let asked = asked.or(members.then_some((Sought::Other, Vec::new())));
        let found = kubectl::of(call, looks, &container.image);
        let found = found.or_else(|| clients::of(call, looks, &container.env));
        let mut found = found.unwrap_or_default();
        if found.iter().all(is_unsaid) && !found.is_empty() {
            found = with_the_pods_variables(container, call, looks).unwrap_or(found);
        }
        // A command that changes a server, and does not tell which server, is no wait for it.
        let is_data = |it: &For| matches!(it, For::Data(_));
        found.retain(|it| !is_unsaid(it) && !is_data(it) || !acts::changes(call));
        let stops = acts::stops_a_try(call, &script.calls);
        if found.is_empty() && !acts::is_harmless(call) && !stops || acts::changes(call) {
            does = does.or_else(|| acts::program(call));
        }
        // A loop that reads the answer to a question, such as that of `echo ruok | nc`, learns more than that a port is open.
        let sends = |it: &Call| it.is_read && matches!(it.program(), "echo" | "printf");
        let is_answered = call.is_read
            && matches!(
                call.program(),
                "nc" | "ncat" | "netcat" | "socat" | "telnet"
            )
            && before.is_some_and(sends);
        for for_what in found {
            let is_of_the_pod = matches!(for_what, For::File(_));
            let for_what = match (for_what, &asked) {
                (For::Address(address), Some((sought, words))) => For::Data(StoreData {
                    program: call.program().to_owned(),
                    address: Some(address),
                    names: words.clone(),
                    sought: *sought,
                }),
                (For::Address(address), None) if is_answered => For::Address(Address {
                    asks: Asks::Protocol,
                    ..address
                }),
                (other, _) => other,
            };
            let for_what = match for_what {
                For::Data(data) => For::Data(StoreData {
                    names: [data.names, clients::names_behind(&script.calls, at)].concat(),
                    ..data
                }),
                _ if call.while_it_succeeds && !is_of_the_pod => For::Nothing(Reason::Deleted),
                other => other,
            };
            sides.insert(waits.len(), call.side);
            waits.push(Wait {
                what: shown(call),
                for_what,
            });
        }
    }
    leave_alternatives(&mut waits, &sides);
    heed_container(&mut waits, container);
    let mut once: Vec<Wait> = Vec::new();
    for wait in waits {
        if once.iter().all(|it| it.for_what != wait.for_what) {
            once.push(wait);
        }
    }
    // A host that answers at a port has a name, so a wait for the name adds nothing.
    let answers = |it: &Wait| match &it.for_what {
        For::Address(address) => Some(address.host.clone()),
        _ => None,
    };
    let hosts: Vec<String> = once.iter().filter_map(answers).collect();
    once.retain(|it| !matches!(&it.for_what, For::Name(name) if hosts.contains(name)));
    // A file is often only the mark that another command of the container sets.
    let more = |it: &Wait| !matches!(it.for_what, For::File(_));
    if once.iter().any(more) {
        once.retain(more);
    }
    Reading {
        looks: !once.is_empty() || named || (script.pauses && container.init),
        pauses: script.pauses,
        waits: once,
        // A tool that takes its waits from the environment or the arguments does nothing else than wait.
        does: does.filter(|_| !is_declared),
    }
}

/// Whether a wait has no address, because nothing tells its client where to look.
fn is_unsaid(wait: &For) -> bool {
    matches!(wait, For::Nothing(Reason::NoHost(_)))
}

/// Whether a container's name says that it waits, such as `wait-for-db`.
fn is_called_like_a_wait(name: &str) -> bool {
    let words = name.split(|it: char| !it.is_ascii_alphanumeric());
    let says = |word: &str| {
        matches!(
            word,
            "wait"
                | "waiter"
                | "waits"
                | "waiting"
                | "ready"
                | "readiness"
                | "check"
                | "checker"
                | "depends"
                | "dependency"
                | "dependencies"
                | "until"
                | "validation"
                | "dbchecker"
                | "alive"
                | "isalive"
                | "isready"
        )
    };
    let joined = name.starts_with("wait") || name.contains("-wait") || name.contains("checker");
    joined || words.into_iter().any(says)
}

/// The first words of a command, for messages: at most seven words and about 120 bytes, without redirections.
fn shown(call: &Call) -> String {
    let mut shown = String::new();
    for word in call
        .words
        .iter()
        .filter(|it| !it.starts_with(['>', '<']) && !it.starts_with("2>"))
        .take(7)
    {
        if shown.len() + word.len() > 120 {
            break;
        }
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.push_str(word);
    }
    shown
}

#[cfg(test)]
mod tests;
