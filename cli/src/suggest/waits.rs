//! The loops and the programs with which charts wait.

use super::words::Word;

/// One wait: for what, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    /// In the file, from 0.
    pub(super) line: usize,
    /// `nc db 5432`
    pub(super) what: String,
    pub(super) for_what: For,
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum For {
    /// A host that answers.
    Host(String),
    /// A host that has a name.
    Name(String),
    /// An object, as a list names it.
    Object(String),
    /// Pods that a selector selects.
    Pods(String),
}

/// Every wait, in its order.
pub(super) fn find(words: &[Word]) -> Vec<Wait> {
    (0..words.len())
        .flat_map(|at| {
            let found = of_word(words, at).into_iter();
            found.map(move |for_what| Wait {
                line: words[at].line,
                what: what(words, at),
                for_what,
            })
        })
        .collect()
}

/// What the word at `at` begins.
fn of_word(words: &[Word], at: usize) -> Vec<For> {
    let word = words[at].text.as_str();
    if let Some(path) = word.split("/dev/tcp/").nth(1) {
        let host = path.split('/').next().unwrap_or_default();
        return vec![For::Host(host.to_owned())];
    }
    let arguments = || arguments(words, at);
    let looks = words[at].init || is_in_a_loop(words, at);
    let program = word.rsplit('/').next().unwrap_or_default();
    let program = program.trim_start_matches(['(', '!', '$']);
    if words[at].is_key {
        return Vec::new();
    }
    match program {
        "nc" | "ncat" | "netcat" if looks => positional(&arguments())
            .first()
            .map(|host| For::Host((*host).to_owned()))
            .into_iter()
            .collect(),
        "pg_isready" | "psql" | "mysqladmin" | "mysql" | "redis-cli" | "mongo" | "mongosh"
            if looks =>
        {
            let host = option(&arguments(), "-h", "--host");
            host.map(For::Host).into_iter().collect()
        }
        "curl" | "wget" if looks => {
            let arguments = arguments();
            let url = arguments.iter().find(|it| it.contains("://"));
            url.map(|it| For::Host(host_of(it))).into_iter().collect()
        }
        "nslookup" | "getent" if looks => {
            let arguments = arguments();
            let mut names = positional(&arguments).into_iter();
            let name = names.find(|it| *it != "hosts" && *it != "ahosts");
            name.map(|it| For::Name(it.to_owned()))
                .into_iter()
                .collect()
        }
        "wait-for-it" | "wait-for-it.sh" | "wait-for" | "wait-for.sh" | "wait4x" => {
            let arguments = arguments();
            let by_option = option(&arguments, "-h", "--host");
            let address = positional(&arguments)
                .into_iter()
                .find(|it| masked(it).contains(':'));
            let host = by_option.or_else(|| address.map(host_of));
            host.map(For::Host).into_iter().collect()
        }
        "dockerize" => {
            let arguments = arguments();
            let addresses = arguments
                .windows(2)
                .filter(|pair| pair[0] == "-wait" || pair[0] == "--wait");
            addresses.map(|pair| For::Host(host_of(pair[1]))).collect()
        }
        "kubectl" => of_kubectl(&arguments()).into_iter().collect(),
        // Of an image; its arguments stand before or behind it.
        image if image.contains("k8s-wait-for") => of_wait_for(words, at).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// `kubectl wait` and `kubectl rollout status`.
fn of_kubectl(arguments: &[&str]) -> Option<For> {
    let plain = positional(arguments);
    let (["wait", rest @ ..] | ["rollout", "status", rest @ ..]) = plain.as_slice() else {
        return None;
    };
    let kind = rest.first()?;
    if let Some(selector) = option(arguments, "-l", "--selector") {
        return matches!(*kind, "pod" | "pods" | "po").then_some(For::Pods(selector));
    }
    let object = if masked(kind).contains('/') {
        (*kind).to_owned()
    } else {
        format!("{kind}/{}", rest.get(1)?)
    };
    Some(For::Object(object))
}

/// The arguments of `groundnuty/k8s-wait-for`: `job NAME`, `pod -lSELECTOR`, `service NAME`.
fn of_wait_for(words: &[Word], at: usize) -> Option<For> {
    let near = at.saturating_sub(12)..words.len().min(at + 24);
    let is_arguments = |it: &usize| words[*it].text == "args:" && words[*it].init == words[at].init;
    let behind = (at..near.end).find(is_arguments);
    let arguments = behind.or_else(|| (near.start..at).rev().find(is_arguments))?;
    let kind = words.get(arguments + 1)?.text.as_str();
    let name = words.get(arguments + 2)?.text.as_str();
    let kind = kind.split('-').next().unwrap_or_default();
    match (kind, name.strip_prefix("-l")) {
        ("pod", Some(selector)) => Some(For::Pods(selector.to_owned())),
        ("pod" | "job" | "service", None) => Some(For::Object(format!("{kind}/{name}"))),
        _ => None,
    }
}

/// What follows, up to the end of the command.
fn arguments(words: &[Word], at: usize) -> Vec<&str> {
    let ends = |word: &&Word| {
        let text = word.text.as_str();
        word.is_key || matches!(text, ";" | "|" | "&" | "do" | "done" | "then")
    };
    let rest = words[at + 1..].iter().take_while(|word| !ends(word));
    rest.map(|word| word.text.as_str()).collect()
}

/// The arguments that are no options, nor the numbers of such.
fn positional<'w>(arguments: &[&'w str]) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut before = "";
    for argument in arguments {
        let is_number = argument.bytes().all(|it| it.is_ascii_digit());
        let of_option = before.starts_with('-') && is_number;
        if !argument.starts_with(['-', '>', '<']) && !of_option {
            found.push(*argument);
        }
        before = argument;
    }
    found
}

/// The value of an option: `-h db`, `-hdb`, `--host=db`.
fn option(arguments: &[&str], short: &str, long: &str) -> Option<String> {
    for (at, argument) in arguments.iter().enumerate() {
        let value = if *argument == short || *argument == long {
            arguments.get(at + 1).copied()
        } else if let Some(value) = argument.strip_prefix(long) {
            value.strip_prefix('=')
        } else if argument.starts_with("--") {
            None
        } else {
            argument.strip_prefix(short)
        };
        if let Some(value) = value {
            return Some(value.trim_start_matches('=').to_owned());
        }
    }
    None
}

/// Whether it stands between `until` or `while` and `done`, in one command.
fn is_in_a_loop(words: &[Word], at: usize) -> bool {
    let before = words[..at].iter().rev().take_while(|it| !it.is_key);
    let mut marks = before.filter(|it| matches!(it.text.as_str(), "until" | "while" | "done"));
    marks.next().is_some_and(|it| it.text != "done")
}

/// The host of an address or of a URL.
fn host_of(address: &str) -> String {
    let behind = address.split_once("://").map_or(address, |(_, rest)| rest);
    let shown = masked(behind);
    let start = shown.find('@').map_or(0, |at| at + 1);
    let end = shown[start..]
        .find([':', '/'])
        .map_or(shown.len(), |at| start + at);
    behind[start..end].to_owned()
}

/// A text in which nothing of a template looks like anything else.
pub(super) fn masked(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let end = rest[start..]
            .find("}}")
            .map_or(rest.len(), |end| start + end + 2);
        shown.push_str(&rest[..start]);
        shown.extend(std::iter::repeat_n('x', end - start));
        rest = &rest[end..];
    }
    shown + rest
}

/// The command, as far as it tells what is waited for.
fn what(words: &[Word], at: usize) -> String {
    let mut told = words[at].text.clone();
    for argument in arguments(words, at).into_iter().take(4) {
        told.push(' ');
        told.push_str(argument);
    }
    told
}
