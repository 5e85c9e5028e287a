//! A CA follows another, each minute, while gates wait and processes die.

use super::*;

const NAME: &str = "sluice.sluice-system.svc";

fn each_minute(fake: &Fake) -> Replica {
    living(fake, [180, 60, 30])
}

/// A replica whose certificates have these lifetimes, in seconds: of a CA, of the overlap of two CAs, and of a leaf.
fn living(fake: &Fake, lives: [i64; 3]) -> Replica {
    let [ca, overlap, leaf] = lives.map(SignedDuration::from_secs);
    replica_living(&fake.client(), Lifetimes::new(ca, overlap, leaf).unwrap())
}

/// The times of a replica's rounds over so many minutes, one each ten seconds.
fn looks(minutes: u32) -> impl Iterator<Item = Timestamp> {
    let look = |number: u32| day(0) + SignedDuration::from_secs(i64::from(number) * 10);
    (0..minutes * 6).map(look)
}

impl Replica {
    pub(super) fn is_accepted(&self, bundle: &str, now: Timestamp) -> bool {
        let resolver = &self.authority.resolver;
        let accepted = resolver.is_accepted(bundle.as_bytes(), NAME, now);
        accepted == Some(true)
    }

    fn formers(&self) -> usize {
        let held = self.authority.held.as_ref();
        held.map_or(0, |held| held.ca.formers())
    }
}

#[tokio::test]
async fn a_gate_waits_through_ten_rotations_and_each_replica_answers_it() {
    let fake = Fake::with_configuration();
    let (mut a, mut b) = (each_minute(&fake), each_minute(&fake));
    a.round(day(0)).await.unwrap();
    b.round(day(0)).await.unwrap();
    let gate = a.bundle();
    let mut lagging = fake.objects().bundles();
    let mut made_since = Vec::new();
    for now in looks(13) {
        for replica in [&mut a, &mut b] {
            replica.round(now).await.unwrap();
        }
        let live = fake.objects().bundles();
        made_since.push(a.bundle());
        for replica in [&a, &b] {
            assert_eq!(replica.missing(), Vec::<String>::new(), "{now}");
            for bundle in live.iter().chain(&lagging) {
                assert!(replica.is_accepted(bundle, now), "an API server at {now}");
            }
            assert!(replica.is_accepted(&gate, now), "the first gate at {now}");
        }
        lagging = live;
    }
    let now = day(0) + SignedDuration::from_mins(13);
    assert_eq!(a.formers(), 10, "rotations");
    assert!(made_since.iter().all(|gate| b.is_accepted(gate, now)));
    assert!(fake.objects().events.is_empty());
}

#[tokio::test]
async fn the_next_ca_signs_only_once_it_has_stood_in_every_bundle() {
    let fake = Fake::with_configuration();
    let mut replica = living(&fake, [360, 120, 30]);
    let at = |seconds| day(0) + SignedDuration::from_secs(seconds);
    let mut signs = None;
    for now in looks(5) {
        fake.objects().forbidden = (at(120)..at(230)).contains(&now);
        // While patches are refused, rounds fail.
        let _ = replica.round(now).await;
        if replica.formers() == 1 {
            signs.get_or_insert(now);
        }
    }
    // The next CA was made at 120, and the overlap is over at 240. But it has stood in the live bundle only since
    // 230, which the next round finds.
    assert_eq!(signs, Some(at(270)));
}

#[tokio::test]
async fn whoever_comes_next_goes_on_where_a_rotation_stopped() {
    // The first two writes make everything. The rotation's writes follow: the next CA, the bundle, the step, the
    // bundle.
    for fatal in 1..=6 {
        let fake = Fake::with_configuration();
        fake.objects().fatal = Some(fatal);
        let mut replica = each_minute(&fake);
        let mut gate = None;
        for now in looks(3) {
            let result = replica.round(now).await;
            if result.is_err() {
                {
                    let mut objects = fake.objects();
                    assert_eq!((objects.down, objects.fatal), (true, Some(0)), "{now}");
                    (objects.down, objects.fatal) = (false, None);
                }
                replica = each_minute(&fake);
                replica.round(now).await.unwrap();
            }
            let gate = gate.get_or_insert_with(|| replica.bundle());
            assert!(replica.is_accepted(gate, now), "{fatal}: the gate at {now}");
            for bundle in fake.objects().bundles() {
                assert!(replica.is_accepted(&bundle, now), "{fatal}: {now}");
            }
        }
        assert_eq!(fake.objects().fatal, None, "{fatal}: it came to that write");
        assert_eq!(replica.formers(), 1, "{fatal}: rotations");
    }
}

#[tokio::test]
async fn a_ca_that_somebody_put_there_follows_the_one_that_gates_trust() {
    let fake = Fake::with_configuration();
    let mut replica = replica(&fake);
    replica.round(day(0)).await.unwrap();
    let gate = replica.bundle();
    let other = certs::Ca::generate(day(0), DAY * 365).unwrap().parts();
    {
        let mut objects = fake.objects();
        let data = &mut objects.secret.as_mut().unwrap()["data"];
        data["ca.crt"] = json!(fake::encode(&other.certificate));
        data["ca.key"] = json!(fake::encode(&other.key));
    }
    replica.round(day(1)).await.unwrap();
    assert!(replica.bundle().starts_with(&other.certificate));
    assert!(replica.is_accepted(&gate, day(1)));
    let mut fresh = super::replica(&fake);
    fresh.round(day(1)).await.unwrap();
    assert!(fresh.is_accepted(&gate, day(1)));
}

#[tokio::test]
async fn a_lost_secret_comes_back_with_those_before_and_after() {
    let fake = Fake::with_configuration();
    let mut replica = each_minute(&fake);
    for now in looks(3) {
        replica.round(now).await.unwrap();
    }
    let now = day(0) + SignedDuration::from_mins(3);
    let right = fake.objects().secret.clone().unwrap()["data"].clone();
    assert!(
        ["next.crt", "former.key"]
            .iter()
            .all(|key| right[key].is_string())
    );
    for key in ["next.crt", "next.key", "former.key", "ca.key"] {
        {
            let mut objects = fake.objects();
            let data = objects.secret.as_mut().unwrap()["data"].as_object_mut();
            data.unwrap().remove(key);
        }
        replica.round(now).await.unwrap();
        assert_eq!(
            fake.objects().secret.as_ref().unwrap()["data"],
            right,
            "{key}"
        );
    }
}

#[tokio::test]
async fn a_ca_near_its_end_is_replaced_with_an_overlap() {
    let fake = Fake::with_configuration();
    let (mut a, mut b) = (replica(&fake), replica(&fake));
    a.round(day(0)).await.unwrap();
    b.round(day(357)).await.unwrap();
    let old = a.bundle();
    a.round(day(359)).await.unwrap();
    assert!(
        a.bundle().ends_with(&old) && a.bundle() != old,
        "the new one first, the old one after it"
    );
    b.round(day(359)).await.unwrap();
    assert_eq!(b.bundle(), a.bundle());
    assert_eq!(fake.objects().bundles(), [a.bundle(), a.bundle()]);
    assert_eq!([a.missing(), b.missing()], [Vec::<String>::new(), vec![]]);
    assert!(
        fake.objects().events.is_empty(),
        "nobody has overwritten anything"
    );
}
