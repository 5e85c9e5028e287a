//! Reads waits that only a name tells: a function of an image or a script that is called like a wait, and a check of migrations.

use super::arguments::{address, each, is_port, positional};
use crate::suggest::reason::Reason;
use crate::suggest::wait::{Asks, For, usual_port};
use std::collections::{BTreeMap, BTreeSet};

/// The waits of a command (a function of an image, or a script) with `wait`, `ready` or `remote_execute` in its name and an address as an argument:
/// `x_wait_for_db_connection URL`. A name with a word for waiting and `migration` is a wait for a migration. `None` for other commands.
pub(super) fn by_name(program: &str, arguments: &[&str]) -> Option<Vec<For>> {
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

/// The waits of a command (a function of an image, or a script) that has `wait_for_` in its name, such as `x_wait_for_db_connection`. Where no
/// argument is the address, the one fitting variable of the environment is, or else the wait is one that no list can say. `None` for other commands.
pub(super) fn after_a_wait(
    program: &str,
    arguments: &[&str],
    env: &BTreeMap<String, String>,
) -> Option<Vec<For>> {
    let waits = program.contains("wait_for_") || program.contains("wait-for-");
    let unsaid = || vec![For::Nothing(Reason::NoHost(program.to_owned()))];
    let told = || by_name(program, arguments).or_else(|| by_environment(program, env));
    waits.then(|| told().unwrap_or_else(unsaid))
}

/// The address of the server that a wait is named after, such as `wait_for_db` with `DATABASE_HOST` and `DATABASE_PORT`. `None` unless the
/// environment has exactly one such host, or else one such URL; and where it has several ports, of which none has the name of the host.
fn by_environment(program: &str, env: &BTreeMap<String, String>) -> Option<Vec<For>> {
    let name = program.to_lowercase();
    let (_, name) = name
        .split_once("wait_for_")
        .or(name.split_once("wait-for-"))?;
    let name = name.split('.').next().unwrap_or_default();
    let is_more =
        |it: &&str| !matches!(*it, "connection" | "ready" | "to" | "be" | "up" | "server");
    let words: Vec<&str> = name.split(['_', '-']).filter(is_more).collect();
    let [thing] = words.as_slice() else {
        return None;
    };
    let things = THINGS.iter().find(|it| it.contains(thing))?;
    let is_of = |name: &String, ends: &[&str]| {
        let name = name.to_lowercase();
        let words: Vec<&str> = name.split('_').collect();
        let is_thing = words.iter().any(|it| things.contains(it));
        is_thing && words.last().is_some_and(|it| ends.contains(it))
    };
    let with = |ends: &[&str]| {
        let all = env.iter().filter(|it| is_of(it.0, ends));
        let values = all.map(|it| it.1.as_str()).filter(|it| !it.is_empty());
        values.collect::<BTreeSet<&str>>()
    };
    let hosts = with(&[
        "host",
        "hostname",
        "server",
        "servers",
        "address",
        "addr",
        "brokers",
        "endpoint",
        "endpoints",
    ]);
    let urls = with(&["url", "uri", "dsn", "conn"]);
    let (found, is_host) = match (hosts.len(), urls.len()) {
        (1, _) => (hosts.first()?, true),
        (0, 1) => (urls.first()?, false),
        _ => return None,
    };
    let ports = with(&["port"]);
    let numbers = env
        .iter()
        .filter(|it| it.0.ends_with("_PORT_NUMBER") && is_of(it.0, &["number"]));
    let ports: BTreeSet<&str> = ports
        .into_iter()
        .chain(numbers.map(|it| it.1.as_str()))
        .collect();
    // The port beside the host, such as `DB_PORT` beside `DB_HOST`, where there are ports of several protocols.
    let host = env.iter().find(|it| is_host && it.1.as_str() == *found);
    let beside = host.and_then(|it| Some(format!("{}_PORT", it.0.rsplit_once('_')?.0)));
    let beside = beside.and_then(|it| env.get(&it)).map(String::as_str);
    let port = beside.or(ports.first().copied().filter(|_| ports.len() == 1));
    let needs_port = is_host && !found.contains(':');
    if needs_port && port.is_none() && !ports.is_empty() {
        return None;
    }
    let port = port.filter(|it| needs_port && !it.is_empty());
    let port = port.map_or(String::new(), |it| format!(":{it}"));
    let mut waits = each(&format!("{found}{port}"), Asks::Protocol);
    for wait in &mut waits {
        if let For::Address(address) = wait
            && address.usual.is_empty()
        {
            address.usual = usual_port_of(thing);
        }
    }
    Some(waits)
}

/// The port of a server that a word names; empty where servers of several kinds have the name.
fn usual_port_of(thing: &str) -> &'static str {
    usual_port(match thing {
        "pg" => "postgres",
        "mongo" => "mongodb",
        "rabbitmq" | "rabbit" => "amqp",
        "elastic" => "elasticsearch",
        "zk" => "zookeeper",
        "cache" | "db" | "database" | "sql" | "s3" | "minio" => "",
        other => other,
    })
}

/// The wait for the database to which a command of an application only connects, such as `airflow db check`, or else for the only store that the
/// environment names. `None` for another command, and where the environment does not tell exactly one address.
pub(super) fn connects(words: &[String], env: &BTreeMap<String, String>) -> Option<Vec<For>> {
    let asks = |it: &[String]| match it {
        [db, check] => {
            db == "db" && check == "check" || db.starts_with("migrat") && check == "ready"
        }
        _ => false,
    };
    let named = ["checkdb", "check-db", "wait-for-db", "wait-db", "db:wait"];
    let connects =
        words.windows(2).any(asks) || words.iter().any(|it| named.contains(&it.as_str()));
    let found = connects.then(|| {
        let of_database = by_environment("wait_for_db", env);
        of_database.or_else(|| of_any_store(env))
    });
    found.flatten()
}

/// The address of the one store that the environment names; `None` where it names none or several.
fn of_any_store(env: &BTreeMap<String, String>) -> Option<Vec<For>> {
    let each = THINGS
        .iter()
        .filter_map(|it| by_environment(&format!("wait_for_{}", it[0]), env));
    let all: Vec<Vec<For>> = each.collect();
    let mut all = all.into_iter();
    all.next().filter(|_| all.next().is_none())
}

/// The words that stand for a kind of server in the names of waits and of variables: one row for each kind.
const THINGS: [&[&str]; 12] = [
    &[
        "db",
        "database",
        "postgres",
        "postgresql",
        "pg",
        "mysql",
        "mariadb",
        "sql",
    ],
    &["redis", "valkey", "cache"],
    &["kafka"],
    &["rabbitmq", "amqp", "rabbit"],
    &["elasticsearch", "opensearch", "elastic"],
    &["mongo", "mongodb"],
    &["cassandra"],
    &["clickhouse"],
    &["zookeeper", "zk"],
    &["etcd"],
    &["minio", "s3"],
    &["nats"],
];

/// The command that another program runs: the shell for ZooKeeper of `pulsar zookeeper-shell`, or the script that an interpreter runs, as in
/// `python wait_for_db.py db:5432` or `python manage.py wait_for_db`. `None` where the script is not called like a wait.
pub(super) fn script<'w>(program: &str, words: &'w [String]) -> Option<&'w [String]> {
    // A launcher of several programs.
    if program == "pulsar" && words.get(1).is_some_and(|it| it == "zookeeper-shell") {
        return Some(&words[1..]);
    }
    let program = program.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    if !matches!(program, "python" | "node" | "php" | "ruby" | "perl") {
        return None;
    }
    let waits = |it: &String| {
        let it = it.to_lowercase();
        !it.contains(char::is_whitespace) && (it.contains("wait_for") || it.contains("wait-for"))
    };
    let at = words.iter().take(3).skip(1).position(waits)? + 1;
    Some(&words[at..])
}

/// Whether a command starts a server that needs a migrated database. A loop around such a command waits for the migration.
pub(super) fn starts_once_migrated(words: &[String]) -> bool {
    let mut words = words
        .iter()
        .map(|it| it.rsplit('/').next().unwrap_or_default());
    let started = (words.next(), words.next());
    started == (Some("kong"), Some("start"))
}

/// Whether a command asks whether a database has been migrated.
pub(super) fn is_migration(words: &[String]) -> bool {
    let text = words.join(" ").to_lowercase();
    // These three tools do nothing but migrate.
    let tools = ["alembic ", "flyway ", "liquibase "];
    let asks = ["current", "check", "info", "validate", "status"];
    let is_asked = |it: &&str| {
        asks.iter()
            .any(|asks| text.contains(&format!("{it}{asks}")))
    };
    if tools.iter().any(is_asked) {
        return true;
    }
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
