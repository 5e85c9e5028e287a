use super::*;
use crate::dependency::{Plan, Step};
use std::sync::LazyLock;

fn refused(text: &str) -> String {
    annotation::order(text).expect_err(text).to_string()
}

/// The steps of a plan, as `what comes before < what waits`.
fn told(text: &str) -> Vec<String> {
    let plan = annotation::order(text).expect(text);
    let told = |step: Step| {
        let after: Vec<_> = step.after.iter().map(ToString::to_string).collect();
        format!("{} < {}", after.join(","), Dependency::on(step.subject))
    };
    plan.steps.into_iter().map(told).collect()
}

#[test]
fn a_plan_names_sub_charts_and_groups() {
    assert_eq!(
        told("postgresql: []\napi: [postgresql, group/data]\nweb: api\nredis:\n"),
        [
            " < subchart/postgresql",
            "subchart/postgresql,group/data < subchart/api",
            "subchart/api < subchart/web",
            " < subchart/redis",
        ]
    );
    assert_eq!(
        told("airflow/postgresql: subchart/mastodon/redis, redis"),
        ["subchart/mastodon/redis,subchart/redis < subchart/airflow/postgresql"]
    );
}

#[test]
fn every_name_on_the_way_to_a_sub_chart_is_checked() {
    assert_eq!(
        told("subchart/airflow/postgresql/common:"),
        [" < subchart/airflow/postgresql/common"]
    );
    assert_eq!(
        refused("api: subchart/airflow/postgresql/Common!"),
        "order: line 1, column 40: sub-chart \"Common!\" has '!' in it; letters, digits, \"-\", \"_\" and \".\" are allowed"
    );
}

#[test]
fn a_plan_names_objects_and_selectors() {
    assert_eq!(
        told("deployment/web: [job/migrate, deployment/api:available, postgresql]"),
        ["Job/migrate,Deployment/api:available,subchart/postgresql < Deployment/web"]
    );
    assert_eq!(
        told("worker: [{kind: Job, selector: app=init}, {any: [svc/a, svc/b]}]"),
        ["Job[app=init],any of (Service/a, Service/b) < subchart/worker"]
    );
    assert_eq!(
        told("{kind: Deployment, selector: tier=web}: {kind: Job, name: seed, optional: true}"),
        ["Job/seed < Deployment[tier=web]"]
    );
}

/// A text without content is an empty plan: a template that had nothing to render leaves such a text.
#[test]
fn what_says_nothing_is_a_plan_of_nothing() {
    for text in ["", " \n", "# nothing\n", "null", "---\n", "{}"] {
        assert_eq!(annotation::order(text), Ok(Plan::default()), "{text:?}");
    }
}

#[test]
fn what_is_no_plan_is_refused_at_its_place() {
    for many in [
        vec!["a"; 65].join(", "),
        format!("[{}]", vec!["a"; 65].join(", ")),
    ] {
        let told = refused(&format!("web: {many}"));
        assert!(told.contains("more than 64"), "{told}");
    }
    assert_eq!(
        refused("- api"),
        "order: line 1, column 1: a plan is a mapping from a sub-chart, a group or an object to a list of what comes before it, e.g. \"api: [postgresql, job/migrate]\""
    );
    assert_eq!(
        refused("api: []\napi: []"),
        "order: line 2, column 1: \"subchart/api\" appears twice in the plan; write one list for it"
    );
    assert_eq!(
        refused("api: [deploymnt/web]"),
        "order: line 1, column 7: unknown kind \"deploymnt\"; did you mean \"deployment\"?"
    );
    for subject in ["job/migrate:complete", "release/data", "{any: [svc/a]}"] {
        let told = refused(&format!("{subject}: []"));
        assert!(told.contains("a plan cannot order"), "{subject}: {told}");
    }
    assert_eq!(
        refused("api: [a b]"),
        "order: line 1, column 8: sub-chart \"a b\" has ' ' in it; letters, digits, \"-\", \"_\" and \".\" are allowed"
    );
}

#[test]
fn a_variable_in_a_plan_is_refused_with_the_way_out() {
    for text in [
        "api: [{tcp: $(DATABASE_URL)}]",
        "api: [{any: [job/a, {http: $(DATABASE_URL)}]}]",
        "api: dns://$(DATABASE_URL)",
    ] {
        let error = refused(text);
        let told = "order: line 1, column 6: $(DATABASE_URL) is a variable of one pod's containers, and a plan is about many pods; write the \
                    address out, or write the entry into the list on the pod template";
        assert!(error.starts_with(told), "{error}");
    }
    assert!(annotation::order("api: [{tcp: db.example.com:5432}]").is_ok());
}

#[test]
fn an_order_that_nobody_can_keep_is_refused_with_the_way_round() {
    assert_eq!(
        refused("a: [a]"),
        "order: line 1, column 1: the plan has a cycle: subchart/a -> subchart/a; take one of these out"
    );
    assert!(
        refused("x: []\na: [b]\nb: [c]\nc: [a, x]")
            .contains("subchart/a -> subchart/b -> subchart/c -> subchart/a")
    );
    assert!(
        refused("deployment/a: [job/b:complete]\njob/b: [deploy/a]")
            .contains("Deployment/a -> Job/b -> Deployment/a")
    );
    // That of the first step that has one, which need not be the first that leads to it.
    assert_eq!(
        refused("x: [b]\ny: [x, z]\na: [z, b]\nb: [c]\nc: [a]"),
        "order: line 3, column 1: the plan has a cycle: subchart/a -> subchart/b -> subchart/c -> subchart/a; take one of these out"
    );
    assert!(
        annotation::order("a: [b, c]\nb: [d]\nc: [d]").is_ok(),
        "two ways are no cycle"
    );
}

#[test]
fn a_plan_counts_for_its_own_release() {
    let plan = |release: &str| {
        json!({
            "metadata": {"namespace": "shop", "annotations": {"meta.helm.sh/release-name": release}},
            "data": {"order": "api: [postgresql]"},
        })
    };
    let of = |name: &str| Scope::of(&plan(name)).unwrap();
    let ask = |scope: &Scope, chart: &str| {
        let parts = [Part::SubChart(chart.to_owned())];
        let labels = Map::new();
        let found =
            dependencies(&[plan("r")], Some(scope), &called(&parts, &labels), false).unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(ask(&of("r"), "api"), ["subchart/postgresql"]);
    assert_eq!(ask(&of("other"), "api"), [""; 0]);
    assert_eq!(ask(&of("r"), "web"), [""; 0]);
}

#[test]
fn a_plan_before_its_release_is_told_from_one_that_is_misspelt() {
    let plan = json!({
        "metadata": {"namespace": "shop", "annotations": {"sluice.dev/scope": "r"}},
        "data": {"order": "api: [postgresql]"},
    });
    let told = |has: &[&str], is_there: bool| {
        let is_empty = |it: &Reference, _: &Scope| {
            let part = Dependency::on(it.clone()).to_string();
            !has.contains(&part.as_str())
        };
        let scope = Scope::of(&plan);
        let flaw = flaw(
            &plan,
            scope.as_ref(),
            |_| Some(true),
            is_empty,
            |_| is_there,
        );
        flaw.map(|it| it.to_string())
    };
    assert_eq!(told(&["subchart/api", "subchart/postgresql"], true), None);
    let early = told(&[], false).unwrap();
    let expected = "there is nothing of release r yet; the plan orders it once it is installed";
    assert!(early.starts_with(expected), "{early}");
    let misspelt = told(&[], true).unwrap();
    let expected = "release r has no subchart/api, subchart/postgresql; check the spelling";
    assert_eq!(misspelt, expected);
}

/// Deployment `r-airflow-db` of the namespace `shop`.
fn called<'d>(parts: &'d [Part], labels: &'d Map<String, Value>) -> Called<'d> {
    static KIND: LazyLock<Kind> =
        LazyLock::new(|| Kind::Builtin(kinds::by_word("deployment").unwrap()));
    Called {
        namespace: "shop",
        objects: vec![(&KIND, "r-airflow-db")],
        pod: "r-airflow-db-1",
        parts,
        labels,
        is_same: &|one, other| one == other,
        has_chart: &|_| false,
    }
}

#[test]
fn what_a_plan_orders_is_known_by_any_of_its_names() {
    let scope = Scope {
        namespace: "shop".to_owned(),
        name: "r".to_owned(),
        kept_in: None,
    };
    let labels = json!({"tier": "db"});
    let labels = labels.as_object().unwrap();
    let parts = [Part::SubChart("db".to_owned())];
    let ask = |subject: &str, after: &str| {
        let plan = json!({
            "metadata": {"namespace": "shop", "annotations": {"meta.helm.sh/release-name": "r"}},
            "data": {"order": format!("{subject}: [{after}]")},
        });
        let found = dependencies(&[plan], Some(&scope), &called(&parts, labels), false).unwrap();
        found.len()
    };
    for subject in [
        "db",
        "airflow/db",
        "deployment/r-airflow-db",
        "shop/deploy/r-airflow-db",
        "{kind: Deployment, selector: tier=db}",
    ] {
        assert_eq!(ask(subject, "job/migrate"), 1, "{subject}");
        // Not even where it is named on both sides: it would wait for itself.
        assert_eq!(
            ask(subject, "{kind: Deployment, selector: tier}"),
            0,
            "{subject}"
        );
    }
    for subject in [
        "other",
        "mastodon/db",
        "air/db",
        "deployment/other",
        "job/r-airflow-db",
        "data/deployment/r-airflow-db",
        "{kind: Deployment, selector: tier=web}",
        "{kind: Job, selector: tier=db}",
    ] {
        assert_eq!(ask(subject, "job/migrate"), 0, "{subject}");
    }
}

/// The label of the application counts only where no chart has that name: otherwise two exporters of a database would wait for each other.
#[test]
fn the_label_of_the_application_orders_where_no_chart_is_called_so() {
    let plan = json!({
        "metadata": {"namespace": "shop", "annotations": {"meta.helm.sh/release-name": "r"}},
        "data": {"order": "postgresql: [exporter]"},
    });
    let scope = Scope::of(&plan).unwrap();
    let parts = ["exporter", "postgresql"].map(|it| Part::SubChart(it.to_owned()));
    let ask = |chart: &str, there: bool| {
        let labels = json!({"helm.sh/chart": chart, "app.kubernetes.io/name": "postgresql"});
        let called = Called {
            has_chart: &|part| there && *part == parts[1],
            ..called(&parts, labels.as_object().unwrap())
        };
        dependencies(std::slice::from_ref(&plan), Some(&scope), &called, false)
            .unwrap()
            .len()
    };
    assert_eq!(ask("exporter-1.0.0", true), 0);
    assert_eq!(ask("exporter-1.0.0", false), 1);
    assert_eq!(ask("postgresql-1.0.0", true), 1);
}

/// A plan of release `r`, or of none.
fn plan_of(release: Option<&str>, order: &str) -> Value {
    let annotations = release.map(|it| json!({"meta.helm.sh/release-name": it}));
    json!({"metadata": {"namespace": "shop", "annotations": annotations}, "data": {"order": order}})
}

#[test]
fn a_plan_holds_every_pod_of_its_namespace() {
    let labels = json!({"tier": "db"});
    let ask = |release: Option<&str>, order: &str| {
        let plan = plan_of(release, order);
        let scope = Scope::of(&plan_of(Some("other"), ""));
        let called = called(&[], labels.as_object().unwrap());
        let of = |scope: Option<&Scope>| {
            let found = dependencies(std::slice::from_ref(&plan), scope, &called, false).unwrap();
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(of(scope.as_ref()), of(None), "{order}");
        of(None)
    };
    let cni = "everyPod: [{kind: DaemonSet, name: cni, namespace: kube-system, sameNode: true}]";
    for release in [None, Some("r")] {
        let held = ask(release, &format!("{cni}\napi: [postgresql]"));
        assert_eq!(held, ["kube-system/DaemonSet/cni"]);
    }
    // A pod that one of the entries means waits for none of them: they may need each other.
    for meant in [
        "deployment/r-airflow-db",
        "{kind: Deployment, selector: tier=db}",
        "{any: [svc/db, deployment/r-airflow-db]}",
    ] {
        assert_eq!(
            ask(None, &format!("everyPod: [job/seed, {meant}]")),
            [""; 0]
        );
    }
    assert_eq!(ask(None, "everyPod: [job/r-airflow-db]").len(), 1);
}

#[test]
fn every_pod_is_said_once_and_of_objects() {
    assert_eq!(
        refused("everyPod: job/a\napi: []\neveryPod: job/b"),
        "order: line 3, column 1: \"everyPod\" appears twice in the plan; write one list for it"
    );
    for part in ["postgresql", "group/data", "{any: [job/a, group/data]}"] {
        let told = refused(&format!("everyPod: [{part}]"));
        assert!(
            told.contains("name an object, or several by a selector"),
            "{part}: {told}"
        );
    }
    assert!(refused("everyPod: [{tcp: $(URL)}]").contains("is a variable of one pod's containers"));
}

/// An unreadable plan that may hold every pod keeps every pod of its namespace from starting early; one that cannot counts for its release alone.
#[test]
fn a_plan_that_cannot_be_read_and_may_hold_every_pod_counts_for_every_pod() {
    let labels = Map::new();
    let ask = |order: &str| {
        dependencies(
            &[plan_of(Some("r"), order)],
            None,
            &called(&[], &labels),
            false,
        )
    };
    assert!(ask("everyPod: [deploymnt/web]").is_err());
    let cut_off = "#".repeat(annotation::MAX_BYTES + 1);
    assert!(ask(&cut_off).is_err());
    assert_eq!(ask("api: [deploymnt/web]"), Ok(Vec::new()));
}

#[test]
fn a_plan_for_every_pod_needs_no_release() {
    let flaw = |order: &str, gated: bool| {
        let plan = plan_of(None, order);
        flaw(&plan, None, |_| Some(gated), |_, _| false, |_| true)
    };
    assert_eq!(flaw("everyPod: [ds/cni]", true), None);
    assert_eq!(
        flaw("everyPod: [ds/cni]\napi: [db]", true),
        Some(PlanFlaw::NoRelease)
    );
    let namespace = "shop".to_owned();
    assert_eq!(
        flaw("everyPod: [ds/cni]", false),
        Some(PlanFlaw::NoGates { namespace })
    );
}
