//! Finds commands that look for data in a store. No entry can replace such a wait: an entry would have to name the writer of the data,
//! which the command does not tell.

use super::arguments::places;
use crate::suggest::shell::Call;

/// Whether a command asks ZooKeeper for its sessions or clients, which other processes have to open first: `echo dump | nc zookeeper
/// 2181`.
pub(in crate::suggest) fn asks_for_members(before: Option<&Call>, call: &Call) -> bool {
    const OF_MEMBERS: [&str; 5] = ["dump", "cons", "wchs", "wchc", "wchp"];
    let is_port = matches!(call.words[0].as_str(), "nc" | "ncat" | "netcat");
    let asked = before.filter(|it| matches!(it.words[0].as_str(), "echo" | "printf"));
    let asked = asked.and_then(|it| it.words.last());
    is_port && asked.is_some_and(|it| OF_MEMBERS.contains(&it.as_str()))
}

/// Whether a command gets a text that asks for data through a pipe: `echo "select x from y" | psql -h db`. `before` is the command before
/// the pipe.
pub(in crate::suggest) fn is_asked_for_data(before: Option<&Call>) -> bool {
    let asked = before.filter(|it| it.is_read && matches!(it.words[0].as_str(), "echo" | "printf"));
    asked.is_some_and(|it| asks_for_rows(&it.words.join(" ").to_lowercase()))
}

/// Whether a text in a store's language asks for data, and not only whether the store answers.
fn asks_for_rows(text: &str) -> bool {
    let asks = [
        " from ",
        "show tables",
        "show databases",
        "describe keyspace ",
        "desc keyspace ",
        "describe table ",
    ];
    asks.iter().any(|it| text.contains(it))
}

/// Whether a client asks for all of one table, and nothing reads the answer. Such a client succeeds as soon as a migration has made the
/// table.
pub(super) fn asks_for_a_table(program: &str, arguments: &[&str], is_read: bool) -> bool {
    let text = arguments.join(" ").to_lowercase();
    // The tables of the server itself, such as those of `pg_`, tell about databases and users, and not about a migrated table.
    let of_more = [
        " where ", " join ", "count(", "show ", "_schema.", "pg_", "mysql.", ";select", "; select",
    ];
    let is_sql = matches!(program, "psql" | "mysql" | "mariadb");
    let is_plain =
        text.matches(" from ").count() == 1 && !of_more.iter().any(|it| text.contains(it));
    is_sql && is_plain && !is_read
}

/// Whether a client asks for a table, a topic, a key or a node of a tree, and not only whether the server answers. `is_read`: another
/// command looks for something in the answer.
pub(super) fn looks_for_data(program: &str, arguments: &[&str], is_read: bool) -> bool {
    let text = arguments.join(" ").to_lowercase();
    // The root of ZooKeeper's tree exists as soon as the server answers, so only a node below the root is data.
    let of_node = || {
        let mut behind = text.split(" /").skip(1);
        behind.any(|it| it.starts_with(|it: char| it.is_ascii_alphanumeric()))
    };
    let asks_by = |words: &[&str]| {
        let mut places = places(arguments).into_iter();
        places.any(|it| words.contains(&it.to_lowercase().as_str()))
    };
    match program {
        "zookeeper-shell" | "zkCli" => of_node(),
        "kafka-topics" => text.contains("--topic") || is_read && text.contains("--list"),
        "redis-cli" | "valkey-cli" => {
            is_read && asks_by(&["get", "exists", "keys", "hget", "llen", "scan"])
        }
        "etcdctl" => is_read && asks_by(&["get"]),
        "consul" | "nats" => asks_by(&["kv", "stream"]),
        "psql"
            if arguments
                .iter()
                .any(|it| it.starts_with("-l") || *it == "--list") =>
        {
            true
        }
        _ => asks_for_rows(&text) || is_read && text.contains("describe keyspaces"),
    }
}
