use super::*;
use rules::memory::job_key;
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

impl Memory {
    /// The entries of all ConfigMaps of the memory, as this replica knows them, by key.
    fn held(&self) -> BTreeMap<String, String> {
        let known = self.read();
        known.shards.iter().flat_map(|it| it.held.clone()).collect()
    }

    fn all_unwritten(&self) -> ShardChanges {
        let of = |shard| self.unwritten(shard).0;
        let all = (0..shards::COUNT).flat_map(of);
        all.filter(|(key, _)| key != WHOLE).collect()
    }

    /// Lets the memory read all its ConfigMaps, each whole. The one of namespace "shop" has the entries `held`, the others have none.
    fn learn_shop(&self, held: &BTreeMap<String, String>) {
        for shard in 0..shards::COUNT {
            let ours = shard == shards::of("shop");
            let mut held = if ours { held.clone() } else { BTreeMap::new() };
            held.insert(WHOLE.to_owned(), String::new());
            self.learn(shard, held);
        }
    }
}

#[test]
fn a_completed_job_is_remembered_until_a_newer_one_of_its_name_comes() {
    let memory = Memory::new(WallClock::STILL);
    memory.saw_job(&job("a", false));
    assert_eq!(memory.completed(Completing::Job, "shop", "migrate"), None);
    memory.saw_job(&job("a", true));
    let known = memory
        .completed(Completing::Job, "shop", "migrate")
        .unwrap();
    assert_eq!(
        (known.uid.as_str(), known.completed - known.created),
        ("a", 60)
    );
    memory.saw_job(&job("a", true));
    assert_eq!(memory.completed(Completing::Job, "other", "migrate"), None);
    memory.saw_job(&job("b", false));
    assert_eq!(memory.completed(Completing::Job, "shop", "migrate"), None);
}

#[test]
fn a_completed_job_is_found_by_the_labels_that_it_had() {
    let labelled = |labels: Value| {
        let mut job = job("a", true);
        job["metadata"]["labels"] = labels;
        job
    };
    let found = |memory: &Memory, namespace: &str| -> Vec<String> {
        let jobs = memory.selected(Completing::Job, namespace, &Selector::label("app", "shop"));
        jobs.into_keys().collect()
    };
    let memory = Memory::new(WallClock::STILL);
    memory.saw_job(&labelled(json!({"app": "shop", "zone": "a"})));
    assert_eq!(found(&memory, "shop"), ["migrate"]);
    assert_eq!(found(&memory, "sho"), Vec::<String>::new());

    let later = Memory::new(WallClock::STILL);
    later.learn_shop(&memory.held());
    assert_eq!(found(&later, "shop"), ["migrate"], "by another replica too");
    later.saw_job(&labelled(json!({"app": "other"})));
    assert_eq!(found(&later, "shop"), Vec::<String>::new());

    let long = "x".repeat(3_000);
    memory.saw_job(&labelled(json!({"app": "shop", "long": long})));
    assert_eq!(found(&memory, "shop"), Vec::<String>::new(), "too long");
    assert!(
        memory
            .completed(Completing::Job, "shop", "migrate")
            .is_some()
    );
}

#[test]
fn what_would_fill_the_config_map_is_not_remembered() {
    let memory = Memory::new(WallClock::STILL);
    let mut long = job("a", true);
    long["metadata"]["annotations"] =
        json!({"sluice.dev/scope": "r", "sluice.dev/revision": "x".repeat(220_000)});
    memory.saw_job(&long);
    assert_eq!(
        memory
            .completed(Completing::Job, "shop", "migrate")
            .unwrap()
            .revision,
        None
    );
    let mut long = job(&"x".repeat(5_000), true);
    long["metadata"]["name"] = json!("longer");
    memory.saw_job(&long);
    assert_eq!(memory.completed(Completing::Job, "shop", "longer"), None);
    memory.learn_shop(&BTreeMap::new());
    assert_eq!(memory.all_unwritten().len(), 1);
}

/// A CronJob makes many Jobs: only the last few count, and they push out no entry of others.
#[test]
fn the_jobs_of_a_controller_are_remembered_and_of_those_that_go_on_the_last_few() {
    let memory = Memory::new(WallClock::STILL);
    memory.learn_shop(&BTreeMap::new());
    let of = |kind: &str, number: usize| {
        let mut job = job(&format!("uid-{number}"), true);
        job["metadata"]["name"] = json!(format!("{kind}-{number}"));
        job["metadata"]["ownerReferences"] =
            json!([{"kind": kind, "uid": "uid-of-it", "controller": true}]);
        job["status"]["completionTime"] = json!(format!("2026-01-01T00:{number:02}:00Z"));
        job
    };
    for number in 0..10 {
        memory.saw_job(&of("CronJob", number));
        memory.saw_job(&of("JobSet", number));
    }
    let known = |kind: &str| {
        let names = (0..10).filter(|number| {
            memory
                .completed(Completing::Job, "shop", &format!("{kind}-{number}"))
                .is_some()
        });
        names.collect::<Vec<_>>()
    };
    assert_eq!(known("CronJob"), [7, 8, 9]);
    assert_eq!(known("JobSet").len(), 10);
}

#[test]
fn what_ends_as_a_job_does_is_remembered_by_its_kind() {
    let memory = Memory::new(WallClock::STILL);
    let of = |group: &str, word: &str| {
        let (group, word) = (group.to_owned(), word.to_owned());
        Completing::of(&rules::kinds::Kind::Custom { group, word }).unwrap()
    };
    let train = json!({
        "metadata": {"namespace": "shop", "name": "train", "uid": "a", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"app": "ml"}},
        "status": {"conditions": [{"type": "Completed", "status": "True", "lastTransitionTime": "2026-01-01T00:01:00Z"}]},
    });
    let job_set = of("jobset.x-k8s.io", "JobSet");
    memory.saw(job_set, &train, entry::ended(&train));
    // However the list spells the kind.
    let known = memory
        .completed(of("jobset.x-k8s.io", "jobsets"), "shop", "train")
        .unwrap();
    assert_eq!(
        (known.uid.as_str(), known.completed - known.created),
        ("a", 60)
    );
    assert_eq!(memory.completed(Completing::Job, "shop", "train"), None);
    assert_eq!(
        memory.completed(of("tekton.dev", "TaskRun"), "shop", "train"),
        None
    );
    let selected = memory.selected(job_set, "shop", &Selector::label("app", "ml"));
    assert_eq!(selected.keys().collect::<Vec<_>>(), ["train"]);
    let key = memory.held().into_keys().next().unwrap();
    assert_eq!(
        entry::namespace_of(&key, &memory.held()[&key]).as_deref(),
        Some("shop")
    );
    let mut newer = train;
    newer["metadata"]["uid"] = json!("b");
    memory.saw(job_set, &newer, None);
    assert_eq!(memory.completed(job_set, "shop", "train"), None);
}

#[test]
fn what_is_stored_elsewhere_does_not_undo_what_is_not_written_yet() {
    let memory = Memory::new(WallClock::STILL);
    memory.saw_job(&job("a", true));
    memory.learn_shop(&BTreeMap::from([(passed_key("r1"), passed(1))]));
    assert!(memory.has_passed("r1"));
    assert!(
        memory
            .completed(Completing::Job, "shop", "migrate")
            .is_some()
    );
    let changes = memory.all_unwritten();
    memory.saw_job(&job("b", false));
    memory.written(shards::of("shop"), &changes);
    assert_eq!(
        memory.all_unwritten(),
        BTreeMap::from([(job_key("shop", "migrate"), None)])
    );
    let stored = changes.into_iter();
    memory.learn_shop(
        &stored
            .filter_map(|(key, value)| Some((key, value?)))
            .collect(),
    );
    assert_eq!(memory.completed(Completing::Job, "shop", "migrate"), None);
}

#[test]
fn revisions_go_with_their_owners_and_jobs_with_their_namespaces() {
    let memory = Memory::new(WallClock::STILL);
    memory.write("shop", &passed_key("u1"), Some(&passed(1)));
    memory.write("shop", &passed_key("u2.hash"), Some(&passed(2)));
    memory.saw_job(&job("a", true));
    let prune = |made: i64| {
        memory.prune(
            |key, _| entry::owner_uid(key) == "u2",
            |namespace, at| namespace == "shop" && made > at,
        );
    };
    prune(0);
    assert!(memory.has_passed("u1") && !memory.has_passed("u2.hash"));
    assert!(
        memory
            .completed(Completing::Job, "shop", "migrate")
            .is_some()
    );
    prune(i64::MAX);
    assert!(
        memory
            .completed(Completing::Job, "shop", "migrate")
            .is_none()
    );
}

#[test]
fn a_namespace_that_fills_a_shard_makes_room_with_its_own_entries() {
    let memory = Memory::new(WallClock::STILL);
    memory.learn_shop(&BTreeMap::new());
    memory.write("shop", &passed_key("u"), Some(&passed(0)));
    let mut names = (0..).map(|it| format!("team-{it}"));
    let shard = shards::of("shop");
    let loud = names.find(|it| shards::of(it) == shard).unwrap();
    for number in 0..6_000 {
        let mut job = job("a", true);
        job["metadata"]["namespace"] = json!(loud);
        job["metadata"]["name"] = json!(format!("loop-{number:04}"));
        job["metadata"]["labels"] = json!({"long": "x".repeat(60)});
        let (hours, minutes) = (number / 60 % 24, number % 60);
        job["status"]["completionTime"] = json!(format!(
            "2026-01-{:02}T{hours:02}:{minutes:02}:00Z",
            1 + number / 1_440
        ));
        memory.saw_job(&job);
    }
    let (changes, evicted) = memory.unwritten(shard);
    assert!(evicted > 100, "{evicted}");
    assert!(memory.has_passed("u"), "of another namespace, and older");
    assert!(
        memory
            .completed(Completing::Job, &loud, "loop-0000")
            .is_none()
    );
    assert!(
        memory
            .completed(Completing::Job, &loud, "loop-5999")
            .is_some()
    );
    let written = changes
        .iter()
        .filter_map(|(key, value)| Some(key.len() + value.as_ref()?.len()));
    assert!((ENOUGH / 2..=shards::MOST).contains(&written.sum()));
    assert_eq!(memory.unwritten(shard).1, 0, "once");
}

#[test]
fn what_was_lost_is_written_again_from_what_is_known() {
    let memory = Memory::new(WallClock::STILL);
    let shard = shards::of("shop");
    memory.saw_job(&job("a", true));
    memory.learn_shop(&BTreeMap::new());
    memory.written(shard, &memory.unwritten(shard).0);
    let whole = [(WHOLE.to_owned(), String::new())];
    for lost in [
        BTreeMap::new(),
        [("x".to_owned(), "garbage".to_owned())].into(),
    ] {
        memory.learn(shard, lost);
        assert!(
            memory
                .completed(Completing::Job, "shop", "migrate")
                .is_some()
        );
        let changes = memory.unwritten(shard).0;
        assert!(changes.contains_key(&job_key("shop", "migrate")) && changes.contains_key(WHOLE));
        memory.written(shard, &changes);
    }
    memory.learn(shard, whole.into());
    assert!(
        memory
            .completed(Completing::Job, "shop", "migrate")
            .is_none(),
        "another replica removed it"
    );
}

/// Versions with one ConfigMap wrote the entries of all namespaces onto that ConfigMap.
#[test]
fn an_entry_in_the_first_shard_counts_for_every_namespace() {
    let earlier = Memory::new(WallClock::STILL);
    earlier.saw_job(&job("a", true));
    let memory = Memory::new(WallClock::STILL);
    memory.learn(0, earlier.held());
    for shard in 1..shards::COUNT {
        memory.learn(shard, BTreeMap::new());
    }
    assert_ne!(shards::of("shop"), 0);
    assert!(
        memory
            .completed(Completing::Job, "shop", "migrate")
            .is_some()
    );
    memory.saw_job(&job("b", false));
    assert!(
        memory
            .completed(Completing::Job, "shop", "migrate")
            .is_none()
    );
    assert_eq!(memory.unwritten(0).0[&job_key("shop", "migrate")], None);
    memory.saw_job(&job("b", true));
    let home = shards::of("shop");
    assert!(memory.unwritten(home).0[&job_key("shop", "migrate")].is_some());
}

/// A Job named `migrate` of this UID, created at this minute, complete or not.
fn made(uid: &str, minute: u8, complete: bool) -> Value {
    let mut job = job(uid, complete);
    job["metadata"]["creationTimestamp"] = json!(format!("2026-01-01T00:0{minute}:00Z"));
    job
}

/// The entries of a new memory that has seen only this Job, by key.
fn stored(job: &Value) -> BTreeMap<String, String> {
    let memory = Memory::new(WallClock::STILL);
    memory.saw_job(job);
    memory.held()
}

#[test]
fn a_newer_job_that_was_seen_first_makes_the_stored_one_forgotten() {
    let told = |seen: &Value| {
        let memory = Memory::new(WallClock::STILL);
        memory.saw_job(seen);
        memory.learn_shop(&stored(&made("a", 1, true)));
        let uid = memory
            .completed(Completing::Job, "shop", "migrate")
            .map(|it| it.uid);
        (uid, memory.all_unwritten().len())
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
