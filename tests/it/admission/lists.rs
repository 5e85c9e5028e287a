use super::workloads::{kinds, template_mut};
use super::{annotated, answer, review, running, workload};
use rules::annotation::declared;
use serde_json::{Value, json};
use std::time::Duration;

const OURS: &str = "sluice.dev/depends-on";
const THEIRS: &str = "config.kubernetes.io/depends-on";
const REVISION: &str = "sluice.dev/revision";

/// Returns the parser's message on the bad list `text` under the annotation `key`; `None` where it accepts the list or there is none.
fn said(key: &str, text: &str) -> Option<String> {
    let annotations = json!({key: text});
    let declared = annotations.as_object().map(declared);
    declared?.err().map(|error| error.to_string())
}

fn bad_lists() -> Vec<(&'static str, String)> {
    let aliases = "- &a job/x\n".to_owned() + &"- *a\n".repeat(100);
    let bombs = "- &a [x,x,x]\n- &b [*a,*a,*a]\n- &c [*b,*b,*b]\n".to_owned();
    vec![
        (OURS, "Deploymnt/x".to_owned()),
        (OURS, "job/migrate, ../../etc".to_owned()),
        (OURS, "job/%2e%2e".to_owned()),
        (OURS, "job/a\0b".to_owned()),
        (OURS, "job/a?b".to_owned()),
        (OURS, "јob/a".to_owned()),
        (OURS, "x".repeat(1 << 20)),
        (OURS, "job/a,".repeat(10_000)),
        (OURS, "[".repeat(8_000)),
        (OURS, aliases),
        (OURS, bombs),
        (OURS, "- {kind: Job, name: a, colour: red}".to_owned()),
        (OURS, "- {kind: Job, name: a, sameNode: true}".to_owned()),
        (OURS, "- {kind: Pod, selector: 'app in ('}".to_owned()),
        (
            OURS,
            format!("- kind: Pod\n  selector: '{}'", "a=b,".repeat(2_000)),
        ),
        (OURS, format!("- any: {}", "[{any: ".repeat(1_000))),
        (OURS, "deployment/api:complete".to_owned()),
        (REVISION, "{{ .Release.Revision }}".to_owned()),
        ("sluice.dev/timeout", "5".to_owned()),
        ("sluice.dev/on-timeout", "explode".to_owned()),
        ("sluice.dev/on-failure", "Fail".to_owned()),
        ("sluice.dev/regate", "allways".to_owned()),
        ("sluice.dev/skip", "yes".to_owned()),
        (
            OURS,
            "- {kind: Secret, name: a, health: /data/a == 1}".to_owned(),
        ),
        (THEIRS, "apps/Deploymnt/x".to_owned()),
        (THEIRS, "apps/namespaces/shop/../x".to_owned()),
        (THEIRS, ",".repeat(1 << 20)),
    ]
}

fn pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "annotations": {}},
        "spec": {"containers": [{"name": "app"}]},
    })
}

#[tokio::test]
async fn a_bad_list_is_refused_in_the_words_of_the_parser() {
    for (key, text) in bad_lists() {
        let expected = said(key, &text);
        for object in [pod(), workload("apps/v1", "Deployment")] {
            let review = review(
                "CREATE",
                &annotated(object.clone(), key, &text),
                &Value::Null,
            );
            let response = answer(&running(), &review).await;
            assert_eq!(response["allowed"], expected.is_none());
            let message = response["status"]["message"].as_str().unwrap_or_default();
            if let Some(expected) = &expected {
                let name = object["metadata"]["name"].as_str().unwrap();
                assert!(message.contains(expected), "{message}");
                assert!(
                    message.contains(name) && message.contains("correct it"),
                    "{message}"
                );
                assert_eq!(response["status"]["code"], 403);
                assert!(response.get("patch").is_none());
            }
        }
    }
}

#[tokio::test]
async fn a_list_on_the_template_is_read_too() {
    let says = |object: &Value, list: &str| {
        let mut object = object.clone();
        template_mut(&mut object)["metadata"]["annotations"] = json!({OURS: list});
        object
    };
    for plain in kinds() {
        let (bad, worse, good) = (
            says(&plain, "Deploymnt/x"),
            says(&plain, "Deploymnt/y"),
            says(&plain, "Deployment/x"),
        );
        for (operation, new, old, list) in [
            ("CREATE", &bad, &Value::Null, "Deploymnt/x"),
            ("UPDATE", &bad, &plain, "Deploymnt/x"),
            ("UPDATE", &bad, &good, "Deploymnt/x"),
            ("UPDATE", &worse, &bad, "Deploymnt/y"),
        ] {
            let response = answer(&running(), &review(operation, new, old)).await;
            assert_eq!(response["allowed"], false, "{new}");
            let message = response["status"]["message"].as_str().unwrap();
            let place = format!(
                "(in the annotations of the pod template of shop/{}/api)",
                new["kind"].as_str().unwrap()
            );
            let error = said(OURS, list).unwrap();
            assert!(
                message.contains(&error) && message.contains(&place),
                "{message}"
            );
        }

        let mut changed = bad.clone();
        template_mut(&mut changed)["spec"]["containers"][0]["image"] = json!("app:2");
        let response = answer(&running(), &review("UPDATE", &changed, &bad)).await;
        assert_eq!(response["allowed"], true, "{response}");
        let warning = response["warnings"][0].as_str().unwrap();
        assert!(
            warning.contains(&said(OURS, "Deploymnt/x").unwrap()),
            "{warning}"
        );
        let response = answer(&running(), &review("UPDATE", &good, &bad)).await;
        assert_eq!(response["allowed"], true, "{response}");
    }
}

#[tokio::test]
async fn a_bad_list_that_was_stored_before_is_a_warning() {
    let stored = annotated(workload("apps/v1", "Deployment"), OURS, "Deploymnt/x");
    let mut changed = stored.clone();
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:2");
    let response = answer(&running(), &review("UPDATE", &changed, &stored)).await;
    assert_eq!(response["allowed"], true);
    if let Some(expected) = said(OURS, "Deploymnt/x") {
        let warning = response["warnings"][0].as_str().unwrap();
        assert!(
            warning.contains(&expected) && warning.contains("shop/Deployment/api"),
            "{warning}"
        );
    }

    let edited = annotated(stored.clone(), OURS, "Deploymnt/y");
    let response = answer(&running(), &review("UPDATE", &edited, &stored)).await;
    assert_eq!(response["allowed"], said(OURS, "Deploymnt/y").is_none());
    let fixed = annotated(stored.clone(), OURS, "Deployment/x");
    let response = answer(&running(), &review("UPDATE", &fixed, &stored)).await;
    assert_eq!(response["allowed"], true);
}

/// Returns the processor time of this thread, so that a busy machine does not count; `None` where the kernel does not tell it.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

#[tokio::test]
async fn a_bad_list_costs_little() {
    // The kernel counts in ticks of some milliseconds, so one answer alone cannot be measured.
    const TIMES: u32 = 20;
    let goal = Duration::from_millis(5);
    let admission = running();
    for (key, text) in bad_lists() {
        let review = review("CREATE", &annotated(pod(), key, &text), &Value::Null).to_string();
        let Some(before) = processor_time() else {
            return;
        };
        for _ in 0..TIMES {
            super::post(&admission, "/admit/pods", review.clone()).await;
        }
        let each = processor_time().unwrap().saturating_sub(before) / TIMES;
        let shown: String = text.chars().take(20).collect();
        eprintln!("{each:?} for {shown:?}");
        // Without optimisation serde_json alone needs longer for a megabyte.
        assert!(
            each < goal || cfg!(debug_assertions) && each < 10 * goal,
            "{each:?} for {shown:?}"
        );
    }
}

#[tokio::test]
async fn a_bad_term_is_refused_with_its_key_its_text_and_the_likely_word() {
    for (key, text, said) in [
        (
            "sluice.dev/timeout",
            "5",
            r#"sluice.dev/timeout: line 1, column 2: "5" is no duration: a unit is missing behind the number; write one such as 90s, 10m or 1h30m"#,
        ),
        (
            "sluice.dev/on-timeout",
            "procede",
            r#"sluice.dev/on-timeout: line 1, column 1: unknown word "procede"; did you mean "proceed"?"#,
        ),
        (
            "sluice.dev/on-timeout",
            "explode",
            r#"unknown word "explode"; the words are wait, fail, proceed"#,
        ),
    ] {
        let object = annotated(workload("apps/v1", "Deployment"), OURS, "job/a");
        let review = review("CREATE", &annotated(object, key, text), &Value::Null);
        let response = answer(&running(), &review).await;
        let message = response["status"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(said), "{message}");
    }
}

#[tokio::test]
async fn terms_are_accepted_and_leave_the_patch_as_it_is() {
    let plain = annotated(workload("apps/v1", "Deployment"), OURS, "job/a");
    let terms = [
        ("timeout", "10m"),
        ("on-timeout", "proceed"),
        ("on-failure", "fail"),
        ("regate", "always"),
        ("skip", "true"),
    ];
    let with_terms = terms
        .into_iter()
        .fold(plain.clone(), |object, (key, text)| {
            annotated(object, &format!("sluice.dev/{key}"), text)
        });
    let ask =
        async |object: &Value| answer(&running(), &review("CREATE", object, &Value::Null)).await;
    let (plain, with_terms) = (ask(&plain).await, ask(&with_terms).await);
    assert_eq!(with_terms["allowed"], true, "{with_terms}");
    assert_eq!(with_terms["patch"], plain["patch"]);
    assert_eq!(with_terms["warnings"], plain["warnings"]);
}
