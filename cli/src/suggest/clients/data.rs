//! Commands that look for data in a store: a list would have to name the writer of the data, and the command does not tell it.

use crate::suggest::shell::Call;

/// Whether a command asks ZooKeeper for its sessions or clients, which others have to open: `echo dump | nc zookeeper 2181`.
pub(in crate::suggest) fn asks_for_members(before: Option<&Call>, call: &Call) -> bool {
    const OF_MEMBERS: [&str; 5] = ["dump", "cons", "wchs", "wchc", "wchp"];
    let is_port = matches!(call.words[0].as_str(), "nc" | "ncat" | "netcat");
    let asked = before.filter(|it| matches!(it.words[0].as_str(), "echo" | "printf"));
    let asked = asked.and_then(|it| it.words.last());
    is_port && asked.is_some_and(|it| OF_MEMBERS.contains(&it.as_str()))
}

/// Whether a client asks for a table, a topic or a node of a tree, rather than whether it is answered.
pub(super) fn looks_for_data(program: &str, arguments: &[&str]) -> bool {
    let text = arguments.join(" ").to_lowercase();
    let asks = [" from ", "show tables", "show databases"];
    // The root of the tree exists as soon as the server answers.
    let of_node = || {
        let mut behind = text.split(" /").skip(1);
        behind.any(|it| it.starts_with(|it: char| it.is_ascii_alphanumeric()))
    };
    match program {
        "zookeeper-shell" | "zkCli" => of_node(),
        "kafka-topics" => text.contains("--topic"),
        "psql"
            if arguments
                .iter()
                .any(|it| it.starts_with("-l") || *it == "--list") =>
        {
            true
        }
        _ => asks.iter().any(|it| text.contains(it)),
    }
}
