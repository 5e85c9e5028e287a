//! Reads the waits of a container from its words and its environment.

use super::clients;
use super::container::Container;
use super::declared;
use super::host::{self, Host};
use super::kubectl;
use super::reason::Reason;
use super::shell::{self, Call};
use super::wait::{For, Wait};

/// The waits of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) waits: Vec<Wait>,
    /// Whether the container looks like a wait, even if its commands do not tell for what.
    pub(super) looks: bool,
}

impl Reading {
    /// Takes the waits of a script besides.
    pub(super) fn join(&mut self, other: Self) {
        let is_new = |it: &Wait| self.waits.iter().all(|own| own.for_what != it.for_what);
        let new: Vec<Wait> = other.waits.into_iter().filter(is_new).collect();
        self.waits.extend(new);
        self.looks |= other.looks;
    }
}

/// Reads a container.
pub(super) fn of(container: &Container) -> Reading {
    let script = shell::of_words(&container.words, &container.env);
    let mut waits = declared::of(container);
    let named = container.init && is_called_like_a_wait(&container.name);
    for (at, call) in script.calls.iter().enumerate() {
        if !named && clients::fetches(call) {
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
    for wait in &mut waits {
        match &mut wait.for_what {
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
    // A loop over a file is often the mark that another command of it sets.
    let more = |it: &Wait| !matches!(it.for_what, For::File(_));
    if once.iter().any(more) {
        once.retain(more);
    }
    Reading {
        looks: !once.is_empty() || named || (script.pauses && container.init),
        waits: once,
    }
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
