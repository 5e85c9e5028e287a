//! The cost of many creations that are held at once: of their tries for the controller, and for the reviews of other objects beside them.

use crate::Paths;
use crate::admission;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::dependency::Dependency;
use crate::reviews::{Endpoint, Reviews, review_of};
use crate::step;
use crate::table::Table;
use anyhow::{Context, Result};
use harness::samples::Samples;
use rules::keys::{DEPENDS_ON, HOLD};
use serde_json::json;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// The connections on which the tries come. An API server has few.
const CONNECTIONS: usize = 8;

/// The pauses that a client is asked to make after its first tries, in seconds.
const PAUSES: [u64; 5] = [1, 2, 4, 8, 15];

/// Adds rows about `count` creations that are held: the time and the processor time of their tries, and the time of a pod's review before and during
/// such tries.
pub(crate) async fn measure(
    paths: &Paths,
    cluster: &Cluster,
    count: usize,
    table: &mut Table,
) -> Result<()> {
    let block = "--api-servers=127.0.0.0/8".to_owned();
    let mut controller = Controller::start_with(paths, cluster, &[block]).await?;
    let endpoint = controller.creations()?;
    step(&format!("{count} creations that are held"));
    let used = controller.processor()?;
    let took = held(&endpoint, &tries(cluster, "alone", count)).await?;
    let cost = controller.processor()?.saturating_sub(used);
    let each = PAUSES.len() + 1;
    let how = format!("{each} each in 30 s, on {CONNECTIONS} connections");
    table.row(&format!("tries of {count} held creations"), &took, &how);
    let what = format!("tries of {count} held creations, processor time");
    table.row(&what, cost, "utime + stime in /proc/PID/stat meanwhile");

    let how = "a review of a pod every 5 ms";
    let before = admission::beside(&controller, sleep(Duration::from_secs(5))).await?;
    table.row("admission before creations are held", &before.1, how);
    let objects = tries(cluster, "beside", count);
    let (tried, during) = admission::beside(&controller, held(&endpoint, &objects)).await?;
    tried?;
    let what = format!("admission while {count} creations are held");
    table.row(&what, &during, how);
    controller.stop().await
}

/// Returns the reviews of the creation of `count` ConfigMaps that hold their creation until a list is satisfied, which it is not.
fn tries(cluster: &Cluster, prefix: &str, count: usize) -> Arc<Vec<String>> {
    let list = Dependency::ConfigMap.list();
    let review = |number: usize| {
        let name = format!("{prefix}-{number}");
        let annotations = json!({HOLD: "create", DEPENDS_ON: list});
        let metadata =
            json!({"name": name, "namespace": cluster.namespace, "annotations": annotations});
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        review_of("ConfigMap", &cluster.namespace, &object)
    };
    Arc::new((0..count).map(review).collect())
}

/// Sends each review at once and again after each pause of [`PAUSES`], on several connections, and returns how long each answer took. Every answer
/// has to have code 429.
async fn held(endpoint: &Endpoint, reviews: &Arc<Vec<String>>) -> Result<Samples> {
    let (endpoint, reviews) = (endpoint.clone(), Arc::clone(reviews));
    let sending = spawn_blocking(move || {
        let share = reviews.len().div_ceil(CONNECTIONS).max(1);
        thread::scope(|scope| {
            let connections: Vec<_> = reviews
                .chunks(share)
                .map(|share| scope.spawn(|| held_on(&endpoint, share)))
                .collect();
            let mut took = vec![];
            for connection in connections {
                took.extend(connection.join().ok().context("a client panicked")??);
            }
            anyhow::Ok(took)
        })
    });
    Ok(Samples::new(sending.await??))
}

/// Sends these reviews one after another on one connection, at once and again after each pause, and returns how long each answer took.
fn held_on(endpoint: &Endpoint, reviews: &[String]) -> Result<Vec<Duration>> {
    let first = reviews.first().context("a connection without reviews")?;
    let mut connection = Reviews::begin(endpoint, first)?;
    let mut took = vec![];
    for pause in [0].iter().chain(&PAUSES) {
        thread::sleep(Duration::from_secs(*pause));
        for review in reviews {
            took.push(connection.held(endpoint, review)?);
        }
    }
    Ok(took)
}
