//! The presets of custom kinds and the library of health rules agree: each kind of a preset has a rule, and each rule is for a kind of a preset.

use super::helm::{Render, chart_dir, helm, schema};
use super::rights::rules;
use super::strings;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

type Presets = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn presets() -> Presets {
    let text = std::fs::read_to_string(chart_dir().join("files/presets.yaml"));
    serde_saphyr::from_str(&text.expect("the presets")).expect("they are YAML")
}

/// Returns group and kind of every rule of the library, and of the one in the program. `None` as the kind stands for all other kinds of the group.
fn library() -> Vec<(String, Option<String>)> {
    let in_the_program = ("argoproj.io".to_owned(), Some("Application".to_owned()));
    crate::docs::library::files()
        .into_iter()
        .flat_map(|file| {
            let subject = move |kind| (file.group.clone(), kind);
            file.kinds.into_iter().map(subject)
        })
        .chain([in_the_program])
        .collect()
}

/// Whether the name of a resource is the English plural of a kind: the kind in small letters, alone or with `s` or `es`, or with `ies` in place of
/// `y`.
fn is_plural(resource: &str, kind: &str) -> bool {
    let kind = kind.to_lowercase();
    let ends = |stem: &str, end: &str| resource.strip_prefix(stem) == Some(end);
    ends(&kind, "")
        || ends(&kind, "s")
        || ends(&kind, "es")
        || kind.strip_suffix('y').is_some_and(|stem| ends(stem, "ies"))
}

#[test]
fn every_preset_is_of_kinds_that_the_library_knows() {
    let library = library();
    for (preset, groups) in presets() {
        for (group, resources) in groups {
            let of_group =
                |(pattern, _): &&(String, Option<String>)| match pattern.strip_prefix('*') {
                    Some(domain) => group.ends_with(domain),
                    None => *pattern == group,
                };
            let rules: Vec<_> = library.iter().filter(of_group).collect();
            assert!(
                !rules.is_empty(),
                "{preset}: the library has no rule for {group}"
            );
            let exact = rules.iter().filter(|(pattern, _)| *pattern == group);
            for kind in exact.filter_map(|(_, kind)| kind.as_ref()) {
                let read = resources.iter().any(|it| is_plural(it, kind));
                assert!(read, "{preset}: {kind} of {group} is left out");
            }
            if rules.iter().all(|(_, kind)| kind.is_some()) {
                for resource in resources {
                    let known = rules.iter().filter_map(|(_, kind)| kind.as_ref());
                    let known = known.into_iter().any(|kind| is_plural(&resource, kind));
                    assert!(known, "{preset}: no rule for {resource} of {group}");
                }
            }
        }
    }
}

#[test]
fn the_values_offer_each_preset_and_no_other() {
    let names: Vec<String> = presets().into_keys().collect();
    let offered = schema();
    let offered = &offered["properties"]["rbac"]["properties"]["presets"]["items"]["enum"];
    assert_eq!(strings(offered), names);
    let values = std::fs::read_to_string(chart_dir().join("values.yaml")).expect("values.yaml");
    for name in names {
        assert!(
            values.contains(&format!("`{name}`")),
            "{name} in values.yaml"
        );
    }
}

#[test]
fn a_preset_lets_its_kinds_be_read_and_nothing_else() {
    let Some(helm) = helm() else { return };
    for (preset, groups) in presets() {
        let flag = format!("rbac.presets={{{preset}}}");
        let more = Render::new(&helm).flags(&[&flag]).manifest();
        let before = rules(&Render::new(&helm).manifest());
        let more = rules(&more)
            .into_iter()
            .filter(|rule| !before.contains(rule));
        let granted: BTreeMap<_, _> = more
            .map(|(_, rule)| {
                assert_eq!(strings(&rule["verbs"]), ["get", "list", "watch"]);
                let group = strings(&rule["apiGroups"]).concat();
                let resources = strings(&rule["resources"]).into_iter();
                (group, resources.map(str::to_owned).collect())
            })
            .collect();
        assert_eq!(granted, groups, "{preset}");
    }
}

/// The ClusterRole by which the controller reads custom kinds has no rules of its own: Kubernetes adds those of every ClusterRole with a label, and
/// the chart's `sluice-kinds` has it. The controller's other ClusterRole names no custom kind.
#[test]
fn every_custom_kind_comes_by_an_aggregated_role() {
    let Some(helm) = helm() else { return };
    let flag = "rbac.kinds[0].group=example.com,rbac.kinds[0].resources={widgets}";
    let manifest = Render::new(&helm).flags(&[flag]).manifest();
    let role = |name: &str| {
        let named = |it: &Value| it["metadata"]["name"] == name;
        manifest
            .all("ClusterRole")
            .into_iter()
            .find(named)
            .expect(name)
    };
    let watch = role("sluice-watch");
    assert_eq!(watch.get("rules"), None, "Kubernetes puts them together");
    let label = rules::keys::AGGREGATE_TO_WATCH;
    let selected = &watch["aggregationRule"]["clusterRoleSelectors"][0]["matchLabels"];
    assert_eq!(selected[label], "true");
    let kinds = role("sluice-kinds");
    assert_eq!(kinds["metadata"]["labels"][label], "true");
    let custom: Vec<String> = rules::rights::Rights::of([&kinds])
        .custom()
        .map(|kind| kind.to_string())
        .collect();
    assert_eq!(custom, ["rollouts.argoproj.io", "widgets.example.com"]);
    let own = role("sluice");
    assert_eq!(rules::rights::Rights::of([&own]).custom().count(), 0);
    let args = &manifest.only("Deployment")["spec"]["template"]["spec"]["containers"][0]["args"];
    assert!(strings(args).contains(&"--watch-cluster-role=sluice-watch"));
}
