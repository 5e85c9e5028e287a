//! Reads the waits of tools that do nothing but wait for addresses, such as `wait-for-it` and `dockerize`.

use super::arguments::{address, is_port, option, positional};
use crate::suggest::image::PROTOCOLS;
use crate::suggest::reason::Reason;
use crate::suggest::wait::{Asks, For};

/// Reads the addresses of a tool that does nothing but wait, in a loop or not; `None` where the program is no such tool.
pub(super) fn of(program: &str, arguments: &[&str]) -> Option<Vec<For>> {
    match program {
        "wait-for-it" | "wait-for-it.sh" | "wait-for" | "wait-for.sh" | "wait4x"
        | "wait-for-port" | "wait-port" | "wait-on" | "wait_for_it.sh" | "waitforit"
        | "wait-for-host" => Some(addresses(program, arguments)),
        "dockerize" => Some(said_by(arguments, &["wait"])),
        "dokku-wait" => Some(said_by(arguments, &["c"])),
        _ => None,
    }
}

/// The waits for the addresses that the options with these names give, such as `-wait tcp://db:5432`.
fn said_by(arguments: &[&str], names: &[&str]) -> Vec<For> {
    let said = arguments.iter().enumerate().filter_map(|(at, argument)| {
        let name = argument.strip_prefix('-')?.trim_start_matches('-');
        match name.split_once('=') {
            Some((name, value)) => names.contains(&name).then_some(value),
            None => arguments
                .get(at + 1)
                .copied()
                .filter(|_| names.contains(&name)),
        }
    });
    said.flat_map(|it| by_scheme(it, true)).collect()
}

fn addresses(program: &str, arguments: &[&str]) -> Vec<For> {
    // The words behind `--` are the program that the tool runs after the wait, and no addresses.
    let end = arguments.iter().position(|it| *it == "--");
    let arguments = &arguments[..end.unwrap_or(arguments.len())];
    let host = option(arguments, &["--host", "-host", "-address", "-h"]);
    let port = option(arguments, &["--port", "-port", "-p"]).filter(|it| is_port(it));
    let plain = positional(arguments);
    let plain = plain.into_iter().filter(|it| !PROTOCOLS.contains(it));
    let plain: Vec<&str> = plain.map(|it| it.trim_start_matches("tcp:")).collect();
    let first = plain.first().copied();
    let found = match (host, first) {
        (Some(host), Some(port)) if is_port(port) => format!("{host}:{port}"),
        (Some(host), _) => match port {
            Some(port) if !host.contains(':') => format!("{host}:{port}"),
            _ => host,
        },
        (None, Some(place)) if !is_port(place) => match plain.get(1) {
            Some(port) if is_port(port) && !place.contains(':') => format!("{place}:{port}"),
            // `wait4x` and `wait-on` take several addresses.
            _ if matches!(program, "wait4x" | "wait-on") => {
                let places = plain.iter().filter(|it| it.contains([':', '.']));
                places.copied().collect::<Vec<_>>().join(",")
            }
            _ => place.to_owned(),
        },
        _ => return vec![For::Nothing(Reason::NoHost(program.to_owned()))],
    };
    let asks_for_success =
        program != "wait4x" || arguments.iter().any(|it| it.starts_with("--expect"));
    by_scheme(&found, asks_for_success)
}

/// The waits for the addresses in a text, which commas separate. A URL of HTTP counts as asked by HTTP only with `asks_for_success`, where the
/// tool wants a status of success; every other address counts as asked for its port.
fn by_scheme(text: &str, asks_for_success: bool) -> Vec<For> {
    let texts = text.split(',').map(str::trim).filter(|it| !it.is_empty());
    texts
        .map(|it| {
            // `wait-on` writes a URL as `http-get://api/ready`.
            let it = it.replace("-get:", ":");
            let it = it.trim_start_matches("//");
            let is_http = it.starts_with("http://") || it.starts_with("https://");
            let asks = if is_http && asks_for_success {
                Asks::Http
            } else {
                Asks::Port
            };
            address(it, asks)
        })
        .collect()
}
