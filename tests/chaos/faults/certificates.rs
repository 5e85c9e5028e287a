//! Faults of the CA: its Secret and the `caBundle` are deleted, or overwritten by another writer.

use crate::site::Site;
use crate::trial::{Admission, Broken, Trial};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use certs::Ca;
use harness::cluster::{LIMIT, await_until, sluice};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::time::sleep;

const SECRET: &str = "secret/sluice-ca";
/// The time in which every replica reads the Secret at least twice.
const LOOKED: Duration = Duration::from_secs(20);

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::of("ten rotations of the CA", Admission::Open, |site| {
            Box::pin(rotated(site))
        }),
        Trial::of(
            "the CA's Secret is deleted, and a replica",
            Admission::Open,
            |site| Box::pin(deleted(site)),
        ),
        Trial::of(
            "the CA's Secret is garbled, truncated, emptied",
            Admission::Open,
            |site| Box::pin(garbled(site)),
        ),
        Trial::of(
            "an expired CA is put into the Secret",
            Admission::Open,
            |site| Box::pin(expired(site)),
        ),
        Trial::of(
            "the caBundle is garbled, emptied, swapped",
            Admission::Interrupted,
            |site| Box::pin(spoilt(site)),
        ),
    ]
}

async fn stored(site: &Site<'_>) -> Value {
    let secret = site.sluice.find(SECRET).await.unwrap_or_default();
    secret["data"]["ca.crt"].clone()
}

/// Waits until the Secret holds this certificate again, then until every replica has read the Secret twice more, and fails if the certificate is
/// another one by then.
async fn back(site: &Site<'_>, certificate: &Value) {
    await_until("the Secret holds the CA again", LIMIT, async || {
        let stored = stored(site).await;
        if stored == *certificate {
            Ok(())
        } else {
            Err(stored.to_string())
        }
    })
    .await;
    sleep(LOOKED).await;
    assert_eq!(stored(site).await, *certificate, "the CA stays the same");
}

/// Rotates the CA more than ten times: each CA lives for a minute and a half, and signs for half a minute. The installation gets these values for
/// that long.
async fn rotated(site: &Site<'_>) -> Broken {
    const TIMES: usize = 10;
    const LIVES: [&str; 6] = [
        "--set",
        "certificates.lifetime=90s",
        "--set",
        "certificates.overlap=30s",
        "--set",
        "certificates.leafLifetime=30s",
    ];
    let mut seen = vec![stored(site).await];
    sluice::with_values(&LIVES, async || {
        // A CA of before has years to go: this one has what the values say.
        let ca = Ca::generate(Timestamp::now(), SignedDuration::from_secs(90)).expect("a CA");
        put(site, &ca).await;
        await_until("the CA has rotated", LIMIT * 5, async || {
            let now = stored(site).await;
            if !seen.contains(&now) {
                seen.push(now);
            }
            if seen.len() > TIMES {
                Ok(())
            } else {
                Err(format!("{} times", seen.len() - 1))
            }
        })
        .await;
    })
    .await;
    Broken::times(seen.len() - 1)
}

/// Puts another CA into the Secret, as an administrator with a CA would.
async fn put(site: &Site<'_>, ca: &Ca) {
    let parts = ca.parts();
    let data = json!({
        "ca.crt": BASE64_STANDARD.encode(parts.certificate),
        "ca.key": BASE64_STANDARD.encode(parts.key),
    });
    site.sluice.patch(SECRET, &json!({"data": data})).await;
}

async fn deleted(site: &Site<'_>) -> Broken {
    const TIMES: usize = 2;
    let certificate = stored(site).await;
    for turn in 0..TIMES {
        let delete = async || {
            let secret = site.secrets();
            secret.delete("sluice-ca", &DeleteParams::default()).await
        };
        sluice::delete_one(turn).await;
        delete().await.expect("the Secret was there");
        back(site, &certificate).await;
        sluice::all_ready().await;
    }
    Broken::times(TIMES).seen("the same CA")
}

async fn garbled(site: &Site<'_>) -> Broken {
    let certificate = stored(site).await;
    let half = certificate.as_str().unwrap_or_default();
    let half = BASE64_STANDARD.decode(half).unwrap_or_default();
    let half = BASE64_STANDARD.encode(&half[..half.len() / 2]);
    let contents = [
        json!({"ca.crt": BASE64_STANDARD.encode("garbage")}),
        json!({"ca.crt": half}),
        json!({"ca.crt": null, "ca.key": null}),
    ];
    for data in &contents {
        site.sluice.patch(SECRET, &json!({"data": data})).await;
        back(site, &certificate).await;
    }
    Broken::times(contents.len()).seen("the same CA")
}

async fn expired(site: &Site<'_>) -> Broken {
    let certificate = stored(site).await;
    let long_ago = Timestamp::now() - SignedDuration::from_hours(60 * 24);
    let ca = Ca::generate(long_ago, SignedDuration::from_hours(30 * 24)).expect("a CA");
    put(site, &ca).await;
    back(site, &certificate).await;
    Broken::times(1).seen("the same CA")
}

async fn spoilt(site: &Site<'_>) -> Broken {
    let other = Ca::generate(Timestamp::now(), SignedDuration::from_hours(24)).expect("a CA");
    let before = site.trusted().await;
    let mut longest = Duration::ZERO;
    let bundles = [
        None,
        Some("garbage".to_owned()),
        Some(other.pem().to_owned()),
    ];
    let mut times = 0;
    for bundle in bundles.iter().cycle().take(9) {
        let began = Instant::now();
        if !overwrite(site, bundle.as_deref()).await {
            continue; // the API server itself refuses what is no certificate
        }
        times += 1;
        await_until("the caBundle is mended", LIMIT, async || {
            let now = site.trusted().await;
            if now == before { Ok(()) } else { Err(now) }
        })
        .await;
        longest = longest.max(began.elapsed());
        sleep(Duration::from_secs(1)).await;
    }
    Broken::times(times).seen(format!("mended after at most {longest:.1?}"))
}

/// Writes this `caBundle`, or none, into every webhook of the configuration. Returns whether the API server takes the write.
async fn overwrite(site: &Site<'_>, bundle: Option<&str>) -> bool {
    let configurations = Api::<MutatingWebhookConfiguration>::all(site.client.clone());
    let mut configuration = configurations.get("sluice").await.expect("it is there");
    for webhook in configuration.webhooks.iter_mut().flatten() {
        webhook.client_config.ca_bundle = bundle.map(|it| ByteString(it.as_bytes().to_vec()));
    }
    let parameters = PostParams::default();
    let replaced = configurations.replace("sluice", &parameters, &configuration);
    replaced.await.is_ok()
}
