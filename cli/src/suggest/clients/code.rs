//! Reads the addresses out of programs of one line in other languages, such as `python -c "socket.create_connection(('db', 5432))"`.

mod words;

use super::arguments::{address, conninfo, is_port};
use crate::suggest::shell::Call;
use crate::suggest::wait::{Address, Asks, For};
use std::collections::BTreeMap;
use words::{CodeWord, words};

/// The code that a command gives to the interpreter of a language; `None` where the command runs no interpreter, or gives it no code.
pub(super) fn given<'c>(program: &str, arguments: &[&'c str]) -> Option<&'c str> {
    let option = match program.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.') {
        "python" => "-c",
        "node" | "ruby" | "perl" => "-e",
        "php" => "-r",
        _ => return None,
    };
    let by_option = arguments.iter().position(|it| *it == option);
    let by_option = by_option.and_then(|at| arguments.get(at + 1).copied());
    // The lines that follow `<<` are the input of the interpreter; the reader of shells keeps them as a word that begins with `<<<`.
    by_option.or_else(|| arguments.iter().find_map(|it| it.strip_prefix("<<<")))
}

/// Whether a command outside of a loop runs code in an interpreter, and the code does not try again by itself.
pub(super) fn runs_once(call: &Call) -> bool {
    let program = call.program();
    let arguments: Vec<&str> = call.words[1..].iter().map(String::as_str).collect();
    let repeats = |code: &str| {
        let loops = code.contains("while") || code.contains("for ") || code.contains("until ");
        let pauses = ["sleep", "setTimeout", "setInterval"];
        loops && pauses.iter().any(|it| code.contains(it)) || code.contains("setInterval")
    };
    !call.is_looped() && given(program, &arguments).is_some_and(|it| !repeats(it))
}

/// The waits for the addresses to which code connects; empty where the code connects to no server, or does not tell the address.
pub(super) fn of(code: &str, env: &BTreeMap<String, String>) -> Vec<For> {
    const CONNECTS: [&str; 18] = [
        "socket",
        "connect",
        "Connection",
        "urlopen",
        "urlretrieve",
        "requests",
        "http",
        "fetch",
        "PDO",
        "mysqli",
        "Redis",
        "redis",
        "MongoClient",
        "psycopg",
        "TCPSocket",
        "fsockopen",
        "Net::",
        "INET",
    ];
    if !CONNECTS.iter().any(|it| code.contains(it)) {
        return Vec::new();
    }
    let words = words(code, env);
    let asks_for_success = ["urlopen", "status", ".ok", "getcode"];
    let succeeds = asks_for_success.iter().any(|it| code.contains(it));
    let mut found: Vec<For> = Vec::new();
    for at in 0..words.len() {
        let Some(text) = at_word(&words[at..]) else {
            continue;
        };
        let is_http = text.starts_with("http://") || text.starts_with("https://");
        let asks = if is_http {
            Asks::Http
        } else if text.contains("://") {
            Asks::Protocol
        } else {
            Asks::Port
        };
        let wait = match address(&text, asks) {
            For::Address(it) if is_http => For::Address(Address { succeeds, ..it }),
            other => other,
        };
        if !found.contains(&wait) {
            found.push(wait);
        }
    }
    found
}

/// The address with which these words of code begin; `None` where they begin with something else.
fn at_word(words: &[CodeWord]) -> Option<String> {
    use CodeWord::{Literal, Mark, Name};
    match words {
        // `connect(5432, 'db')`
        [
            Name(name),
            Mark('('),
            Literal(port),
            Mark(','),
            Literal(host),
            ..,
        ] if is_connect(name) && is_port(port) && is_host(host) => Some(format!("{host}:{port}")),
        // `('db', 5432)`
        [Mark('('), Literal(host), Mark(','), Literal(port), ..]
            if is_port(port) && is_host(host) =>
        {
            Some(format!("{host}:{port}"))
        }
        // `host='db', port=5432`, in any order
        [
            Name(name) | Literal(name),
            Mark('=' | ':'),
            Literal(host),
            ..,
        ] if matches!(name.as_str(), "host" | "hostname") && is_host(host) => {
            let port = port_beside(&words[3..]).unwrap_or_default();
            Some(if port.is_empty() {
                host.clone()
            } else {
                format!("{host}:{port}")
            })
        }
        [Literal(text), ..] => in_text(text),
        _ => None,
    }
}

/// The port among the named arguments that follow a host, such as `port=5432`; `None` without one among the next 40 words.
fn port_beside(words: &[CodeWord]) -> Option<String> {
    use CodeWord::{Literal, Mark, Name};
    words.windows(3).take(40).find_map(|it| match it {
        [Name(name) | Literal(name), Mark('=' | ':'), Literal(port)]
            if name == "port" && is_port(port) =>
        {
            Some(port.clone())
        }
        _ => None,
    })
}

/// The address in a quoted text of code: a URL (but of a file), `host:port`, the parameters of a connection such as `host=db port=5432`, the source
/// of a database such as `mysql:host=db;port=3306`, or a variable with `URL` in its name. `None` for any other text.
fn in_text(text: &str) -> Option<String> {
    if let Some(found) = conninfo(text) {
        return Some(found);
    }
    if text.contains(char::is_whitespace) {
        return None;
    }
    if let Some((_, source)) = text.split_once(":host=") {
        let mut parts = source.split(';');
        let host = parts.next().filter(|it| is_host(it))?;
        let port = parts.find_map(|it| it.strip_prefix("port="));
        return Some(port.map_or(host.to_owned(), |port| format!("{host}:{port}")));
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        let is_scheme = |it: char| it.is_ascii_alphanumeric() || it == '+';
        let is_url = !rest.is_empty() && scheme.chars().all(is_scheme) && scheme != "file";
        return is_url.then(|| text.to_owned());
    }
    // A variable with `URL` in its name counts as an address.
    let is_variable = text.starts_with("$(") && text.ends_with(')') && text.contains("URL");
    let is_address = |(host, port): (&str, &str)| is_host(host) && is_port(port);
    (is_variable || text.split_once(':').is_some_and(is_address)).then(|| text.to_owned())
}

fn is_connect(name: &str) -> bool {
    let name = name.to_lowercase();
    name.ends_with("connect") || name.ends_with("connection")
}

fn is_host(text: &str) -> bool {
    let is_letter = |it: char| {
        it.is_ascii_alphanumeric()
            || matches!(it, '.' | '-' | '_' | '$' | '(' | ')')
            || !it.is_ascii()
    };
    let is_number = text.bytes().all(|it| it.is_ascii_digit());
    !text.is_empty() && !is_number && text.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_tells_where_it_connects_to() {
        let env = [
            ("DB_HOST", "db"),
            ("DB_PORT", "5432"),
            ("URL", "redis://cache:6379"),
        ];
        let env = env.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        for (code, expected) in [
            (
                "s = socket.create_connection((\"db\", 5432), timeout=2)",
                "db:5432",
            ),
            (
                "s.connect_ex((os.environ['DB_HOST'], int(os.environ.get(\"DB_PORT\", 1))))",
                "db:5432",
            ),
            (
                "host = os.getenv('DB_HOST')\nport = 5432\ns.connect((host, port))",
                "db:5432",
            ),
            (
                "psycopg2.connect(dbname='x', host='db', user='y', port=5432)",
                "db:5432",
            ),
            (
                "redis.Redis.from_url(os.environ['URL']).ping()",
                "cache:6379",
            ),
            (
                "urllib.request.urlopen('http://api:8080/ready')",
                "api:8080",
            ),
            (
                "require('net').connect(5432, 'db').on('connect', f)",
                "db:5432",
            ),
            (
                "net.createConnection({port: process.env.DB_PORT, host: 'db'})",
                "db:",
            ),
            ("new PDO('mysql:host=db;port=3306', 'u', 'p');", "db:3306"),
            ("exit(@fsockopen('db', 3306) ? 0 : 1);", "db:3306"),
            ("TCPSocket.new(ENV.fetch('DB_HOST'), 5432)", "db:5432"),
            (
                "exit(! IO::Socket::INET->new(PeerAddr=>'db:5432'))",
                "db:5432",
            ),
            (
                "socket.create_connection((os.environ['OTHER'], 1))",
                "$(OTHER):1",
            ),
            ("print('db', 5432)", ""),
            ("import socket; print(socket.gethostname())", ""),
        ] {
            let found = of(code, &env).into_iter().map(|it| match it {
                For::Address(it) => format!("{}:{}", it.host, it.port),
                other => format!("{other:?}"),
            });
            assert_eq!(found.collect::<Vec<_>>().join(" "), expected, "{code}");
        }
    }
}
