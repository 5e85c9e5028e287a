//! Traces addresses back to values. Each value that may hold a host or a port is set to a mark, which is a made-up host or port of its own.
//! A rendered address then shows from which values it comes, and a list can name these values.

mod entries;
mod marks;
mod paths;
mod templates;

pub(super) use entries::{NamedValues, list_in, shown, with_own_elements, written};
pub(super) use marks::{follow, is_marked, is_port, mark, mark_like, marks, port_mark, without};
pub(super) use paths::{is_of_path, paths};

use super::switches::{self, Switch, Tested};
use super::texts::{Texts, value_at};
use paths::is_name_of_server;
use serde_json::Value;
use std::collections::BTreeSet;
use templates::default_of;

/// The most values that are set to made-up hosts and ports (marks), to see which address comes from which value.
const MOST: usize = 200;

/// The values that may hold an address of a waiting container, each set to a made-up host or port (a mark). A group has the hosts below one parent,
/// such as `externalDatabase`, and then the ports of all parents. `waiting` are the names of the containers that wait when they are rendered.
pub(super) fn groups(texts: &Texts, waiting: &BTreeSet<&str>) -> Vec<Vec<Switch>> {
    let (groups, ports) = hosts_and_ports(texts, waiting);
    let with_ports = |mut group: Vec<Switch>| {
        group.extend(ports.iter().cloned());
        group
    };
    groups.into_iter().map(with_ports).collect()
}

/// The values that may hold a port of a waiting container, each set to a made-up port (a mark). `waiting` are the names of the containers that
/// wait when they are rendered.
pub(super) fn ports(texts: &Texts, waiting: &BTreeSet<&str>) -> Vec<Switch> {
    hosts_and_ports(texts, waiting).1
}

/// The switches that set values to made-up hosts, those below one parent together, and those that set values to made-up ports. Only the first
/// [`MOST`] values that may hold an address get one.
fn hosts_and_ports(texts: &Texts, waiting: &BTreeSet<&str>) -> (Vec<Vec<Switch>>, Vec<Switch>) {
    let mut groups: Vec<(String, Vec<Switch>)> = Vec::new();
    let mut ports = Vec::new();
    let mut number = 0;
    for path in paths(texts, waiting) {
        let own = value_at(&texts.values, &path);
        let is_server = is_name_of_server(&texts.values, &path);
        let Some((value, mut own)) = mark(number, &path, own.unwrap_or(&Value::Null), is_server)
        else {
            continue;
        };
        number += 1;
        if number > MOST {
            break;
        }
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

/// The values of all groups with their made-up hosts and ports (marks), each value once.
pub(super) fn joined(groups: &[Vec<Switch>]) -> Vec<Switch> {
    switches::dedup(groups.concat())
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
            let groups = groups(&texts, &BTreeSet::new());
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
        let groups = groups(&texts, &BTreeSet::new());
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
