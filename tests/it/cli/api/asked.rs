//! Reads from the path and the query of a request which objects it asks for.

use rules::kinds;
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the path of an object in the API, from its apiVersion, its kind, its namespace if it has one, and its name.
pub(super) fn path(object: &Value) -> String {
    let (group, version) = match object["apiVersion"].as_str().unwrap().split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", object["apiVersion"].as_str().unwrap()),
    };
    let word = object["kind"].as_str().unwrap();
    let plural = kinds::builtin(group, word).map_or_else(
        || format!("{}s", word.to_lowercase()),
        |builtin| builtin.plural.to_owned(),
    );
    let root = if group.is_empty() {
        format!("/api/{version}")
    } else {
        format!("/apis/{group}/{version}")
    };
    let metadata = &object["metadata"];
    let namespace = metadata["namespace"].as_str();
    let namespace = namespace.map_or_else(String::new, |it| format!("/namespaces/{it}"));
    format!(
        "{root}{namespace}/{plural}/{}",
        metadata["name"].as_str().unwrap()
    )
}

/// The parts of a path: `/apis/apps/v1/namespaces/shop/deployments/api`.
pub(super) struct Asked<'a> {
    root: String,
    pub(super) group: &'a str,
    pub(super) namespace: Option<&'a str>,
    pub(super) plural: &'a str,
    pub(super) name: Option<&'a str>,
}

impl<'a> Asked<'a> {
    pub(super) fn of(path: &'a str) -> Option<Self> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (root, group, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => (format!("/api/{version}"), "", rest),
            ["apis", group, version, rest @ ..] => {
                (format!("/apis/{group}/{version}"), *group, rest)
            }
            _ => return None,
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
            rest => (None, rest),
        };
        Some(Self {
            root,
            group,
            namespace,
            plural: rest.first()?,
            name: rest.get(1).copied(),
        })
    }

    /// Whether the request is for a list that holds the object of this path.
    pub(super) fn holds(&self, path: &str) -> bool {
        let Some(of) = Asked::of(path) else {
            return false;
        };
        let same = of.root == self.root && of.plural == self.plural;
        same && (self.namespace.is_none() || of.namespace == self.namespace)
    }
}

/// Returns the keys and values of a query, without their percent escapes.
pub(super) fn pairs(query: &str) -> BTreeMap<String, String> {
    let plain = |text: &str| {
        let mut bytes = text.bytes();
        let mut plain = Vec::new();
        while let Some(byte) = bytes.next() {
            plain.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let code = [bytes.next().unwrap(), bytes.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&code).unwrap(), 16).unwrap()
                }
                byte => byte,
            });
        }
        String::from_utf8(plain).unwrap()
    };
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(key, value)| (plain(key), plain(value)))
        .collect()
}
