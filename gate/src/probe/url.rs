//! Reads the address of a probe, with its variables, URL and port, into the target that the gate tries. Pure.

use std::net::Ipv6Addr;
use wire::probe::{Outcome, Probe, what};

/// The target of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// One of these places has to accept a connection; never empty.
    Connection(Vec<Place>),
    /// A server has to answer one HTTP request; the controller decides which status is right.
    Answer {
        place: Place,
        tls: bool,
        /// The path of the request, with its query, such as `/health?deep=1`.
        path: String,
    },
    /// The name has to have an address.
    Name(String),
}

/// A host, which may be an IPv6 address without brackets, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// The default ports of URL schemes, as the clients of these services have them. A user may write such a URL, without a port,
/// into one variable.
const PORTS: [(&str, u16); 31] = [
    ("amqp", 5672),
    ("amqps", 5671),
    ("cassandra", 9042),
    ("clickhouse", 9000),
    ("cockroachdb", 26257),
    ("elasticsearch", 9200),
    ("etcd", 2379),
    ("http", 80),
    ("https", 443),
    ("kafka", 9092),
    ("ldap", 389),
    ("ldaps", 636),
    ("mariadb", 3306),
    ("memcached", 11211),
    ("mongodb", 27017),
    ("mqtt", 1883),
    ("mqtts", 8883),
    ("mssql", 1433),
    ("mysql", 3306),
    ("nats", 4222),
    ("postgres", 5432),
    ("postgresql", 5432),
    ("redis", 6379),
    ("rediss", 6379),
    ("sftp", 22),
    ("smtp", 25),
    ("smtps", 465),
    ("sqlserver", 1433),
    ("ws", 80),
    ("wss", 443),
    ("zookeeper", 2181),
];

impl Target {
    /// Reads the target of a probe from its text; `get` returns the value of a variable of the environment.
    ///
    /// # Errors
    ///
    /// [`Outcome::NoVariable`] for a variable that is missing or empty, [`Outcome::NoAddress`] for a text that is no address,
    /// [`Outcome::Unknown`] for a kind of try of a later version.
    pub(crate) fn of(probe: &Probe, get: impl Fn(&str) -> Option<String>) -> Result<Self, Outcome> {
        let text = expanded(&probe.to, get)?;
        let unfit = |it: char| it.is_whitespace() || it.is_control() || !it.is_ascii();
        if text.contains(unfit) {
            return Err(Outcome::NoAddress);
        }
        match probe.what.as_str() {
            what::TCP => connection(&text),
            what::HTTP => answer(&text),
            what::DNS => name(&text),
            _ => return Err(Outcome::Unknown),
        }
        .ok_or(Outcome::NoAddress)
    }
}

/// Returns the text with each `$(NAME)` replaced by the trimmed value of the variable. An error for a variable that is missing or empty, or for a
/// `$(` without its `)`.
fn expanded(text: &str, get: impl Fn(&str) -> Option<String>) -> Result<String, Outcome> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("$(") {
        let (name, behind) = after.split_once(')').ok_or(Outcome::NoAddress)?;
        let value = get(name).unwrap_or_default();
        // A file that ends with a line break often becomes a variable.
        let value = value.trim();
        if value.is_empty() {
            return Err(Outcome::NoVariable);
        }
        out.push_str(before);
        out.push_str(value);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// Reads the target of a try for a connection from `HOST:PORT` or a URL; `None` for any other text, for a scheme with `+srv`, and where no port is
/// written or known. The URL of a database may list several hosts, and one of them is enough.
fn connection(text: &str) -> Option<Target> {
    let (default, rest) = match text.split_once("://") {
        None => (None, text),
        // The hosts of such a URL stand in DNS records of its name, which the gate does not read.
        Some((scheme, _)) if scheme.to_ascii_lowercase().ends_with("+srv") => return None,
        Some((scheme, rest)) => (port_of(scheme), rest),
    };
    let places = authority(rest).split(',').map(|it| place(it, default));
    let places: Option<Vec<Place>> = places.collect();
    places.map(Target::Connection)
}

/// Returns the default port of a URL's scheme, where [`PORTS`] has it. Clients put more before the scheme (`jdbc:postgresql`), and behind it
/// (`postgresql+psycopg2`).
fn port_of(scheme: &str) -> Option<u16> {
    let scheme = scheme.rsplit(':').next().unwrap_or(scheme);
    let scheme = scheme.split('+').next().unwrap_or(scheme);
    let mut known = PORTS.iter();
    let known = known.find(|(word, _)| word.eq_ignore_ascii_case(scheme));
    known.map(|(_, port)| *port)
}

/// Returns the hosts and ports of a URL without its scheme: the part before the path or query, behind the last `@`, since a password may hold an
/// `@` of its own.
fn authority(text: &str) -> &str {
    let end = text.find(['/', '?', '#', ';']).unwrap_or(text.len());
    let text = &text[..end];
    text.rsplit_once('@').map_or(text, |(_, hosts)| hosts)
}

fn place(text: &str, default: Option<u16>) -> Option<Place> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            (host, rest.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        Some(port) => port.parse().ok(),
        None => default,
    };
    (!host.is_empty()).then_some(())?;
    Some(Place {
        host: host.to_owned(),
        port: port.filter(|port| *port != 0)?,
    })
}

/// Reads the target of a try for an HTTP answer from a URL; `None` for a scheme other than `http` and `https`, or a bad host or port. The value
/// of a variable may begin with a scheme of its own, which then counts.
fn answer(text: &str) -> Option<Target> {
    let mut text = text;
    let mut tls = false;
    loop {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) if !scheme.contains('/') => (scheme, rest),
            _ => break,
        };
        tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        text = rest;
    }
    let text = text.split('#').next().unwrap_or_default();
    let end = text.find(['/', '?']).unwrap_or(text.len());
    let path = match &text[end..] {
        "" => "/".to_owned(),
        query if query.starts_with('?') => format!("/{query}"),
        path => path.to_owned(),
    };
    let default = if tls { 443 } else { 80 };
    let place = place(authority(text), Some(default))?;
    Some(Target::Answer { place, tls, path })
}

/// Reads the target of a try for a name's address: the host of a URL, or of `HOST` or `HOST:PORT`. `None` for any other text.
fn name(text: &str) -> Option<Target> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    place(authority(rest), Some(1)).map(|place| Target::Name(place.host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(what: &str, to: &str) -> Probe {
        Probe {
            id: "1".to_owned(),
            what: what.to_owned(),
            to: to.to_owned(),
        }
    }

    fn of(what: &str, to: &str, value: &str) -> Result<Target, Outcome> {
        Target::of(&probe(what, to), |name| {
            (name == "X").then(|| value.to_owned())
        })
    }

    fn at(host: &str, port: u16) -> Place {
        Place {
            host: host.to_owned(),
            port,
        }
    }

    #[test]
    fn a_connection_goes_to_a_host_and_a_port_or_where_a_url_leads() {
        for (to, value, expected) in [
            ("db:5432", "", vec![at("db", 5432)]),
            ("[fd00::1]:5432", "", vec![at("fd00::1", 5432)]),
            ("$(X):5432", "db", vec![at("db", 5432)]),
            ("$(X)", "db:5432\n", vec![at("db", 5432)]),
            (
                "$(X)",
                "postgres://u:p@db.example.com/app",
                vec![at("db.example.com", 5432)],
            ),
            (
                "$(X)",
                "postgresql+psycopg2://u:p%40@db:6432/app?a=b@c",
                vec![at("db", 6432)],
            ),
            ("$(X)", "redis://:p@ss@cache/0", vec![at("cache", 6379)]),
            ("$(X)", "jdbc:mysql://db/app", vec![at("db", 3306)]),
            (
                "$(X)",
                "jdbc:sqlserver://db;databaseName=a",
                vec![at("db", 1433)],
            ),
            ("$(X)", "HTTPS://web", vec![at("web", 443)]),
            ("$(X)", "own://web:99", vec![at("web", 99)]),
            (
                "$(X)",
                "mongodb://u:p@a:1,b/db",
                vec![at("a", 1), at("b", 27017)],
            ),
            ("$(X)", "a:9092,b:9093", vec![at("a", 9092), at("b", 9093)]),
            ("$(X)", "amqp://[fd00::1]", vec![at("fd00::1", 5672)]),
        ] {
            assert_eq!(
                of("tcp", to, value),
                Ok(Target::Connection(expected)),
                "{to} {value}"
            );
        }
    }

    #[test]
    fn an_answer_is_asked_of_a_url() {
        let answer = |host: &str, port, tls, path: &str| Target::Answer {
            place: at(host, port),
            tls,
            path: path.to_owned(),
        };
        for (to, value, expected) in [
            ("http://web", "", answer("web", 80, false, "/")),
            ("https://web/a?b=c", "", answer("web", 443, true, "/a?b=c")),
            ("https://web:8443?b", "", answer("web", 8443, true, "/?b")),
            (
                "http://[fd00::1]:81/",
                "",
                answer("fd00::1", 81, false, "/"),
            ),
            (
                "http://$(X)/health",
                "web:81",
                answer("web", 81, false, "/health"),
            ),
            (
                "http://$(X)",
                "https://web/a#b",
                answer("web", 443, true, "/a"),
            ),
            (
                "http://$(X)",
                "web/a?to=http://b",
                answer("web", 80, false, "/a?to=http://b"),
            ),
            (
                "http://$(X)",
                "https://u:p@web",
                answer("web", 443, true, "/"),
            ),
        ] {
            assert_eq!(of("http", to, value), Ok(expected), "{to} {value}");
        }
    }

    #[test]
    fn a_name_is_the_host_of_whatever_has_one() {
        for value in [
            "db.example.com",
            "db.example.com:1",
            "postgres://u:p@db.example.com/x",
        ] {
            let expected = Target::Name("db.example.com".to_owned());
            assert_eq!(of("dns", "$(X)", value), Ok(expected), "{value}");
        }
    }

    #[test]
    fn what_is_no_address_is_told_apart_from_a_variable_that_is_not_there() {
        for (what, to, value, expected) in [
            ("tcp", "$(Y):1", "", Outcome::NoVariable),
            ("tcp", "$(X):1", " \n", Outcome::NoVariable),
            ("tcp", "$(X)", "db", Outcome::NoAddress),
            ("tcp", "$(X)", "db:0", Outcome::NoAddress),
            ("tcp", "$(X)", "db:65536", Outcome::NoAddress),
            ("tcp", "$(X)", "own://db", Outcome::NoAddress),
            ("tcp", "$(X)", "mongodb+srv://db", Outcome::NoAddress),
            ("tcp", "$(X)", "host=db port=5432", Outcome::NoAddress),
            ("tcp", "$(X)", "db:1\r\nX: y", Outcome::NoAddress),
            ("tcp", "$(X)", ":5432", Outcome::NoAddress),
            ("http", "http://$(X)", "ftp://web", Outcome::NoAddress),
            ("http", "http://$(X)", "web:port", Outcome::NoAddress),
            ("icmp", "db", "", Outcome::Unknown),
        ] {
            assert_eq!(of(what, to, value), Err(expected), "{what} {to} {value}");
        }
    }

    #[test]
    fn the_ports_are_in_order_and_nothing_is_there_twice() {
        assert!(PORTS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
