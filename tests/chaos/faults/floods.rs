//! Floods by clients without any right, from five or more addresses of this machine.

use crate::attack::{Attack, Port, Target, ask};
use crate::site::Site;
use crate::trial::{Admission, Broken, Trial};
use harness::cluster::{Program, sluice};
use harness::token::of_gate;
use harness::unscheduled::Unscheduled;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// The duration of a flood; the largest ones last four times as long.
const FLOOD: Duration = Duration::from_secs(25);
/// The number of addresses that a flood comes from.
const CLIENTS: u8 = 5;
/// The number of connections of one client to one port of one replica.
const EACH: usize = 256;

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name, fault| Trial::of(name, Admission::Open, fault);
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
        trial("10 800 questions wait on one replica", |site| {
            Box::pin(questions(site))
        }),
        trial(
            "10 800 questions, heavy reviews and idle connections at once",
            |site| Box::pin(together(site)),
        ),
    ]
}

async fn targets(site: &Site<'_>) -> Vec<Target> {
    let addresses = sluice::addresses().await;
    Target::all(&addresses, &site.trusted().await)
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
    let request = review("/admit/pods", &body);
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

/// Sends one replica 10,800 questions, while its memory lets 10,080 wait: it answers some at once, and does not die of the others. Fails unless 9,000
/// to 10,240 are held at the end.
async fn questions(site: &Site<'_>) -> Broken {
    let (clients, targets) = (site.node.more_addresses(16).await, targets(site).await);
    let pods = pods(site).await;
    let mut attack = Attack::lasts(FLOOD * 4);
    ask_for_ever(&mut attack, &clients, port(&targets, Port::Status), &pods);
    let words = attack.ended().await;
    let held = counted(&words, "held");
    assert!(
        (9_000..=10_240).contains(&held),
        "as many as there is room for: {words}"
    );
    Broken::times(1).seen(words)
}

/// Fills each port of one replica and the memory for reviews at the same time: each flood alone fits into the memory, and all together do not.
async fn together(site: &Site<'_>) -> Broken {
    let (clients, targets) = (site.node.more_addresses(16).await, targets(site).await);
    let status = port(&targets, Port::Status).clone();
    let own = |it: &&Target| it.address.ip() == status.address.ip();
    let own: Vec<&Target> = targets.iter().filter(own).collect();
    let on = |wanted| *own.iter().find(|it| it.port == wanted).expect("each port");
    // Nearly as much tree as one review may have.
    let object = format!("[{}0]", "{\"a\":0},".repeat(36_000));
    let body =
        format!("{{\"request\":{{\"uid\":\"u\",\"operation\":\"CREATE\",\"object\":{object}}}}}");
    let request = review("/admit/workloads", &body);
    let pods = pods(site).await;
    let mut attack = Attack::lasts(FLOOD * 4);
    for client in &clients[..usize::from(CLIENTS)] {
        attack.hold(*client, on(Port::Admission), EACH, b"");
        attack.hold(*client, on(Port::Plain), EACH, b"");
        let request = Arc::clone(&request);
        attack.ask(*client, on(Port::Admission), Duration::ZERO, move |_| {
            request.to_vec()
        });
    }
    ask_for_ever(&mut attack, &clients, &status, &pods);
    let words = attack.ended().await;
    Broken::times(1).seen(words)
}

/// Returns the HTTP request that sends this body to a path of admission.
fn review(path: &str, body: &str) -> Arc<[u8]> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat().into()
}

/// Returns the first of the targets with this port.
fn port(targets: &[Target], wanted: Port) -> &Target {
    let found = targets.iter().find(|it| it.port == wanted);
    found.expect("a replica runs")
}

/// Makes 2,700 gated pods, enough for 10,800 questions: a pod may ask four times at a time.
async fn pods(site: &Site<'_>) -> Vec<Unscheduled> {
    let (client, namespace) = (&site.client, &site.namespace);
    let pods = Unscheduled::make(client, namespace, 2700, "configmap/never").await;
    pods.expect("the pods are made")
}

/// Sends four questions for each pod from these addresses, and holds the connections until the attack ends. No change of the cluster answers them.
fn ask_for_ever(attack: &mut Attack, clients: &[IpAddr], replica: &Target, pods: &[Unscheduled]) {
    const EACH: usize = 4;
    // All wait for the same and so are told the same; what is new to a gate is not held.
    let digest = digest(clients[0], replica, &pods[0].token);
    for (number, pods) in pods.chunks(pods.len().div_ceil(clients.len())).enumerate() {
        let asked = pods
            .iter()
            .map(|pod| question(&pod.token, &digest, 300, "keep-alive"));
        let asked: Vec<_> = asked.map(String::into_bytes).collect();
        let count = asked.len() * EACH;
        let asked = asked.into_iter().cycle();
        attack.wait_each(clients[number], replica, asked.take(count).collect());
    }
}

/// Returns the number before a word in the report of an attack, such as `12 held, 3 closed`; 0 where the word is missing.
fn counted(words: &str, word: &str) -> usize {
    let mut counts = words.split(", ").filter_map(|it| it.split_once(' '));
    let found = counts.find(|(_, it)| *it == word);
    found.map_or(0, |(count, _)| count.parse().expect("a count"))
}

/// Asks a replica twice with the token of a gate, and returns the digest of the second answer: by then the replica has read all kinds that the list
/// needs.
fn digest(from: IpAddr, replica: &Target, token: &str) -> String {
    let mut digest = String::new();
    for wait in [0, 5] {
        let answer = ask(from, replica, &question(token, &digest, wait, "close"));
        let answer = answer.expect("a gate is answered");
        let named = answer.split("\"digest\":\"").nth(1);
        let named = named.and_then(|text| text.split('"').next());
        named
            .expect("an answer has a digest")
            .clone_into(&mut digest);
    }
    digest
}

/// Returns the HTTP request of a gate that has seen the answer with this digest and waits for `wait` seconds.
fn question(token: &str, digest: &str, wait: u64, connection: &str) -> String {
    let path = wire::PATH;
    format!(
        "GET {path}?seen={digest}&wait={wait} HTTP/1.1\r\nHost: x\r\nConnection: {connection}\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
}

/// Sends questions with forged tokens, each with another one, and counts the TokenReviews. A token looks right, but its signature is not the API
/// server's.
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
            let token = of_gate(
                &namespace,
                &format!("forged-{number}-{turn}"),
                "705ab4f5-6393-11e8-b7cc-42010a800002",
            );
            let path = wire::PATH;
            format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n")
                .into_bytes()
        });
    }
    let words = attack.ended().await;
    let reviews = reviews().await - before;
    Broken::times(1).seen(format!("{words}; {reviews} TokenReviews"))
}

/// Returns the number of TokenReview requests that the API server has answered since its start.
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
