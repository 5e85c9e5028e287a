use super::held::time;
use super::in_sync::stays_in_sync;
use super::site::Site;
use super::way::{Says, Way};
use super::{deployed, each, soak, under_engines};
use harness::cluster::creations::{ON, held, is_asked, is_told};
use harness::cluster::{Defined, Manifest, Namespace, await_until, config_map, job, sluice, text};
use serde_json::Value;
use std::time::Duration;
use tokio::join;

/// The limit of a wait: longer than a client of Kubernetes tries to create an object.
const AFTER_THE_TRIES: Duration = Duration::from_mins(8);

#[tokio::test]
#[ignore = "needs a cluster with sluice, Argo CD and Flux: make test-gitops"]
async fn an_object_is_created_once_its_job_is_done_by_the_engines_themselves() {
    under_engines("creations", async |root| {
        sluice::with_values_alone(&ON, async || {
            is_asked(root).await;
            join!(after_its_job(root), in_vain(root));
            while_sluice_is_down(root).await;
        })
        .await;
    })
    .await;
}

/// Checks a custom resource whose creation waits for a Job of its own application: the first sync succeeds. Every engine sends custom kinds after
/// Jobs.
async fn after_its_job(root: &Namespace) {
    let widget = Defined::widget(root);
    widget.define(root).await;
    let seed = job("seed").runs("until test -e /tmp/ready; do sleep 1; done");
    let with = |list: &str| vec![seed.clone(), held(widget.one("orders"), list)];
    let orders = widget.reference("orders");
    deployed(
        root,
        &root.name,
        &Way::ALL,
        &with("job/seed"),
        async |source, sites| {
            each(sites, async |site| {
                is_told(&site.ns, "orders").await;
                is_being_created(site).await;
                assert!(found(site, &orders).await.is_none());

                let seed = site.ns.pod_of("seed").await;
                site.ns.tell_ready(&format!("pod/{}", seed.name)).await;
                site.comes_to(&Says::Settled).await;
                came_after(site, &orders, "job/seed").await;
                site.has_tried_once().await;
                site.note().await;
                stays_in_sync(site, soak() / 3).await;
            })
            .await;

            source.publish_again("1.1.0", &with("job/never")).await;
            each(sites, async |site| {
                is_changed(site, &orders).await;
                site.comes_to(&Says::Settled).await;
                site.remove().await;
            })
            .await;
        },
    )
    .await;
}

/// Waits until the engine has changed the object's list: only a creation is held, not a change of an object that exists.
async fn is_changed(site: &Site, reference: &str) {
    await_until("its list is as published", AFTER_THE_TRIES, async || {
        site.refresh().await;
        match found(site, reference).await {
            Some(it) if list_of(&it) == "job/never" => Ok(()),
            it => Err(format!("{it:?}")),
        }
    })
    .await;
}

/// Checks an object whose dependency does not come while the client tries: the engine shows the reason, and tries again, so the object is there once
/// the dependency is.
async fn in_vain(root: &Namespace) {
    let name = format!("{}-vain", root.name);
    let settings = [held(config_map("settings"), "job/late")];
    deployed(root, &name, &Way::ALL, &settings, async |_, sites| {
        each(sites, async |site| {
            site.tries_again().await;
            is_told(&site.ns, "settings").await;
            says(site, &["is not created yet", "waits for Job/late"]).await;
            comes_once_there_is(site, job("late")).await;
        })
        .await;
    })
    .await;
}

/// Checks the time in which no replica answers: the creation is refused, and the engine names the webhook. Once sluice is back, it is held again.
async fn while_sluice_is_down(root: &Namespace) {
    let name = format!("{}-down", root.name);
    let settings = [held(config_map("settings"), "job/late")];
    deployed(root, &name, &Way::ALL, &settings, async |_, sites| {
        each(sites, async |site| {
            site.tries_again().await;
            is_told(&site.ns, "settings").await;
            is_being_created(site).await;
        })
        .await;
        sluice::restarted_after(async || {
            sluice::stop().await;
            each(sites, async |site| {
                says(site, &["failed calling webhook", "creations.sluice.dev"]).await;
                assert!(found(site, "configmap/settings").await.is_none());
            })
            .await;
        })
        .await;
        each(sites, async |site| {
            assert!(found(site, "configmap/settings").await.is_none());
            comes_once_there_is(site, job("late")).await;
        })
        .await;
    })
    .await;
}

/// Waits until the engine is in the middle of the creation: for Argo CD the sync runs, for Flux the object makes progress.
async fn is_being_created(site: &Site) {
    let wanted = if site.way.is_argo() {
        Says::Syncing
    } else {
        Says::Progressing
    };
    site.comes_to(&wanted).await;
}

/// Waits until the status of the engine's own object contains all these words.
async fn says(site: &Site, words: &[&str]) {
    let what = format!("{} says {words:?}", site.ns.name);
    await_until(&what, AFTER_THE_TRIES, async || {
        let status = site.status().await.to_string();
        if words.iter().all(|word| status.contains(word)) {
            Ok(())
        } else {
            Err(status)
        }
    })
    .await;
}

/// Makes this Job, the dependency, checks that the held ConfigMap `settings` is created after it, and removes the Job and the application.
async fn comes_once_there_is(site: &Site, job: Manifest) {
    let dependency = format!("job/{}", job.name());
    site.ns.apply([job]).await.ok();
    site.comes_to(&Says::Settled).await;
    came_after(site, "configmap/settings", &dependency).await;
    site.ns
        .kubectl(["delete", &dependency, "--wait=false"])
        .await
        .ok();
    site.remove().await;
}

/// Fails where the object was created before the Job was complete, by the times that the cluster wrote.
async fn came_after(site: &Site, reference: &str, job: &str) {
    let object = found(site, reference).await.expect("it was created");
    let job = site.ns.look.get(job).await;
    let [done, made] = [
        time(&job, "/status/completionTime"),
        time(&object, "/metadata/creationTimestamp"),
    ];
    assert!(done <= made, "done {done}, made {made}");
}

/// Returns an object by its reference for kubectl; `None` where it does not exist.
async fn found(site: &Site, reference: &str) -> Option<Value> {
    let get = ["get", reference, "--ignore-not-found", "--output=json"];
    let said = site.ns.kubectl(get).await.ok();
    (!said.is_empty()).then(|| serde_json::from_str(&said).expect("JSON"))
}

fn list_of(object: &Value) -> &str {
    text(object, "/metadata/annotations/sluice.dev~1depends-on")
}
