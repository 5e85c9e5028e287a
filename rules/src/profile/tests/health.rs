//! Custom health: the annotations of the object, in the place of its kind's rule.

use super::*;

const SUCCESS: &str = "helm.sh/readiness-success";
const FAILURE: &str = "helm.sh/readiness-failure";
const HEALTH: &str = "sluice.dev/health";

/// A StatefulSet that is rolled out by the rule of its kind if `replicas` is 1.
fn set(replicas: u64, annotations: Value) -> Value {
    let status = json!({
        "observedGeneration": 2, "replicas": replicas, "readyReplicas": replicas, "currentReplicas": replicas,
        "updatedReplicas": replicas, "phase": "Serving", "conditions": [{ "type": "Ready", "status": true }],
    });
    let set = object("apps/v1", "StatefulSet", json!({}), status);
    with_metadata(set, json!({ "annotations": annotations }))
}

fn set_told(replicas: u64, annotations: Value) -> String {
    told(&set(replicas, annotations))
}

#[test]
fn expressions_speak_in_the_place_of_the_kind() {
    let holds = "Current Satisfied: its health expressions hold";
    for list in [
        "/status/phase == Serving",
        "\n  # a comment\n/status/phase == Serving\n/status/replicas < 1 # another",
        "[\"/status/phase == Serving\"]",
        "- /status/phase == Serving\n- '/status/replicas == 0'\n",
        // Expressions read the object that its author wrote: the rules would read this flag as a text.
        "/status/conditions/each/status == true",
    ] {
        assert_eq!(set_told(0, json!({ HEALTH: list })), holds, "{list}");
    }
    assert_eq!(
        set_told(1, json!({ HEALTH: "/status/phase == Primary" })),
        "InProgress HealthNotMet: sluice.dev/health: \"/status/phase == Primary\" does not hold: /status/phase is \"Serving\""
    );
    assert_eq!(
        set_told(1, json!({ "sluice.dev/health.status.phase": "!=Serving" })),
        "InProgress HealthNotMet: sluice.dev/health.status.phase: \"/status/phase !=Serving\" does not hold: /status/phase is \"Serving\""
    );
    assert_eq!(
        set_told(0, json!({ "sluice.dev/health.status.phase": "== Serving" })),
        holds
    );
}

#[test]
fn all_annotations_must_hold() {
    let both = |list: &str, one: &str| {
        set_told(
            1,
            json!({ HEALTH: list, "sluice.dev/health.status.replicas": one }),
        )
    };
    let phase = "/status/phase == Serving";
    assert!(both(phase, "== 1").starts_with("Current Satisfied"));
    assert!(both(phase, "== 2").contains("HealthNotMet: sluice.dev/health.status.replicas: "));
    assert!(both("/status/phase == x", "== 1").contains("HealthNotMet: sluice.dev/health: "));

    let pair = |success: &str, failure: &str, list: &str| {
        set_told(
            1,
            json!({ SUCCESS: success, FAILURE: failure, HEALTH: list }),
        )
    };
    let (met, unmet) = (r#"["{.replicas} == 1"]"#, r#"["{.replicas} == 2"]"#);
    assert!(pair(met, unmet, phase).starts_with("Current Satisfied"));
    assert!(pair(met, unmet, "/status/phase == x").contains("HealthNotMet: sluice.dev/health: "));
    assert!(pair(unmet, unmet, phase).contains("HealthNotMet: helm.sh/readiness-success: "));
    assert_eq!(
        pair(met, met, phase),
        "Failed HealthFailed: helm.sh/readiness-failure: \"{.replicas} == 1\""
    );
}

#[test]
fn what_cannot_be_read_holds_for_nobody() {
    for (annotations, message) in [
        (
            json!({ HEALTH: "- /status/phase == Serving\n- /status/replicas = 1" }),
            "sluice.dev/health: line 2, column 20: unknown operator \"=\"; did you mean \"==\"?",
        ),
        (
            json!({ HEALTH: "/status/phase == Serving\n .status.replicas >= 1" }),
            "sluice.dev/health: line 2, column 2: \".status.replicas\" is not a path from the root of the object; \
             did you mean \"/status/replicas\"?",
        ),
        (
            json!({ HEALTH: "" }),
            "sluice.dev/health: line 1, column 1: there is no expression; write one, e.g. \"/status/replicas >= 1\"",
        ),
        (
            json!({ HEALTH: "[]" }),
            "sluice.dev/health: line 1, column 1: there is no expression; write one, e.g. \"/status/replicas >= 1\"",
        ),
        (
            json!({ HEALTH: "[[/status]]" }),
            "sluice.dev/health: line 1, column 2: an expression is a text such as \"/status/replicas >= 1\", not a list",
        ),
        (
            json!({ HEALTH: "- /status/phase == Serving\n-" }),
            "sluice.dev/health: line 2, column 2: an expression is a text such as \"/status/replicas >= 1\", not nothing",
        ),
        (
            json!({ HEALTH: "{\"/status/phase\": 1}" }),
            "sluice.dev/health: line 1, column 1: not a list; begin each item on a line of its own with \"- \", \
             or write [item, item]",
        ),
        (
            json!({ HEALTH: 1 }),
            "sluice.dev/health: the value is not a text; put it in quotes",
        ),
        (
            json!({ "sluice.dev/healthy": "/status/phase == Serving" }),
            "sluice.dev/healthy: unknown annotation; did you mean \"sluice.dev/health\"?",
        ),
        (
            json!({ "sluice.dev/health.status.my_phase": "== Serving" }),
            "sluice.dev/health.status.my_phase: the underscore in \"my_phase\" means nothing; write \"my_uphase\"",
        ),
        (
            json!({ "sluice.dev/health.status.phase": "Serving" }),
            "sluice.dev/health.status.phase: line 1, column 1: there is no operator; write one of == != < <= > >=",
        ),
        (
            json!({ SUCCESS: r#"["{.phase} is Serving"]"#, FAILURE: r#"["{.phase} == x"]"# }),
            "helm.sh/readiness-success: \"{.phase} is Serving\" has an unsupported operator \"is\"; \
             write one of == != < <= > >=, with a space after it",
        ),
        (
            json!({ FAILURE: "{.phase} == x" }),
            "helm.sh/readiness-failure: not a JSON array of texts: invalid type: map, expected a sequence at line 1 column 0; \
             write e.g. [\"{.phase} == \\\"Running\\\"\"]",
        ),
        (
            json!({ SUCCESS: [], FAILURE: "[]" }),
            "helm.sh/readiness-success: the value is not a text; put it in quotes",
        ),
    ] {
        let set = set(1, annotations);
        assert_eq!(told(&set), format!("Unknown Unjudgeable: {message}"));
        assert!(ask(&set, State::Present, &Cluster::empty()).satisfied);
        assert!(ask(&set, State::Started, &Cluster::empty()).satisfied);
    }
}

#[test]
fn one_half_of_a_pair_has_no_effect_and_says_so() {
    let list = r#"["{.phase} == Never"]"#;
    assert_eq!(
        set_told(1, json!({ SUCCESS: list })),
        "Current Satisfied: Partition rollout complete; helm.sh/readiness-success has no effect without helm.sh/readiness-failure"
            .replace("Partition rollout complete", "All replicas scheduled as expected. Replicas: 1")
    );
    assert_eq!(
        set_told(0, json!({ FAILURE: list })),
        "InProgress InProgress: Replicas: 0/1; helm.sh/readiness-failure has no effect without helm.sh/readiness-success"
    );
    assert_eq!(
        set_told(0, json!({ FAILURE: list, SUCCESS: "[]" })),
        "InProgress InProgress: Replicas: 0/1; \
         helm.sh/readiness-success and helm.sh/readiness-failure have no effect, because one of the lists is empty"
    );
    assert_eq!(
        set_told(0, json!({ FAILURE: list, HEALTH: "/status/replicas == 0" })),
        "Current Satisfied: its health expressions hold; \
         helm.sh/readiness-failure has no effect without helm.sh/readiness-success"
    );
}

#[test]
fn deletion_and_generation_are_asked_first() {
    let health = json!({ "annotations": { HEALTH: "/status/phase == Serving" } });
    let gone = with_metadata(
        set(1, json!({})),
        json!({ "annotations": health["annotations"], "deletionTimestamp": "2024-01-01T00:00:00Z" }),
    );
    assert!(told(&gone).starts_with("Terminating "));
    let behind = with_metadata(
        set(1, json!({})),
        json!({ "annotations": health["annotations"], "generation": 3 }),
    );
    assert!(told(&behind).starts_with("InProgress NotObserved"));
}

#[test]
fn only_ready_is_what_the_expressions_say() {
    let never = json!({ "annotations": { HEALTH: "/status/phase == Never" } });
    let reason = |object: &Value, state: State| ask(object, state, &Cluster::empty()).reason;
    let done = object(
        "batch/v1",
        "Job",
        json!({}),
        json!({ "startTime": "2024-01-01T00:00:00Z", "conditions": conditions(&[("Complete", "True")]) }),
    );
    let done = with_metadata(done, never.clone());
    assert_eq!(reason(&done, State::Ready), Reason::HealthNotMet);
    assert_eq!(reason(&done, State::Available), Reason::HealthNotMet);
    for state in [State::Present, State::Started, State::Complete] {
        assert_eq!(reason(&done, state), Reason::Satisfied);
    }
    let deployment = object(
        "apps/v1",
        "Deployment",
        json!({}),
        json!({ "observedGeneration": 2, "conditions": conditions(&[("Available", "True")]) }),
    );
    let deployment = with_metadata(deployment, never);
    assert_eq!(reason(&deployment, State::Available), Reason::Satisfied);
    assert_eq!(reason(&deployment, State::Ready), Reason::HealthNotMet);
}

fn annotations() -> impl Strategy<Value = Value> {
    const KEYS: [&str; 6] = [
        HEALTH,
        SUCCESS,
        FAILURE,
        "sluice.dev/health.status.phase",
        "sluice.dev/health.status.conditions.each.status",
        "sluice.dev/healthz",
    ];
    const VALUES: [&str; 10] = [
        "/status/phase == Running",
        "- /status/conditions/any/type == Ready\n- /status/replicas >= 1",
        "[\"/status != 1\"]",
        "== True",
        "!=7",
        "",
        "[]",
        r#"["{.phase} == Running", "{..type} != x"]"#,
        r#"["{.conditions[?(@.type=='Ready')].status} == True"]"#,
        "{",
    ];
    let value = prop_oneof![
        9 => prop::sample::select(VALUES.to_vec()).prop_map(Value::from),
        1 => any_json(),
    ];
    prop::collection::vec((prop::sample::select(KEYS.to_vec()), value), 1..4).prop_map(|pairs| {
        pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn judge_takes_any_annotations(object in manifest(), annotations in annotations()) {
        let mut object = object;
        object["metadata"] = json!({ "annotations": annotations });
        let judged = ask(&object, State::Ready, &Cluster::empty());
        prop_assert_eq!(judged.satisfied, judged.reason == Reason::Satisfied);
        prop_assert_eq!(judged.satisfied, judged.status == Status::Current);
        prop_assert!(!judged.message.is_empty() && !judged.message.contains('\n'));
    }
}

/// A world that knows one object, whole.
struct Whole(Lookup<Value>);

impl Objects for Whole {
    fn object(&self, _: &Kind, _: Option<&str>, _: &str) -> Lookup<Value> {
        Lookup::NotFound
    }

    fn whole<'o>(&self, _: &Kind, _: &'o Value) -> Lookup<Cow<'o, Value>> {
        self.0.clone().map(Cow::Owned)
    }

    fn list(&self, _: &Kind, _: Option<&str>, _: &Selector) -> Lookup<Vec<Value>> {
        Lookup::NotFound
    }

    fn namespaced(&self, _: &Kind) -> Lookup<bool> {
        Lookup::Found(true)
    }
}

#[test]
fn what_an_expression_looks_at_beyond_what_is_kept_is_read_whole() {
    let kept = |kind: &str, health: Option<&str>| {
        let annotations = health.map_or(json!({}), |health| json!({ HEALTH: health }));
        json!({ "apiVersion": "v1", "kind": kind, "metadata": {
            "name": "x", "namespace": "shop", "uid": "u", "annotations": annotations,
        } })
    };
    let judged = |object: &Value, state: State, edge: &[Expression], world: &Only<Whole>| {
        let kind = rules_kind(object);
        let judged = judge_by(&kind, object, (state, edge), world, noon());
        format!("{}: {}", judged.reason, judged.message)
    };
    let done = "/data/phase == done";
    let object = kept("ConfigMap", Some(done));
    let with = |uid: &str, phase: &str| {
        let mut whole = object.clone();
        whole["metadata"]["uid"] = json!(uid);
        whole["data"] = json!({ "phase": phase });
        Only::of(Whole(Lookup::Found(whole)))
    };
    let ready = |world: &Only<Whole>| judged(&object, State::Ready, &[], world);
    assert_eq!(
        ready(&with("u", "done")),
        "Satisfied: its health expressions hold"
    );
    assert_eq!(
        ready(&with("u", "begun")),
        "HealthNotMet: sluice.dev/health: \"/data/phase == done\" does not hold: /data/phase is \"begun\""
    );
    for not_yet in [
        with("of another object", "done"),
        Only::of(Whole(Lookup::NotFound)),
        Only::of(Whole(Lookup::Unavailable(Unavailable::Syncing))),
    ] {
        assert!(ready(&not_yet).starts_with("Syncing: "));
    }
    let stale = Only::of(Whole(Lookup::Unavailable(Unavailable::Stale)));
    assert!(ready(&stale).starts_with("Stale: "));

    // Nothing is read whole where no expression needs it.
    let nobody = Only::of(Whole(Lookup::Unavailable(Unavailable::Forbidden)));
    for (object, state) in [
        (kept("ConfigMap", None), State::Ready),
        (
            kept("ConfigMap", Some("/metadata/labels/a != b")),
            State::Ready,
        ),
        (object.clone(), State::Present),
        (kept("Secret", Some(done)), State::Ready),
    ] {
        let said = judged(&object, state, &[], &nobody);
        assert!(!said.starts_with("KindForbidden"), "{said}");
    }
    let secret = judged(&kept("Secret", Some(done)), State::Ready, &[], &nobody);
    assert_eq!(
        secret,
        "Unjudgeable: sluice.dev/health: \"/data/phase == done\" looks at what is never read: of a Secret only the metadata \
         is requested, with its annotations below sluice.dev/"
    );

    let edge = [Expression::parse("/status/podIP == 10.0.0.1").unwrap()];
    let mut pod = kept("Pod", None);
    pod["status"] = json!({ "phase": "Running" });
    let mut whole = pod.clone();
    whole["status"]["podIP"] = json!("10.0.0.1");
    let whole = Only::of(Whole(Lookup::Found(whole)));
    assert_eq!(
        judged(&pod, State::Ready, &edge, &whole),
        "Satisfied: its health expressions hold"
    );
}

fn rules_kind(object: &Value) -> Kind {
    let (group, kind) = kstatus::group_and_kind(object);
    Kind::Builtin(crate::kinds::builtin(group, kind).unwrap())
}

/// An expression on the object reads a large object whole, like an expression on the edge.
#[test]
fn what_a_large_object_says_of_itself_is_looked_at_whole() {
    let of = |key: &str, health: &str, length: usize| {
        let containers = json!([{ "name": "x".repeat(length) }]);
        let mut whole = with_metadata(
            object(
                "apps/v1",
                "Deployment",
                json!({ "template": { "spec": { "hostNetwork": false, "containers": containers } } }),
                json!({}),
            ),
            json!({ "uid": "u", "annotations": { key: health } }),
        );
        whole["status"] = json!({ "ok": true });
        let mut kept = whole.clone();
        let kind = rules_kind(&whole);
        crate::kept::trim_object(&kind, &mut kept);
        let judged = |world: Lookup<Value>| {
            let judged = judge(&kind, &kept, State::Ready, &Only::of(Whole(world)), noon());
            (judged.reason, judged.satisfied)
        };
        [
            judged(Lookup::Found(whole)),
            judged(Lookup::Unavailable(Unavailable::Syncing)),
        ]
    };
    let (met, syncing) = ((Reason::Satisfied, true), (Reason::Syncing, false));
    let beyond = "/spec/template/spec/hostNetwork == false";
    assert_eq!(of(HEALTH, beyond, 1_000), [met, met]);
    assert_eq!(of(HEALTH, beyond, 70_000), [met, syncing]);
    assert_eq!(of(HEALTH, "/status/ok == true", 70_000), [met, met]);
}
