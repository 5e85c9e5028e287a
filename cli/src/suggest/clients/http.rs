//! Reads the waits of clients that ask an address by HTTP, such as `curl` and `wget`.

use crate::suggest::kubectl;
use crate::suggest::reason::Reason;
use crate::suggest::shell::Call;
use crate::suggest::wait::{Address, Asks, For};

/// The options of `wget` that a value follows.
const OF_WGET: &[&str] = &[
    "-O",
    "-T",
    "-t",
    "-o",
    "-qO",
    "-P",
    "--header",
    "--timeout",
    "--tries",
    "--post-data",
    "-U",
    "--output-document",
];

/// The options of `curl` that a value follows.
const OF_CURL: &[&str] = &[
    "-o",
    "-w",
    "-H",
    "-X",
    "-d",
    "-u",
    "-m",
    "-A",
    "-F",
    "-b",
    "-c",
    "-K",
    "-E",
    "-so",
    "-sko",
    "-sSo",
    "-fso",
    "-sw",
    "-sX",
    "-kX",
    "--header",
    "--data",
    "--request",
    "--user",
    "--output",
    "--write-out",
    "--max-time",
    "--connect-timeout",
    "--retry",
    "--retry-delay",
    "--retry-max-time",
    "--cacert",
    "--cert",
    "--key",
    "--capath",
    "--resolve",
    "--unix-socket",
    "--data-binary",
    "--data-raw",
    "--proxy",
    "-x",
];

/// The wait of an HTTP client for its URL, such as `curl -fsS -o /dev/null http://api:8080/ready`; without a URL, a wait that no list can say.
/// A URL of the Kubernetes API is read like a `kubectl`.
pub(super) fn of(program: &str, arguments: &[&str]) -> Vec<For> {
    let with_value = if program == "wget" { OF_WGET } else { OF_CURL };
    let mut before = "";
    let mut found = None;
    for argument in arguments {
        let of_option = with_value.contains(&before);
        let is_option =
            argument.starts_with(['-', '>', '<', '2', '@']) && !argument.contains("://");
        if argument.contains("://") && !of_option {
            found = Some(*argument);
            break;
        }
        if !of_option && !is_option && found.is_none() && !argument.is_empty() {
            found = Some(*argument);
        }
        before = argument;
    }
    let Some(url) = found else {
        return vec![For::Nothing(Reason::NoHost(program.to_owned()))];
    };
    if let Some(of_api) = kubectl::of_url(url) {
        return vec![of_api];
    }
    let asks_for_success = |it: &&str| {
        let is_short = it.starts_with('-') && !it.starts_with("--");
        it.starts_with("--fail") || it.contains("_code}") || is_short && it[1..].contains('f')
    };
    let logs_in = |it: &&str| {
        let of_user = ["-u", "--user", "--http-user", "--cert"].iter();
        let mut of_user = of_user.map(|option| it.strip_prefix(option));
        let is_user = of_user.any(|it| it.is_some_and(|it| it.is_empty() || it.starts_with('=')));
        is_user || it.to_lowercase().contains("authorization:")
    };
    let has_user = url.split_once("://").is_some_and(|(_, behind)| {
        let host = behind.split(['/', '?']).next().unwrap_or_default();
        host.contains('@')
    });
    vec![For::Address(Address {
        logs_in: has_user || arguments.iter().any(logs_in),
        // `curl` takes any answer for success, unless an option such as `--fail` asks for more.
        succeeds: program != "curl" || arguments.iter().any(asks_for_success),
        ..Address::of(url, Asks::Http)
    })]
}

/// Whether a command is a `curl` or `wget` that fetches its URL only once: outside of a loop, and without an option to try again.
pub(super) fn fetches(call: &Call) -> bool {
    let program = call.program();
    let again = |it: &String| it.starts_with("--retry") || it.starts_with("--tries");
    matches!(program, "curl" | "wget") && !call.is_looped() && !call.words.iter().any(again)
}
