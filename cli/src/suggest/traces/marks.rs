//! Makes the marks, and finds them in a set of values and in a text. A mark is a made-up host or port.

use crate::suggest::switches::Switch;
use serde_json::Value;

/// The domain of every mark that is a host.
const DOMAIN: &str = ".sluice.example.com";

/// The number of the first mark that is a port. It is high, so that no chart has it.
const FIRST_PORT: usize = 61_000;

/// The mark for the value at a path, in the form of the chart's own value, and that own value as a text. `None` for a value that holds no
/// address. `is_server`: the value is the name of a server.
pub(in crate::suggest) fn mark(
    number: usize,
    path: &str,
    own: &Value,
    is_server: bool,
) -> Option<(String, String)> {
    let own = match own {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let key = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    let path_of_port = path.to_lowercase();
    let mut keys = path_of_port.split('.');
    let is_port = keys.any(|it| it.ends_with("port") || it.ends_with("ports"));
    // An empty `databasePort` holds a port, and an empty `transport` holds none.
    let is_empty_port = own.is_empty() && path.ends_with("Port");
    if key == "port" || is_empty_port || is_port && own.parse::<u16>().is_ok() {
        let is_number = own.is_empty() || own.parse::<u16>().is_ok();
        return is_number.then(|| (port_mark(number), own));
    }
    let named = [
        "host", "server", "address", "endpoint", "fqdn", "domain", "url", "uri",
    ];
    let is_named = is_server || named.iter().any(|it| key.contains(it));
    // A key such as `endpoints` holds a list or URLs, even if the chart's own value is one host.
    let is_plural = key.ends_with('s') && !key.ends_with("address");
    if !is_named || is_plural || key.contains("path") || own.contains(is_unfit) {
        return None;
    }
    let is_url = own.is_empty() && (key.ends_with("url") || key.ends_with("uri"));
    let like = if is_url { "http://" } else { &own };
    Some((mark_like(like, number)?, own))
}

/// The mark for a host in the form of a text: with a scheme and a port where the text has these. `None` where the text has the scheme of
/// a protocol other than HTTP, or where it names no single host.
pub(in crate::suggest) fn mark_like(own: &str, number: usize) -> Option<String> {
    let port = port_mark(number);
    let host = format!("sluice-{number}{DOMAIN}");
    let has_port = |it: &str| {
        it.rsplit_once(':')
            .is_some_and(|(_, it)| it.parse::<u16>().is_ok())
    };
    if own.contains(is_unfit) {
        return None;
    }
    Some(match own.split_once("://") {
        Some((scheme @ ("http" | "https"), _)) => format!("{scheme}://{host}:{port}"),
        Some(_) => return None,
        None if has_port(own) => format!("{host}:{port}"),
        None => host,
    })
}

/// The mark with this number that is a port.
pub(in crate::suggest) fn port_mark(number: usize) -> String {
    (FIRST_PORT + number).to_string()
}

pub(in crate::suggest) fn is_port(switch: &Switch) -> bool {
    switch.value.parse::<u16>().is_ok()
}

/// Whether a set of values has marks in it, which are made-up hosts and ports.
pub(in crate::suggest) fn follow(set: &[Switch]) -> bool {
    set.iter().any(Switch::follows)
}

/// The switches of a set without its marks, which are made-up hosts and ports.
pub(in crate::suggest) fn without(set: &[Switch]) -> impl Iterator<Item = &Switch> {
    set.iter().filter(|it| !it.follows())
}

/// Whether a mark of a switch, which is a made-up host or port, occurs in a text.
pub(in crate::suggest) fn marks(switch: &Switch, text: &str) -> bool {
    switch.marks().iter().any(|it| text.contains(it))
}

/// Whether a text has a mark that is a made-up host; a made-up port does not count.
pub(in crate::suggest) fn is_marked(text: &str) -> bool {
    text.contains(DOMAIN)
}

/// Whether a text with this letter names no single host: a list, a text of a template, or one that cannot stand in quotes.
fn is_unfit(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ',' | '{' | '"' | '\\')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_of_several_addresses_is_no_host() {
        for (path, own, expected) in [
            ("store.endpoints", "", false),
            ("kafka.servers", "kafka:9092", false),
            ("db.address", "", true),
            ("db.host", "db", true),
        ] {
            let mark = mark(0, path, &json!(own), false);
            assert_eq!(mark.is_some(), expected, "{path}");
        }
    }
}
