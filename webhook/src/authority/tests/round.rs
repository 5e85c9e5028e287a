//! A whole round: its results, its clock, and the time of the next round.

use super::*;

#[tokio::test]
async fn the_first_round_makes_everything() {
    let fake = Fake::with_configuration();
    let mut replica = replica(&fake);
    assert_eq!(replica.missing(), ["caBundle", "certificate"]);
    replica.round(day(0)).await.unwrap();
    assert_eq!(replica.missing(), Vec::<String>::new());
    let objects = fake.objects();
    assert_eq!(objects.writes, ["create", "patch"]);
    assert_eq!(objects.bundles(), [replica.bundle(), replica.bundle()]);
    assert_eq!(objects.certificate(), replica.bundle());
    let owner = &objects.secret.as_ref().unwrap()["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["name"], &owner["uid"]),
        (&json!("sluice"), &json!("s-1"))
    );
    assert_eq!(
        objects.configuration.as_ref().unwrap()["webhooks"][0]["failurePolicy"],
        "Fail"
    );
}

#[tokio::test]
async fn a_round_without_need_writes_nothing() {
    let fake = Fake::with_configuration();
    let mut replica = replica(&fake);
    replica.round(day(0)).await.unwrap();
    let version = fake.objects().version;
    replica.bundle.mark_unchanged();
    replica.round(day(1)).await.unwrap();
    assert_eq!(fake.objects().version, version);
    assert!(!replica.bundle.has_changed().unwrap());
}

#[tokio::test]
async fn an_api_server_that_is_away_stops_no_renewal() {
    let fake = Fake::with_configuration();
    let mut replica = replica(&fake);
    replica.round(day(0)).await.unwrap();
    fake.objects().down = true;
    let error = replica.round(day(8)).await.unwrap_err();
    let text = r#"failed to read the MutatingWebhookConfiguration "sluice": etcd is away (500)"#;
    assert_eq!(error.to_string(), text);
    assert_eq!(replica.authority.leaf.as_ref().unwrap().issued(), day(8));
    assert_eq!(replica.missing(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn it_looks_again_every_ten_seconds_until_the_process_leaves() {
    let fake = Fake::with_configuration();
    let (shutdown, running) = replica(&fake).starts().await;
    while fake.objects().writes.len() < 2 {
        tokio::task::yield_now().await;
    }
    fake.objects().secret = None;
    sleep(Duration::from_secs(11)).await;
    assert_eq!(fake.objects().writes, ["create", "patch", "create"]);
    shutdown.leave();
    running.await.unwrap();
    fake.objects().secret = None;
    sleep(Duration::from_secs(60)).await;
    assert!(fake.objects().secret.is_none());
}

#[tokio::test]
async fn certificates_are_valid_by_the_clock_of_the_api_server() {
    let off = [-2, -1, 1, 2].map(|days| DAY * days);
    let slightly = [-3_600, -10, 10, 3_600].map(SignedDuration::from_secs);
    for off in off.into_iter().chain(slightly) {
        let fake = Fake::with_configuration();
        let clock = Clock::new(move || day(0) + off);
        let client = fake.dated_client("Fri, 20 Nov 2026 10:00:00 GMT", &clock);
        let mut replica = replica_with(&client);
        replica.authority.round(&clock).await.unwrap();
        assert_eq!(replica.missing(), Vec::<String>::new(), "{off}");
        let (ca, leaf) = (
            replica.authority.held.unwrap().ca,
            replica.authority.leaf.unwrap(),
        );
        for made in [ca.not_before() + DAY, leaf.issued()] {
            let error = made.duration_since(day(0)).abs();
            assert!(error <= SignedDuration::from_secs(1), "{off}: {error}");
        }
    }
}
