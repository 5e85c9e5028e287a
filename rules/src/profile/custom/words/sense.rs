//! The sense of a word: failure, work under way, a stop.

/// The longest text that is taken for a word, in bytes: a longer text is a message for people, in which single words tell nothing.
const LONGEST: usize = 64;

/// The sense of the text of a status field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    Bad,
    Busy,
    Stopped,
    /// Under way for a kind that comes to an end, and well for every other kind.
    Running,
}

const BAD: [&str; 45] = [
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
    "abnormal",
    "rolledback",
];

const BUSY: [&str; 42] = [
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
    "absent",
    "inqueue",
    "delayed",
    "unscheduled",
    "staged",
    "detached",
    "undeployed",
    "unavailability",
    "false",
];

/// Verbs of lowering on purpose: behind them `down` is no failure, as in `ScaledDown` and `RebalanceOnScaleDown`.
const LOWERED: [&str; 9] = [
    "scale", "scaled", "scaling", "shut", "shutting", "cool", "cooling", "tear", "wind",
];

/// Words of a good end, in a reason: `NewReplicaSetAvailable`, `InstallSuccessful`.
const DONE: [&str; 16] = [
    "available",
    "complete",
    "completed",
    "deployed",
    "done",
    "finished",
    "healthy",
    "installed",
    "ready",
    "reconciled",
    "stable",
    "succeeded",
    "success",
    "successful",
    "successfully",
    "synced",
];

/// Words of work under way, where they are the whole text: `BUILD` is, `BuildSucceeded` is over.
const BUSY_ALONE: [&str; 7] = [
    "build",
    "initialization",
    "installation",
    "preparation",
    "imagebuild",
    "deploy",
    "setup",
];

const STOPPED: [&str; 10] = [
    "paused",
    "suspended",
    "stopped",
    "hibernated",
    "shutdown",
    "terminated",
    "deleted",
    "halted",
    "stop",
    "inactive",
];

/// Words in `-ing` that are no work under way.
const AT_REST: [&str; 21] = [
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
    "warning",
];

/// Words in `-ing` that are work under way only of a kind that comes to an end.
const UNTIL_DONE: [&str; 4] = ["publishing", "collecting", "exporting", "recording"];

/// The last words of the names of kinds whose objects come to an end. A kind with one of [`REPEATING`] in its name, such as `CronJob`, goes on.
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

/// Whether a reason reads as a failure.
pub(in super::super) fn is_bad(reason: &str) -> bool {
    sense(reason) == Some(Sense::Bad)
}

/// Whether a reason tells of a good end.
pub(in super::super) fn is_done(reason: &str) -> bool {
    let words = split(reason);
    let done = words.iter().any(|word| DONE.contains(&word.as_str()));
    let undone = is_bad(reason) || is_denied(&words) || words.iter().any(|it| is_under_way(it));
    words == ["as", "expected"] || (done && !undone)
}

/// Whether a reason says that something is waited for, or being done: `AwaitingData`, `PodsPending`, `CreatingVolume`.
pub(in super::super) fn is_busy(reason: &str) -> bool {
    let words = split(reason);
    let is = |word: &String| ["wait", "waits", "pending", "queued"].contains(&word.as_str());
    let waits = words.iter().any(is) || words.first().is_some_and(|word| is_under_way(word));
    waits && sense(reason) == Some(Sense::Busy) && !is_denied(&words) && !is_done(reason)
}

/// Whether a word says that something is under way, or stands still.
pub(in super::super) fn holds_back(word: &str) -> bool {
    matches!(sense(word), Some(Sense::Busy | Sense::Stopped))
}

/// Whether a word denies the state that it names, such as `NotReady`.
pub(in super::super) fn denies(text: &str) -> bool {
    text.len() <= LONGEST && is_denied(&split(text))
}

pub(super) fn sense(text: &str) -> Option<Sense> {
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
    } else if has(&BAD) || is_down(&words) {
        Some(Sense::Bad)
    } else if is_denied(&words) || has(&BUSY) {
        Some(Sense::Busy)
    } else if has(&STOPPED) || is_lowered(&words) {
        Some(Sense::Stopped)
    } else if has(&["running", "active", "started", "created"]) || has(&UNTIL_DONE) {
        Some(Sense::Running)
    } else if words.iter().any(|word| is_under_way(word)) {
        Some(Sense::Busy)
    } else {
        None
    }
}

/// Whether the words say that something has gone down that should be up: `down`, but not behind a verb of [`LOWERED`].
fn is_down(words: &[String]) -> bool {
    let before = |at: usize| at.checked_sub(1).and_then(|at| words.get(at));
    let meant = |word: &String| LOWERED.contains(&word.as_str());
    let mut downs = (0..words.len()).filter(|at| words.get(*at).is_some_and(|it| it == "down"));
    downs.any(|at| !before(at).is_some_and(meant))
}

/// Whether something was taken down on purpose: `ScaledDown`.
fn is_lowered(words: &[String]) -> bool {
    let mut pairs = words.iter().zip(words.iter().skip(1));
    pairs.any(|(word, next)| next == "down" && ["scaled", "shut"].contains(&word.as_str()))
}

/// Whether a `not` denies the following word, as in `NotReady`. `NotRequired` and the like deny nothing that is to come.
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

/// Whether a kind is named after a process that comes to an end: `PipelineRun` or `Backup`, but not `ScheduledBackup`.
pub(in crate::profile) fn completes(kind: &str) -> bool {
    let words = split(kind);
    let is = |word: Option<&String>, vocabulary: &[&str]| {
        word.is_some_and(|word| vocabulary.contains(&word.as_str()))
    };
    is(words.last(), &COMPLETING) && !words.iter().any(|word| is(Some(word), &REPEATING))
}

/// The words of a compound, in lower case: `ImportInProgress`, `HEALTH_ERR`, `Setting up primary`, `DNSReady`.
pub(in super::super) fn split(text: &str) -> Vec<String> {
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
