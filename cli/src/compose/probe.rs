//! The readiness probe that a health check of Compose would be: kompose makes only a liveness probe of it, and takes a readiness probe
//! from labels.

use super::service::Service;
use serde_json::Value;

const PREFIX: &str = "kompose.service.healthcheck.readiness.";

/// The source of the readiness probe that kompose writes for a service.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// The service has labels for a readiness probe.
    Said,
    /// The service has a health check; these labels would make it a readiness probe too.
    Labels(Vec<(String, String)>),
    /// The service has no health check in the file, but perhaps in its image.
    Unknown,
}

/// The readiness probe of a service: its own labels for one, else labels made of its health check. A disabled health check counts as none.
pub(super) fn of(service: &Service<'_>) -> Readiness {
    let keys = ["test", "http_get_path", "tcp_port"];
    if keys
        .iter()
        .any(|key| service.label(&format!("{PREFIX}{key}")).is_some())
    {
        return Readiness::Said;
    }
    let check = &service.says["healthcheck"];
    let Some(command) = command(&check["test"]).filter(|_| check["disable"] != true) else {
        return Readiness::Unknown;
    };
    let said = |key: &str| match &check[key] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let times = ["interval", "timeout", "retries", "start_period"];
    let times = times
        .iter()
        .filter_map(|key| Some((format!("{PREFIX}{key}"), said(key)?)));
    let test = (format!("{PREFIX}test"), command);
    Readiness::Labels([test].into_iter().chain(times).collect())
}

/// The command of a health check's `test`, as a text that a shell would split into its words; `None` where there is none, as for `NONE`.
fn command(test: &Value) -> Option<String> {
    let in_shell = |script: &str| format!("sh -c {}", quoted(script));
    if let Some(script) = test.as_str() {
        return (!script.is_empty()).then(|| in_shell(script));
    }
    let words: Vec<&str> = test.as_array()?.iter().filter_map(Value::as_str).collect();
    match words.split_first()? {
        (&"CMD-SHELL", script) => Some(in_shell(&script.join(" "))),
        (&"CMD", words) if !words.is_empty() => {
            let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            Some(words.join(" "))
        }
        _ => None,
    }
}

/// A word as a shell reads it back: in single quotes, unless it has only plain characters.
fn quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_./:=@%+,".contains(it);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_health_check_is_a_command_of_a_label() {
        for (test, expected) in [
            (
                json!("curl -f http://localhost/"),
                Some("sh -c 'curl -f http://localhost/'"),
            ),
            (
                json!(["CMD-SHELL", "pg_isready -U 'a b'"]),
                Some(r"sh -c 'pg_isready -U '\''a b'\'''"),
            ),
            (
                json!(["CMD", "redis-cli", "-a", "pass word", "ping"]),
                Some("redis-cli -a 'pass word' ping"),
            ),
            (json!(["NONE"]), None),
            (json!(["CMD"]), None),
            (json!(null), None),
        ] {
            assert_eq!(command(&test).as_deref(), expected, "{test}");
        }
    }
}
