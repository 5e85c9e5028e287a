//! Tests of the assembled process, with a panic in one of its tasks.

use super::*;
use axum::body::Body as Answer;
use axum::http::{Request, Response};
use clap::Parser;
use futures::{FutureExt, StreamExt, stream};
use jiff::Timestamp;
use kube::client::Body;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tower::service_fn;

/// The names of all tasks that the process starts with.
const TASKS: [&str; 23] = [
    "admin server",
    "admission server",
    "authority",
    "catalog",
    "conditions",
    "events",
    "first list of gated pods",
    "gate spec",
    "health rules",
    "held creations",
    "looks at pods",
    "memory",
    "memory alarm",
    "plans",
    "search for kinds that are not served",
    "slots",
    "status server",
    "stranded pods",
    "watch of Job",
    "watch of gated pods",
    "watch of plans",
    "watch of unscheduled pods",
    "what was told",
];

/// The process, on free ports, with an API server that does not answer.
fn process() -> (Process, Readiness) {
    let silent = service_fn(|_: Request<Body>| pending::<Result<Response<Answer>, Infallible>>());
    let (tasks, background) = Tasks::new();
    let parts = Parts {
        client: Client::new(silent, "default"),
        registry: Registry::default(),
        readiness: Readiness::default(),
        shutdown: Shutdown::default(),
        resolver: Resolver::new(),
        tasks,
        clock: Clock::new(Timestamp::now),
        admission: Handle::current(),
        memory: Some(256 << 20),
        alarm: MemoryAlarm::default(),
    };
    let readiness = parts.readiness.clone();
    let args = Args::parse_from([
        "sluice-webhook",
        "--service-namespace=sluice-system",
        "--gate-image=gate",
        "--health-rules-configmap=rules",
        "--pod-conditions",
        "--admission-port=0",
        "--status-port=0",
        "--admin-port=0",
    ]);
    (args.assemble(parts, background).unwrap(), readiness)
}

#[tokio::test(start_paused = true)]
async fn every_task_is_in_the_table() {
    let Process {
        mut servers,
        mut background,
        ..
    } = process().0;
    let begun = async { tokio::join!(servers.ended(), background.ended()) };
    assert!(timeout(Duration::from_secs(1), begun).await.is_err());
    let found: BTreeSet<String> = servers
        .names()
        .union(&background.names())
        .cloned()
        .collect();
    assert_eq!(found, TASKS.map(str::to_owned).into());
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_any_task_ends_the_process_and_names_the_task() {
    for task in TASKS {
        let (mut process, readiness) = process();
        process.servers.planted.push(task.to_owned());
        process.background.planted.push(task.to_owned());
        let shutdown = process.shutdown.clone();
        let grace = Grace {
            keep_serving: Duration::from_millis(50),
            drain: Duration::ZERO,
        };
        let seen = async {
            shutdown.leaving().await;
            readiness.missing()
        };
        let too_late = stream::once(sleep(Duration::from_secs(60)).map(|()| "SIGTERM"));
        let (ended, missing) = tokio::join!(process.run(too_late.boxed(), grace), seen);
        let expected = format!("the task {task:?} panicked: planted");
        assert_eq!(ended.unwrap_err().to_string(), expected);
        let serving = missing.iter().find(|it| it.condition == "serving");
        assert_eq!(serving.unwrap().reason, expected, "before anything else");
    }
}
