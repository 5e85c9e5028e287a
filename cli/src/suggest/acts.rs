//! Tells whether commands do something else than wait. A container with such a command stays when a list replaces its loop.

use super::shell::Call;
use std::path::Path;

/// The programs that only look, print, or steer a script, so a command that runs one of them does nothing else than wait.
const HARMLESS: [&str; 66] = [
    ".",
    ":",
    "[",
    "[[",
    "apk",
    "apt",
    "apt-get",
    "awk",
    "basename",
    "bc",
    "break",
    "cat",
    "cd",
    "command",
    "continue",
    "cut",
    "date",
    "debug",
    "dirname",
    "dnf",
    "echo",
    "egrep",
    "error",
    "exit",
    "export",
    "expr",
    "false",
    "fgrep",
    "grep",
    "hash",
    "head",
    "hostname",
    "id",
    "info",
    "install_packages",
    "jq",
    "kill",
    "let",
    "log",
    "microdnf",
    "pip",
    "pip3",
    "printf",
    "pwd",
    "read",
    "return",
    "sed",
    "seq",
    "set",
    "shift",
    "sleep",
    "sort",
    "source",
    "tail",
    "test",
    "tr",
    "trap",
    "true",
    "type",
    "uniq",
    "unset",
    "usleep",
    "wait",
    "warn",
    "wc",
    "which",
];

/// The parts of a client's arguments, in small letters, that show that the client changes the content of a store.
const CHANGES: [&str; 9] = [
    "create ", "insert ", "grant ", "alter ", "drop ", "update ", "--create", "--alter", "restore",
];

/// The file name of the program that a command runs; `None` unless the name begins with a letter and has only letters, digits, `-`, `_` and `.`.
pub(super) fn program(call: &Call) -> Option<String> {
    let program = call.program();
    let is_letter = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    let is_name = program.starts_with(|it: char| it.is_ascii_alphabetic());
    (is_name && program.chars().all(is_letter)).then(|| program.to_owned())
}

/// Whether a program is a shell, or a script whose name ends in `.sh`. The commands of the script are read one by one, so the program itself
/// does not count as an act.
pub(super) fn runs_a_script(program: &str) -> bool {
    let is_script = Path::new(program).extension().is_some_and(|it| it == "sh");
    is_script || matches!(program, "sh" | "bash" | "ash" | "dash" | "zsh" | "ksh")
}

/// Whether a command is known to change nothing that another container can see: it runs a program that only looks, prints or steers (but no
/// `sed -i`), or is a redirection alone, and writes no file outside of `/dev` and `/tmp`. Such a command stops no proposal.
pub(super) fn is_harmless(call: &Call) -> bool {
    let first = call.words[0].as_str();
    let program = call.program();
    let in_place = program == "sed" && call.words.iter().any(|it| it.starts_with("-i"));
    // Behind a closing bracket, as in `} > FILE`, the command consists of a redirection alone.
    let is_known = HARMLESS.contains(&program) || is_redirection(first);
    is_known && !in_place && !writes(&call.words)
}

fn is_redirection(word: &str) -> bool {
    let word = word.trim_start_matches(|it: char| it.is_ascii_digit());
    word.starts_with(['>', '<'])
}

/// Whether `call` is `X stop`, and a loop among the commands `all` runs `X start`: the server was started only to see whether it starts.
pub(super) fn stops_a_try(call: &Call, all: &[Call]) -> bool {
    let is = |it: &Call, what: &str| matches!(it.words.as_slice(), [_, word, ..] if word == what);
    let starts = |it: &Call| it.is_looped() && is(it, "start") && it.words[0] == call.words[0];
    is(call, "stop") && all.iter().any(starts)
}

/// Whether a client changes the content of a store: its arguments have one of `CHANGES`, or a file is its input. A harmless command never does.
pub(super) fn changes(call: &Call) -> bool {
    let text = call.words[1..].join(" ").to_lowercase();
    let is_fed =
        |it: &String| it.starts_with('<') && !it.starts_with("<<") && !it.contains("/dev/");
    let is_change = CHANGES.iter().any(|it| text.contains(it)) || call.words.iter().any(is_fed);
    is_change && !is_harmless(call)
}

/// Whether a command redirects its output into a file that another container may read, so into one that is neither below `/dev` nor `/tmp`.
fn writes(words: &[String]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let word = word.trim_start_matches(|it: char| it.is_ascii_digit());
        let Some(target) = word.strip_prefix('>') else {
            continue;
        };
        let target = match target.trim_start_matches('>') {
            "" => words.next().map_or("", String::as_str),
            target => target,
        };
        let is_lost = target.is_empty()
            || ["/dev/", "/tmp/", "&"]
                .iter()
                .any(|it| target.starts_with(it));
        if !is_lost {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Call {
        let words = line.split(' ').map(str::to_owned).collect();
        Call {
            words,
            ..Call::default()
        }
    }

    #[test]
    fn a_command_that_only_looks_is_harmless() {
        for (line, expected) in [
            ("echo waiting for db", true),
            ("echo x >&2", true),
            ("cat /etc/hosts 2>/dev/null", true),
            ("echo x > /dev/null", true),
            ("grep -q ok", true),
            ("2>/dev/null", true),
            ("echo x >/etc/app/conf", false),
            ("cat a >> /data/b", false),
            ("sed -i s/a/b/ /etc/x", false),
            ("cp a b", false),
            ("/opt/app/migrate up", false),
        ] {
            assert_eq!(is_harmless(&call(line)), expected, "{line}");
        }
    }

    #[test]
    fn a_program_is_known_by_its_name() {
        for (line, expected) in [
            ("/usr/bin/cp a b", Some("cp")),
            ("./setup.sh", Some("setup.sh")),
            ("$(TOOL) run", None),
            ("[0-9]+", None),
        ] {
            assert_eq!(program(&call(line)).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_client_that_changes_a_store_does_more_than_wait() {
        for (line, expected) in [
            ("mysql -h db -e SELECT 1", false),
            ("mysql -h db -e CREATE DATABASE x", true),
            ("mysql -h db </init.sql", true),
            ("kafka-topics --create --topic a", true),
            ("nc -z db 1 </dev/null", false),
            ("echo create it", false),
        ] {
            assert_eq!(changes(&call(line)), expected, "{line}");
        }
    }
}
