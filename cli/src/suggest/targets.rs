//! What a wait is for, in the words of a list.

use super::waits::{For, Wait, masked};
use super::words::Word;
use serde_json::Value;

/// What becomes of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// An entry of a list.
    Entry(String),
    /// The pod itself.
    Itself,
    /// Nothing, and why.
    Left(String),
}

/// Where the names of a wait are looked up.
#[derive(Debug)]
pub(super) struct Context<'c> {
    pub(super) words: &'c [Word],
    /// The values of the chart.
    pub(super) values: &'c Value,
}

impl Context<'_> {
    pub(super) fn resolve(&self, wait: &Wait) -> Target {
        match &wait.for_what {
            For::Host(host) => self.service(host, ""),
            For::Name(host) => self.service(host, ":present"),
            For::Object(object) => self.variable(object).map_or_else(
                || Target::Left(format!("nothing here says what {object} is")),
                Target::Entry,
            ),
            For::Pods(selector) => {
                Target::Entry(format!("{{kind: Pod, selector: \"{selector}\"}}"))
            }
        }
    }

    /// The Service of a host.
    fn service(&self, host: &str, state: &str) -> Target {
        let Some(host) = self.variable(host) else {
            return Target::Left(format!("nothing here says what {host} is"));
        };
        if !is_known_everywhere(&host) {
            return Target::Left(format!("what {host} is depends on where it stands"));
        }
        let known = match self.value(&host) {
            None => masked(&host),
            Some(Value::String(value)) if !value.is_empty() => value.clone(),
            Some(_) => return Target::Left(format!("{host} has no value in values.yaml")),
        };
        if matches!(known.as_str(), "localhost" | "::1") || known.starts_with("127.") {
            return Target::Itself;
        }
        let (name, rest) = known.split_once('.').unwrap_or((&known, ""));
        let namespace = rest
            .strip_suffix(".svc")
            .or_else(|| rest.split_once(".svc.").map(|it| it.0));
        match namespace {
            _ if rest.is_empty() => Target::Entry(format!("service/{host}{state}")),
            // The name of a Service is all that a template may stand for here.
            Some(namespace) if known == masked(&host) => {
                let parts = [name.len(), name.len() + 1 + namespace.len()];
                let (name, namespace) = (&host[..parts[0]], &host[parts[0] + 1..parts[1]]);
                let own = namespace.contains(".Release.Namespace");
                let prefix = if own {
                    String::new()
                } else {
                    format!("{namespace}/")
                };
                Target::Entry(format!("{prefix}service/{name}{state}"))
            }
            Some(_) => Target::Entry(format!("service/{name}{state}")),
            None => Target::Left(format!("{known} is no Service of the cluster")),
        }
    }

    /// What a variable of the container says; any other text as it is.
    fn variable(&self, text: &str) -> Option<String> {
        let Some(name) = text.strip_prefix('$') else {
            return Some(text.to_owned());
        };
        let name = name.trim_matches(['{', '}', '(', ')']);
        let assigned = self.words.iter().find_map(|it| {
            let value = it.text.strip_prefix(name)?.strip_prefix('=')?;
            (!value.is_empty()).then(|| value.to_owned())
        });
        let said = self.words.windows(4).find_map(|it| match it {
            [key, own, value, text]
                if key.text == "name:" && own.text == name && value.text == "value:" =>
            {
                Some(text.text.clone())
            }
            _ => None,
        });
        said.or(assigned).filter(|said| !said.starts_with('$'))
    }

    /// The value that a text is, where it is nothing else: `{{ .Values.db.host }}`. `Null` where there is none.
    fn value(&self, text: &str) -> Option<&Value> {
        let inner = text.strip_prefix("{{")?.strip_suffix("}}")?;
        let inner = inner.trim_matches(['-', ' ']);
        let path = inner.split('|').next()?.trim().strip_prefix(".Values.")?;
        let found = path
            .split('.')
            .try_fold(self.values, |value, key| value.get(key));
        Some(found.unwrap_or(&Value::Null))
    }
}

/// Whether a template means the same wherever it stands in its file, and not a variable or an item of a `range`.
fn is_known_everywhere(text: &str) -> bool {
    let everywhere = [
        ".Values.",
        ".Release.",
        ".Chart.",
        "$.",
        "include ",
        "printf ",
        "tpl ",
    ];
    let mut actions = text
        .split("{{")
        .skip(1)
        .map(|it| it.trim_matches(['-', ' ']));
    actions.all(|action| everywhere.iter().any(|it| action.starts_with(it)))
}
