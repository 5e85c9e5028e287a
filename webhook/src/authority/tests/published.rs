//! The `caBundle` of the webhook configuration, and a round without a configuration.

use super::*;

#[tokio::test(start_paused = true)]
async fn an_overwritten_bundle_is_restored_within_a_second_and_told() {
    let fake = Fake::with_configuration();
    let (shutdown, running) = replica(&fake).starts().await;
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
    // The chart adds a webhook, and then another program overwrites it.
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

/// A replica that also keeps the configuration of held creations.
fn replica_that_holds_creations(fake: &Fake) -> Replica {
    let lifetimes = Lifetimes::new(DAY * 365, DAY * 30, DAY * 7).unwrap();
    let config = Config {
        creations_configuration: Some(CREATIONS.to_owned()),
        ..config(lifetimes)
    };
    replica_of(&fake.client(), config)
}

#[tokio::test]
async fn the_bundle_is_written_into_the_configuration_of_held_creations_too() {
    let fake = Fake::with_configuration();
    fake.install_creations();
    let mut replica = replica_that_holds_creations(&fake);
    replica.round(day(0)).await.unwrap();
    let written = |fake: &Fake| bundles_of(fake.objects().creations.as_ref().unwrap());
    assert_eq!(written(&fake), [replica.bundle()]);
    assert_eq!(fake.objects().bundles(), [(); 2].map(|()| replica.bundle()));
    assert_eq!(replica.missing(), Vec::<String>::new());
    // Another program overwrites it, and is told of.
    {
        let mut objects = fake.objects();
        let mut wrong = objects.creations.clone().unwrap();
        wrong["webhooks"][0]["clientConfig"]["caBundle"] = Value::Null;
        let wrong = objects.versioned(wrong, "edit");
        objects.creations = Some(wrong);
    }
    replica.round(day(0)).await.unwrap();
    assert_eq!(written(&fake), [replica.bundle()]);
    let events = fake.objects().events.clone();
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0]["note"].as_str().unwrap().contains(CREATIONS));
}

/// No creation is held without the webhook configuration of held creations, and everything else goes on.
#[tokio::test]
async fn a_missing_configuration_of_held_creations_makes_no_replica_unready() {
    let fake = Fake::with_configuration();
    let mut replica = replica_that_holds_creations(&fake);
    replica.round(day(0)).await.unwrap();
    assert_eq!(replica.missing(), Vec::<String>::new());
    assert_eq!(fake.objects().bundles(), [(); 2].map(|()| replica.bundle()));
    fake.install_creations();
    replica.round(day(1)).await.unwrap();
    let creations = fake.objects().creations.clone().unwrap();
    assert_eq!(bundles_of(&creations), [replica.bundle()]);
}
