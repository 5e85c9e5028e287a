//! The authority against an API server that is a service without a socket.

mod fake;
mod issued;
mod rotation;
mod trust_bundle;

use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use self::fake::Fake;
use super::*;

const DAY: SignedDuration = SignedDuration::from_hours(24);

struct Replica {
    authority: Authority,
    bundle: watch::Receiver<Bundle>,
    readiness: Readiness,
}

fn replica(fake: &Fake) -> Replica {
    replica_with(fake.client())
}

fn replica_with(client: Client) -> Replica {
    let lifetimes = Lifetimes::new(DAY * 365, DAY * 30, DAY * 7).unwrap();
    replica_living(client, lifetimes)
}

fn replica_living(client: Client, lifetimes: Lifetimes) -> Replica {
    let config = Config {
        namespace: "sluice-system".to_owned(),
        secret: "sluice-ca".to_owned(),
        issued: None,
        cluster_trust_bundle: None,
        service: "sluice".to_owned(),
        instance: "sluice-0".to_owned(),
        webhook_configuration: "sluice".to_owned(),
        names: vec!["sluice.sluice-system.svc".to_owned()],
        lifetimes,
    };
    replica_of(client, config)
}

fn replica_of(client: Client, config: Config) -> Replica {
    let readiness = Readiness::default();
    let (authority, bundle) = Authority::new(
        client,
        config,
        Resolver::new(),
        &readiness,
        AuthorityMetrics::default(),
    );
    Replica {
        authority,
        bundle,
        readiness,
    }
}

impl Replica {
    async fn round(&mut self, now: Timestamp) -> Result<(), AuthorityError> {
        self.authority.round(&Clock::new(move || now)).await
    }

    /// It waits for another one that may hold the CA, and makes one when none has come.
    async fn finds_no_ca_for_long(&mut self, now: Timestamp) {
        for waited in [
            SignedDuration::ZERO,
            PATIENCE - SignedDuration::from_secs(1),
        ] {
            let error = self.round(now + waited).await.unwrap_err();
            assert!(matches!(error, AuthorityError::Elsewhere { .. }), "{error}");
        }
        self.round(now + PATIENCE).await.unwrap();
    }

    fn bundle(&self) -> String {
        self.bundle
            .borrow()
            .as_deref()
            .unwrap_or_default()
            .to_owned()
    }

    fn missing(&self) -> Vec<String> {
        self.readiness
            .missing()
            .into_iter()
            .map(|missing| missing.condition)
            .collect()
    }
}

fn day(number: i32) -> Timestamp {
    "2026-11-20T10:00:00Z".parse::<Timestamp>().unwrap() + DAY * number
}

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
async fn replicas_that_start_together_end_with_one_ca() {
    let empty = json!({"metadata": {"name": "sluice-ca", "resourceVersion": "1"}});
    for (secret, write) in [(None, "create"), (Some(empty), "update")] {
        let mut fake = Fake::with_configuration();
        fake.rendezvous = Some(Arc::new(Barrier::new(2)));
        fake.objects().secret = secret;
        let (mut a, mut b) = (replica(&fake), replica(&fake));
        let (first, second) = tokio::join!(a.round(day(0)), b.round(day(0)));
        // The slower one may lose the race for the caBundle as well, and finds it done when it looks again.
        for (replica, result) in [(&mut a, first), (&mut b, second)] {
            if let Err(error) = result {
                assert!(
                    error
                        .to_string()
                        .starts_with("failed to write the caBundle"),
                    "{error}"
                );
                replica.round(day(0)).await.unwrap();
            }
            assert_eq!(replica.missing(), Vec::<String>::new());
        }
        assert_eq!(a.bundle(), b.bundle());
        assert_eq!(fake.objects().writes, [write, "patch"]);
        assert_eq!(fake.objects().bundles(), [a.bundle(), a.bundle()]);
    }
}

#[tokio::test]
async fn a_damaged_secret_is_mended_with_the_same_ca() {
    let fake = Fake::with_configuration();
    let mut replica = replica(&fake);
    replica.round(day(0)).await.unwrap();
    let (bundle, good) = (replica.bundle(), fake.objects().secret.clone().unwrap());
    let mut corrupt = good.clone();
    corrupt["data"]["ca.key"] = json!("cnViYmlzaA==");
    let mut emptied = good;
    emptied["data"] = Value::Null;
    for (damage, write) in [
        (None, "create"),
        (Some(corrupt), "update"),
        (Some(emptied), "update"),
    ] {
        {
            let mut objects = fake.objects();
            objects.secret = damage.map(|damaged| objects.versioned(damaged, "damage"));
            objects.writes.clear();
        }
        replica.round(day(1)).await.unwrap();
        assert_eq!(fake.objects().writes, [write]);
        assert_eq!(fake.objects().certificate(), bundle);
        assert_eq!(
            (replica.bundle(), replica.missing()),
            (bundle.clone(), vec![])
        );
    }
}

#[tokio::test]
async fn a_corrupt_secret_that_nobody_remembers_is_replaced() {
    let fake = Fake::with_configuration();
    let mut old = replica(&fake);
    old.round(day(0)).await.unwrap();
    fake.objects().secret.as_mut().unwrap()["data"]["ca.crt"] = json!("cnViYmlzaA==");
    let mut new = replica(&fake);
    new.finds_no_ca_for_long(day(1)).await;
    assert_ne!(new.bundle(), old.bundle());
    assert!(
        new.bundle().ends_with(&old.bundle()),
        "what is trusted so far stays so"
    );
    assert_eq!(fake.objects().bundles(), [new.bundle(), new.bundle()]);

    old.round(day(1)).await.unwrap();
    assert_eq!(
        old.bundle(),
        new.bundle(),
        "what is stored and works is what counts"
    );
    assert_eq!(
        old.missing(),
        Vec::<String>::new(),
        "it serves a leaf of the new CA"
    );
}

#[tokio::test]
async fn a_fresh_replica_leaves_a_lost_ca_to_who_holds_it() {
    let fake = Fake::with_configuration();
    let (mut old, mut fresh) = (replica(&fake), replica(&fake));
    old.round(day(0)).await.unwrap();
    {
        let mut objects = fake.objects();
        objects.secret = None;
        objects.writes.clear();
    }
    let error = fresh.round(day(1)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no CA is stored, and the caBundle has a CA that another replica may hold: it gets 30s to write that one back"
    );
    assert_eq!(fresh.missing(), ["caBundle", "certificate"]);
    old.round(day(1)).await.unwrap();
    fresh.round(day(1)).await.unwrap();
    assert_eq!(fake.objects().writes, ["create"]);
    assert_eq!(fresh.bundle(), old.bundle());
    assert_eq!(fresh.missing(), Vec::<String>::new());
}

#[tokio::test]
async fn a_ca_that_is_over_gives_way_to_the_one_that_is_held() {
    let fake = Fake::with_configuration();
    let mut replica = replica(&fake);
    replica.round(day(0)).await.unwrap();
    let bundle = replica.bundle();
    let over = certs::Ca::generate(day(-40), DAY * 10).unwrap().parts();
    {
        let mut objects = fake.objects();
        let data = &mut objects.secret.as_mut().unwrap()["data"];
        data["ca.crt"] = json!(fake::encode(&over.certificate));
        data["ca.key"] = json!(fake::encode(&over.key));
        objects.writes.clear();
    }
    replica.round(day(1)).await.unwrap();
    assert_eq!(fake.objects().writes, ["update"]);
    assert_eq!(
        (replica.bundle(), fake.objects().certificate()),
        (bundle.clone(), bundle)
    );
}

#[tokio::test]
async fn a_ca_outlives_the_webhook_configuration() {
    let fake = Fake::with_configuration();
    let mut old = replica(&fake);
    old.round(day(0)).await.unwrap();
    fake.objects().configuration = None;
    let mut fresh = replica(&fake);
    let error = fresh.round(day(1)).await.unwrap_err();
    assert!(
        matches!(error, AuthorityError::NoConfiguration(_)),
        "{error}"
    );
    assert_eq!(fresh.bundle(), old.bundle());
    fake.install();
    fresh.round(day(1)).await.unwrap();
    assert_eq!(fake.objects().bundles(), [old.bundle(), old.bundle()]);
}

#[tokio::test(start_paused = true)]
async fn an_overwritten_bundle_is_restored_within_a_second_and_told() {
    let fake = Fake::with_configuration();
    let Replica {
        authority,
        mut bundle,
        ..
    } = replica(&fake);
    let shutdown = Shutdown::default();
    let running = tokio::spawn(authority.run(Clock::new(|| day(0)), shutdown.clone()));
    bundle.changed().await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let right = fake.objects().bundles();
    assert!(fake.objects().events.is_empty());
    {
        let mut objects = fake.objects();
        let mut wrong = objects.configuration.clone().unwrap();
        wrong["webhooks"][0]["clientConfig"]["caBundle"] = Value::Null;
        let wrong = objects.versioned(wrong, "edit");
        objects.configuration = Some(wrong);
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(fake.objects().bundles(), right);
    let events = fake.objects().events.clone();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["reason"], "CaBundleMended");
    shutdown.leave();
    running.await.unwrap();
}

#[tokio::test]
async fn a_webhook_that_was_never_ours_is_not_overwritten() {
    let fake = Fake::with_configuration();
    let mut replica = replica(&fake);
    replica.round(day(0)).await.unwrap();
    // Added by the chart, and then overwritten.
    for told in [0, 1] {
        {
            let mut objects = fake.objects();
            let mut edited = objects.configuration.clone().unwrap();
            let webhooks = edited["webhooks"].as_array_mut().unwrap();
            let mut webhook = webhooks[0].clone();
            webhook["name"] = json!("new.sluice.dev");
            webhook["clientConfig"]["caBundle"] = Value::Null;
            webhooks.truncate(2);
            webhooks.push(webhook);
            let edited = objects.versioned(edited, "edit");
            objects.configuration = Some(edited);
        }
        replica.round(day(0)).await.unwrap();
        assert_eq!(fake.objects().bundles(), [(); 3].map(|()| replica.bundle()));
        assert_eq!(fake.objects().events.len(), told);
    }
}

#[tokio::test]
async fn an_overwritten_bundle_is_restored_and_nothing_else() {
    let fake = Fake::with_configuration();
    let mut replica = replica(&fake);
    replica.round(day(0)).await.unwrap();
    let right = fake.objects().configuration.clone().unwrap();
    {
        let mut objects = fake.objects();
        let mut wrong = right.clone();
        wrong["webhooks"][1]["clientConfig"]["caBundle"] = json!("cnViYmlzaA==");
        wrong["webhooks"][1]["timeoutSeconds"] = json!(7);
        let wrong = objects.versioned(wrong, "edit");
        objects.configuration = Some(wrong);
    }
    replica.round(day(0)).await.unwrap();
    let mut mended = fake.objects().configuration.clone().unwrap();
    assert_eq!(mended["webhooks"][1]["timeoutSeconds"].take(), 7);
    mended["webhooks"][1]
        .as_object_mut()
        .unwrap()
        .remove("timeoutSeconds");
    assert_eq!(mended["webhooks"], right["webhooks"]);
}

#[tokio::test]
async fn without_a_configuration_nothing_is_written() {
    let fake = Fake::default();
    let mut replica = replica(&fake);
    let error = replica.round(day(0)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"there is no MutatingWebhookConfiguration "sluice"; the chart creates it"#
    );
    assert_eq!(replica.missing(), ["caBundle", "certificate"]);
    assert_eq!(fake.objects().version, 0);
    fake.install();
    replica.round(day(0)).await.unwrap();
    assert_eq!(replica.missing(), Vec::<String>::new());
}

#[tokio::test]
async fn an_uninstalled_sluice_brings_nothing_back() {
    let fake = Fake::with_configuration();
    let mut replica = replica(&fake);
    replica.round(day(0)).await.unwrap();
    {
        let mut objects = fake.objects();
        (objects.secret, objects.configuration) = (None, None);
        objects.writes.clear();
    }
    replica.round(day(0)).await.unwrap_err();
    assert!(fake.objects().writes.is_empty());
    assert_eq!(
        replica.missing(),
        Vec::<String>::new(),
        "gates that wait are still answered"
    );
}

#[tokio::test]
async fn a_configuration_that_is_being_deleted_is_gone() {
    let fake = Fake::with_configuration();
    fake.objects().configuration.as_mut().unwrap()["metadata"]["deletionTimestamp"] =
        json!("2026-11-20T10:00:00Z");
    let error = replica(&fake).round(day(0)).await.unwrap_err();
    assert!(
        matches!(error, AuthorityError::NoConfiguration(_)),
        "{error}"
    );
    assert!(fake.objects().writes.is_empty());
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

#[tokio::test]
async fn a_ca_near_its_end_is_replaced_with_an_overlap() {
    let fake = Fake::with_configuration();
    let (mut a, mut b) = (replica(&fake), replica(&fake));
    a.round(day(0)).await.unwrap();
    b.round(day(357)).await.unwrap();
    let old = a.bundle();
    a.round(day(359)).await.unwrap();
    assert!(
        a.bundle().ends_with(&old) && a.bundle() != old,
        "the new one first, the old one after it"
    );
    b.round(day(359)).await.unwrap();
    assert_eq!(b.bundle(), a.bundle());
    assert_eq!(fake.objects().bundles(), [a.bundle(), a.bundle()]);
    assert_eq!([a.missing(), b.missing()], [Vec::<String>::new(), vec![]]);
    assert!(
        fake.objects().events.is_empty(),
        "nobody has overwritten anything"
    );
}

#[tokio::test]
async fn a_leaf_that_nobody_trusts_is_not_ready() {
    let fake = Fake::with_configuration();
    fake.objects().forbidden = true;
    let mut replica = replica(&fake);
    let error = replica.round(day(0)).await.unwrap_err().to_string();
    assert_eq!(
        error,
        r#"failed to write the caBundle of the MutatingWebhookConfiguration "sluice": not yours (403)"#
    );
    assert_eq!(replica.missing(), ["caBundle"]);
    fake.objects().forbidden = false;
    replica.round(day(0)).await.unwrap();
    assert_eq!(replica.missing(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn it_looks_again_every_ten_seconds_until_the_process_leaves() {
    let fake = Fake::with_configuration();
    let Replica {
        authority,
        mut bundle,
        ..
    } = replica(&fake);
    let shutdown = Shutdown::default();
    let running = tokio::spawn(authority.run(Clock::new(|| day(0)), shutdown.clone()));
    bundle.changed().await.unwrap();
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
        let mut replica = replica_with(client);
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

#[tokio::test]
async fn a_ca_that_another_replica_made_in_the_future_is_replaced() {
    let fake = Fake::with_configuration();
    let mut ahead = replica(&fake);
    ahead.round(day(3)).await.unwrap();
    let mut right = replica(&fake);
    right.finds_no_ca_for_long(day(0)).await;
    assert!(right.authority.held.as_ref().unwrap().ca.has_begun(day(0)));
    assert_eq!(right.missing(), Vec::<String>::new());
}
