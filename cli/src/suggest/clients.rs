//! Reads the waits of the programs with which charts look whether a server, a name or a file is there.

mod arguments;
mod code;
mod data;
mod http;
mod named;
mod table;
mod tools;

use super::mask::is_masked;
use super::reason::Reason;
use super::shell::Call;
use super::wait::{Address, Asks, For, StoreData, usual_port};
use arguments::{address, conninfo, each, is_port, option, places, positional};
pub(super) use data::{asked_through_a_pipe, asks_for_members, names_behind};
use std::collections::BTreeMap;
use table::{CLIENTS, Client, Plain};

/// Reads the waits of a command; `None` where the command is no known client, and empty where it is one that waits for nothing. `looks`: the
/// command stands where a wait is likely, such as in a loop or in an init container; elsewhere only `/dev/tcp`, tools that do nothing but wait,
/// and programs with `wait_for_` in their name count.
pub(super) fn of(call: &Call, looks: bool, env: &BTreeMap<String, String>) -> Option<Vec<For>> {
    let program = call.program().trim_start_matches(['(', '!']);
    let arguments: Vec<&str> = call.words[1..].iter().map(String::as_str).collect();
    // A word that begins with `<<<` is the input of a program, and no argument.
    let mut words = call.words.iter().filter(|it| !it.starts_with("<<<"));
    if let Some(path) = words.find_map(|it| it.split("/dev/tcp/").nth(1)) {
        let mut parts = path.split('/');
        let host = parts.next().unwrap_or_default();
        let port = parts.next().unwrap_or_default();
        return Some(vec![address(&format!("{host}:{port}"), Asks::Port)]);
    }
    if let Some(found) = tools::of(program, &arguments) {
        return Some(found);
    }
    if let Some(script) = named::script(program, &call.words) {
        let words = script.to_vec();
        let run = Call {
            words,
            ..call.clone()
        };
        return of(&run, looks, env);
    }
    // A script may set some of the variables that its clients read.
    let env = &env
        .iter()
        .chain(&call.own)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<BTreeMap<_, _>>();
    if !looks {
        return named::after_a_wait(program, &arguments, env);
    }
    if let Some(found) = test(program, &arguments, call.is_looped()) {
        return Some(found);
    }
    let bare = program.trim_end_matches(".sh").trim_end_matches(".py");
    if let Some(client) = CLIENTS.iter().find(|it| it.programs.contains(&bare)) {
        return Some(client.of(bare, &arguments, call.is_read, env));
    }
    let found = code::given(bare, &arguments).map(|it| code::of(it, env));
    if let Some(found) = found.filter(|it| !it.is_empty()) {
        return Some(found);
    }
    if let Some(found) = named::connects(&call.words, env) {
        return Some(found);
    }
    match bare {
        "nc" | "ncat" | "netcat" if listens(&arguments) => Some(Vec::new()),
        "nc" | "ncat" | "netcat" | "telnet" => Some(port(&arguments)),
        "curl" | "wget" | "http" => Some(http::of(bare, &arguments)),
        "nslookup" | "getent" | "host" | "dig" => name(&arguments),
        "ping" | "fping" => Some(vec![For::Nothing(Reason::Ping(last(&arguments)))]),
        "sctp_test" => Some(vec![For::Nothing(Reason::Sctp)]),
        "ssh" if call.is_looped() => logged_in(&arguments),
        "socat" => Some(socat(&arguments)),
        "nmap" => Some(scanned(&arguments)),
        "cub" => Some(of_confluent(&arguments)),
        "vault" => Some(of_vault(&arguments, env)),
        "mc" => Some(minio(&arguments)),
        "aws" | "s3cmd" => endpoint(&arguments),
        _ if named::is_migration(&call.words) => Some(vec![For::Migration]),
        _ if call.is_looped() && named::starts_once_migrated(&call.words) => {
            Some(vec![For::Migration])
        }
        _ => {
            named::by_name(bare, &arguments).or_else(|| named::after_a_wait(bare, &arguments, env))
        }
    }
}

/// Whether a command asks only once, and so waits for nothing by itself: a `curl` or `wget` without an option to try again, code that does not
/// try again, or a `dig`, each outside of a loop.
pub(super) fn asks_once(call: &Call) -> bool {
    // Of the programs that look a name up, `dig` alone succeeds for a name that is not there.
    let looks_up = call.program() == "dig" && !call.is_looped();
    http::fetches(call) || code::runs_once(call) || looks_up
}

impl Client {
    fn of(
        &self,
        program: &str,
        arguments: &[&str],
        is_read: bool,
        env: &BTreeMap<String, String>,
    ) -> Vec<For> {
        let is_asking = |it: &&str| self.asks_with.contains(it);
        if !self.asks_with.is_empty() && !arguments.iter().any(is_asking) {
            return Vec::new();
        }
        let is_address =
            |it: &str| !it.is_empty() && !it.contains('=') && !self.commands.contains(&it);
        let by_option = option(arguments, self.options).filter(|it| is_address(it));
        let is_connection = |it: &String| it.contains("://") || it.contains("$(");
        let by_connection = || option(arguments, self.connections).filter(is_connection);
        let by_option = by_option.or_else(by_connection);
        // The first argument of a client with the form `Plain::Address` may be a command and no address, so it gets no usual port.
        let is_host = self.plain != Plain::Address || by_option.is_some();
        let takes_parameters = !self.connections.is_empty();
        let mut parameters = arguments.iter().filter(|_| takes_parameters);
        let by_parameters = parameters.find_map(|it| conninfo(it));
        let mut plain = places(arguments).into_iter();
        let first = plain.find(|it| self.plain.takes(it));
        let second = plain.next().filter(|it| is_port(it));
        let second = second.filter(|_| self.plain == Plain::AddressAndPort && by_option.is_none());
        let by_variable = || self.variables.iter().find_map(|it| env.get(*it).cloned());
        let found = by_option.or(by_parameters).or(first.map(str::to_owned));
        let Some(found) = found.or_else(by_variable) else {
            let program = program.to_owned();
            return vec![For::Nothing(Reason::NoHost(program))];
        };
        let found = found.strip_prefix(self.prefix).unwrap_or(&found);
        let found = match found.rsplit_once(self.before_port) {
            Some((host, port)) => format!("{host}:{port}"),
            None => found.to_owned(),
        };
        let is_said = |it: &String| is_port(it) || is_masked(it);
        let is_p = |it: &String| is_port(it) || self.p_is_port && is_masked(it);
        let port = option(arguments, &["--port", "-P"]).filter(is_said);
        let port = port.or_else(|| option(arguments, &["-p"]).filter(is_p));
        let port = port.or_else(|| second.map(str::to_owned));
        let port = port.or_else(|| env.get(self.port_variable).cloned());
        let port = port.filter(|_| !found.contains([':', ',']));
        let port = port.map_or(String::new(), |it| format!(":{it}"));
        let mut waits = each(&format!("{found}{port}"), self.asks);
        for wait in &mut waits {
            if let For::Address(address) = wait
                && address.usual.is_empty()
                && is_host
            {
                address.usual = self.port;
            }
        }
        let Some((sought, names)) = data::sought(program, arguments, is_read) else {
            return waits;
        };
        let address = waits.into_iter().find_map(|it| match it {
            For::Address(address) => Some(address),
            _ => None,
        });
        vec![For::Data(StoreData {
            program: program.to_owned(),
            address,
            names,
            sought,
        })]
    }
}

/// The wait for the file that a looped test such as `[ -f /ready ]` or `ls /ready` looks for; empty outside of a loop, and `None` for a command
/// that is no such test.
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

/// Whether `nc` is a server, as in `nc -lk -p 8080`.
fn listens(arguments: &[&str]) -> bool {
    let mut short = arguments
        .iter()
        .filter(|it| it.starts_with('-') && !it.starts_with("--"));
    short.any(|it| it.contains('l')) || arguments.contains(&"--listen")
}

/// The waits for the addresses that a look at a port names, such as `nc -z -w3 db 5432`; empty without a host. A look by SCTP becomes a wait that
/// no list can say.
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

/// The wait for the name that a look-up asks for, such as `nslookup db` or `getent hosts db`; without a name, a wait that no list can say. `None`
/// where a look-up asks for something else than a host.
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

/// The wait for the first address that MinIO's client names, such as `mc alias set store http://minio:9000 KEY SECRET`; empty without one.
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

/// The address at which a looped `ssh -p 2222 user@host true` asks; `None` without a host.
fn logged_in(arguments: &[&str]) -> Option<Vec<For>> {
    let host = places(arguments).first()?.rsplit('@').next()?.to_owned();
    let port = option(arguments, &["-p"]).filter(|it| is_port(it));
    let port = port.map_or(String::new(), |it| format!(":{it}"));
    let found = Address::of(&format!("{host}{port}"), Asks::Protocol);
    let usual = usual_port("ssh");
    Some(vec![For::Address(Address { usual, ..found })])
}

/// The addresses to which `socat` connects, such as `socat - TCP:db:5432,connect-timeout=1`; empty for one that listens.
fn socat(arguments: &[&str]) -> Vec<For> {
    // A `socat` that listens is a server: it passes on the bytes that it receives.
    if arguments
        .iter()
        .any(|it| it.to_uppercase().contains("LISTEN"))
    {
        return Vec::new();
    }
    let addresses = arguments.iter().filter_map(|it| {
        let (kind, rest) = it.split_once(':')?;
        let rest = rest.split(',').next()?;
        let is_asked = matches!(
            kind.to_uppercase().as_str(),
            "TCP" | "TCP4" | "TCP6" | "TCP-CONNECT" | "TCP4-CONNECT" | "OPENSSL" | "SSL"
        );
        is_asked.then(|| address(rest, Asks::Port))
    });
    addresses.collect()
}

/// The wait for the address that a scan of one port asks, such as `nmap -p 5432 db`; without a host and a port, a wait that no list can say.
fn scanned(arguments: &[&str]) -> Vec<For> {
    let host = last(arguments);
    match option(arguments, &["-p"]).filter(|it| is_port(it)) {
        Some(port) if !host.is_empty() && host != port => {
            vec![address(&format!("{host}:{port}"), Asks::Port)]
        }
        _ => vec![For::Nothing(Reason::NoHost("nmap".to_owned()))],
    }
}

/// The waits for the addresses that Confluent's tool asks: `cub kafka-ready -b kafka:9092 1 60`, `cub zk-ready zk:2181 60`,
/// `cub sr-ready registry 8081 60`. Without an address, a wait that no list can say.
fn of_confluent(arguments: &[&str]) -> Vec<For> {
    if let Some(found) = option(arguments, &["-b", "-z"]) {
        return each(&found, Asks::Protocol);
    }
    match places(arguments).as_slice() {
        [_, place, ..] if place.contains(':') => each(place, Asks::Protocol),
        [_, host, port, ..] if is_port(port) && !is_port(host) => {
            vec![address(&format!("{host}:{port}"), Asks::Protocol)]
        }
        _ => vec![For::Nothing(Reason::NoHost("cub".to_owned()))],
    }
}

/// The wait for the server whose status `vault status` asks for, at the address of an option or of `VAULT_ADDR`. Any other command of `vault`
/// becomes a wait that no list can say, because the content of Vault is no object of the cluster, and so does `vault status` without an address.
fn of_vault(arguments: &[&str], env: &BTreeMap<String, String>) -> Vec<For> {
    if positional(arguments).first() != Some(&"status") {
        return vec![For::Nothing(Reason::Vault)];
    }
    let said = option(arguments, &["-address", "--address"]);
    let Some(found) = said.or_else(|| env.get("VAULT_ADDR").cloned()) else {
        return vec![For::Nothing(Reason::NoHost("vault".to_owned()))];
    };
    let mut found = Address::of(&found, Asks::Protocol);
    // A URL without a port means the port of its scheme.
    if found.usual.is_empty() {
        found.usual = usual_port("vault");
    }
    vec![For::Address(found)]
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
