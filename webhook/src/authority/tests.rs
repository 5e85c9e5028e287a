//! The authority with an API server that is a service without a socket.

mod ca;
mod fake;
mod issued;
mod published;
mod rotation;
mod round;
mod trust_bundle;

use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::JoinHandle;

use self::fake::{CREATIONS, Fake, bundles_of};
use super::*;

const DAY: SignedDuration = SignedDuration::from_hours(24);

struct Replica {
    authority: Authority,
    bundle: watch::Receiver<Bundle>,
    readiness: Readiness,
}

fn replica(fake: &Fake) -> Replica {
    replica_with(&fake.client())
}

fn replica_with(client: &Client) -> Replica {
    let lifetimes = Lifetimes::new(DAY * 365, DAY * 30, DAY * 7).unwrap();
    replica_living(client, lifetimes)
}

fn replica_living(client: &Client, lifetimes: Lifetimes) -> Replica {
    replica_of(client, config(lifetimes))
}

fn config(lifetimes: Lifetimes) -> Config {
    Config {
        namespace: "sluice-system".to_owned(),
        secret: "sluice-ca".to_owned(),
        issued: None,
        cluster_trust_bundle: None,
        service: "sluice".to_owned(),
        instance: "sluice-0".to_owned(),
        webhook_configuration: "sluice".to_owned(),
        creations_configuration: None,
        names: vec!["sluice.sluice-system.svc".to_owned()],
        lifetimes,
    }
}

fn replica_of(client: &Client, config: Config) -> Replica {
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

    /// Begins to run the authority, with a clock that stands at the first day, and returns when it has a bundle: the handle that ends it, and
    /// its task.
    async fn starts(mut self) -> (Shutdown, JoinHandle<()>) {
        let shutdown = Shutdown::default();
        let run = self.authority.run(Clock::new(|| day(0)), shutdown.clone());
        let running = tokio::spawn(run);
        self.bundle.changed().await.unwrap();
        (shutdown, running)
    }

    /// Checks that the replica waits for [`PATIENCE`] from `now` on for another replica to write back the CA, and then makes a CA.
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
