//! The one word in which many kinds tell how they are: `status.phase`, `status.state`, `status.status`, `status.health`
//! and their compounds (`status.overallStatus`, `status.jobStatus.state`).
//!
//! A word holds an object back when English makes its sense plain: a failure, a participle of something under way
//! (`Provisioning`, `ApplyingChanges`), a `not`, a stop. Everything else, known or not, is no opinion. kubedog's ladder
//! of exact spellings needs a list of good words too, and guesses wrong for each word that is on neither list.
//!
//! `Running` is the end for a service and the middle for a task, so there the kind's own name decides: kinds that
//! are called `...Run`, `...Job`, `...Backup` complete.

use super::Hindrance;
use serde_json::{Map, Value};

/// Longer texts are messages for people, in which a word stands for nothing.
const LONGEST: usize = 64;

/// The last words of a field's name that hold such a word.
const FIELDS: [&str; 7] = [
    "phase",
    "state",
    "status",
    "health",
    "stage",
    "result",
    "condition",
];

/// What a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Bad,
    Busy,
    Stopped,
    /// Under way for what completes, and up for what does not.
    Running,
}

const BAD: [&str; 44] = [
    "fail",
    "failed",
    "failure",
    "failures",
    "failing",
    "err",
    "error",
    "errors",
    "errored",
    "invalid",
    "degraded",
    "crashed",
    "crashing",
    "crashloop",
    "crashloopbackoff",
    "aborted",
    "canceled",
    "cancelled",
    "rejected",
    "denied",
    "forbidden",
    "broken",
    "corrupt",
    "corrupted",
    "lost",
    "fatal",
    "faulted",
    "critical",
    "red",
    "dead",
    "down",
    "offline",
    "stalled",
    "timedout",
    "timeout",
    "interrupted",
    "misconfigured",
    "conflict",
    "expired",
    "killed",
    "evicted",
    "unsuccessful",
    "unauthorized",
    "incompatible",
];

const BUSY: [&str; 33] = [
    "pending",
    "progress",
    "inprogress",
    "queued",
    "wait",
    "new",
    "init",
    "partial",
    "partially",
    "yellow",
    "unknown",
    "unhealthy",
    "unready",
    "unavailable",
    "unreachable",
    "unschedulable",
    "unsynced",
    "missing",
    "outofsync",
    "outdated",
    "notready",
    "disconnected",
    "incomplete",
    "initialize",
    "stale",
    "submitted",
    "uninitialized",
    "needed",
    "initial",
    "retry",
    "enqueued",
    "unbound",
    "blocked",
];

/// What is under way, where it is all that the text says: `BUILD` is, `BuildSucceeded` is over.
const BUSY_ALONE: [&str; 4] = ["build", "initialization", "installation", "preparation"];

const STOPPED: [&str; 8] = [
    "paused",
    "suspended",
    "stopped",
    "hibernated",
    "shutdown",
    "terminated",
    "deleted",
    "halted",
];

/// Words in `-ing` that are no work under way.
const AT_REST: [&str; 20] = [
    "serving",
    "listening",
    "streaming",
    "monitoring",
    "working",
    "existing",
    "polling",
    "watching",
    "tracking",
    "following",
    "sharing",
    "hosting",
    "nothing",
    "string",
    "passing",
    "operating",
    "functioning",
    "accepting",
    "forwarding",
    "standing",
];

/// Words in `-ing` that are work under way only of a kind that comes to an end.
const UNTIL_DONE: [&str; 4] = ["publishing", "collecting", "exporting", "recording"];

/// The last words of kinds that come to an end, unless the name begins with one that starts them again and again.
const COMPLETING: [&str; 19] = [
    "run",
    "job",
    "task",
    "workflow",
    "backup",
    "restore",
    "migration",
    "execution",
    "evaluation",
    "experiment",
    "upgrade",
    "request",
    "scan",
    "build",
    "import",
    "snapshot",
    "operation",
    "dump",
    "playbook",
];

const REPEATING: [&str; 5] = ["cron", "scheduled", "schedule", "scaled", "recurring"];

/// The worst that the words of the object's status say.
pub(super) fn told(kind: &str, object: &Value) -> Option<Hindrance> {
    let status = object.get("status")?.as_object()?;
    let completing = completes(kind);
    let mut busy = None;
    for (path, text) in texts(status) {
        let finding = match sense(text) {
            Some(Sense::Bad) => return Some(Hindrance::Bad(format!("{path} is {text}"))),
            Some(Sense::Busy | Sense::Stopped) => format!("{path} is {text}"),
            Some(Sense::Running) if completing => {
                format!("{path} is {text}, and {kind} has to complete")
            }
            Some(Sense::Running) | None => continue,
        };
        busy.get_or_insert(Hindrance::Busy(finding));
    }
    busy
}

/// Whether there is any word, with a sense or without.
pub(super) fn any(object: &Value) -> bool {
    let status = object.get("status").and_then(Value::as_object);
    status.is_some_and(|status| texts(status).any(|(_, text)| !text.is_empty()))
}

/// The fields of the status that hold a word, and those one level below them.
fn texts(status: &Map<String, Value>) -> impl Iterator<Item = (String, &str)> {
    let fields = status.iter().filter(|(name, _)| !is_history(name));
    fields.flat_map(|(name, value)| {
        let own = value.as_str().filter(|_| holds_a_word(name));
        let own = own.map(|text| (format!("status.{name}"), text));
        let below = value.as_object().into_iter().flatten();
        let below = below.filter_map(move |(inner, value)| {
            let text = value.as_str().filter(|_| FIELDS.contains(&inner.as_str()));
            text.map(|text| (format!("status.{name}.{inner}"), text))
        });
        own.into_iter().chain(below)
    })
}

fn holds_a_word(name: &str) -> bool {
    split(name)
        .last()
        .is_some_and(|last| FIELDS.contains(&last.as_str()))
}

/// What happened to something else, once: `lastBackup`, `previousState`. The last operation or update is the one that
/// made the object what it is.
fn is_history(name: &str) -> bool {
    let words = split(name);
    let is = |at: usize, vocabulary: &[&str]| {
        words
            .get(at)
            .is_some_and(|word| vocabulary.contains(&word.as_str()))
    };
    is(0, &["last", "previous", "history"]) && !is(1, &["operation", "update"])
}

/// Whether a reason reads as a failure.
pub(super) fn is_bad(reason: &str) -> bool {
    sense(reason) == Some(Sense::Bad)
}

/// Whether a word says that something is not so.
pub(super) fn denies(text: &str) -> bool {
    text.len() <= LONGEST && is_denied(&split(text))
}

fn sense(text: &str) -> Option<Sense> {
    if text.len() > LONGEST {
        return None;
    }
    let mut words = split(text);
    if let [alone] = words.as_slice()
        && BUSY_ALONE.contains(&alone.as_str())
    {
        return Some(Sense::Busy);
    }
    // Some write one word as two: `OutOfSync`, `UnHealthy`.
    words.push(words.concat());
    let has = |vocabulary: &[&str]| words.iter().any(|word| vocabulary.contains(&word.as_str()));
    if has(&["no", "without"]) {
        None
    } else if has(&BAD) {
        Some(Sense::Bad)
    } else if is_denied(&words) || has(&BUSY) {
        Some(Sense::Busy)
    } else if has(&STOPPED) {
        Some(Sense::Stopped)
    } else if has(&["running", "active", "started"]) || has(&UNTIL_DONE) {
        Some(Sense::Running)
    } else if words.iter().any(|word| is_under_way(word)) {
        Some(Sense::Busy)
    } else {
        None
    }
}

/// Whether a `not` says that something has yet to be: what need not be is as it should be.
fn is_denied(words: &[String]) -> bool {
    words.iter().zip(words.iter().skip(1)).any(|(word, next)| {
        word == "not"
            && ![
                "required",
                "needed",
                "applicable",
                "supported",
                "requested",
                "used",
                "set",
                "enabled",
            ]
            .contains(&next.as_str())
    })
}

fn is_under_way(word: &str) -> bool {
    word.len() > 5 && word.ends_with("ing") && !AT_REST.contains(&word)
}

/// Whether a kind is called after something that comes to an end.
pub(in crate::profile) fn completes(kind: &str) -> bool {
    let words = split(kind);
    let is = |word: Option<&String>, vocabulary: &[&str]| {
        word.is_some_and(|word| vocabulary.contains(&word.as_str()))
    };
    is(words.last(), &COMPLETING) && !words.iter().any(|word| is(Some(word), &REPEATING))
}

/// The words of a compound, in lower case: `ImportInProgress`, `HEALTH_ERR`, `Setting up primary`, `DNSReady`.
pub(super) fn split(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut inside = false;
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            inside = false;
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        let hump = letter.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase())
                || (before.is_some_and(|before| before.is_uppercase())
                    && after.is_some_and(|after| after.is_lowercase())));
        match words.last_mut() {
            Some(word) if inside && !hump => word.extend(letter.to_lowercase()),
            _ => words.push(letter.to_lowercase().collect()),
        }
        inside = true;
    }
    words
}
