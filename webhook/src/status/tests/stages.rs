//! The Events about a wait that is for one thing after the other, on the pod and on the workload above it.

use super::*;

fn replica_set(name: &str) -> Value {
    owned(
        name,
        "ReplicaSet",
        &json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "api", "uid": "d1"}),
    )
}

/// An object `name`, whose UID is its name too, of this controller.
fn owned(name: &str, kind: &str, controller: &Value) -> Value {
    let mut owner = controller.clone();
    owner["controller"] = json!(true);
    json!({
        "kind": kind,
        "metadata": {
            "namespace": "shop", "name": name, "uid": name, "ownerReferences": [owner],
            "annotations": {"sluice.dev/gated": "true"}, "creationTimestamp": "1970-01-01T00:00:00Z",
        },
    })
}

/// The pod `pod` of the ReplicaSet `set`.
fn of(set: &str, pod: &str) -> Value {
    owned(
        pod,
        "Pod",
        &json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": set}),
    )
}

impl Desk {
    /// A service that knows the Deployment `api` with this list, its ReplicaSets `old` and `new`, and these pods.
    fn deploys(list: &str, pods: &[Value]) -> Self {
        let desk = Self::new(&json!({}));
        let deployment = json!({
            "metadata": {
                "namespace": "shop", "name": "api", "uid": "d1", "creationTimestamp": "1970-01-01T00:00:00Z",
                "annotations": {"sluice.dev/depends-on": list},
            },
        });
        let known = &desk.service.known;
        let fill = |word: &str, objects: &[Value]| {
            let kind = by_word(word).map(Kind::Builtin).unwrap();
            known.want(&kind).replace(objects);
        };
        fill("deployment", &[deployment]);
        fill("replicaset", &[replica_set("old"), replica_set("new")]);
        known.gated().replace(pods);
        desk
    }

    /// Asks as the gate of this pod does, until it may open.
    async fn gate_of(&self, pod: &str) {
        self.gate_that_saw("", pod).await;
    }

    /// Asks as the gate of this pod does until it may open. The gate has the answer with this digest already.
    async fn gate_that_saw(&self, digest: &str, pod: &str) {
        let token = tokens::token(&json!({
            "nbf": -1_000_000, "exp": 1_000_000,
            "kubernetes.io": {"namespace": "shop", "pod": {"name": pod, "uid": pod}},
        }));
        let mut seen = digest.to_owned();
        loop {
            let query = format!("seen={seen}&wait=25");
            let (_, answer) = self.bytes(&query, &token).await;
            let (_, answer) = answer.split_once('\n').unwrap();
            let answer: wire::Answer = serde_json::from_str(answer).unwrap();
            if answer.verdict == wire::Decision::Open {
                return;
            }
            seen = answer.digest;
        }
    }

    /// The Events about an object of this UID: the seconds since the start, the reason and the text.
    fn said_of(&self, uid: &str) -> Vec<(i64, String, String)> {
        let events = self.events.lock().unwrap();
        let ours = events
            .iter()
            .filter(|event| event["regarding"]["uid"] == uid);
        let said = |event: &Value| {
            let at: Timestamp = event["eventTime"].as_str().unwrap().parse().unwrap();
            let [reason, note] =
                ["reason", "note"].map(|key| event[key].as_str().unwrap().to_owned());
            (at.as_second(), reason, note)
        };
        ours.map(said).collect()
    }
}

fn job(name: &str, failed: bool) -> Value {
    let mut job = failed_job();
    job["metadata"]["name"] = json!(name);
    job["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:00Z");
    if !failed {
        job["status"] = json!({"active": 1});
    }
    job
}

#[tokio::test(start_paused = true)]
async fn each_stage_of_a_wait_is_told_within_fifteen_seconds_of_the_pod_and_of_its_workload() {
    let desk = Desk::deploys("configmap/go, job/seed", &[of("old", "a")]);
    desk.put("job", &job("seed", false));
    let stages = async {
        // It has been missing for a while, then the Job comes next, and the Job fails.
        tokio::time::sleep(Duration::from_secs(9)).await;
        desk.put("configmap", &config_map());
        tokio::time::sleep(Duration::from_secs(8)).await;
        desk.put("job", &job("seed", true));
        tokio::time::sleep(Duration::from_secs(60)).await;
    };
    tokio::select! {
        () = stages => {}
        () = desk.gate_of("a") => unreachable!("its Job has failed"),
    }
    for uid in ["a", "d1"] {
        let said = desk.said_of(uid);
        let [
            (first, missing, _),
            (second, waiting, job),
            (third, failed, _),
        ] = &said[..]
        else {
            panic!("{uid}: {said:?}");
        };
        assert_eq!(
            (&**missing, &**waiting, &**failed),
            ("NotFound", "Waiting", "DependencyFailed")
        );
        assert!(job.starts_with("waiting for Job/seed ("), "{job}");
        assert!((2..10).contains(first), "{said:?}");
        assert!((9..24).contains(second), "{said:?}");
        assert!((17..32).contains(third), "{said:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_wait_of_a_new_revision_is_told_of_the_workload_as_the_one_before_was() {
    let desk = Desk::deploys("configmap/go", &[of("old", "a"), of("new", "b")]);
    for pod in ["a", "b"] {
        let went = config_map();
        let configs = by_word("configmap").map(Kind::Builtin).unwrap();
        desk.service.known.want(&configs).delete(&went);
        let comes = async {
            tokio::time::sleep(Duration::from_secs(8)).await;
            desk.put("configmap", &went);
        };
        tokio::join!(desk.gate_of(pod), comes);
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    let reasons: Vec<_> = desk
        .said_of("d1")
        .into_iter()
        .map(|(_, reason, _)| reason)
        .collect();
    assert_eq!(reasons, ["NotFound", "Released", "NotFound", "Released"]);
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_another_of_its_revision_let_through_is_told_so() {
    let desk = Desk::deploys("configmap/go", &[of("old", "a"), of("old", "b")]);
    let comes = async {
        tokio::time::sleep(Duration::from_secs(8)).await;
        desk.put("configmap", &config_map());
    };
    tokio::join!(desk.gate_of("a"), desk.gate_of("b"), comes);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let last = |uid: &str| {
        desk.said_of(uid)
            .pop()
            .map(|(_, reason, note)| (reason, note))
            .unwrap()
    };
    let released = |note: &str| ("Released".to_owned(), note.to_owned());
    let mut of_pods = ["a", "b"].map(last);
    of_pods.sort();
    let by_itself = "its dependency is satisfied";
    let by_another =
        "opened without asking again: a pod of this revision has passed its gate before";
    assert_eq!(of_pods, [by_itself, by_another].map(released));
    assert_eq!(
        last("d1"),
        released("the dependencies of its pods are satisfied")
    );
    let of_workload = desk.said_of("d1");
    assert_eq!(of_workload.len(), 2, "{of_workload:?}");
}

#[tokio::test(start_paused = true)]
async fn whoever_waited_at_another_replica_is_told_here_that_it_is_over() {
    let desk = Desk::deploys("configmap/go", &[of("old", "a"), of("old", "b")]);
    desk.put("configmap", &config_map());
    tokio::time::sleep(Duration::from_secs(20)).await;
    desk.gate_of("a").await;
    desk.gate_that_saw("of-another-replica", "b").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(desk.said_of("a"), [], "it has not waited");
    let of_b = desk.said_of("b").pop().map(|(_, reason, _)| reason);
    assert_eq!(of_b.as_deref(), Some("Released"));
}

#[tokio::test(start_paused = true)]
async fn what_is_nearly_called_so_is_named_and_nothing_is_read_for_that() {
    let desk = Desk::new(&json!({"sluice.dev/depends-on": "job/sed, deployment/seed"}));
    let known = &desk.service.known;
    let deployments = by_word("deployment").map(Kind::Builtin).unwrap();
    known.want(&deployments).replace::<&Value>([]);
    desk.put("job", &job("seed", false));
    let (_, answer) = desk.gate(20).await;
    let told = answer
        .dependencies
        .iter()
        .filter_map(|it| it.message.as_deref());
    let misspelt = "not created yet, or misspelt; did you mean Job/seed?";
    assert_eq!(told.collect::<Vec<_>>(), [misspelt; 2]);
    let text = desk.warned("NotFound").await;
    assert!(
        text.contains("Job/sed (NotFound: not created yet, or misspelt; did you mean Job/seed?)"),
        "{text}"
    );
    assert!(desk.said_of("u1")[0].0 < 10);
    let sets = by_word("statefulset").map(Kind::Builtin).unwrap();
    assert!(known.watched(&sets).is_none());
}
