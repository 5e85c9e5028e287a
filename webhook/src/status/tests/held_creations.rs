//! Objects whose creation is held, from the first try to the last.

use super::*;
use crate::inject::creation::{HoldRequest, read};
use crate::inject::{Operation, Options, Request as Reviewed, Subject};
use crate::known::HeldCreation;
use crate::status::CreationKeeper;
use rules::creation::{Standing, TRIES};

const LONGEST: Duration = Duration::from_millis(250);

/// A service with a task that judges held creations.
fn desk() -> Desk {
    let desk = Desk::new(&json!({}));
    let registry = Arc::clone(&desk.creations);
    let keeper = CreationKeeper::new(Arc::clone(&desk.service), registry);
    tokio::spawn(keeper.keep());
    desk
}

/// Tries once to create the Issuer `ca` with these annotations, as a client does whose next try comes after `pause` seconds. Returns the held
/// creation and its standing.
async fn tries(desk: &Desk, annotations: &Value, pause: u64) -> (Arc<HeldCreation>, Standing) {
    let subject = Subject {
        group: "cert-manager.io".to_owned(),
        kind: "Issuer".to_owned(),
        namespace: "shop".to_owned(),
        name: "ca".to_owned(),
    };
    let mut annotations = annotations.clone();
    annotations["sluice.dev/hold"] = json!("create");
    let object =
        json!({"metadata": {"namespace": "shop", "name": "ca", "annotations": annotations}});
    let request = Reviewed {
        operation: Operation::Create,
        subject: &subject,
        object: &object,
        old: &Value::Null,
    };
    let held: HoldRequest<'_> = read(&request, Options::default(), false).unwrap();
    let (creations, now) = (desk.service.known.creations(), desk.service.clock.now());
    let make = || held.dependent(now);
    let creation = creations.tried(held.key.clone(), "shop", make, now);
    let creation = creation.unwrap();
    let standing = creation.stands(LONGEST).await;
    creation.expects(Duration::from_secs(pause));
    (creation, standing)
}

fn why(standing: &Standing) -> &str {
    match standing {
        Standing::Waits { why, .. } | Standing::Refused(why) => why,
        Standing::Unread | Standing::Open => panic!("{standing:?}"),
    }
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_creation_waits_until_its_list_is_satisfied() {
    let desk = desk();
    let (first, standing) = tries(&desk, &missing(), 30).await;
    assert!(
        why(&standing).starts_with("ConfigMap/go: NotFound"),
        "{standing:?}"
    );
    let counted = r#"held_creations{namespace="shop"} 1"#;
    assert!(desk.metrics().contains(counted), "{}", desk.metrics());
    pass(30).await;
    desk.put("configmap", &config_map());
    pass(1).await;
    let (again, standing) = tries(&desk, &missing(), 1).await;
    assert_eq!((standing, again.count()), (Standing::Open, 2));
    assert!(Arc::ptr_eq(&first, &again), "the first try counts");
    desk.service.known.creations().end(&again);
    pass(1).await;
    assert!(!desk.metrics().contains("held_creations{"));
}

/// An object whose list is satisfied is created at its first try, so also for a client that tries only once.
#[tokio::test(start_paused = true)]
async fn a_creation_whose_list_is_satisfied_waits_for_nothing() {
    let desk = desk();
    desk.put("configmap", &config_map());
    let (_, standing) = tries(&desk, &missing(), 1).await;
    assert_eq!(standing, Standing::Open);
    assert_eq!(desk.began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_counts_from_the_first_try() {
    let outcomes = [
        ("fail", "the timeout of 40s (sluice.dev/timeout) has passed"),
        ("wait", "and the wait goes on"),
        ("proceed", ""),
    ];
    for (on_timeout, expected) in outcomes {
        let desk = desk();
        let (_, standing) = tries(&desk, &waits(on_timeout), 30).await;
        let Standing::Waits { again, .. } = standing else {
            panic!("{standing:?}")
        };
        assert_eq!(again, Timestamp::from_second(40).ok(), "{on_timeout}");
        pass(30).await;
        let (_, standing) = tries(&desk, &waits(on_timeout), 11).await;
        assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
        pass(11).await;
        let (_, standing) = tries(&desk, &waits(on_timeout), 60).await;
        match on_timeout {
            "proceed" => assert_eq!(standing, Standing::Open),
            _ => assert!(why(&standing).contains(expected), "{standing:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_creation_that_no_client_tries_any_more_is_forgotten() {
    let desk = desk();
    tries(&desk, &waits("fail"), 8).await;
    pass(60).await;
    assert!(!desk.metrics().contains("held_creations{"));
    let (anew, standing) = tries(&desk, &waits("fail"), 8).await;
    assert_eq!(anew.count(), 1);
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
}

/// A client that has given up sends the object again: an Event tells how long it tries from then on.
#[tokio::test(start_paused = true)]
async fn each_request_of_a_client_has_an_event_with_its_own_end() {
    let desk = desk();
    for tried in 1..=TRIES {
        tries(&desk, &missing(), 60).await;
        if tried < TRIES {
            pass(30).await;
        }
    }
    pass(20).await;
    let (again, _) = tries(&desk, &missing(), 60).await;
    assert_eq!(again.began(), Timestamp::from_second(320).unwrap());
    pass(60).await;
    let told = desk.told().await;
    let [first, second] = told.as_slice() else {
        panic!("{told:?}")
    };
    let text = "creation held; first tried at 1970-01-01T00:00:00Z, and its client tries until ";
    for (event, until) in [(first, "00:05:00Z"), (second, "00:10:20Z")] {
        let text = format!("{text}1970-01-01T{until}; ");
        assert!(event.2.starts_with(&text), "{event:?}");
    }
}

/// A wait of ten minutes is worth a Warning. An earlier wait for an object of the same name does not count.
#[tokio::test(start_paused = true)]
async fn the_events_of_a_creation_count_from_its_own_first_try() {
    let desk = desk();
    let metadata = json!({"namespace": "shop", "name": "migrate"});
    let mut runs = failed_job();
    runs["metadata"] = metadata;
    runs["status"] = json!({"active": 1});
    desk.put("job", &runs);
    let list = json!({"sluice.dev/depends-on": "job/migrate"});
    for earlier in 0..2 {
        tries(&desk, &list, 20).await;
        pass(30).await;
        let told = desk.told().await;
        let severities: Vec<_> = told.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(severities, ["Normal"].repeat(earlier + 1), "{told:?}");
        pass(590).await;
        assert!(!desk.metrics().contains("held_creations{"), "forgotten");
    }
}

/// The object does not exist, so its Events name it without a UID.
#[tokio::test(start_paused = true)]
async fn a_wait_and_its_end_are_told_by_events_on_the_object() {
    let desk = desk();
    tries(&desk, &missing(), 60).await;
    pass(30).await;
    desk.put("configmap", &config_map());
    let told = desk.told().await;
    let [wait, end] = told.as_slice() else {
        panic!("{told:?}")
    };
    let text = "creation held; first tried at 1970-01-01T00:00:00Z, and its client tries until 1970-01-01T00:05:00Z; \
                waiting for ConfigMap/go (NotFound: ";
    assert!(wait.2.starts_with(text), "{wait:?}");
    assert_eq!(end.1, "Released");
    assert_eq!(end.2, "may be created: its dependency is satisfied");
    let events = desk.events.lock().unwrap();
    let object = &events[0]["regarding"];
    assert_eq!(
        (&object["kind"], &object["name"]),
        (&json!("Issuer"), &json!("ca"))
    );
    assert_eq!(object["uid"], Value::Null);
}

/// The other namespace has not agreed, so the answer is the same whether or not the object is there.
#[tokio::test(start_paused = true)]
async fn a_creation_is_told_no_more_than_a_gate_of_its_namespace() {
    let desk = desk();
    let namespaces = [
        json!({"metadata": {"name": "shop"}}),
        json!({"metadata": {"name": "data"}}),
    ];
    for namespace in &namespaces {
        desk.put("namespace", namespace);
    }
    let kind = by_word("namespace").map(Kind::Builtin).unwrap();
    desk.service.known.want(&kind).replace(&namespaces);
    let list = json!({"sluice.dev/depends-on": "data/configmap/go"});
    let (_, absent) = tries(&desk, &list, 8).await;
    assert!(why(&absent).contains("(NotPermitted"), "{absent:?}");
    let mut there = config_map();
    there["metadata"]["namespace"] = json!("data");
    desk.put("configmap", &there);
    pass(8).await;
    assert_eq!(tries(&desk, &list, 8).await.1, absent);
}

/// Each replica counts the tries that reach it, so a timeout may come later there, and never sooner.
#[tokio::test(start_paused = true)]
async fn a_replica_that_was_not_tried_before_begins_anew() {
    let [one, other] = [desk(), desk()];
    tries(&one, &waits("fail"), 35).await;
    pass(35).await;
    tries(&other, &waits("fail"), 10).await;
    pass(10).await;
    let (_, standing) = tries(&other, &waits("fail"), 30).await;
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    let (_, standing) = tries(&one, &waits("fail"), 30).await;
    assert!(matches!(standing, Standing::Refused(_)), "{standing:?}");
}
