//! Traces addresses back to values. Each value that may hold a host or a port is set to a mark, which is a made-up host or port of its own.
//! A rendered address then shows from which values it comes, and a list can name these values.

use super::switches::{self, Switch, Tested};
use super::tested;
use super::texts::{File, Texts, value_at};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The most values that are set to marks.
const MOST: usize = 200;
/// The domain of every mark that is a host.
const DOMAIN: &str = ".sluice.example.com";
/// The number of the first mark that is a port. It is high, so that no chart has it.
const FIRST_PORT: usize = 61_000;

/// The values that may hold an address of a waiting container, each with its mark. A group has the hosts below one parent, such as
/// `externalDatabase`, and then the ports of all parents.
pub(super) fn groups(texts: &Texts) -> Vec<Vec<Switch>> {
    let (groups, ports) = hosts_and_ports(texts);
    let with_ports = |mut group: Vec<Switch>| {
        group.extend(ports.iter().cloned());
        group
    };
    groups.into_iter().map(with_ports).collect()
}

/// The values that may hold a port of a waiting container, each with its mark.
pub(super) fn ports(texts: &Texts) -> Vec<Switch> {
    hosts_and_ports(texts).1
}

/// The marks of hosts, those below one parent together, and the marks of all ports.
fn hosts_and_ports(texts: &Texts) -> (Vec<Vec<Switch>>, Vec<Switch>) {
    let mut groups: Vec<(String, Vec<Switch>)> = Vec::new();
    let mut ports = Vec::new();
    for (number, path) in paths(texts).into_iter().take(MOST).enumerate() {
        let own = value_at(&texts.values, &path);
        let is_server = is_name_of_server(&texts.values, &path);
        let Some((value, mut own)) = mark(number, &path, own.unwrap_or(&Value::Null), is_server)
        else {
            continue;
        };
        // The default in the templates is the chart's own port where the value is empty.
        if value.parse::<u16>().is_ok() && own.is_empty() {
            own = default_of(texts, &path).unwrap_or_default();
        }
        let parent = path.rsplit_once('.').map_or("", |(it, _)| it).to_owned();
        let switch = Switch {
            path,
            tested: Tested::Follows { own },
            value,
        };
        if is_port(&switch) {
            ports.push(switch);
        } else if let Some((_, group)) = groups.iter_mut().find(|it| it.0 == parent) {
            group.push(switch);
        } else {
            groups.push((parent, vec![switch]));
        }
    }
    (groups.into_iter().map(|it| it.1).collect(), ports)
}

/// The values of all groups with their marks, each value once.
pub(super) fn joined(groups: &[Vec<Switch>]) -> Vec<Switch> {
    switches::dedup(groups.concat())
}

/// The paths of the values that the texts of the waiting containers and their helpers read. The paths that ConfigMaps and Secrets read
/// follow, because a container may take its environment from these objects.
pub(super) fn paths(texts: &Texts) -> Vec<String> {
    let blocks = texts.files.iter().flat_map(|file| {
        let own = file.blocks.iter();
        let own = own.filter(|it| it.read().any(|it| it.1.looks));
        own.map(|block| {
            let lines = file.lines_of(block).iter().map(String::as_str);
            // A helper may get hosts as arguments, so the lines that use the helper count too.
            let helper = tested::helper_of(file, block.first);
            let uses = helper.iter().flat_map(|it| tested::uses(texts, it));
            let lines: Vec<&str> = lines.chain(uses.map(|it| it.2)).collect();
            let text = lines.join("\n");
            let variables = file.variables_of(&text);
            text + "\n" + &variables
        })
    });
    let is_source = |it: &&File| {
        let kinds = ["kind: ConfigMap", "kind: Secret"];
        kinds.iter().any(|kind| it.text.contains(kind))
    };
    let sources = texts
        .files
        .iter()
        .filter(is_source)
        .map(|it| it.text.clone());
    let mut paths: Vec<String> = Vec::new();
    for text in blocks.chain(sources) {
        for behind in texts.reach(&text).split(".Values.").skip(1) {
            let path = behind.split(|it| !is_of_path(it)).next();
            let path = path.unwrap_or_default().trim_matches('.').to_owned();
            for path in addresses_below(&texts.values, path) {
                if !path.is_empty() && !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
    }
    paths
}

/// The path of a value. Where the value is a mapping with a name and a port, which make an address, the paths of these two: a template may
/// read such a mapping as `with .Values.db.service`.
fn addresses_below(values: &Value, path: String) -> Vec<String> {
    let own = value_at(values, &path);
    let makes =
        |own: &Value| own.get("name").is_some_and(Value::is_string) && own.get("port").is_some();
    let below = ["name", "port"].map(|it| format!("{path}.{it}"));
    if own.is_some_and(makes) {
        return below.into();
    }
    vec![path]
}

/// Whether a value is the name of a server, because a port and no host stands beside it.
fn is_name_of_server(values: &Value, path: &str) -> bool {
    let Some(parent) = path.strip_suffix(".name") else {
        return false;
    };
    let own = value_at(values, parent);
    // A name beside a host is the name of a database.
    let has = |it: &Value, key: &str| it.get(key).is_some();
    own.is_some_and(|it| has(it, "port") && !has(it, "host") && !has(it, "hostname"))
}

/// Whether a letter may stand in the path of a value.
pub(super) fn is_of_path(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_')
}

/// The mark for the value at a path, in the form of the chart's own value, and that own value as a text. `None` for a value that holds no
/// address. `is_server`: the value is the name of a server.
pub(super) fn mark(
    number: usize,
    path: &str,
    own: &Value,
    is_server: bool,
) -> Option<(String, String)> {
    let own = match own {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let key = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    let path_of_port = path.to_lowercase();
    let mut keys = path_of_port.split('.');
    let is_port = keys.any(|it| it.ends_with("port") || it.ends_with("ports"));
    // An empty `databasePort` holds a port, and an empty `transport` holds none.
    let is_empty_port = own.is_empty() && path.ends_with("Port");
    if key == "port" || is_empty_port || is_port && own.parse::<u16>().is_ok() {
        let is_number = own.is_empty() || own.parse::<u16>().is_ok();
        return is_number.then(|| (port_mark(number), own));
    }
    let named = [
        "host", "server", "address", "endpoint", "fqdn", "domain", "url", "uri",
    ];
    let is_named = is_server || named.iter().any(|it| key.contains(it));
    // A key such as `endpoints` holds a list or URLs, even if the chart's own value is one host.
    let is_plural = key.ends_with('s') && !key.ends_with("address");
    if !is_named || is_plural || key.contains("path") || own.contains(is_unfit) {
        return None;
    }
    let is_url = own.is_empty() && (key.ends_with("url") || key.ends_with("uri"));
    let like = if is_url { "http://" } else { &own };
    Some((mark_like(like, number)?, own))
}

/// The mark for a host in the form of a text: with a scheme and a port where the text has these. `None` where the text has the scheme of
/// a protocol other than HTTP, or where it names no single host.
pub(super) fn mark_like(own: &str, number: usize) -> Option<String> {
    let port = port_mark(number);
    let host = format!("sluice-{number}{DOMAIN}");
    let has_port = |it: &str| {
        it.rsplit_once(':')
            .is_some_and(|(_, it)| it.parse::<u16>().is_ok())
    };
    if own.contains(is_unfit) {
        return None;
    }
    Some(match own.split_once("://") {
        Some((scheme @ ("http" | "https"), _)) => format!("{scheme}://{host}:{port}"),
        Some(_) => return None,
        None if has_port(own) => format!("{host}:{port}"),
        None => host,
    })
}

/// The mark for a port.
pub(super) fn port_mark(number: usize) -> String {
    (FIRST_PORT + number).to_string()
}

/// Whether a text with this letter names no single host: a list, a text of a template, or one that cannot stand in quotes.
fn is_unfit(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ',' | '{' | '"' | '\\')
}

pub(super) fn is_port(switch: &Switch) -> bool {
    switch.value.parse::<u16>().is_ok()
}

/// Whether a set of values has marks in it.
pub(super) fn follow(set: &[Switch]) -> bool {
    set.iter().any(Switch::follows)
}

/// The switches of a set that are no marks.
pub(super) fn without(set: &[Switch]) -> impl Iterator<Item = &Switch> {
    set.iter().filter(|it| !it.follows())
}

/// Whether the mark of a switch occurs in a text.
pub(super) fn marks(switch: &Switch, text: &str) -> bool {
    switch.marks().iter().any(|it| text.contains(it))
}

/// Whether a text has a mark that is a host.
pub(super) fn is_marked(text: &str) -> bool {
    text.contains(DOMAIN)
}

/// An entry that names values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedValues {
    /// The entry, with template actions in place of its marks.
    pub(super) text: String,
    /// The actions around an entry that stands once for each element of a list, the outermost first.
    pub(super) within: Vec<Vec<String>>,
}

/// The entry with template actions, such as `{{ .Values.db.host }}`, in place of its marks. `None` where the entry has no mark of a host,
/// or where a part of such a mark is left over.
pub(super) fn written(
    entry: &str,
    set: &[Switch],
    texts: &Texts,
    root: &str,
) -> Option<NamedValues> {
    let mut ports = set.iter().filter(|it| it.follows() && is_port(it));
    let is_unclear = |it: &Switch| marks(it, entry) && default_of(texts, &it.path).is_none();
    if !is_marked(entry) || ports.any(is_unclear) {
        return None;
    }
    let list = list_in(entry, set);
    let within = list.and_then(|it| Some(it.list()?.within(&it.path, root)));
    let within = within.unwrap_or_default();
    // A `range` sets the dot.
    let root = if within.is_empty() { root } else { "$" };
    let action = |it: &Switch, mark: &str| {
        if let Some(list) = it.list() {
            let mut marks = list.marks();
            let own = marks.find(|it| it.0 == mark);
            return own.map_or(String::new(), |it| it.1);
        }
        let value = format!("{root}.Values.{}", it.path);
        if is_a_template(texts, &it.path) {
            return format!("{{{{ tpl {value} $ }}}}");
        }
        match default_of(texts, &it.path).filter(|default| is_port(it) && !default.is_empty()) {
            Some(default) => format!("{{{{ {value} | default {default} }}}}"),
            None => format!("{{{{ {value} }}}}"),
        }
    };
    let text = replaced(entry, set, action);
    (!is_marked(&text)).then_some(NamedValues { text, within })
}

/// The switch of the list whose mark an entry has.
pub(super) fn list_in<'s>(entry: &str, set: &'s [Switch]) -> Option<&'s Switch> {
    let mut lists = set.iter().filter(|it| it.list().is_some());
    lists.find(|it| marks(it, entry))
}

/// The entry with the chart's own elements of lists in place of their marks; `None` where the chart does not have such an element.
pub(super) fn with_own_elements(entry: &str, set: &[Switch]) -> Option<String> {
    let list = list_in(entry, set)?.list()?;
    let own = |mark: &str| list.marks().find(|it| it.0 == mark).map_or("", |it| it.2);
    let text = replaced(entry, set, |it, mark| match &it.tested {
        Tested::Follows { own } => own.clone(),
        _ => own(mark).to_owned(),
    });
    let is_own = list
        .marks()
        .all(|it| !entry.contains(it.0) || !it.2.is_empty());
    (is_own && !is_marked(&text)).then_some(text)
}

/// A text for a message, with the actions of the values in place of their marks.
pub(super) fn shown(text: &str, set: &[Switch]) -> String {
    replaced(text, set, |it, _| format!("{{{{ .Values.{} }}}}", it.path))
}

fn replaced(text: &str, set: &[Switch], action: impl Fn(&Switch, &str) -> String) -> String {
    let followed = set.iter().filter(|it| it.follows());
    let each = followed.flat_map(|it| it.marks().into_iter().map(move |mark| (it, mark)));
    let mut each: Vec<(&Switch, &str)> = each.collect();
    // A mark may be the beginning of a longer one.
    each.sort_by_key(|it| Reverse(it.1.len()));
    each.into_iter().fold(text.to_owned(), |text, (it, mark)| {
        if text.contains(mark) {
            text.replace(mark, &action(it, mark))
        } else {
            text
        }
    })
}

/// The number that the templates take for a value that is empty in the chart: `5432` of `default 5432 .Values.db.port`. An empty text where
/// they take no number, or the chart has a value. `None` where they take several, or something else than a number.
fn default_of(texts: &Texts, path: &str) -> Option<String> {
    let own = value_at(&texts.values, path);
    let is_empty = own.is_none_or(|it| it.is_null() || it == "");
    let value = format!(".Values.{path}");
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for file in texts.files.iter().filter(|_| is_empty) {
        for (at, _) in file.text.match_indices(&value) {
            let behind = &file.text[at + value.len()..];
            if behind.starts_with(is_of_path) {
                continue;
            }
            let piped = behind.trim_start().strip_prefix('|');
            let piped = piped.and_then(|it| it.trim_start().strip_prefix("default "));
            let before = file.text[..at].trim_end_matches('$').trim_end();
            let mut words = before.rsplit([' ', '(', '{', '\n']);
            let given = match piped {
                Some(it) => it.trim_start().split([' ', ')', '}']).next(),
                None => words.next().filter(|_| words.next() == Some("default")),
            };
            found.extend(given.map(|it| it.trim_matches('"')));
        }
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (None, _) => Some(String::new()),
        (Some(one), None) if one.parse::<u16>().is_ok() => Some(one.to_owned()),
        _ => None,
    }
}

/// Whether a chart renders a value as a template of its own.
fn is_a_template(texts: &Texts, path: &str) -> bool {
    let value = format!(".Values.{path}");
    texts.files.iter().any(|file| {
        file.text.match_indices(&value).any(|(at, _)| {
            let ends = !file.text[at + value.len()..].starts_with(is_of_path);
            let before = file.text[..at].trim_end_matches(['$', '(', ' ']);
            ends && ["tpl", "tpl (toString", "\"value\""]
                .iter()
                .any(|it| before.ends_with(it))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn followed(values: &Value, template: &str) -> Texts {
        let mut texts = Texts {
            values: values.clone(),
            ..Texts::default()
        };
        texts.add("templates/web.yaml".into(), template.to_owned());
        texts
    }

    #[test]
    fn a_value_of_several_addresses_is_no_host() {
        for (path, own, expected) in [
            ("store.endpoints", "", false),
            ("kafka.servers", "kafka:9092", false),
            ("db.address", "", true),
            ("db.host", "db", true),
        ] {
            let mark = mark(0, path, &json!(own), false);
            assert_eq!(mark.is_some(), expected, "{path}");
        }
    }

    #[test]
    fn an_empty_port_is_the_default_of_the_template() {
        let values = json!({"db": {"host": "", "port": ""}});
        let waits = "initContainers:\n  - name: wait\n    image: x\n    command: [nc, -z, '{{ .Values.db.host }}', '{{ PORT }}']\n";
        let plain = "tcp://{{ .Values.db.host }}:{{ .Values.db.port }}";
        let with_default = "tcp://{{ .Values.db.host }}:{{ .Values.db.port | default 5432 }}";
        for (port, expected) in [
            (".Values.db.port", Some(plain)),
            (
                ".Values.db.port | default \"5432\" | quote",
                Some(with_default),
            ),
            ("default 5432 .Values.db.port", Some(with_default)),
            ("default .Release.Name .Values.db.port", None),
            (
                "default 5432 .Values.db.port }} {{ default 3306 .Values.db.port",
                None,
            ),
        ] {
            let texts = followed(&values, &waits.replace("PORT", port));
            let groups = groups(&texts);
            let entry = "tcp://sluice-0.sluice.example.com:61001";
            let found = written(entry, &groups[0], &texts, "").map(|it| it.text);
            assert_eq!(found.as_deref(), expected, "{port}");
        }
    }

    #[test]
    fn a_rendered_address_tells_the_values_that_it_came_from() {
        let values = json!({"db": {"host": "localhost", "port": 5432, "name": "x"}, "api": {"url": "", "hosts": []}});
        let template = "initContainers:\n  - name: wait\n    image: x\n    command: [nc, -z, '{{ .Values.db.host }}', '{{ .Values.db.port }}', '{{ tpl .Values.api.url . }}', '{{ .Values.db.name }}']\n";
        let texts = followed(&values, template);
        let groups = groups(&texts);
        let pairs = |group: &Vec<Switch>| group.iter().map(Switch::pair).collect::<Vec<_>>();
        assert_eq!(
            groups.iter().map(pairs).collect::<Vec<_>>(),
            [
                ["db.host=sluice-0.sluice.example.com", "db.port=61001"],
                [
                    "api.url=http://sluice-2.sluice.example.com:61002",
                    "db.port=61001"
                ],
            ]
        );
        for (entry, group, expected) in [
            (
                "tcp://sluice-0.sluice.example.com:61001",
                0,
                Some("tcp://{{ $.Values.db.host }}:{{ $.Values.db.port }}"),
            ),
            (
                "http://sluice-2.sluice.example.com:61002/ready",
                1,
                Some("{{ tpl $.Values.api.url $ }}/ready"),
            ),
            ("tcp://sluice-2.sluice.example.com:61002", 1, None),
            ("tcp://db:5432", 0, None),
        ] {
            let found = written(entry, &groups[group], &texts, "$").map(|it| it.text);
            assert_eq!(found.as_deref(), expected, "{entry}");
        }
    }
}
