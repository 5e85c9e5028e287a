use super::*;
use serde_json::json;

fn job(uid: &str, complete: bool) -> Value {
    json!({
        "metadata": {"namespace": "shop", "name": "migrate", "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "status": {
            "completionTime": "2026-01-01T00:01:00Z",
            "conditions": [{"type": "Complete", "status": if complete { "True" } else { "False" }}],
        },
    })
}

fn passed(at: i64) -> String {
    let (kind, namespace) = ("ReplicaSet".to_owned(), "shop".to_owned());
    entry::text(&Passed {
        at,
        group: "apps".to_owned(),
        kind,
        namespace,
        name: "api-1".to_owned(),
    })
    .unwrap()
}

#[test]
fn a_completed_job_is_remembered_until_a_newer_one_of_its_name_comes() {
    let memory = Memory::default();
    memory.saw_job(&job("a", false));
    assert_eq!(memory.completed("shop", "migrate"), None);
    memory.saw_job(&job("a", true));
    let known = memory.completed("shop", "migrate").unwrap();
    assert_eq!(
        (known.uid.as_str(), known.completed - known.created),
        ("a", 60)
    );
    memory.saw_job(&job("a", true));
    assert_eq!(memory.completed("other", "migrate"), None);
    memory.saw_job(&job("b", false));
    assert_eq!(memory.completed("shop", "migrate"), None);
}

#[test]
fn a_completed_job_is_found_by_the_labels_that_it_had() {
    let labelled = |labels: Value| {
        let mut job = job("a", true);
        job["metadata"]["labels"] = labels;
        job
    };
    let found = |memory: &Memory, namespace: &str| -> Vec<String> {
        let jobs = memory.selected(namespace, &Selector::label("app", "shop"));
        jobs.into_keys().collect()
    };
    let memory = Memory::default();
    memory.saw_job(&labelled(json!({"app": "shop", "zone": "a"})));
    assert_eq!(found(&memory, "shop"), ["migrate"]);
    assert_eq!(found(&memory, "sho"), Vec::<String>::new());

    let later = Memory::default();
    later.learn(memory.read().held.clone());
    assert_eq!(found(&later, "shop"), ["migrate"], "by another replica too");
    later.saw_job(&labelled(json!({"app": "other"})));
    assert_eq!(found(&later, "shop"), Vec::<String>::new());

    let long = "x".repeat(3_000);
    memory.saw_job(&labelled(json!({"app": "shop", "long": long})));
    assert_eq!(found(&memory, "shop"), Vec::<String>::new(), "too long");
    assert!(memory.completed("shop", "migrate").is_some());
}

#[test]
fn what_would_fill_the_config_map_is_not_remembered() {
    let memory = Memory::default();
    let mut long = job("a", true);
    long["metadata"]["annotations"] = json!({"sluice.dev/revision": "x".repeat(5_000)});
    memory.saw_job(&long);
    assert_eq!(memory.completed("shop", "migrate"), None);
    assert!(memory.unwritten().is_empty());
}

#[test]
fn the_jobs_of_a_controller_are_not_remembered() {
    let memory = Memory::default();
    let mut nightly = job("a", true);
    nightly["metadata"]["ownerReferences"] = json!([{"kind": "CronJob", "controller": true}]);
    memory.saw_job(&nightly);
    assert_eq!(memory.completed("shop", "migrate"), None);
}

#[test]
fn what_is_stored_elsewhere_does_not_undo_what_is_not_written_yet() {
    let memory = Memory::default();
    memory.saw_job(&job("a", true));
    memory.learn(BTreeMap::from([(passed_key("r1"), passed(1))]));
    assert!(memory.has_passed("r1"));
    assert!(memory.completed("shop", "migrate").is_some());
    let changes = memory.unwritten();
    memory.saw_job(&job("b", false));
    memory.written(&changes);
    assert_eq!(
        memory.unwritten(),
        BTreeMap::from([(job_key("shop", "migrate"), None)])
    );
    memory.learn(
        changes
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .collect(),
    );
    assert_eq!(memory.completed("shop", "migrate"), None);
}

#[test]
fn revisions_go_with_their_owners() {
    let memory = Memory::default();
    memory.write(passed_key("u1"), Some(passed(1)));
    memory.write(passed_key("u2.hash"), Some(passed(2)));
    memory.prune(|key, _| entry::owner_uid(key) == "u2");
    assert!(memory.has_passed("u1") && !memory.has_passed("u2.hash"));
}

#[test]
fn the_oldest_go_when_there_are_too_many() {
    let memory = Memory::default();
    let most = i64::try_from(MOST).unwrap();
    for at in 0..most + 2 {
        memory.write(passed_key(&format!("u{at}")), Some(passed(at)));
    }
    memory.saw_job(&job("a", true));
    memory.prune(|_, _| false);
    assert!(!memory.has_passed("u0") && !memory.has_passed("u1") && memory.has_passed("u2"));
    assert!(memory.completed("shop", "migrate").is_some());
    let size: usize = memory
        .read()
        .held
        .iter()
        .map(|(key, value)| key.len() + value.len())
        .sum();
    assert!(size < 500_000, "{size}");
}

#[test]
fn the_labels_of_the_oldest_jobs_go_when_there_are_too_many() {
    let memory = Memory::default();
    let long = "x".repeat(900);
    let many = LABELS / 1_000;
    for number in 0..many + 50 {
        let mut job = job("a", true);
        job["metadata"]["name"] = json!(format!("migrate-{number:03}"));
        job["metadata"]["labels"] = json!({"app": "shop", "long": long});
        job["status"]["completionTime"] = json!(format!(
            "2026-01-01T{:02}:{:02}:00Z",
            number / 60,
            number % 60
        ));
        memory.saw_job(&job);
    }
    memory.prune(|_, _| false);
    let found = memory.selected("shop", &Selector::label("app", "shop"));
    let newest = format!("migrate-{:03}", many + 49);
    assert!(found.contains_key(&newest) && !found.contains_key("migrate-000"));
    assert!(found.len() >= many, "{}", found.len());
    assert!(memory.completed("shop", "migrate-000").is_some());
    let length: usize = found.values().map(CompletedJob::length_of_labels).sum();
    assert!(length <= LABELS, "{length}");
}

/// A Job of that UID, made at this minute, complete or not.
fn made(uid: &str, minute: u8, complete: bool) -> Value {
    let mut job = job(uid, complete);
    job["metadata"]["creationTimestamp"] = json!(format!("2026-01-01T00:0{minute}:00Z"));
    job
}

/// What the ConfigMap holds after this Job has completed.
fn stored(job: &Value) -> BTreeMap<String, String> {
    let memory = Memory::default();
    memory.saw_job(job);
    memory.read().held.clone()
}

#[test]
fn a_newer_job_that_was_seen_first_makes_the_stored_one_forgotten() {
    let told = |seen: &Value| {
        let memory = Memory::default();
        memory.saw_job(seen);
        memory.learn(stored(&made("a", 1, true)));
        let uid = memory.completed("shop", "migrate").map(|it| it.uid);
        (uid, memory.unwritten().len())
    };
    let known = |uid: &str, unwritten| (Some(uid.to_owned()), unwritten);
    assert_eq!(told(&made("b", 2, false)), (None, 1));
    assert_eq!(told(&made("a", 1, false)), known("a", 0), "the same one");
    assert_eq!(told(&made("old", 0, false)), known("a", 0));
    assert_eq!(told(&made("b", 2, true)), known("b", 1));
    assert_eq!(
        told(&made("old", 0, true)),
        known("a", 0),
        "the newer one wins"
    );
}
