use super::*;
use futures::FutureExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use rules::scope::Scope;

fn wave() -> Wave {
    let scope = Scope {
        namespace: "shop".to_owned(),
        name: "r".to_owned(),
        kept_in: None,
    };
    Wave { scope, weight: 0 }
}

fn holder(name: &str) -> Holder {
    Holder {
        group: "batch".to_owned(),
        kind: "Job".to_owned(),
        name: name.to_owned(),
        uid: name.to_owned(),
        revision: name.to_owned(),
        pods_of: name.to_owned(),
        most: 2,
    }
}

fn stored(version: &str, holders: &[Holder]) -> ConfigMap {
    let value = value(&wave(), holders)
        .unwrap()
        .map(|text| (key(&wave()), text));
    let whole = (WHOLE.to_owned(), "2026-01-01T00:00:00Z".to_owned());
    ConfigMap {
        metadata: ObjectMeta {
            resource_version: Some(version.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(value.into_iter().chain([whole]).collect()),
        ..ConfigMap::default()
    }
}

#[test]
fn what_the_watch_tells_late_changes_nothing() {
    let (slots, bell) = (Slots::new(WallClock::STILL), Arc::<Bell>::default());
    let shard = shards::of("shop");
    let (_, _subscription) = slots.ask(&wave(), &bell);
    let ask = || slots.ask(&wave(), &bell).0.ok().map(|it| it.0.holders);
    let woken = || bell.heard().now_or_never().is_some();
    assert_eq!(ask(), None);
    let (one, both) = ([holder("a")], [holder("a"), holder("b")]);
    slots.begin(shard, &stored("99", &one));
    assert!(woken());
    slots.learn(shard, &stored("101", &both));
    assert_eq!(ask(), Some(both.to_vec()));
    assert!(woken());
    slots.learn(shard, &stored("100", &one));
    assert_eq!(ask(), Some(both.to_vec()));
    assert!(!woken());
    let other = Slots::new(WallClock::STILL);
    other.begin(shard, &stored("1", &one));
    let waves = || other.waves("shop").len();
    assert_eq!((waves(), waves()), (1, 0));
    // The API server may have restored its etcd before the shard is followed again.
    slots.begin(shard, &stored("7", &one));
    assert_eq!(ask(), Some(one.to_vec()));
    assert!(woken());
    slots.begin((shard + 1) % shards::COUNT, &stored("8", &[]));
    assert_eq!(ask(), Some(one.to_vec()), "another shard");
}

#[test]
fn what_was_lost_is_not_taken_for_empty() {
    let (slots, bell) = (Slots::new(WallClock::STILL), Arc::<Bell>::default());
    let shard = shards::of("shop");
    let (_, _subscription) = slots.ask(&wave(), &bell);
    let ask = || slots.ask(&wave(), &bell).0.map(|it| it.0.holders.len());
    let losses = || slots.losses().len();
    let whole = stored("1", &[holder("a")]);
    let emptied = ConfigMap {
        data: None,
        ..whole.clone()
    };
    let garbled = |key: &str| {
        let mut stored = whole.clone();
        let found = stored
            .data
            .iter_mut()
            .flatten()
            .find(|(it, _)| it.starts_with(key));
        *found.unwrap().1 = "{}".to_owned();
        stored
    };
    for lost in [emptied, garbled("shop."), garbled(WHOLE)] {
        slots.begin(shard, &whole);
        assert_eq!((ask(), losses()), (Ok(1), 0));
        bell.heard().now_or_never();
        slots.learn(shard, &lost);
        assert_eq!(
            (ask(), losses()),
            (Err(Unavailable::Syncing), 1),
            "{lost:?}"
        );
        assert!(bell.heard().now_or_never().is_some());
    }
    slots.begin(shard, &whole);
    slots.lose(shard);
    assert!(matches!(slots.losses()[..], [(_, ShardLoss::Absent)]));
    assert!(slots.written(&wave()).is_none());
}

#[test]
fn a_namespace_fills_no_more_than_its_share() {
    let slots = Slots::new(WallClock::STILL);
    let shard = shards::of("shop");
    slots.begin(shard, &stored("1", &[]));
    let room = |wave: &Wave| slots.written(wave).unwrap().room;
    assert_eq!(room(&wave()), SHARE);
    let many: Vec<Holder> = (0..400).map(|it| holder(&it.to_string())).collect();
    slots.begin(shard, &stored("2", &many));
    assert_eq!(room(&wave()), SHARE, "its own entry is replaced");
    let mut next = wave();
    next.weight = 1;
    let length = value(&wave(), &many).unwrap().unwrap().len() + key(&wave()).len();
    assert_eq!(room(&next), SHARE - length);
    let beside = (0..).map(|it| format!("team-{it}"));
    next.scope.namespace = beside
        .into_iter()
        .find(|it| shards::of(it) == shard)
        .unwrap();
    assert_eq!(room(&next), SHARE);
}

#[test]
fn namespaces_that_want_all_of_a_configmap_leave_room_for_the_next() {
    let mut taken = Vec::new();
    for _ in 0..10 {
        taken.push(room(taken.iter().sum(), 0));
    }
    assert_eq!(taken[..5], [SHARE; 5]);
    assert!(taken[9] > 20 * 256, "twenty holders: {taken:?}");
    // A namespace with one large wave gets no more by a second wave.
    assert_eq!(room(taken.iter().sum(), taken[9]), 0);
}
