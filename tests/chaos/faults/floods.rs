//! Clients without any right, many and rude, from five addresses of this machine.

use crate::attack::{Attack, Port, Target};
use crate::site::Site;
use crate::trial::{Admission, Broken, Trial};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use harness::cluster::{Program, sluice};
use harness::unscheduled::Unscheduled;
use jiff::{SignedDuration, Timestamp};
use rules::keys::AUDIENCE;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// How long each flood lasts.
const FLOOD: Duration = Duration::from_secs(25);
const TEN_SECONDS: Duration = Duration::from_secs(10);
/// As many as the issue of `make chaos` has clients.
const CLIENTS: u8 = 5;
/// Connections of one client to one port of one replica.
const EACH: usize = 256;

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name, fault| Trial {
        name,
        gates: 20,
        admission: Admission::Open,
        latest: TEN_SECONDS,
        fault,
    };
    vec![
        trial("5 clients hold 256 idle connections to each port", |site| {
            Box::pin(idle(site))
        }),
        trial("20 wide bodies of 7 MiB at a time", |site| {
            Box::pin(wide(site))
        }),
        trial("slow heads, slow bodies, readers that never read", |site| {
            Box::pin(slow(site))
        }),
        trial(
            "16 clients hold connections, then send long heads",
            |site| Box::pin(heads(site)),
        ),
        trial("2 000 forged tokens a second", |site| {
            Box::pin(tokens(site))
        }),
        trial("8 000 gates ask one replica", |site| Box::pin(gates(site))),
    ]
}

async fn targets(site: &Site<'_>) -> Vec<Target> {
    let configuration = site.sluice.get("mutatingwebhookconfiguration/sluice").await;
    let bundle = &configuration["webhooks"][0]["clientConfig"]["caBundle"];
    let addresses = sluice::addresses().await;
    Target::all(&addresses, bundle.as_str().unwrap_or_default())
}

async fn idle(site: &Site<'_>) -> Broken {
    let (clients, targets) = (site.node.more_addresses(CLIENTS).await, targets(site).await);
    let mut attack = Attack::lasts(FLOOD);
    for client in &clients {
        for target in &targets {
            attack.hold(*client, target, EACH, b"");
        }
    }
    Broken::times(1).seen(attack.ended().await)
}

async fn heads(site: &Site<'_>) -> Broken {
    let (clients, targets) = (site.node.more_addresses(16).await, targets(site).await);
    let head = [&b"GET / HTTP/1.1\r\nX-Long: "[..], &vec![b'x'; 60 << 10]].concat();
    let mut attack = Attack::lasts(FLOOD);
    for client in &clients {
        for target in targets.iter().filter(|target| target.port == Port::Status) {
            attack.hold(*client, target, 510, &head);
        }
    }
    Broken::times(1).seen(attack.ended().await)
}

async fn wide(site: &Site<'_>) -> Broken {
    let (clients, targets) = (site.node.more_addresses(CLIENTS).await, targets(site).await);
    let body = format!("{{\"request\":[{}0]}}", "0,".repeat((7 << 19) - 16));
    let head = format!(
        "POST /admit/pods HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let request: Arc<[u8]> = [head.as_bytes(), body.as_bytes()].concat().into();
    let mut attack = Attack::lasts(FLOOD);
    let admission = targets.iter().filter(|it| it.port == Port::Admission);
    for target in admission {
        for number in 0..10 {
            let client = clients[number % clients.len()];
            let request = Arc::clone(&request);
            attack.ask(client, target, Duration::ZERO, move |_| request.to_vec());
        }
    }
    Broken::times(1).seen(attack.ended().await)
}

async fn slow(site: &Site<'_>) -> Broken {
    let (clients, targets) = (site.node.more_addresses(CLIENTS).await, targets(site).await);
    let mut attack = Attack::lasts(FLOOD);
    for client in &clients {
        for target in &targets {
            attack.drip(
                *client,
                target,
                60,
                b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ",
            );
            attack.drip(
                *client,
                target,
                60,
                b"POST /admit/pods HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{",
            );
            let greedy = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(200);
            attack.hold(*client, target, 60, greedy.as_bytes());
        }
    }
    Broken::times(1).seen(attack.ended().await)
}

/// More than the limit of its memory lets in: it turns some away, and does not die of the others. Their questions are those of
/// one pod, each on a connection of its own.
async fn gates(site: &Site<'_>) -> Broken {
    let (clients, targets) = (site.node.more_addresses(16).await, targets(site).await);
    let (client, namespace) = (&site.client, &site.namespace);
    let pods = Unscheduled::make(client, namespace, 1, "configmap/never").await;
    let pods = pods.expect("the pod is made");
    let question = format!(
        "GET {}?wait=30 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n",
        wire::PATH,
        pods[0].token
    );
    let mut attack = Attack::lasts(FLOOD);
    let mut status = targets.iter().filter(|it| it.port == Port::Status);
    let replica = status.next().expect("a replica runs");
    for client in &clients {
        attack.hold(*client, replica, 500, question.as_bytes());
    }
    Broken::times(1).seen(attack.ended().await)
}

/// Each token looks right and is another one; only its signature is not the API server's.
async fn tokens(site: &Site<'_>) -> Broken {
    const THREADS: u32 = 16;
    let (clients, targets) = (site.node.more_addresses(1).await, targets(site).await);
    let namespace = site.namespace.clone();
    let before = reviews().await;
    let mut attack = Attack::lasts(FLOOD);
    let status = targets.iter().filter(|it| it.port == Port::Status);
    let status: Vec<_> = status.collect();
    let pause = Duration::from_secs(1) * THREADS / 2000;
    for number in 0..THREADS {
        let target = status[number as usize % status.len()];
        let namespace = namespace.clone();
        attack.ask(clients[0], target, pause, move |turn| {
            let token = forged(&namespace, &format!("forged-{number}-{turn}"));
            let path = wire::PATH;
            format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n")
                .into_bytes()
        });
    }
    let words = attack.ended().await;
    let reviews = reviews().await - before;
    Broken::times(1).seen(format!("{words}; {reviews} TokenReviews"))
}

fn forged(namespace: &str, pod: &str) -> String {
    let part = |value: serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let now = Timestamp::now();
    let until = now + SignedDuration::from_mins(10);
    let named = |name: &str| json!({"name": name, "uid": "705ab4f5-6393-11e8-b7cc-42010a800002"});
    let claims = json!({
        "aud": [AUDIENCE], "iss": "https://kubernetes.default.svc.cluster.local",
        "sub": format!("system:serviceaccount:{namespace}:default"),
        "iat": now.as_second(), "nbf": now.as_second(), "exp": until.as_second(),
        "kubernetes.io": {"namespace": namespace, "pod": named(pod), "serviceaccount": named("default")},
    });
    let head = part(json!({"alg": "RS256", "kid": "forged"}));
    let signature = BASE64_URL_SAFE_NO_PAD.encode(pod.repeat(16));
    format!("{head}.{}.{signature}", part(claims))
}

/// How many `TokenReviews` the API server has answered.
async fn reviews() -> u64 {
    let metrics = Program::new("kubectl").args(["get", "--raw", "/metrics"]);
    let metrics = metrics.run().await.ok();
    let lines = metrics.lines().filter(|line| {
        line.starts_with("apiserver_request_total{") && line.contains("resource=\"tokenreviews\"")
    });
    lines
        .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
        .sum()
}
