//! Reads the waits of images that wait for the objects which their environment or their arguments name.

use super::container::Container;
use super::wait::{Address, Asks, For, NamedObject, Wait};
use serde_json::Value;

/// Reads the waits from the variables of kubernetes-entrypoint and `waisbrot/wait`, and from the arguments of ONAP's readiness check.
pub(super) fn of(container: &Container) -> Vec<Wait> {
    let mut waits = entrypoint(container);
    waits.extend(readiness(&container.words, &container.image));
    waits.extend(targets(container));
    waits
}

/// The waits of `waisbrot/wait`, which a variable lists, such as `TARGETS=db:5432,cache:6379`.
fn targets(container: &Container) -> Vec<Wait> {
    let listed = container.env.get("TARGETS").map_or("", String::as_str);
    let listed = listed.split(',').map(str::trim).filter(|it| !it.is_empty());
    let waits = listed.map(|it| Wait {
        what: format!("TARGETS {it}"),
        for_what: For::Address(Address::of(it, Asks::Port)),
    });
    waits
        .filter(|_| container.image.contains("waisbrot/wait"))
        .collect()
}

/// The waits of kubernetes-entrypoint, which several variables list, such as `DEPENDENCY_SERVICE=ns:keystone-api,mariadb`.
fn entrypoint(container: &Container) -> Vec<Wait> {
    let mut waits = Vec::new();
    for (variable, kind) in [
        ("DEPENDENCY_SERVICE", "service"),
        ("DEPENDENCY_JOBS", "job"),
        ("DEPENDENCY_DAEMONSET", "daemonset"),
        ("DEPENDENCY_POD", "pod"),
    ] {
        let listed = container.env.get(variable).map_or("", String::as_str);
        for name in listed.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let (namespace, name) = match name.split_once(':') {
                Some((namespace, name)) => (Some(namespace.to_owned()), name),
                None => (None, name),
            };
            waits.push(Wait {
                what: format!("{variable} {name}"),
                for_what: For::Object(NamedObject {
                    kind: kind.to_owned(),
                    name: name.to_owned(),
                    namespace,
                    // kubernetes-entrypoint looks for the pod of a DaemonSet on its own node.
                    same_node: kind == "daemonset",
                    ..NamedObject::default()
                }),
            });
        }
    }
    for (variable, kind) in [
        ("DEPENDENCY_POD_JSON", "pod"),
        ("DEPENDENCY_JOBS_JSON", "job"),
    ] {
        for item in &items(container, variable) {
            let labels = item["labels"].as_object().into_iter().flatten();
            let labels: Vec<String> = labels
                .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
                .collect();
            if labels.is_empty() {
                continue;
            }
            let selector = labels.join(",");
            let namespace = item["namespace"].as_str().map(str::to_owned);
            waits.push(Wait {
                what: format!("{variable} {selector}"),
                for_what: For::Selected {
                    kind: kind.to_owned(),
                    selector,
                    namespace,
                    same_node: item["requireSameNode"] == true,
                },
            });
        }
    }
    for item in &items(container, "DEPENDENCY_CUSTOM_RESOURCE") {
        waits.extend(custom_resource(item));
    }
    waits
}

/// The items of a variable that holds a list in JSON; empty where the variable is not set, or holds something else.
fn items(container: &Container, variable: &str) -> Vec<Value> {
    let text = container.env.get(variable).map_or("", String::as_str);
    serde_json::from_str(text).unwrap_or_default()
}

/// The wait for one custom resource: `{"apiVersion": "example.com/v1", "kind": "Flow", "name": "load"}`. `None` without a kind, a name, or a
/// group in the version.
fn custom_resource(item: &Value) -> Option<Wait> {
    let (group, _) = item["apiVersion"].as_str()?.split_once('/')?;
    let kind = format!("{}.{group}", item["kind"].as_str()?);
    let name = item["name"].as_str()?.to_owned();
    Some(Wait {
        what: format!("DEPENDENCY_CUSTOM_RESOURCE {kind} {name}"),
        for_what: For::Object(NamedObject {
            kind,
            name,
            namespace: item["namespace"].as_str().map(str::to_owned),
            ..NamedObject::default()
        }),
    })
}

/// The waits that the arguments of `ready.py` name, such as `ready.py --service-name a --job-name b --container-name c --app-name d`. An
/// image with such a name may have the arguments alone, without the program.
fn readiness(words: &[String], image: &str) -> Vec<Wait> {
    let words: Vec<&str> = words.iter().flat_map(|it| it.split_whitespace()).collect();
    let is_option = |it: &&str| it.starts_with("--") && it.ends_with("-name");
    let alone = image.contains("readiness") && words.first().is_some_and(is_option);
    // The options before `ready.py` are options of a shell.
    let named = words.iter().position(|it| it.ends_with("ready.py"));
    let Some(at) = named.or(alone.then_some(0)) else {
        return Vec::new();
    };
    let mut waits = Vec::new();
    for pair in words[at..].windows(2) {
        let name = pair[1].trim_matches(['"', '\'']).to_owned();
        let object = |kind: &str| {
            For::Object(NamedObject {
                kind: kind.to_owned(),
                name: name.clone(),
                ..NamedObject::default()
            })
        };
        let for_what = match pair[0] {
            "--service-name" | "-s" => object("service"),
            "--job-name" | "-j" => object("job"),
            "--container-name" | "-c" => For::Container(name.clone()),
            "--pod-name" | "-p" => For::PodsNamed(name.clone()),
            "--url" | "-u" => For::Address(Address::of(&name, Asks::Http)),
            "--app-name" | "-a" => For::Selected {
                kind: "pod".to_owned(),
                selector: format!("app={name}"),
                namespace: None,
                same_node: false,
            },
            _ => continue,
        };
        let what = format!("ready.py {} {name}", pair[0]);
        waits.push(Wait { what, for_what });
    }
    waits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_environment_or_arguments_declare_is_read() {
        let mut container = Container::default();
        let env = [
            ("DEPENDENCY_SERVICE", "ns:keystone,mariadb"),
            ("DEPENDENCY_JOBS", "db-sync"),
            (
                "DEPENDENCY_POD_JSON",
                r#"[{"labels": {"app": "agent"}, "requireSameNode": true}]"#,
            ),
            (
                "DEPENDENCY_CUSTOM_RESOURCE",
                r#"[{"apiVersion": "example.com/v1", "kind": "Flow", "name": "load"}]"#,
            ),
        ];
        container.env = env.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        container.words = [
            "sh",
            "-c",
            "sed -i s/a/b/ /x; /app/ready.py --container-name vault --pod-name db --url http://api/ready",
        ]
        .map(str::to_owned)
        .into();
        let found: Vec<String> = of(&container).into_iter().map(|it| it.what).collect();
        assert_eq!(
            found,
            [
                "DEPENDENCY_SERVICE keystone",
                "DEPENDENCY_SERVICE mariadb",
                "DEPENDENCY_JOBS db-sync",
                "DEPENDENCY_POD_JSON app=agent",
                "DEPENDENCY_CUSTOM_RESOURCE Flow.example.com load",
                "ready.py --container-name vault",
                "ready.py --pod-name db",
                "ready.py --url http://api/ready"
            ]
        );
        let alone = Container {
            image: "example.com/oom/readiness:7".to_owned(),
            words: vec!["--job-name".to_owned(), "db-init".to_owned()],
            ..Container::default()
        };
        let found: Vec<String> = of(&alone).into_iter().map(|it| it.what).collect();
        assert_eq!(found, ["ready.py --job-name db-init"]);
        let listing = Container {
            image: "waisbrot/wait:latest".to_owned(),
            env: [("TARGETS".to_owned(), "db:5432,cache:6379".to_owned())].into(),
            ..Container::default()
        };
        let found: Vec<String> = of(&listing).into_iter().map(|it| it.what).collect();
        assert_eq!(found, ["TARGETS db:5432", "TARGETS cache:6379"]);
    }
}
