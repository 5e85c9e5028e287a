//! Advice that rests on the dependency itself: a Job that is removed or suspended, a Service without pods, a forbidden kind, a namesake,
//! a sub-chart in another namespace.

use super::*;

#[test]
fn a_job_that_is_taken_away_is_told_of() {
    let told = |annotations: Value, spec: Value| told("job/migrate", &job(&annotations, &spec));
    assert_eq!(
        told(json!({}), json!({"ttlSecondsAfterFinished": 60})),
        "Job/migrate is removed 60 s after its end (ttlSecondsAfterFinished); if sluice misses its end, later pods wait for \
         a Job that is gone; keep it for a day"
    );
    assert_eq!(
        told(json!({}), json!({"ttlSecondsAfterFinished": 86400})),
        ""
    );
    let hook = |policy: &str| {
        let hook = json!({"helm.sh/hook": "pre-install", "helm.sh/hook-delete-policy": policy});
        told(hook, json!({}))
    };
    assert_eq!(
        hook("before-hook-creation, hook-succeeded"),
        "Job/migrate is removed when it succeeds (helm.sh/hook-delete-policy); if sluice misses its end, later pods wait for \
         a Job that is gone; take hook-succeeded away"
    );
    assert_eq!(hook("before-hook-creation"), "");
    let no_hook = json!({"helm.sh/hook-delete-policy": "hook-succeeded"});
    assert_eq!(told(no_hook, json!({})), "");
}

#[test]
fn what_may_be_gone_or_may_be_another_is_not_told_of() {
    let known = job(
        &json!({"helm.sh/hook": "post-install"}),
        &json!({"ttlSecondsAfterFinished": 60}),
    );
    let count = |list: &str| said("Deployment", &deployment(&json!({})), list, &known).len();
    assert_eq!(count("job/migrate"), 2);
    assert_eq!(count("shop/job/migrate"), 2);
    assert_eq!(count("- {kind: Job, selector: app=a}"), 2);
    for list in [
        "data/job/migrate",
        "- {kind: Job, name: migrate, optional: true}",
        "- {kind: Job, selector: app=a, min: 1}",
        "- any: [job/migrate, job/other]",
        "group/x",
    ] {
        assert_eq!(count(list), 0, "{list}");
    }
}

#[test]
fn a_suspended_job_is_told_of_where_it_has_to_run() {
    let known = job(&json!({}), &json!({"suspend": true}));
    let expected = "Job/migrate is suspended, so it does not complete before somebody resumes it; take spec.suspend away";
    assert_eq!(told("job/migrate", &known), expected);
    assert_eq!(told("job/migrate:present", &known), "");
    let selector = "[{kind: Job, selector: app=x}]";
    assert_eq!(told(selector, &known), expected);
}

#[test]
fn a_service_that_nobody_serves_is_told_of() {
    let told = |selector: Value, served, list: &str| {
        told(
            list,
            &Cluster {
                objects: vec![("Service/front", json!({"spec": {"selector": selector}}))],
                served: Some(served),
                ..Cluster::default()
            },
        )
    };
    let own = json!({"app": "api"});
    let expected = "Service/front selects its own pods, and nobody else is behind it: it has no endpoint before they start, \
                    and they wait for it; take it out of the list";
    assert_eq!(told(own.clone(), Served::NotYet, "svc/front"), expected);
    assert_eq!(told(own.clone(), Served::Never, "svc/front"), expected);
    let other = json!({"app": "web"});
    assert_eq!(
        told(other.clone(), Served::Never, "svc/front"),
        "Service/front selects no pod of these objects, and without an endpoint it is never ready; correct its selector"
    );
    for selector in [json!({}), Value::Null] {
        assert_eq!(
            told(selector, Served::NotYet, "svc/front"),
            "Service/front has no selector: it counts as ready as soon as it exists; wait for what is behind it"
        );
    }
    for (selector, served, list) in [
        (own.clone(), Served::Yes, "svc/front"),
        (own.clone(), Served::Unknown, "svc/front"),
        (other, Served::NotYet, "svc/front"),
        (own, Served::NotYet, "svc/front:present"),
        (json!({}), Served::NotYet, "svc/front:present"),
    ] {
        assert_eq!(told(selector, served, list), "", "{served:?} {list}");
    }
}

#[test]
fn a_kind_that_may_not_be_watched_is_told_of() {
    let told = |kind: &'static str, list: &str| {
        let forbidden = Some(kind);
        told(
            list,
            &Cluster {
                forbidden,
                ..Cluster::default()
            },
        )
    };
    let custom = "certificate.cert-manager.io";
    assert_eq!(
        told(custom, "certificate.cert-manager.io/tls"),
        "sluice may not watch certificate.cert-manager.io, so its pods would wait for ever; have rbac.kinds of sluice's \
         chart allow it"
    );
    assert!(told("Secret", "secret/s").contains("have rbac.secrets of sluice's chart allow it"));
    assert_eq!(told(custom, "job/migrate"), "");
}

#[test]
fn a_dependent_is_told_apart_from_its_namesakes() {
    let expected = "it waits for itself and never starts; take the entry out of its list";
    for list in ["deploy/api", "shop/deploy/api", "[{any: [deploy/api]}]"] {
        assert_eq!(told(list, &()), expected, "{list}");
    }
    for list in [
        "deploy/web",
        "data/deploy/api",
        "statefulset/api",
        "[{any: [deploy/api, deploy/web]}]",
        "deployment.example.com/api",
    ] {
        assert_eq!(told(list, &()), "", "{list}");
    }
}

#[test]
fn a_sub_chart_that_is_elsewhere_is_told_of_unless_the_entry_says_where() {
    let known = Cluster {
        elsewhere: &["data"],
        ..Cluster::default()
    };
    assert_eq!(
        told("subchart/postgresql", &known),
        "subchart/postgresql of its release is in namespace data, and nobody looks for it there, so it is not waited for; \
         write data/subchart/postgresql"
    );
    for list in [
        "data/subchart/postgresql",
        "group/postgresql",
        "release/postgresql",
    ] {
        assert_eq!(told(list, &known), "", "{list}");
    }
}

#[test]
fn a_workload_that_is_scaled_to_zero_is_told_of() {
    let told = |replicas: u32, list: &str| {
        let db = json!({"spec": {"replicas": replicas}});
        let known = Cluster {
            objects: vec![("Deployment/db", db.clone()), ("StatefulSet/db", db)],
            ..Cluster::default()
        };
        told(list, &known)
    };
    let expected = "Deployment/db is scaled to zero, and counts as ready without a pod; raise its spec.replicas, or take the entry away";
    assert_eq!(told(0, "deploy/db"), expected);
    assert_eq!(told(0, "deploy/db:available"), expected);
    assert!(told(0, "sts/db").starts_with("StatefulSet/db is scaled to zero"));
    assert_eq!(told(1, "deploy/db"), "");
    assert_eq!(told(0, "deploy/db:present"), "");
    let health = "[{kind: Deployment, name: db, health: /status/replicas >= 1}]";
    assert_eq!(told(0, health), "");
}

#[test]
fn a_service_of_stopped_workloads_is_told_of() {
    let known = Cluster {
        objects: vec![(
            "Service/front",
            json!({"spec": {"selector": {"app": "web"}}}),
        )],
        served: Some(Served::Stopped),
        ..Cluster::default()
    };
    let expected = "Service/front has no endpoint while the workloads behind it are scaled to zero, so the wait does not end; raise \
                    their spec.replicas";
    assert_eq!(told("svc/front", &known), expected);
    assert_eq!(told("svc/front:present", &known), "");
}

#[test]
fn a_cron_job_is_told_of_whether_it_is_there_or_not() {
    let expected = "CronJob/nightly counts as ready as soon as it exists, whatever becomes of its Jobs; wait for a Job, or for what its \
                    runs leave behind";
    assert_eq!(told("cronjob/nightly", &Cluster::default()), expected);
    assert_eq!(told("cronjob/nightly:present", &Cluster::default()), "");
    let optional = "[{kind: CronJob, name: nightly, optional: true}]";
    assert_eq!(told(optional, &Cluster::default()), "");
}

#[test]
fn a_workload_that_nothing_asks_is_told_of() {
    let told = |object: Value, list: &str| {
        let known = Cluster {
            objects: vec![("StatefulSet/db", object)],
            ..Cluster::default()
        };
        told(list, &known)
    };
    let expected = "StatefulSet/db has no readiness probe, and counts as ready as soon as its containers run; add a readinessProbe that \
                    asks what the wait is for";
    let marked = json!({"metadata": {"unasked": true}});
    assert_eq!(told(marked.clone(), "sts/db"), expected);
    assert_eq!(told(marked, "sts/db:present"), "");
    assert_eq!(told(json!({}), "sts/db"), "");
}
