//! Tells the author of a plan (a ConfigMap that orders the parts of a release) about its flaws: by an Event on the ConfigMap, and by a
//! line in the log where the plan is wrong. A plan without its release has an Event only.

use crate::clock::Clock;
use crate::digest::short;
use crate::event::{Note, Outbox, Pace, Regarding, Telling};
use crate::known::{Known, View};
use jiff::{SignedDuration, Timestamp};
use rules::lookup::Lookup;
use rules::object::created;
use rules::plan::{self, PlanFlaw};
use rules::scope::Scope;
use rules::world::Scopes;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::warn;

/// The time for which a release has to be quiet before the flaws of its plan are told: a release that still changes may be incomplete.
const QUIET: SignedDuration = SignedDuration::from_secs(30);
/// The time after which plans are looked at again without a change: a release becomes quiet by itself.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// The time over which changes are gathered before plans are looked at.
const GATHER: Duration = Duration::from_secs(1);

/// Looks for flaws in every plan for as long as the process runs, and tells the first flaw of each version of a plan once, by an Event and mostly
/// in the log.
pub(crate) async fn follow(known: Arc<Known>, outbox: Outbox, clock: Clock) {
    let (mut told, mut pace) = (HashSet::new(), Pace::default());
    known.plans().synced().await;
    loop {
        let view = known.view();
        let mut now_told = HashSet::new();
        for (namespace, name) in there(&view) {
            if let Some((plan, flaw)) = flaw(&known, &namespace, &name, clock.now()) {
                let news = digest(&plan, &flaw);
                // A flaw without room for its Event is told at a later look, if it is still there.
                if told.contains(&news) || tell(&outbox, &mut pace, &plan, &flaw) {
                    now_told.insert(news);
                }
            }
            // One plan may name a thousand parts, so the other work of this thread comes first.
            tokio::task::yield_now().await;
        }
        told = now_told;
        let _ = tokio::time::timeout(LOOK_AGAIN, view.changed()).await;
        tokio::time::sleep(GATHER).await;
    }
}

fn there(view: &View) -> Vec<(String, String)> {
    match view.all_plans() {
        Lookup::Found(plans) => plans,
        Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
    }
}

/// The first flaw of a plan, with the plan; `None` if it has none, is gone, cannot be read, or its release still changes. The plan is read
/// through a view of its own, which is dropped at the end: a plan may name any number of objects, and the objects of all plans together would
/// fill the memory.
fn flaw(
    known: &Arc<Known>,
    namespace: &str,
    name: &str,
    now: Timestamp,
) -> Option<(Value, PlanFlaw)> {
    let view = known.view_of(namespace);
    let Lookup::Found(plan) = view.plan(namespace, name) else {
        return None;
    };
    let quiet = |scope: &Scope| match view.active(scope) {
        // A plan may exist before its release.
        Ok(active) => active
            .or_else(|| created(&plan))
            .is_none_or(|it| now.duration_since(it) > QUIET),
        Err(_) => false,
    };
    let flaw = plan::flaw_in(&plan, &view, quiet)?;
    Some((plan, flaw))
}

/// The digest of one flaw of one version of a plan. A plan that was written again is told of again.
fn digest(plan: &Value, flaw: &PlanFlaw) -> u64 {
    short(format!(
        "{} {} {flaw}",
        plan["metadata"]["uid"], plan["data"]
    ))
}

/// Puts an Event about the flaw of a plan into the outbox, and a line in the log where the plan is wrong. Returns whether that was done: `false`,
/// and neither, if the plan has had too many Events or the outbox is full.
fn tell(outbox: &Outbox, pace: &mut Pace, plan: &Value, flaw: &PlanFlaw) -> bool {
    let metadata = &plan["metadata"];
    let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
    let (namespace, name, uid) = (text("namespace"), text("name"), text("uid"));
    if !pace.allows(&uid, Instant::now()) {
        return false;
    }
    let is_wrong = !matches!(flaw, PlanFlaw::NothingYet { .. });
    let problem = flaw.to_string();
    let bad = Note {
        severity: "Warning",
        action: "ReadPlan",
        reason: "BadPlan",
        text: problem.clone(),
        // The replicas together tell each version of a plan once.
        wait: Some(short(plan["data"].to_string()).to_string()),
        telling: Telling::Once,
    };
    let note = if is_wrong {
        bad
    } else {
        Note {
            severity: "Normal",
            reason: "EarlyPlan",
            ..bad
        }
    };
    let target = Regarding {
        api_version: Some("v1".to_owned()),
        kind: "ConfigMap".to_owned(),
        namespace: namespace.clone(),
        name: name.clone(),
        uid: Some(uid),
    };
    let told = outbox.add(target, note);
    if told && is_wrong {
        warn!(namespace, name, problem, "A plan cannot be followed");
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Writer;
    use crate::known::Settings;
    use axum::body::Body as Answer;
    use axum::http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use prometheus_client::metrics::counter::Counter;
    use rules::kinds::{self, Kind};
    use serde_json::json;
    use std::convert::Infallible;
    use std::sync::Mutex;
    use tower::service_fn;

    /// An outbox whose Events go to a fake API server, and the paths of the requests that write them.
    fn outbox() -> (Outbox, Arc<Mutex<Vec<String>>>) {
        let written = Arc::<Mutex<Vec<String>>>::default();
        let events = Arc::clone(&written);
        let api_server = service_fn(move |request: Request<Body>| {
            let path = request.uri().path().to_owned();
            events.lock().unwrap().push(path);
            let answer = json!({"metadata": {}, "eventTime": null}).to_string();
            std::future::ready(Ok::<_, Infallible>(Response::new(Answer::from(answer))))
        });
        let writer = Writer {
            client: Client::new(api_server, "default"),
            instance: "sluice-0".to_owned(),
            clock: Clock::new(|| Timestamp::UNIX_EPOCH),
        };
        let (outbox, writer) = Outbox::new(writer, Counter::default());
        tokio::spawn(writer);
        (outbox, written)
    }

    fn plan(namespace: &str, name: &str, order: &str) -> Value {
        json!({
            "metadata": {"namespace": namespace, "name": name, "uid": format!("{namespace}-{name}"),
                "labels": {"app.kubernetes.io/instance": "shop"}},
            "data": {"order": order},
        })
    }

    /// A tenant can make plans without number, and write them again as often as it likes.
    #[tokio::test(start_paused = true)]
    async fn many_bad_plans_that_are_written_again_and_again_are_a_trickle_of_events() {
        let (known, _) = Known::new(Settings::of_the_chart());
        known.plans().replace::<&Value>([]);
        let (outbox, written) = outbox();
        tokio::spawn(follow(
            Arc::clone(&known),
            outbox,
            Clock::new(|| Timestamp::UNIX_EPOCH),
        ));
        let of = |namespace: &str| {
            let path = format!("/namespaces/{namespace}/");
            let written = written.lock().unwrap();
            written.iter().filter(|it| it.contains(&path)).count()
        };
        for second in 0..60 {
            for number in 0..100 {
                let order = format!("[ # {second}");
                let name = format!("plan-{number}");
                known.plans().apply(&plan("loud", &name, &order));
            }
            if second == 10 {
                known.plans().apply(&plan("quiet", "plan", "["));
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            if second == 13 {
                assert_eq!(of("quiet"), 1, "a tenant is told in its turn");
            }
        }
        let loud = of("loud");
        assert!((300..=400).contains(&loud), "{loud} in a minute");
    }

    fn known(job: &Value) -> Arc<Known> {
        let (known, _) = Known::new(Settings::of_the_chart());
        known.plans().replace([&json!({
            "metadata": {"namespace": "shop", "name": "order", "uid": "1", "labels": {"app.kubernetes.io/instance": "shop"},
                "creationTimestamp": "2026-01-01T00:00:00Z"},
            "data": {"order": "api: [ghost]"},
        })]);
        for kind in rules::scope::workloads().chain([Kind::Builtin(kinds::NAMESPACE)]) {
            known.want(&kind).replace::<&Value>([]);
        }
        known.want(&Kind::Builtin(kinds::JOB)).replace([job]);
        known.grant(Vec::new());
        known
    }

    /// The writer of an object chooses its `managedFields`.
    #[test]
    fn a_job_that_claims_any_time_does_not_end_the_process() {
        for (written, told) in [
            ("2026-01-01T00:00:00Z", true),
            ("9998-12-31T23:59:59Z", false),
            ("9999-12-30T22:00:00Z", true),
        ] {
            let known = known(&json!({
                "metadata": {"namespace": "shop", "name": "seed", "labels": {"app.kubernetes.io/instance": "shop"},
                    "managedFields": [{"time": written}]},
            }));
            let now = "2026-01-02T00:00:00Z".parse().unwrap();
            let found = flaw(&known, "shop", "order", now);
            assert_eq!(found.is_some(), told, "{written}");
        }
    }
}
