//! Tests the findings on parts, weights, caps and plans.

use super::{NOTHING, job, lint, lint_of};
use crate::objects::Alias;

/// A YAML document with a workload of the release `r`.
fn workload(kind: &str, name: &str, annotations: &str, labels: &str) -> String {
    let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    format!(
        "---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, annotations: {{{annotations}}}, \
         labels: {{app.kubernetes.io/instance: r, {labels}}}}}\nspec: {{template: {{spec: {{containers: []}}}}}}\n"
    )
}

fn deployment(name: &str, annotations: &str) -> String {
    workload("Deployment", name, annotations, "")
}

fn plan(label: &str, text: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: order, labels: {{sluice.dev/plan: 'true', {label}}}}}\n\
         data:\n  order: |\n    {}\n",
        text.replace('\n', "\n    ")
    )
}

const IN_R: &str = "app.kubernetes.io/instance: r";

#[test]
fn cycles_through_parts_weights_and_plans_are_told_with_the_whole_path() {
    let told = |objects: &[String], path: &str| {
        let lines = lint(&objects.concat());
        assert_eq!(lines.len(), 1, "{lines:#?}");
        let told = format!("these wait for each other and never start: {path}");
        assert!(lines[0].contains(&told), "{}", lines[0]);
    };
    let group = [
        deployment(
            "a",
            "sluice.dev/group: x, sluice.dev/depends-on: deployment/b",
        ),
        deployment("b", "sluice.dev/depends-on: group/x"),
        deployment("c", "sluice.dev/group: x"),
    ];
    told(
        &group,
        "Deployment a -> Deployment b -> Deployment a (group/x); take one entry out",
    );
    let wave = [
        deployment("a", "sluice.dev/weight: '1'"),
        workload("Job", "seed", "sluice.dev/weight: '-1'", ""),
        deployment("b", "sluice.dev/depends-on: deployment/a"),
    ];
    told(
        &wave[..],
        "Deployment a -> Deployment b (weight 0) -> Deployment a; take one entry out, or change a weight",
    );
}

#[test]
fn a_cycle_through_a_plan_is_told() {
    let chart = |name: &str| format!("helm.sh/chart: {name}-1.0.0");
    let objects = [
        plan(IN_R, "api: [db]"),
        workload("Deployment", "api", "", &chart("api")),
        workload(
            "StatefulSet",
            "db",
            "sluice.dev/depends-on: deployment/api",
            &chart("db"),
        ),
    ];
    let expected = "error: 2: Deployment api: these wait for each other and never start: Deployment api -> \
                    StatefulSet db (plan: subchart/db) -> Deployment api; take one entry out, or change the plan";
    assert_eq!(lint(&objects.concat()), [expected]);
}

#[test]
fn what_weighs_the_same_or_is_of_another_scope_is_no_link() {
    let other = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: {sluice.dev/scope: other, \
                 sluice.dev/depends-on: deployment/a}}\nspec: {template: {spec: {containers: []}}}\n";
    let objects = [
        deployment("a", "sluice.dev/weight: '1'"),
        deployment(
            "b",
            "sluice.dev/weight: '1', sluice.dev/depends-on: deployment/a",
        ),
        other.to_owned(),
    ];
    assert_eq!(lint(&objects.concat()), NOTHING);
}

#[test]
fn keys_that_order_nothing_are_warnings_with_the_way_out() {
    let one = |kind: &str, metadata: &str| {
        let (version, spec) = match kind {
            "Job" => ("batch/v1", "{template: {spec: {containers: []}}}"),
            _ => ("v1", "{}"),
        };
        let lines = lint(&format!(
            "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x, {metadata}}}\nspec: {spec}\n"
        ));
        assert_eq!(lines.len(), 1, "{metadata}: {lines:#?}");
        lines[0].clone()
    };
    for key in ["weight", "parallelism"] {
        let line = one("Job", &format!("annotations: {{sluice.dev/{key}: '2'}}"));
        assert!(
            line.starts_with(&format!(
                "warning: 1: Job x: sluice.dev/{key}: it is in no scope, so there is no wave; "
            )),
            "{line}"
        );
        assert!(line.ends_with("annotate it with sluice.dev/scope"));
    }
    let hook = "labels: {app.kubernetes.io/instance: r}, annotations: {helm.sh/hook: pre-install, sluice.dev/weight: '2'}";
    assert!(one("Job", hook).contains("Helm runs its hooks itself"));
    let line = one(
        "Secret",
        "labels: {app.kubernetes.io/instance: r}, annotations: {sluice.dev/weight: '2'}",
    );
    assert!(
        line.ends_with("waves are made of workloads, Services, claims and custom resources"),
        "{line}"
    );
    let bad = one(
        "Job",
        "labels: {app.kubernetes.io/instance: r}, annotations: {sluice.dev/weight: heavy}",
    );
    assert!(
        bad.starts_with("error: ") && bad.contains("\"heavy\""),
        "{bad}"
    );
}

#[test]
fn different_caps_in_one_wave_are_a_warning() {
    let cap = |name: &str, cap: &str| deployment(name, &format!("sluice.dev/parallelism: '{cap}'"));
    let objects = [
        cap("a", "3"),
        cap("b", "0"),
        cap("c", "1"),
        deployment("d", ""),
        deployment("e", "sluice.dev/parallelism: '5', sluice.dev/weight: '1'"),
    ];
    let expected = "warning: 1: Deployment a: sluice.dev/parallelism: 3 here and 1 on \
                    Deployment b, both of weight 0 in r: the smallest counts for all of them; write the same on each";
    assert_eq!(lint(&objects.concat()), [expected]);
}

#[test]
fn a_plan_may_name_a_kind_by_its_resource() {
    let rollout = "---\napiVersion: argoproj.io/v1alpha1\nkind: Rollout\n\
         metadata: {name: web, labels: {app.kubernetes.io/instance: r}}\nspec: {template: {spec: {containers: []}}}\n";
    let back = "sluice.dev/depends-on: rollouts.argoproj.io/web";
    let lines = lint(
        &[
            plan(IN_R, "rollouts.argoproj.io/web: [job/migrate]"),
            rollout.to_owned(),
            workload("Job", "migrate", back, ""),
        ]
        .concat(),
    );
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("wait for each other"), "{lines:?}");
}

#[test]
fn a_plan_is_read() {
    let api = workload("Deployment", "api", "", "helm.sh/chart: api-1.0.0");
    let one = |label: &str, text: &str| lint(&[plan(label, text), api.clone()].concat());
    assert_eq!(one(IN_R, "api: []"), NOTHING);
    assert_eq!(
        one(IN_R, "api: []\nweb: [a b]"),
        [
            "error: 1: ConfigMap order, data: order: sub-chart \"a b\" has ' ' in it; \
             letters, digits, \"-\", \"_\" and \".\" are allowed"
        ]
    );
    let unknown = one(IN_R, "web: [api, group/data]");
    assert_eq!(
        unknown,
        [
            "warning: 1: ConfigMap order, data: order: release r has no group/data, subchart/web; check \
             the spelling"
        ]
    );
    assert_eq!(
        one(IN_R, "deployment/api: [{any: [svc/a, svc/b]}]"),
        NOTHING
    );
    let unknown = one(IN_R, "deployment/web: [job/x:complete, deploy/api]");
    assert!(
        unknown[0].contains("release r has no Deployment/web, Job/x; check"),
        "{unknown:?}"
    );
    let hook = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: init, annotations: {helm.sh/hook: post-install}}\n";
    let with_hook = [&plan(IN_R, "api: [job/init]"), hook, &api];
    assert_eq!(lint(&with_hook.concat()), NOTHING, "it is of no release");
    let early = lint(&plan(IN_R, "api: [store]"));
    assert!(
        early[0].starts_with(
            "note: 1: ConfigMap order, data: order: there is nothing of release r yet"
        ),
        "{early:?}"
    );
    let nowhere = one("a: b", "api: []");
    assert!(
        nowhere[0].contains("the plan is in no release, so nothing of it but \"everyPod\" counts"),
        "{nowhere:?}"
    );
    let no_plan = lint(&plan(IN_R, "api: []").replace("'true'", "'yes'"));
    assert!(
        no_plan[0].ends_with("it counts on a ConfigMap, and its only value there is \"true\""),
        "{no_plan:?}"
    );
    let no_key = lint(&plan(IN_R, "api: []").replace("order: |", "oder: |"));
    assert!(
        no_key[0].contains("the plan has no key \"order\""),
        "{no_key:?}"
    );
}

#[test]
fn parts_without_objects_are_told() {
    let of = |list: &str| {
        lint(&deployment(
            "a",
            &format!("sluice.dev/depends-on: {list}, sluice.dev/group: own"),
        ))
    };
    for (list, end) in [
        ("subchart/db", "is not waited for; check the spelling"),
        ("group/own", "in which no other of these objects is"),
        ("release/x", "which is not among these objects"),
    ] {
        let lines = of(list);
        assert!(lines[0].starts_with("note: "), "{lines:?}");
        assert!(lines[0].ends_with(end), "{lines:?}");
    }
    let alone = lint(&super::deployment("a", "subchart/db"));
    assert!(
        alone[0].starts_with("warning: ") && alone[0].contains("is in no scope"),
        "{alone:?}"
    );
}

#[test]
fn a_sub_chart_in_another_namespace_is_found_where_the_entry_looks() {
    let of_release = |kind: &str, name: &str, namespace: &str, list: &str| {
        let annotations = format!(
            "meta.helm.sh/release-name: r, meta.helm.sh/release-namespace: shop, sluice.dev/depends-on: '{list}'"
        );
        format!(
            "---\napiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}, labels: {{helm.sh/chart: {name}-1.0.0}}, \
             annotations: {{{annotations}}}}}\nspec: {{template: {{spec: {{containers: []}}}}}}\n"
        )
    };
    let told = |list: &str| {
        let api = of_release("Deployment", "api", "shop", list);
        lint(&format!(
            "{api}{}",
            of_release("StatefulSet", "db", "data", "")
        ))
    };
    let [line] = told("subchart/db").try_into().expect("one line");
    assert!(
        line.starts_with("warning: 1: Deployment shop/api: "),
        "{line}"
    );
    assert!(
        line.contains("subchart/db of its release is in namespace data, and nobody looks for it there, so it is not waited for"),
        "{line}"
    );
    assert_eq!(told("data/subchart/db"), [""; 0]);
    let [line] = told("other/subchart/db").try_into().expect("one line");
    assert!(
        line.ends_with("of which these objects have none there: it waits until there is one"),
        "{line}"
    );
}

#[test]
fn a_sub_chart_with_an_alias_is_called_so() {
    let redis = [Alias {
        chart: "redis".to_owned(),
        alias: "cache".to_owned(),
    }];
    let api = |list: &str| {
        deployment(
            "api",
            &format!("sluice.dev/depends-on: {list}, sluice.dev/scope: r"),
        )
    };
    let [line] = lint_of(&api("subchart/redis"), &redis)
        .try_into()
        .expect("one line");
    assert!(
        line.starts_with("warning: ") && line.ends_with("write subchart/cache"),
        "{line}"
    );
    let [line] = lint_of(&api("subchart/other"), &redis)
        .try_into()
        .expect("one line");
    assert!(line.starts_with("note: "), "{line}");
    let cache = job(
        "c",
        ", labels: {helm.sh/chart: cache-1.0.0}, annotations: {sluice.dev/scope: r}",
        "",
    );
    assert_eq!(
        lint_of(&format!("{}{cache}", api("subchart/cache")), &redis),
        [""; 0]
    );
}

#[test]
fn an_object_of_a_sub_chart_that_says_no_release_is_told() {
    let api = deployment(
        "api",
        "sluice.dev/depends-on: subchart/redis, sluice.dev/scope: r",
    );
    let redis = |more: &str| {
        job(
            "redis",
            &format!(", labels: {{chart: redis-10.5.7{more}}}"),
            "",
        )
    };
    let [line] = lint(&format!("{api}{}", redis("")))
        .try_into()
        .expect("one line");
    assert!(line.starts_with("warning: "), "{line}");
    assert!(
        line.ends_with("Job redis is of that chart and says no release, so it waits for ever: give it sluice.dev/scope: r"),
        "{line}"
    );
    let claimed = lint(&format!("{api}{}", redis(", release: r")));
    assert_eq!(claimed, [""; 0]);
}
