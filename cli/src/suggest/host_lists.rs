//! Lists of addresses in a chart's values that a template walks through. Each element is set to a mark, a made-up address of its own. A
//! rendered address then shows from which list it comes, and its entry can stand in a `range` over that list.

use super::container::said;
use super::host_list::{HostList, Part};
use super::in_text::actions;
use super::switches::{Switch, Tested};
use super::template::word;
use super::tested;
use super::texts::{File, Texts, end_of, value_at};
use super::traces;
use serde_json::Value;

/// The most elements of a chart's own list that are set to made-up addresses (marks). A list with more elements gets none.
const MOST: usize = 6;
/// The number below those of the made-up addresses (marks) for elements of lists; those for single values have lower numbers.
const FIRST: usize = 200;
/// The made-up text for an empty value of an element that is neither the element's host nor its port.
const FILLER: &str = "sluice";

/// A list that a template walks through, as the template's text has it.
#[derive(Debug, PartialEq, Eq)]
struct Walked {
    path: String,
    is_text: bool,
    /// The keys of an element that the template reads; empty where it takes the element as a text.
    keys: Vec<String>,
    /// Whether the list decides how many containers there are.
    is_around: bool,
}

/// One list of a chart's values, in each form that its elements may have, the likelier first.
pub(super) struct Forms {
    pub(super) forms: Vec<Switch>,
    /// Whether the list decides how many containers there are.
    pub(super) is_around: bool,
}

/// The lists that the texts of the waiting containers and their helpers walk through.
pub(super) fn of(texts: &Texts) -> Vec<Forms> {
    let mut number = FIRST;
    let walked = walked(texts).into_iter();
    let all = walked.filter_map(|it| {
        let forms = forms(texts, &it, &mut number);
        let is_around = it.is_around;
        (!forms.is_empty()).then_some(Forms { forms, is_around })
    });
    all.collect()
}

/// The lists in the texts of the waiting containers, in their helpers, and around both.
fn walked(texts: &Texts) -> Vec<Walked> {
    let mut all: Vec<Walked> = Vec::new();
    for file in &texts.files {
        for block in &file.blocks {
            if !block.read().any(|it| it.1.looks) {
                continue;
            }
            let own = file.text_of(block);
            let around = ranges_at(file, block.first);
            all.extend(around.iter().filter_map(|it| walk(it, &own, true)));
            let mut reached = texts.reach(&own);
            if let Some(helper) = tested::helper_of(file, block.first) {
                for (user, at, line) in tested::uses(texts, &helper) {
                    let around = ranges_at(user, at);
                    all.extend(around.iter().filter_map(|it| walk(it, line, true)));
                    reached.push_str(line);
                }
            }
            for (at, action) in with_places(&reached) {
                if word(action) == "range" {
                    let behind = &reached[at..];
                    all.extend(walk(action, &behind[..end_of(behind)], false));
                } else if let Some(path) = joined(action) {
                    all.push(Walked::of_texts(path, false));
                } else {
                    let paths = texts_with_commas(action, &texts.values);
                    all.extend(paths.into_iter().map(|it| Walked::of_texts(it, true)));
                }
            }
        }
    }
    let mut once: Vec<Walked> = Vec::new();
    for walked in all {
        if once.iter().all(|it| it.path != walked.path) {
            once.push(walked);
        }
    }
    once
}

impl Walked {
    fn of_texts(path: String, is_text: bool) -> Self {
        Self {
            path,
            is_text,
            keys: Vec::new(),
            is_around: false,
        }
    }
}

/// The `range` actions that are open around a line.
fn ranges_at(file: &File, line: usize) -> Vec<String> {
    let open = file.template.around(line).iter();
    let ranges = open.flatten().filter(|it| word(it) == "range");
    ranges.cloned().collect()
}

/// The actions of a text without their braces, each with the byte at which the text behind the action begins.
fn with_places(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("{{") {
        let start = at + start + 2;
        let Some(length) = text[start..].find("}}") else {
            break;
        };
        let action = text[start..start + length].trim_matches(['-', ' ', '\n']);
        at = start + length + 2;
        found.push((at, action));
    }
    found
}

/// The list that a `range` walks through. `None` where its expression is more than one value of the chart.
fn walk(range: &str, body: &str, is_around: bool) -> Option<Walked> {
    let list = range.strip_prefix("range")?;
    let (names, list) = list.split_once(":=").unwrap_or(("", list));
    let list = list.trim();
    let split = ["splitList \",\" ", "split \",\" "];
    let split = split.iter().find_map(|it| list.strip_prefix(it));
    let path = path_alone(split.unwrap_or(list))?;
    let element = names.split(',').next_back().unwrap_or_default().trim();
    let keys = keys_of(body, element);
    Some(Walked {
        path,
        is_text: split.is_some(),
        keys,
        is_around,
    })
}

/// The path of a value, where an expression is nothing but that value: `kafka.brokers` of `$.Values.kafka.brokers`. `None` for any other expression.
fn path_alone(expression: &str) -> Option<String> {
    let (before, path) = expression.split_once(".Values.")?;
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '$' | '.');
    let is_path = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.');
    let is_plain = before.chars().all(is_name) && path.chars().all(is_path);
    (is_plain && !path.is_empty()).then(|| path.to_owned())
}

/// The path of the list whose elements an action joins with commas: `join "," .Values.brokers`, `.Values.brokers | join ","`. `None` for any other
/// action.
fn joined(action: &str) -> Option<String> {
    let (before, behind) = action.split_once("join \",\"")?;
    let piped = before.trim_end().strip_suffix('|');
    path_alone(piped.unwrap_or(behind).trim().trim_matches(['(', ')']))
}

/// The paths in an action at which the chart has one text for several addresses: the last key ends in a word such as `brokers`.
fn texts_with_commas(action: &str, values: &Value) -> Vec<String> {
    let named = [
        "brokers",
        "servers",
        "endpoints",
        "hosts",
        "nodes",
        "addresses",
    ];
    let is_path = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.');
    let paths = action.split(".Values.").skip(1);
    let paths = paths.map(|it| it.split(|it| !is_path(it)).next().unwrap_or_default());
    let is_list = |path: &&str| {
        let key = path.rsplit('.').next().unwrap_or_default().to_lowercase();
        let is_text = value_at(values, path).is_some_and(Value::is_string);
        is_text && named.iter().any(|it| key.ends_with(it))
    };
    paths.filter(is_list).map(str::to_owned).collect()
}

/// The keys of an element that the body of a `range` reads, by its variable or by the dot.
fn keys_of(body: &str, element: &str) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for action in actions(body) {
        let letters = action.char_indices().filter(|it| it.1 == '.');
        for (at, _) in letters {
            let before = &action[..at];
            let is_dot = before.is_empty() || before.ends_with([' ', '(']);
            let is_named = !element.is_empty() && before.ends_with(element);
            let key: String = action[at + 1..]
                .chars()
                .take_while(|it| it.is_ascii_alphanumeric() || *it == '_')
                .collect();
            let is_root = matches!(
                key.as_str(),
                "Values" | "Release" | "Chart" | "Capabilities" | "Template" | "Files"
            );
            let is_key = (is_dot || is_named) && !key.is_empty() && !is_root;
            if is_key && !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys
}

/// The switches that set the elements of a list to marks, one switch for each form that the elements may have. `number` is that of the last
/// mark, and is raised. Empty where the chart's own value has another type or more than [`MOST`] elements, or where an element has no address.
fn forms(texts: &Texts, walked: &Walked, number: &mut usize) -> Vec<Switch> {
    let own = value_at(&texts.values, &walked.path);
    let split = |it: &str| {
        let texts = it.split(',').map(str::trim).filter(|it| !it.is_empty());
        texts.map(Value::from).collect::<Vec<_>>()
    };
    let own: Vec<Value> = match own {
        Some(Value::Array(items)) if !walked.is_text => items.clone(),
        Some(Value::String(text)) if walked.is_text => split(text),
        None | Some(Value::Null) => Vec::new(),
        _ => return Vec::new(),
    };
    if own.len() > MOST {
        return Vec::new();
    }
    let samples: Vec<Value> = match own.last() {
        Some(last) => vec![last.clone()],
        None if walked.keys.is_empty() => ["host", "host:1"].map(Value::from).to_vec(),
        None => vec![
            walked
                .keys
                .iter()
                .map(|it| (it.clone(), Value::from("")))
                .collect(),
        ],
    };
    let key = walked.path.rsplit('.').next().unwrap_or_default();
    let key = key.to_lowercase();
    let has_urls = key.ends_with("endpoints") || key.ends_with("urls");
    // Such lists have ports.
    let samples: Vec<Value> = if has_urls || key.ends_with("brokers") {
        samples.into_iter().rev().collect()
    } else {
        samples
    };
    let switch = |sample: &Value| {
        let elements = (0..own.len().max(2)).map(|at| {
            *number += 1;
            let is_own = at < own.len();
            element(own.get(at).unwrap_or(sample), is_own, *number)
        });
        let elements: Option<Vec<Vec<Part>>> = elements.collect();
        let list = HostList {
            is_text: walked.is_text,
            has_urls: has_urls && sample.as_str().is_some_and(|it| !it.contains("://")),
            elements: elements?,
        };
        Some(Switch {
            path: walked.path.clone(),
            value: String::new(),
            tested: Tested::Each(list),
        })
    };
    samples.iter().filter_map(switch).collect()
}

/// The parts of one element; `None` where it has no address. `is_own`: the chart's own list has the element.
fn element(sample: &Value, is_own: bool, number: usize) -> Option<Vec<Part>> {
    let part = |key: &str, own: &str, value: String, is_mark: bool| Part {
        key: key.to_owned(),
        value,
        own: if is_own {
            own.to_owned()
        } else {
            String::new()
        },
        is_mark,
    };
    let keys = match sample {
        Value::String(own) => {
            let mark = traces::mark_like(own, number)?;
            return Some(vec![part("", own, mark, true)]);
        }
        Value::Object(keys) => keys,
        _ => return None,
    };
    let is_port = |key: &str| key.to_lowercase().ends_with("port");
    let has_port = keys.keys().any(|it| is_port(it));
    // Without a port a name is that of a variable or a volume.
    let is_host = |it: &&&str| keys.contains_key(**it) && (has_port || **it != "name");
    let host = HOSTS.iter().find(is_host)?;
    let mut parts = Vec::new();
    for (key, own) in keys {
        let Some(own) = said(own) else {
            continue;
        };
        let (value, is_mark) = match own.as_str() {
            own if key == host => (traces::mark_like(own, number)?, true),
            _ if is_port(key) => (traces::port_mark(number), true),
            "" => (FILLER.to_owned(), false),
            own => (own.to_owned(), false),
        };
        parts.push(part(key, &own, value, is_mark));
    }
    Some(parts)
}

/// The keys under which an element has its host, the likelier first.
const HOSTS: [&str; 10] = [
    "host", "hostname", "address", "server", "fqdn", "endpoint", "url", "service", "ip", "name",
];
