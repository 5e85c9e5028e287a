//! Reads the waits of a container from its words and its environment.

use super::clients;
use super::container::Container;
use super::declared;
use super::host::{self, Host};
use super::kubectl;
use super::reason::Reason;
use super::shell::{self, Call};
use super::wait::{Asks, For, Wait};

/// The waits of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) waits: Vec<Wait>,
    /// Whether the container looks like a wait, even if its commands do not tell for what.
    pub(super) looks: bool,
    /// Whether a loop of the container pauses between its rounds, as that of a server may.
    pub(super) pauses: bool,
}

impl Reading {
    /// Takes the waits of a script besides.
    pub(super) fn join(&mut self, other: Self) {
        let is_new = |it: &Wait| self.waits.iter().all(|own| own.for_what != it.for_what);
        let new: Vec<Wait> = other.waits.into_iter().filter(is_new).collect();
        self.waits.extend(new);
        self.looks |= other.looks;
        self.pauses |= other.pauses;
    }

    /// The reading of a container that may be a Job's, which runs through: a loop with a pause is a wait there.
    pub(super) fn of_job(mut self, is_job: bool) -> Self {
        self.looks |= is_job && self.pauses;
        self
    }
}

/// Reads a container.
pub(super) fn of(container: &Container) -> Reading {
    let script = shell::of_words(&container.words, &container.env);
    let mut waits = declared::of(container);
    let named = container.init && is_called_like_a_wait(&container.name);
    for (at, call) in script.calls.iter().enumerate() {
        if !named && clients::asks_once(call) {
            continue;
        }
        let looks = container.init || call.looped;
        let before = at.checked_sub(1).map(|it| &script.calls[it]);
        if looks && clients::asks_for_members(before, call) {
            let program = call.words[0].clone();
            waits.push(Wait {
                what: shown(call),
                for_what: For::Nothing(Reason::Data(program)),
            });
            continue;
        }
        let found = kubectl::of(call, looks, &container.image);
        let found = found.or_else(|| clients::of(call, looks, &container.env));
        let found = found.unwrap_or_default();
        waits.extend(found.into_iter().map(|for_what| Wait {
            what: shown(call),
            for_what,
        }));
    }
    let counts = container.words.iter().any(|it| counts_answers(it));
    for wait in &mut waits {
        match &mut wait.for_what {
            For::Address(address) if counts && address.asks == Asks::Http => {
                let program = wait.what.split(' ').next().unwrap_or_default();
                wait.for_what = For::Nothing(Reason::Data(program.to_owned()));
            }
            For::File(_) => {}
            For::Address(address) if host::of(&address.host) == Host::Itself => {}
            other if container.after_start => *other = For::Nothing(Reason::AfterStart),
            For::Address(address) => address.succeeds &= !container.takes_refusals(),
            _ => {}
        }
    }
    let mut once: Vec<Wait> = Vec::new();
    for wait in waits {
        if once.iter().all(|it| it.for_what != wait.for_what) {
            once.push(wait);
        }
    }
    // A host that answers at a port has a name.
    let answers = |it: &Wait| match &it.for_what {
        For::Address(address) => Some(address.host.clone()),
        _ => None,
    };
    let hosts: Vec<String> = once.iter().filter_map(answers).collect();
    once.retain(|it| !matches!(&it.for_what, For::Name(name) if hosts.contains(name)));
    // A loop over a file is often the mark that another command of it sets.
    let more = |it: &Wait| !matches!(it.for_what, For::File(_));
    if once.iter().any(more) {
        once.retain(more);
    }
    Reading {
        looks: !once.is_empty() || named || (script.pauses && container.init),
        pauses: script.pauses,
        waits: once,
    }
}

/// Whether a script compares the number of an answer: `n=$(wget -qO- URL)`, then `[ $n -gt 0 ]`. That the address answers is less.
fn counts_answers(script: &str) -> bool {
    let tests = [" -gt ", " -ge ", " -lt ", " -le ", " -eq "];
    let compared = tests.iter().flat_map(|it| script.match_indices(it));
    let names = compared.filter_map(|(at, _)| script[..at].rsplit(char::is_whitespace).next());
    let names = names.map(|it| it.trim_matches(['"', '$', '{', '}', '[', '(']));
    names.filter(|it| !it.is_empty()).any(|name| {
        // Another name may end like this one.
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let start = format!("{name}=$(");
        let set = script.match_indices(start.as_str());
        let set = set.filter(|(at, _)| !script[..*at].ends_with(is_name));
        let mut commands = set.filter_map(|(at, it)| {
            let behind = &script[at + it.len()..];
            behind.split([';', '\n']).next()
        });
        let reads = |it: &str| {
            ["cat ", "curl ", "wget "]
                .iter()
                .any(|word| it.contains(word))
        };
        commands.any(|it| reads(it) && !it.contains("_code"))
    })
}

/// Whether a name is that of a wait: `wait-for-db`.
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
mod tests {
    use super::*;

    #[test]
    fn a_number_of_an_answer_is_more_than_an_answer() {
        for (script, expected) in [
            ("n=$(curl -s http://api/count); [ $n -gt 0 ]", true),
            (
                "wget -qO /tmp/n http://api; N=$(cat /tmp/n)\nif [ \"${N}\" -ge 2 ]; then break; fi",
                true,
            ),
            (
                "code=$(curl -s -w '%{http_code}' http://api); [ $code -eq 200 ]",
                false,
            ),
            (
                "all_result=$(curl -s http://api); result=$?; [ $result -eq 0 ]",
                false,
            ),
            ("i=$((i+1)); curl -s http://api; [ $i -gt 30 ]", false),
        ] {
            assert_eq!(counts_answers(script), expected, "{script}");
        }
    }
}
