//! One wait of a container: the command, and the thing for which it waits.

use super::reason::Reason;

/// One wait: its command, and the thing for which it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    /// The command or the setting that waits, for a message, such as `nc -z db 5432`.
    pub(super) what: String,
    pub(super) for_what: For,
}

/// The thing for which a command waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum For {
    /// The wait is for an address that answers.
    Address(Address),
    /// The wait is until this host name can be looked up, whether or not anything answers there.
    Name(String),
    /// The wait is for an object.
    Object(NamedObject),
    /// The wait is for the objects that a selector selects.
    Selected {
        kind: String,
        selector: String,
        namespace: Option<String>,
        same_node: bool,
    },
    /// The wait is for the workload that has a container of this name.
    Container(String),
    /// The wait is for the workload whose pods have names that begin with this text.
    PodsNamed(String),
    /// The wait is for the Job that migrates a database.
    Migration,
    /// The wait is for data in a store.
    Data(StoreData),
    /// The wait is for the file at this path, which another container of the pod or an agent of the node writes.
    File(String),
    /// The wait is for something that no list can say, for this reason.
    Nothing(Reason),
}

/// Data that a program looks for in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoreData {
    pub(super) program: String,
    /// The address of the store; `None` where the command does not tell it.
    pub(super) address: Option<Address>,
    /// The names in the question: of tables, databases or topics.
    pub(super) names: Vec<String>,
    pub(super) sought: Sought,
}

/// The kind of data that a program looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    /// A table, which a migration makes.
    Table,
    /// A database, which the server may make when it first starts.
    Database,
    Other,
}

/// An object, as a tool such as `kubectl` names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NamedObject {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) state: Option<&'static str>,
    pub(super) same_node: bool,
}

/// An address at which a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) host: String,
    /// The port; empty where the text has no port.
    pub(super) port: String,
    /// The scheme of a URL, such as `http` or `postgres`; empty where the text has no scheme.
    pub(super) scheme: String,
    /// The path of a URL; empty where the text has no path.
    pub(super) path: String,
    /// How much the loop learns about the address once it succeeds.
    pub(super) asks: Asks,
    /// Whether the loop ends only after an HTTP answer with a status of success.
    pub(super) succeeds: bool,
    /// Whether the HTTP request has credentials.
    pub(super) logs_in: bool,
    /// The port of the client's protocol, for a text without a port; empty where the protocol has no such port.
    pub(super) usual: &'static str,
}

/// How much a loop learns about an address once it succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// The loop learns that a process listens at the address.
    Port,
    /// The loop learns that a server of the protocol answers.
    Protocol,
    /// The loop learns that an HTTP request gets an answer.
    Http,
}

impl Address {
    /// Reads `host`, `host:port`, or a URL, without the user and the password in it. An address that is asked by HTTP wants a status of success.
    pub(super) fn of(text: &str, asks: Asks) -> Self {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let scheme = scheme.rsplit(':').next().unwrap_or_default();
        // A scheme such as `postgresql+psycopg2` names a driver too.
        let scheme = scheme.split('+').next().unwrap_or_default();
        // The path of an HTTP URL may hold an `@`, such as `/users/@me`, and the password in another URL may hold a slash.
        let is_http = matches!(scheme, "http" | "https");
        let end_of = |text: &str| text.find(['/', '?']).unwrap_or(text.len());
        let user = if is_http { &rest[..end_of(rest)] } else { rest };
        let rest = user.rfind('@').map_or(rest, |at| &rest[at + 1..]);
        let (rest, path) = rest.split_at(end_of(rest));
        let (host, port) = match rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
            Some((host, port)) => (host, port.trim_start_matches(':')),
            None => rest.split_once(':').unwrap_or((rest, "")),
        };
        Self {
            host: host.to_owned(),
            port: port.to_owned(),
            scheme: scheme.to_owned(),
            path: path.to_owned(),
            asks,
            succeeds: asks == Asks::Http,
            logs_in: false,
            usual: usual_port(scheme),
        }
    }

    /// The entry for the address, which the gate tries itself. `None` where the address has no port, and its scheme no usual one; an HTTP
    /// request needs no port.
    pub(super) fn entry(&self) -> Option<String> {
        let Self {
            host,
            port,
            scheme,
            path,
            succeeds,
            usual,
            ..
        } = self;
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.clone()
        };
        // A scheme that comes from a value is `http` or `https`.
        let is_http = matches!(scheme.as_str(), "http" | "https") || scheme.starts_with("{{");
        if *succeeds && is_http {
            let port = if port.is_empty() {
                String::new()
            } else {
                format!(":{port}")
            };
            return Some(format!("{scheme}://{host}{port}{path}"));
        }
        // The value of a variable such as `DATABASE_URL` has a scheme and a port of its own. A script may also cut the host and the port
        // out of one variable.
        if port.is_empty() && is_url_variable(&host) || *port == host && host.starts_with("$(") {
            let scheme = if *succeeds { "http" } else { "tcp" };
            return Some(format!("{scheme}://{host}{path}"));
        }
        let port = if port.is_empty() {
            usual
        } else {
            port.as_str()
        };
        (!port.is_empty()).then(|| format!("tcp://{host}:{port}"))
    }
}

/// The usual port of PostgreSQL, for a URL with its scheme and for its clients.
pub(super) const POSTGRES: &str = "5432";
pub(super) const MYSQL: &str = "3306";
pub(super) const REDIS: &str = "6379";
pub(super) const MONGODB: &str = "27017";

/// The port of a scheme; empty for an unknown scheme.
pub(super) fn usual_port(scheme: &str) -> &'static str {
    match scheme {
        "postgres" | "postgresql" => POSTGRES,
        "mysql" | "mariadb" => MYSQL,
        "redis" | "rediss" | "valkey" => REDIS,
        "amqp" => "5672",
        "amqps" => "5671",
        "nats" => "4222",
        "mongodb" => MONGODB,
        "http" => "80",
        "https" => "443",
        "ldap" => "389",
        "ldaps" => "636",
        "vault" => "8200",
        "ssh" => "22",
        "sqlserver" => "1433",
        "hive2" => "10000",
        "bolt" | "neo4j" => "7687",
        "mqtt" => "1883",
        "hdfs" => "8020",
        "kafka" => "9092",
        "zookeeper" => "2181",
        "etcd" => "2379",
        "elasticsearch" | "opensearch" => "9200",
        "cassandra" => "9042",
        "clickhouse" => "9000",
        "memcached" => "11211",
        _ => "",
    }
}

/// Whether a word for a kind means pods.
pub(super) fn is_pod(kind: &str) -> bool {
    matches!(kind, "pod" | "pods" | "po")
}

/// The kind of selected objects in the form that an entry has: `Pod` for each word that means pods, and any other word as it is.
pub(super) fn selected_kind(kind: &str) -> &str {
    if is_pod(kind) { "Pod" } else { kind }
}

/// Whether a host is only a variable whose name says that it holds a URL: `$(DATABASE_URL)`.
fn is_url_variable(host: &str) -> bool {
    let name = host.strip_prefix("$(").and_then(|it| it.strip_suffix(')'));
    let words = name.unwrap_or_default().split('_');
    words
        .into_iter()
        .any(|it| matches!(it, "URL" | "URI" | "DSN"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_becomes_an_entry_that_the_gate_tries() {
        for (text, asks, expected) in [
            (
                "db.example.com:5432",
                Asks::Port,
                Some("tcp://db.example.com:5432"),
            ),
            (
                "postgres://u:p@db.example.com/shop",
                Asks::Protocol,
                Some("tcp://db.example.com:5432"),
            ),
            (
                "https://auth.example.com/ready",
                Asks::Http,
                Some("https://auth.example.com/ready"),
            ),
            (
                "http://u:p@auth.example.com/users/@me",
                Asks::Http,
                Some("http://auth.example.com/users/@me"),
            ),
            (
                "postgres://u:p/w@db.example.com/shop",
                Asks::Protocol,
                Some("tcp://db.example.com:5432"),
            ),
            ("[fd00::1]:80", Asks::Port, Some("tcp://[fd00::1]:80")),
            ("db.example.com", Asks::Port, None),
            ("$(DB_HOST)", Asks::Port, None),
            ("$(DB_HOST):5432", Asks::Port, Some("tcp://$(DB_HOST):5432")),
            ("$(DATABASE_URL)", Asks::Port, Some("tcp://$(DATABASE_URL)")),
            (
                "$(DB_ADDRESS):$(DB_ADDRESS)",
                Asks::Port,
                Some("tcp://$(DB_ADDRESS)"),
            ),
            (
                "postgresql+psycopg2://db.example.com/x",
                Asks::Protocol,
                Some("tcp://db.example.com:5432"),
            ),
            (
                "$(API_URL)/ready",
                Asks::Http,
                Some("http://$(API_URL)/ready"),
            ),
        ] {
            assert_eq!(
                Address::of(text, asks).entry().as_deref(),
                expected,
                "{text}"
            );
        }
    }
}
