//! The programs with which charts look whether something is there.

mod arguments;
mod data;
mod table;

use super::reason::Reason;
use super::shell::Call;
use super::wait::{Address, Asks, For};
use arguments::{option, positional};
pub(super) use data::asks_for_members;
use data::looks_for_data;
use std::collections::BTreeMap;
use table::{CLIENTS, Client};

/// Reads the waits of a command; `None` where the command is no client. `looks`: the command stands in a place where waits stand.
pub(super) fn of(call: &Call, looks: bool, env: &BTreeMap<String, String>) -> Option<Vec<For>> {
    let program = call.words[0].rsplit('/').next().unwrap_or_default();
    let program = program.trim_start_matches(['(', '!']);
    let arguments: Vec<&str> = call.words[1..].iter().map(String::as_str).collect();
    if let Some(path) = call
        .words
        .iter()
        .find_map(|it| it.split("/dev/tcp/").nth(1))
    {
        let mut parts = path.split('/');
        let host = parts.next().unwrap_or_default();
        let port = parts.next().unwrap_or_default();
        return Some(vec![address(&format!("{host}:{port}"), Asks::Port)]);
    }
    if let Some(found) = tool(program, &arguments) {
        return Some(found);
    }
    if !looks {
        return named_after_a_wait(program, &arguments);
    }
    if let Some(found) = test(program, &arguments, call.looped) {
        return Some(found);
    }
    let bare = program.trim_end_matches(".sh").trim_end_matches(".py");
    if let Some(client) = CLIENTS.iter().find(|it| it.programs.contains(&bare)) {
        return Some(client.of(bare, &arguments, env));
    }
    match bare {
        "nc" | "ncat" | "netcat" | "telnet" => Some(port(&arguments)),
        "curl" | "wget" | "http" => Some(http(bare, &arguments)),
        "nslookup" | "getent" | "host" | "dig" => name(&arguments),
        "ping" | "fping" => Some(vec![For::Nothing(Reason::Ping(last(&arguments)))]),
        "sctp_test" => Some(vec![For::Nothing(Reason::Sctp)]),
        "vault" => Some(vec![For::Nothing(Reason::Vault)]),
        "mc" => Some(minio(&arguments)),
        "aws" | "s3cmd" => endpoint(&arguments),
        _ if is_migration(&call.words) => Some(vec![For::Migration]),
        _ => by_name(bare, &arguments).or_else(|| named_after_a_wait(bare, &arguments)),
    }
}

impl Client {
    fn of(&self, program: &str, arguments: &[&str], env: &BTreeMap<String, String>) -> Vec<For> {
        let is_address = |it: &str| !it.is_empty() && !it.contains('=');
        let by_option = option(arguments, self.options)
            .filter(|it| is_address(it))
            // `-d` of PostgreSQL's clients is a database, or the address of one.
            .filter(|it| {
                let is_address = it.contains("://") || it.contains("$(");
                let is_host = || option(arguments, &["-h", "--host"]).is_some();
                !self.options.contains(&"-d") || is_address || is_host()
            });
        let is_url =
            |it: &&str| it.contains("://") || !matches!(self.programs[0], "pg_isready" | "mongo");
        let by_place = || {
            let mut plain = positional(arguments).into_iter().filter(is_url);
            plain.next().filter(|_| self.first).map(str::to_owned)
        };
        let by_variable = || self.variables.iter().find_map(|it| env.get(*it).cloned());
        let Some(found) = by_option.or_else(by_place).or_else(by_variable) else {
            let program = program.to_owned();
            return vec![For::Nothing(Reason::NoHost(program))];
        };
        if looks_for_data(program, arguments) {
            return vec![For::Nothing(Reason::Data(program.to_owned()))];
        }
        let found = found.trim_start_matches("rabbit@");
        let port = option(arguments, &["--port", "-P", "-p"]).filter(|it| is_port(it));
        let port = port.filter(|_| !found.contains([':', ',']));
        let port = port.map_or(String::new(), |it| format!(":{it}"));
        let mut waits = each(&format!("{found}{port}"), self.asks);
        for wait in &mut waits {
            if let For::Address(address) = wait
                && address.usual.is_empty()
            {
                address.usual = self.port();
            }
        }
        waits
    }
}

/// The tools that do nothing but wait, wherever they stand.
fn tool(program: &str, arguments: &[&str]) -> Option<Vec<For>> {
    match program {
        "wait-for-it" | "wait-for-it.sh" | "wait-for" | "wait-for.sh" | "wait4x"
        | "wait-for-port" | "wait-port" | "wait-on" | "wait_for_it.sh" | "waitforit"
        | "wait-for-host" => {
            let host = option(arguments, &["-h", "--host"]);
            let plain = positional(arguments);
            let words = [
                "tcp",
                "http",
                "postgresql",
                "mysql",
                "redis",
                "mongodb",
                "rabbitmq",
                "kafka",
            ];
            let mut plain = plain.into_iter().filter(|it| !words.contains(it));
            let place = plain.next().map(|it| {
                it.trim_start_matches("tcp:")
                    .trim_start_matches("http-get:")
                    .to_owned()
            });
            let found = match (host, place) {
                (Some(host), Some(port)) if is_port(&port) => format!("{host}:{port}"),
                (Some(host), _) => host,
                (None, Some(place)) if !is_port(&place) => place,
                _ => return Some(vec![For::Nothing(Reason::NoHost(program.to_owned()))]),
            };
            Some(each(&found, Asks::Port))
        }
        "dockerize" => {
            let addresses = arguments
                .iter()
                .enumerate()
                .filter_map(|(at, it)| match *it {
                    "-wait" | "--wait" => arguments.get(at + 1).copied(),
                    _ => it.trim_start_matches('-').strip_prefix("wait="),
                });
            Some(addresses.flat_map(|it| each(it, Asks::Port)).collect())
        }
        _ => None,
    }
}

/// A test of a file.
fn test(program: &str, arguments: &[&str], looped: bool) -> Option<Vec<For>> {
    let found = match program {
        "test" | "[" | "[[" => {
            let of_file = ["-e", "-f", "-s", "-d", "-S", "-r", "-L"];
            let at = arguments.iter().position(|it| of_file.contains(it))?;
            arguments.get(at + 1).copied()
        }
        "ls" | "stat" | "lsmod" => positional(arguments).first().copied(),
        _ => return None,
    };
    let path = found.unwrap_or("/");
    Some(if looped {
        vec![For::File(path.to_owned())]
    } else {
        Vec::new()
    })
}

/// The addresses that a look at a port names, such as `nc -z -w3 db 5432`.
fn port(arguments: &[&str]) -> Vec<For> {
    if arguments.iter().any(|it| it.contains("sctp")) {
        return vec![For::Nothing(Reason::Sctp)];
    }
    let plain = positional(arguments);
    match plain.as_slice() {
        [] => Vec::new(),
        [host] => each(host, Asks::Port),
        [host, port, ..] => vec![address(&format!("{host}:{port}"), Asks::Port)],
    }
}

/// `curl -fsS -o /dev/null http://api:8080/ready`
fn http(program: &str, arguments: &[&str]) -> Vec<For> {
    let with_value: &[&str] = if program == "wget" {
        &[
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
        ]
    } else {
        &[
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
            "-k0",
            "-so",
            "-sko",
            "-sSo",
            "-fso",
            "-sw",
            "-sX",
            "-kX",
            "-XGET",
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
        ]
    };
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
    if let Some(of_api) = super::kubectl::of_url(url) {
        return vec![of_api];
    }
    let asks_for_success = |it: &&str| {
        let is_short = it.starts_with('-') && !it.starts_with("--");
        it.starts_with("--fail") || it.contains("_code}") || is_short && it[1..].contains('f')
    };
    vec![For::Address(Address {
        // `curl` alone takes any answer.
        succeeds: program != "curl" || arguments.iter().any(asks_for_success),
        ..Address::of(url, Asks::Http)
    })]
}

/// Whether a command fetches something once: a loop, or an option to try again, makes a wait of it.
pub(super) fn fetches(call: &Call) -> bool {
    let program = call.words[0].rsplit('/').next().unwrap_or_default();
    let again = |it: &String| it.starts_with("--retry") || it.starts_with("--tries");
    matches!(program, "curl" | "wget") && !call.looped && !call.words.iter().any(again)
}

/// The name that a look-up asks for, such as `nslookup db` or `getent hosts db`; `None` where a look-up asks for no host.
fn name(arguments: &[&str]) -> Option<Vec<For>> {
    let databases = ["hosts", "ahosts", "ahostsv4", "ahostsv6"];
    let others = ["passwd", "group", "services"];
    let plain = positional(arguments);
    if plain.first().is_some_and(|it| others.contains(it)) {
        return None;
    }
    let mut names = plain
        .into_iter()
        .filter(|it| !databases.contains(it) && !it.starts_with(['@', '+']));
    let is_record = |it: &&str| matches!(*it, "A" | "AAAA" | "SRV" | "any");
    Some(match names.find(|it| !is_record(it)) {
        Some(name) => vec![For::Name(name.to_owned())],
        None => vec![For::Nothing(Reason::NoHost("nslookup".to_owned()))],
    })
}

/// The first address that MinIO's client names, such as `mc alias set store http://minio:9000 KEY SECRET`.
fn minio(arguments: &[&str]) -> Vec<For> {
    let mut urls = arguments
        .iter()
        .filter(|it| it.contains("://") || it.contains("$("));
    urls.next()
        .map(|it| address(it, Asks::Protocol))
        .into_iter()
        .collect()
}

/// The address that an option names, such as `aws --endpoint-url http://minio:9000 s3 ls`; `None` without such an option.
fn endpoint(arguments: &[&str]) -> Option<Vec<For>> {
    let url = option(arguments, &["--endpoint-url", "--endpoint", "--host"])?;
    Some(vec![address(&url, Asks::Protocol)])
}

/// The waits of a function of an image, or of a script, whose name tells what it does: `x_wait_for_db_connection URL`.
fn by_name(program: &str, arguments: &[&str]) -> Option<Vec<For>> {
    let words = || program.split(['_', '-']);
    let waits = words().any(|it| it == "wait" || it == "ready");
    if words().any(|it| it.starts_with("migration")) && waits {
        return Some(vec![For::Migration]);
    }
    let executes = program.contains("remote_execute");
    let url = arguments.iter().find(|it| it.contains("://"));
    if let Some(url) = url.filter(|_| waits || executes) {
        return Some(each(url, Asks::Protocol));
    }
    match positional(arguments).as_slice() {
        [host, port, ..] if (waits || executes) && is_port(port) => {
            Some(vec![address(&format!("{host}:{port}"), Asks::Protocol)])
        }
        [host, ..] if executes => Some(vec![address(host, Asks::Protocol)]),
        [host, ..] if waits && host.contains(':') => Some(each(host, Asks::Port)),
        _ => None,
    }
}

/// The waits of an image's function that waits in any place of a script. Its name (`x_wait_for_db_connection`) does not tell
/// the address.
fn named_after_a_wait(program: &str, arguments: &[&str]) -> Option<Vec<For>> {
    let waits = program.contains("wait_for_") || program.contains("wait-for-");
    let unsaid = || vec![For::Nothing(Reason::NoHost(program.to_owned()))];
    waits.then(|| by_name(program, arguments).unwrap_or_else(unsaid))
}

/// Whether a command asks if a database has been migrated.
fn is_migration(words: &[String]) -> bool {
    let text = words.join(" ").to_lowercase();
    let migrates =
        text.contains("migrat") || text.contains("db:version") || text.contains("db check");
    let checks = [
        "check",
        "status",
        "list",
        "plan",
        "wait",
        "pending",
        "version",
        "up-to-date",
        "needs",
    ];
    migrates
        && checks.iter().any(|it| text.contains(it))
        && words[0] != "echo"
        && words[0] != "printf"
        && words[0] != "info"
}

/// The addresses of a list with commas.
fn each(text: &str, asks: Asks) -> Vec<For> {
    let texts = text.split(',').filter(|it| !it.is_empty());
    texts.map(|it| address(it.trim(), asks)).collect()
}

fn address(text: &str, asks: Asks) -> For {
    For::Address(Address::of(text, asks))
}

fn is_port(text: &str) -> bool {
    let by_variable = text.starts_with("$(") && text.to_uppercase().contains("PORT");
    by_variable || !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

fn last(arguments: &[&str]) -> String {
    positional(arguments)
        .last()
        .copied()
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests;
