//! Finds commands that look for data in a store. No entry can replace such a wait: an entry would have to name the writer of the data,
//! which the command does not tell.

use super::arguments::places;
use crate::suggest::shell::Call;
use crate::suggest::wait::Sought;

/// Whether a command asks ZooKeeper for its sessions or clients, which other processes have to open first: `echo dump | nc zookeeper
/// 2181`.
pub(in crate::suggest) fn asks_for_members(before: Option<&Call>, call: &Call) -> bool {
    const OF_MEMBERS: [&str; 5] = ["dump", "cons", "wchs", "wchc", "wchp"];
    let is_port = matches!(call.program(), "nc" | "ncat" | "netcat");
    let asked = before.filter(|it| matches!(it.program(), "echo" | "printf"));
    let asked = asked.and_then(|it| it.words.last());
    is_port && asked.is_some_and(|it| OF_MEMBERS.contains(&it.as_str()))
}

/// The data for which a command asks by a text through a pipe: `echo "select x from y" | psql -h db`. `before` is the command before the pipe,
/// and `is_read` tells whether another command reads the answer. `None` without a text that asks for data.
pub(in crate::suggest) fn asked_through_a_pipe(
    before: Option<&Call>,
    is_read: bool,
) -> Option<(Sought, Vec<String>)> {
    let asked = before.filter(|it| it.is_read && matches!(it.program(), "echo" | "printf"));
    let text = asked?.words.join(" ").to_lowercase();
    let asks = asks_for_rows(&text) && (is_read || !asks_the_server(&text));
    asks.then(|| (kind_of(&text), names_in(&text)))
}

/// The names, in small letters, for which the commands behind the call number `at` look in its answer: `psql -l | grep orders`. Empty where no `grep`
/// reads the answer.
pub(in crate::suggest) fn names_behind(calls: &[Call], at: usize) -> Vec<String> {
    let readers = calls[at..].iter().zip(calls[at..].iter().skip(1));
    let readers = readers.take_while(|(it, _)| it.is_read).map(|it| it.1);
    let is_search = |it: &&Call| matches!(it.program(), "grep" | "egrep" | "fgrep");
    let names = readers.filter(is_search).filter_map(|it| {
        let mut words = it.words[1..].iter();
        words.find(|it| !it.starts_with(['-', '<', '>']))
    });
    let names = names.map(|it| it.trim_matches(['^', '$', '"', ' ']).to_lowercase());
    names.filter(|it| is_name(it)).collect()
}

/// Whether a text is a single name: two or more letters, digits, `_`, `-` and `.`.
fn is_name(text: &str) -> bool {
    let is_letter = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.');
    text.len() > 1 && text.chars().all(is_letter)
}

/// The names in a question: those in single quotes, and those that follow a word such as `from`. Of a path, the last part is the name.
fn names_in(text: &str) -> Vec<String> {
    const BEFORE: [&str; 7] = [
        "from", "table", "keyspace", "--topic", "get", "exists", "ls",
    ];
    let marks = |it: char| it.is_whitespace() || matches!(it, ';' | '"' | '(' | ')' | '=' | ',');
    let words: Vec<&str> = text.split(marks).filter(|it| !it.is_empty()).collect();
    let follow = words.windows(2).filter(|it| BEFORE.contains(&it[0]));
    let quoted = text.split('\'').skip(1).step_by(2);
    let names = follow.map(|it| it[1]).chain(quoted);
    // The last part of a path is the name in it.
    let names = names.filter_map(|it| it.trim_matches(['\'', '/']).rsplit('/').next());
    names.filter(|it| is_name(it)).map(str::to_owned).collect()
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

/// Whether a question is only for tables that every server has, such as `pg_database`. Then any answer shows that the server is there, unless
/// another command reads it.
fn asks_the_server(text: &str) -> bool {
    const OWN: [&str; 7] = [
        "pg_",
        "information_schema",
        "mysql.",
        "system_schema",
        "system.",
        "sys.",
        "master.",
    ];
    let lists = text.contains("show databases") || text.contains("show tables");
    let mut tables = text.split(" from ").skip(1).peekable();
    let asks = tables.peek().is_some() || lists;
    let is_own = |it: &str| OWN.iter().any(|own| it.trim_start().starts_with(own));
    asks && tables.all(is_own) && !text.contains("describe ") && !text.contains("desc ")
}

/// The kind of data that a question is for: a database, a table by the server's own lists of tables, or else `Other`.
fn kind_of(text: &str) -> Sought {
    let of_databases = ["pg_database", "show databases", "schemata"];
    let of_tables = [
        "show tables",
        "keyspace",
        "describe table",
        "information_schema.tables",
        "pg_tables",
        "pg_class",
        "to_regclass",
    ];
    let is_for = |all: &[&str]| all.iter().any(|it| text.contains(it));
    if is_for(&of_databases) {
        Sought::Database
    } else if is_for(&of_tables) {
        Sought::Table
    } else {
        Sought::Other
    }
}

/// Whether an SQL client asks for all rows of one table, and no command reads the answer: the client succeeds as soon as a migration has made
/// the table.
fn asks_for_a_table(program: &str, text: &str, is_read: bool) -> bool {
    // The tables of the server itself tell of its databases and users.
    let of_more = [
        " where ", " join ", "count(", "show ", "_schema.", "pg_", "mysql.", ";select", "; select",
    ];
    let is_sql = matches!(program, "psql" | "mysql" | "mariadb");
    let is_plain =
        text.matches(" from ").count() == 1 && !of_more.iter().any(|it| text.contains(it));
    is_sql && is_plain && !is_read
}

/// The data for which a client looks, and the names in its question; `None` where the client only asks whether the store answers. `is_read`:
/// another command looks for something in the answer.
pub(super) fn sought(
    program: &str,
    arguments: &[&str],
    is_read: bool,
) -> Option<(Sought, Vec<String>)> {
    let text = arguments.join(" ").to_lowercase();
    let lists = |it: &&str| it.starts_with("-l") || *it == "--list";
    if program == "psql" && arguments.iter().any(lists) {
        return is_read.then(|| (Sought::Database, Vec::new()));
    }
    let kind = if asks_for_a_table(program, &text, is_read) {
        Sought::Table
    } else {
        kind_of(&text)
    };
    looks_for_data(program, arguments, is_read).then(|| (kind, names_in(&text)))
}

/// Whether a client asks for a table, a topic, a key or a node of a tree, rather than whether the store answers. `is_read`: another command
/// looks for something in the answer.
fn looks_for_data(program: &str, arguments: &[&str], is_read: bool) -> bool {
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
        _ => {
            let rows = asks_for_rows(&text) && (is_read || !asks_the_server(&text));
            rows || is_read && text.contains("describe keyspaces")
        }
    }
}
