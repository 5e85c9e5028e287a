//! The CA in its Secret: its creation, and its restoration by a replica that still holds it.

use super::*;

#[tokio::test]
async fn replicas_that_start_together_end_with_one_ca() {
    let empty = json!({"metadata": {"name": "sluice-ca", "resourceVersion": "1"}});
    for (secret, write) in [(None, "create"), (Some(empty), "update")] {
        let mut fake = Fake::with_configuration();
        fake.rendezvous = Some(Arc::new(Barrier::new(2)));
        fake.objects().secret = secret;
        let (mut a, mut b) = (replica(&fake), replica(&fake));
        let (first, second) = tokio::join!(a.round(day(0)), b.round(day(0)));
        // The slower replica may lose the race for the caBundle as well. Its next round finds the caBundle written.
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
