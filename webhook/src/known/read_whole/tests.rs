use super::*;
use crate::known::{Known, Settings, View, WatchRequest};
use rules::kinds::by_word;
use rules::lookup::{Lookup, Unavailable};
use rules::world::Objects;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::advance;

fn of(namespace: &str, name: &str) -> ObjectName {
    ObjectName {
        kind: by_word("configmap").map(Kind::Builtin).unwrap(),
        namespace: namespace.into(),
        name: name.into(),
    }
}

/// A cluster in which every object exists and is read at once.
struct Cluster {
    known: Arc<Known>,
    /// The length of each object, in bytes.
    length: usize,
    wanted: UnboundedReceiver<WatchRequest>,
    followed: Vec<(ObjectName, Arc<Store>, Forgotten)>,
}

impl Cluster {
    fn new() -> Self {
        let (known, wanted) = Known::new(Settings::of_the_chart());
        let followed = Vec::new();
        Self {
            known,
            length: 0,
            wanted,
            followed,
        }
    }

    /// Follows the objects whose watches were asked for, as the catalog does, and returns how many objects are followed then.
    fn answer(&mut self) -> usize {
        while let Ok(wanted) = self.wanted.try_recv() {
            let WatchRequest::Whole(named) = wanted else {
                continue;
            };
            let Some((store, forgotten)) = self.known.begin_whole(&named) else {
                continue;
            };
            let mut large = object(&named);
            large["data"] = json!({"text": "x".repeat(self.length)});
            let read = self.known.budgets().readings.untrimmed(&named.kind, large);
            store.replace([read]);
            self.followed.push((named, store, forgotten));
        }
        self.followed.retain_mut(|(_, _, forgotten)| {
            forgotten.try_recv() == Err(oneshot::error::TryRecvError::Empty)
        });
        self.followed.len()
    }

    /// Lets one second pass and begins the next turns, as the catalog does. Returns how many objects are followed then.
    async fn pass(&mut self) -> usize {
        advance(Duration::from_secs(1)).await;
        for (_, store, _) in &self.followed {
            store.heard();
        }
        self.known.take_turns();
        self.answer()
    }

    /// Reads these objects with all of their fields through one view, as a gate that then waits. Returns the view, and whether each was found.
    fn ask(&self, named: &[ObjectName]) -> (View, Vec<Lookup<()>>) {
        let view = self.known.view();
        let read = |it: &ObjectName| {
            let kept = object(it);
            view.whole(&it.kind, &kept).map(drop)
        };
        let found = named.iter().map(read).collect();
        (view, found)
    }
}

fn object(named: &ObjectName) -> Value {
    json!({"metadata": {"namespace": *named.namespace, "name": *named.name}})
}

fn many(namespace: &str, count: usize) -> Vec<ObjectName> {
    (0..count)
        .map(|it| of(namespace, &it.to_string()))
        .collect()
}

/// Twenty objects never become healthy and keep coming back for their turns; the next object is healthy.
#[tokio::test(start_paused = true)]
async fn one_more_than_are_read_at_a_time_has_its_turn_within_seconds() {
    let mut cluster = Cluster::new();
    let _held: Vec<_> = many("shop", OF_A_NAMESPACE)
        .iter()
        .map(|it| cluster.ask(std::slice::from_ref(it)))
        .collect();
    assert_eq!(cluster.answer(), OF_A_NAMESPACE);
    let last = [of("shop", "last")];
    let (view, found) = cluster.ask(&last);
    let places = OF_A_NAMESPACE;
    let awaits = Lookup::Unavailable(Unavailable::AwaitsTurn { places });
    assert_eq!(found, [awaits]);
    let began = Instant::now();
    while !view.has_changed() {
        assert!(began.elapsed() < Duration::from_secs(5), "it has no turn");
        assert_eq!(cluster.pass().await, OF_A_NAMESPACE);
    }
    let (_view, found) = cluster.ask(&last);
    assert_eq!(found, [Lookup::Found(())]);
}

/// The turn of the first object is over before that of the last begins; the first object is still believed then.
#[tokio::test(start_paused = true)]
async fn what_rests_on_more_objects_than_are_read_at_a_time_is_seen_together() {
    let mut cluster = Cluster::new();
    let all = many("shop", 64);
    let (mut view, mut found) = cluster.ask(&all);
    let began = Instant::now();
    while found.iter().any(|it| *it != Lookup::Found(())) {
        assert!(began.elapsed() < Duration::from_secs(20), "{found:?}");
        cluster.pass().await;
        if view.has_changed() {
            (view, found) = cluster.ask(&all);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_comes_late_has_its_part_at_once() {
    let mut cluster = Cluster::new();
    let mut held = Vec::new();
    for number in 0..AT_MOST / OF_A_NAMESPACE {
        held.push(cluster.ask(&many(&format!("shop-{number}"), OF_A_NAMESPACE * 2)));
    }
    assert_eq!(cluster.answer(), AT_MOST);
    held.push(cluster.ask(&many("data", OF_A_NAMESPACE)));
    cluster.pass().await;
    let of_late = |cluster: &Cluster| {
        let followed = cluster.followed.iter();
        followed.filter(|(it, ..)| &*it.namespace == "data").count()
    };
    assert!(
        (15..=17).contains(&of_late(&cluster)),
        "{}",
        of_late(&cluster)
    );
    assert_eq!(cluster.known.whole.crowd().read, AT_MOST);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_asks_for_is_forgotten_and_gives_way_first() {
    let mut cluster = Cluster::new();
    let (held, _) = cluster.ask(&many("shop", OF_A_NAMESPACE - 1));
    drop(cluster.ask(&[of("shop", "left")]));
    assert_eq!(cluster.answer(), OF_A_NAMESPACE);
    let (_next, _) = cluster.ask(&[of("shop", "next")]);
    cluster.pass().await;
    let is_followed = |cluster: &Cluster, name: &str| {
        let mut followed = cluster.followed.iter();
        followed.any(|(it, ..)| &*it.name == name)
    };
    assert!(is_followed(&cluster, "next") && !is_followed(&cluster, "left"));
    drop(held);
    for _ in 0..UNASKED_FOR.as_secs() + 2 {
        cluster.pass().await;
    }
    assert_eq!(
        cluster.known.whole.crowd(),
        WholeCounts {
            read: 1,
            waiting: 0
        }
    );
}

/// The bound in bytes is for the objects that are kept after their turns.
#[tokio::test(start_paused = true)]
async fn of_large_objects_fewer_are_kept() {
    let mut cluster = Cluster::new();
    let all = many("shop", OF_A_NAMESPACE * 3);
    let _held = cluster.ask(&all);
    cluster.answer();
    let stores: Vec<Arc<Store>> = all
        .iter()
        .filter_map(|it| cluster.known.whole.of(it).map(|it| it.store))
        .collect();
    let bytes = || stores.iter().map(|store| store.bytes()).sum::<usize>();
    for (named, store, _) in &cluster.followed {
        let mut large = object(named);
        large["data"] = json!({"text": "x".repeat(1 << 20)});
        store.replace([&large]);
    }
    assert!(bytes() > OF_A_NAMESPACE << 20);
    let kept = cluster.known.budgets().readings.budget().of_one() / 2;
    for _ in 0..=TURN.as_secs() {
        advance(Duration::from_secs(1)).await;
        cluster.known.take_turns();
    }
    assert!(bytes() <= kept, "{}", bytes());
    assert!(bytes() > kept / 2);
}

/// The objects of one namespace are longer than its share of the memory. Each is read all the same, by turns, and another namespace
/// has its own share.
#[tokio::test(start_paused = true)]
async fn large_objects_take_no_more_than_the_share_of_their_namespace() {
    let mut cluster = Cluster::new();
    cluster.length = 1 << 20;
    let budget = Arc::clone(&cluster.known.budgets().readings);
    let share = budget.budget().of_one();
    let all = many("loud", 2 * share / cluster.length);
    let asked: Vec<_> = all.iter().map(std::slice::from_ref).collect();
    let mut waits: HashMap<usize, View> = HashMap::new();
    let mut read = HashSet::new();
    for second in 0..20 {
        for (number, named) in asked.iter().enumerate() {
            if waits.get(&number).is_none_or(View::has_changed) {
                let (view, found) = cluster.ask(named);
                waits.insert(number, view);
                if found == [Lookup::Found(())] {
                    read.insert(number);
                }
            }
        }
        assert!(budget.budget().taken() <= share, "{second}");
        let bytes: usize = asked
            .iter()
            .filter_map(|named| cluster.known.whole.of(&named[0]))
            .map(|reading| reading.store.bytes())
            .sum();
        assert!(bytes <= share + all.len() * 1024, "{second}: {bytes}");
        cluster.pass().await;
    }
    assert_eq!(read.len(), all.len(), "each had its turn: {read:?}");
    assert!(budget.budget().refused() > 0, "each refusal is counted");
    let quiet = [of("quiet", "one")];
    let (view, _) = cluster.ask(&quiet);
    cluster.answer();
    assert!(view.has_changed());
    assert_eq!(cluster.ask(&quiet).1, [Lookup::Found(())]);
}
