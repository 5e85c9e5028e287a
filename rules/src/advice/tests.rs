use super::*;
use serde_json::json;

/// A cluster of a few objects, each under `Kind/name`.
#[derive(Debug, Default)]
struct Cluster {
    objects: Vec<(&'static str, Value)>,
    served: Option<Served>,
    elsewhere: &'static [&'static str],
    forbidden: Option<&'static str>,
    same_release: Option<bool>,
    /// Whether every kind is watched, so that what is not here is nowhere.
    complete: bool,
}

impl Seen for Cluster {
    fn object(&self, _: &Workload<'_>, named: &ObjectRef) -> Lookup<Target> {
        let key = format!("{}/{}", named.kind, named.name);
        match self.objects.iter().find(|(it, _)| *it == key) {
            Some((_, object)) => Lookup::Found(Target {
                object: object.clone(),
                same_release: self.same_release,
            }),
            None if self.complete => Lookup::NotFound,
            None => Lookup::Unavailable(Unavailable::Syncing),
        }
    }

    fn selected(&self, _: &Workload<'_>, selection: &Selection) -> Lookup<Vec<Target>> {
        let kind = format!("{}/", selection.kind);
        let of_kind = self
            .objects
            .iter()
            .filter(|(key, _)| key.starts_with(&kind));
        let targets = of_kind.map(|(_, object)| Target {
            object: object.clone(),
            same_release: self.same_release,
        });
        Lookup::Found(targets.collect())
    }

    fn served_by_others(&self, _: &Workload<'_>, _: &ObjectRef) -> Served {
        self.served.unwrap_or(Served::Unknown)
    }

    fn elsewhere(&self, _: &Workload<'_>, _: &Part) -> Vec<String> {
        self.elsewhere.iter().map(ToString::to_string).collect()
    }

    fn is_forbidden(&self, kind: &Kind) -> bool {
        self.forbidden == Some(&kind.to_string())
    }

    fn tells_of_other_namespaces(&self) -> bool {
        false
    }
}

/// A Deployment in namespace `shop`, with these annotations and what else is set in it.
fn deployment(annotations: &Value) -> Value {
    json!({
        "metadata": {"name": "api", "namespace": "shop", "annotations": annotations},
        "spec": {"template": {
            "metadata": {"labels": {"app": "api", "tier": "back"}},
            "spec": {"containers": [{"name": "app"}]},
        }},
    })
}

/// The sentences for an object of this kind, each of which has to fit into a header behind its name.
fn said(kind: &str, object: &Value, list: &str, known: &dyn Seen) -> Vec<String> {
    let group = match kind {
        "Deployment" => "apps",
        "Pod" => "",
        _ => "batch",
    };
    let templates = ["/spec/jobTemplate/spec/template", "/spec/template", ""];
    let template = templates.iter().find_map(|it| object.pointer(it)).unwrap();
    let workload = Workload {
        group,
        kind,
        namespace: "shop",
        name: "api",
        object,
        template,
    };
    let list = annotation::parse_depends_on(list).expect(list);
    let advice = of(&workload, &list, Windows::Refused, known);
    let sentences: Vec<_> = advice.iter().map(ToString::to_string).collect();
    for sentence in &sentences {
        assert!(
            sentence.len() <= 220,
            "{} bytes: {sentence}",
            sentence.len()
        );
    }
    sentences
}

fn told(list: &str, known: &dyn Seen) -> String {
    said("Deployment", &deployment(&json!({})), list, known).join("\n")
}

/// What a dependent with these annotations is told of a Job with those.
fn of_hooks(own: &Value, theirs: &Value, same_release: Option<bool>) -> String {
    let known = Cluster {
        same_release,
        ..job(theirs, &json!({}))
    };
    said("Deployment", &deployment(own), "job/migrate", &known).join("\n")
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    object.pointer_mut(parent).expect("is there")[key] = value;
    object
}

fn job(annotations: &Value, spec: &Value) -> Cluster {
    let metadata = json!({"name": "migrate", "annotations": annotations});
    Cluster {
        objects: vec![("Job/migrate", json!({"metadata": metadata, "spec": spec}))],
        ..Cluster::default()
    }
}

#[test]
fn a_progress_deadline_is_told_of_where_somebody_chose_it() {
    let with_deadline = |seconds: i64, annotations: &Value| {
        let object = deployment(annotations);
        let object = with(object, "/spec/progressDeadlineSeconds", json!(seconds));
        said("Deployment", &object, "job/migrate", &()).join("\n")
    };
    assert_eq!(
        with_deadline(30, &json!({})),
        "the wait counts against its progressDeadlineSeconds (30), after which it is reported as failed until it recovers; \
         raise it where a dependency may take longer"
    );
    assert_eq!(with_deadline(600, &json!({})), "", "the default");
    assert_eq!(told("job/migrate", &()), "", "the default, unwritten");
    let patient = json!({"sluice.dev/timeout": "30m"});
    assert!(with_deadline(600, &patient).contains("(600)"));
    assert!(with_deadline(1800, &patient).is_empty());
    let unwritten = said("Deployment", &deployment(&patient), "job/migrate", &());
    assert!(unwritten[0].contains("(600)"), "{unwritten:?}");
    let job = said("Job", &deployment(&patient), "job/migrate", &());
    assert!(job.is_empty(), "a Job has no such deadline: {job:?}");
}

#[test]
fn an_active_deadline_is_told_of_wherever_it_stands() {
    let expected = "the wait counts against activeDeadlineSeconds (30), after which its pods are ended as failed; raise it \
                    by what the dependencies may take";
    let job = deployment(&json!({}));
    for pointer in [
        "/spec/activeDeadlineSeconds",
        "/spec/template/spec/activeDeadlineSeconds",
    ] {
        let job = with(job.clone(), pointer, json!(30));
        assert_eq!(said("Job", &job, "job/migrate", &()), [expected]);
    }
    let cron =
        json!({"jobTemplate": {"spec": {"activeDeadlineSeconds": 30, "template": {"spec": {}}}}});
    let cron = with(job.clone(), "/spec", cron);
    assert_eq!(said("CronJob", &cron, "job/migrate", &()), [expected]);
    let pod = with(job, "/spec", json!({"activeDeadlineSeconds": 30}));
    assert_eq!(said("Pod", &pod, "job/migrate", &()), [expected]);
}

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
fn what_its_installer_makes_too_late_is_told_of() {
    let none = json!({});
    let hook = |hook: &str| json!({"helm.sh/hook": hook});
    let post = hook("pre-upgrade, post-install");
    assert_eq!(
        of_hooks(&none, &post, None),
        "Job/migrate is a post-install hook, which runs only once everything else is ready, so with --wait neither comes; \
         make it a plain object"
    );
    assert_eq!(
        of_hooks(&none, &post, Some(false)),
        "",
        "of another release"
    );
    let earlier = json!({"helm.sh/hook": "post-install", "helm.sh/hook-weight": "-1"});
    assert_eq!(of_hooks(&post, &earlier, Some(true)), "");
    assert_eq!(
        of_hooks(&none, &hook("pre-upgrade"), None),
        "Job/migrate is a pre-upgrade hook, which an installation does not make, so the first one waits for ever; make it a \
         plain object"
    );
    let wave = json!({"argocd.argoproj.io/sync-wave": "5"});
    assert_eq!(
        of_hooks(&none, &wave, None),
        "Job/migrate is in sync wave 5 of Argo CD, which comes only once wave 0, where this one is, is healthy: neither \
         comes; put it into an earlier wave"
    );
    assert_eq!(
        of_hooks(&none, &wave, Some(false)),
        "",
        "another application"
    );
}

#[test]
fn a_hook_that_runs_first_is_told_what_comes_only_after_it() {
    let first = json!({"helm.sh/hook": "pre-install"});
    let expected = "it is a pre-install hook, and Helm creates nothing else of a release before its end: if Job/migrate is \
                    of the same release, neither comes; make it a plain object";
    assert_eq!(of_hooks(&first, &json!({}), Some(true)), expected);
    assert_eq!(
        of_hooks(&first, &json!({}), None),
        "",
        "it is there, whose ever it is"
    );
    let later = json!({"helm.sh/hook": "pre-install", "helm.sh/hook-weight": "2"});
    assert_eq!(
        of_hooks(&first, &later, Some(true)),
        "Helm runs hooks by weight, then by name, and Job/migrate (weight 2) after this one (weight 0): neither comes; give \
         it a lower helm.sh/hook-weight"
    );
    let absent = |complete: bool, annotations: &Value| {
        let known = Cluster {
            complete,
            ..Cluster::default()
        };
        said(
            "Deployment",
            &deployment(annotations),
            "job/migrate",
            &known,
        )
        .join("\n")
    };
    assert_eq!(absent(true, &first), expected);
    assert_eq!(
        absent(false, &first),
        "",
        "nobody knows whether it is there"
    );
    assert_eq!(absent(true, &json!({"helm.sh/hook": "pre-upgrade"})), "");
    let sync = absent(true, &json!({"argocd.argoproj.io/hook": "PreSync"}));
    assert!(
        sync.starts_with("it is a PreSync hook, and Argo CD creates"),
        "{sync}"
    );
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
fn pods_on_windows_are_told_of_and_nothing_else() {
    let windows = with(
        deployment(&json!({})),
        "/spec/template/spec/nodeSelector",
        json!({"kubernetes.io/os": "windows"}),
    );
    let told = said("Deployment", &windows, "deploy/api", &());
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0]
            .starts_with("it runs on Windows, for which sluice has no gate: its pods are refused")
    );
}

#[test]
fn the_place_of_the_gate_counts_on_the_template() {
    let told = |own: Value, template: Value| {
        let object = with(
            deployment(&own),
            "/spec/template/metadata/annotations",
            template,
        );
        let object = with(
            object,
            "/spec/template/spec/initContainers",
            json!([{"name": "fetch"}]),
        );
        let template = &object["spec"]["template"];
        let workload = Workload {
            group: "apps",
            kind: "Deployment",
            namespace: "shop",
            name: "api",
            object: &object,
            template,
        };
        of_position(&workload).map(|advice| advice.label())
    };
    let at = |position: &str| json!({"sluice.dev/gate-position": position});
    assert_eq!(told(at("last"), json!({})), Some("PositionOnWorkload"));
    assert_eq!(told(at("last"), at("first")), None);
    assert_eq!(told(json!({}), at("after=fetch")), None);
    let missing = told(json!({}), at("after=fetsh"));
    assert_eq!(missing, Some("NoSuchInitContainer"));
    assert_eq!(told(json!({}), at("nonsense")), None, "refused elsewhere");
}

#[test]
fn an_entry_is_not_given_up_once_the_whole_wait_has_ended() {
    let told = |own: Value, list: &str| {
        let object = deployment(&own);
        said("Deployment", &object, list, &()).join("\n")
    };
    let ends = |then: &str| json!({"sluice.dev/timeout": "5m", "sluice.dev/on-timeout": then});
    let list = "[{kind: Service, name: cache, timeout: 10m, on-timeout: proceed}]";
    let expected = "the timeout of 10m of Service/cache has no effect, since sluice.dev/timeout ends the whole wait after \
                    5m; write a shorter one";
    assert_eq!(told(ends("proceed"), list), expected);
    assert_eq!(told(ends("fail"), list), expected);
    assert_eq!(
        told(ends("wait"), list),
        "",
        "the wait goes on, and it has its effect"
    );
    let terms = json!({"sluice.dev/timeout": "5m"});
    assert_eq!(told(terms, list), "", "so it does by default");
    let short = "[{kind: Service, name: cache, timeout: 5m, on-timeout: fail}]";
    assert_eq!(
        told(ends("proceed"), short),
        "",
        "of two that are equal it ends the wait"
    );
    assert_eq!(told(ends("proceed"), "svc/cache"), "");
    let raised = with(
        deployment(&ends("fail")),
        "/spec/template/metadata/annotations",
        json!({"sluice.dev/timeout": "10m"}),
    );
    assert_eq!(
        said("Deployment", &raised, list, &()),
        [""; 0],
        "the template's word counts"
    );
}

#[test]
fn a_hold_counts_on_the_template_and_of_a_job_itself_only_its_suspension() {
    let told = |own: Value, template: Value| {
        let object = json!({"metadata": {"annotations": own}});
        let template = json!({"metadata": {"annotations": template}});
        let workload = Workload {
            group: "batch",
            kind: "Job",
            namespace: "shop",
            name: "seed",
            object: &object,
            template: &template,
        };
        of_hold(&workload).map(|advice| advice.to_string())
    };
    let says = |word: &str| json!({"sluice.dev/hold": word});
    let expected =
        "sluice.dev/hold has no effect here; move it to the annotations of the pod template";
    assert_eq!(told(says("true"), json!({})).as_deref(), Some(expected));
    assert_eq!(told(says("false"), json!({})).as_deref(), Some(expected));
    assert_eq!(told(says("true"), says("true")), None);
    assert_eq!(told(says("suspend"), json!({})), None);
    assert_eq!(told(json!({}), says("true")), None);
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
fn keys_that_nobody_acts_on_have_our_spelling() {
    for (key, told) in [
        (
            "helm.sh/weight",
            "nobody acts on helm.sh/weight; write sluice.dev/weight",
        ),
        (
            "helm.sh/depends-on/resource-groups",
            "the API server refuses helm.sh/depends-on/resource-groups, a key with two slashes, and nobody acts on it; write \
             sluice.dev/depends-on: group/NAME",
        ),
        (
            "helm.sh/health/status/items/each/phase",
            "the API server refuses helm.sh/health/status/items/each/phase, a key with two slashes, and nobody acts on it; \
             write sluice.dev/health.status.items.each.phase",
        ),
        (
            "sluice.io/depends-on",
            "nobody acts on sluice.io/depends-on; write sluice.dev/depends-on",
        ),
        (
            "slucie.dev/weight",
            "nobody acts on slucie.dev/weight; write sluice.dev/weight",
        ),
        ("sluice.io/of-somebody-else", ""),
        ("helm.sh/hook-weight", ""),
        ("helm.sh/resource-group", ""),
        ("sluice.dev/depends-on", ""),
        ("depends-on", ""),
    ] {
        let advice = of_metadata(&json!({"annotations": {key: "x"}}));
        let sentences: Vec<_> = advice.iter().map(ToString::to_string).collect();
        assert_eq!(sentences.join(""), told, "{key}");
        let is_error = advice.iter().any(|it| it.level() == Level::Error);
        assert_eq!(is_error, told.starts_with("the API server"), "{key}");
    }
    let labels = json!({"labels": {"sluice.dev/weight": "1", "sluice.dev/gated": "true", "sluice.dev/plan": "true"}});
    let told = of_metadata(&labels);
    assert_eq!(told, [Advice::LabelOnly("sluice.dev/weight".to_owned())]);
    let hold = |value: &str| of_metadata(&json!({"labels": {"sluice.dev/hold": value}}));
    assert_eq!(hold("enabled"), [], "a Namespace says so");
    assert_eq!(
        hold("true"),
        [Advice::LabelOnly("sluice.dev/hold".to_owned())]
    );
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
fn an_outcome_of_a_timeout_needs_one() {
    let of = |own: &Value| said("Deployment", &deployment(own), "job/migrate", &()).join("");
    let fail = "sluice.dev/on-timeout";
    assert_eq!(
        of(&json!({fail: "fail"})),
        "sluice.dev/on-timeout has no effect without sluice.dev/timeout, since no wait is too long; write both"
    );
    assert_eq!(of(&json!({fail: "wait"})), "");
    assert_eq!(of(&json!({fail: "fail", "sluice.dev/timeout": "1m"})), "");
}
