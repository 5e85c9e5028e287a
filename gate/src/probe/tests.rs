//! Tests when addresses are tried, by a clock of the test's own.

use super::*;
use std::cell::Cell;
use std::sync::Mutex;

/// The outcome of each address, and the addresses that were tried.
#[derive(Default)]
struct Script {
    says: Mutex<Vec<(String, Outcome)>>,
    tried: Mutex<Vec<String>>,
}

impl Script {
    fn says(&self, to: &str, outcome: Outcome) {
        let mut says = self.says.lock().unwrap();
        says.retain(|(it, _)| it != to);
        says.push((to.to_owned(), outcome));
    }
}

impl Try for &Script {
    fn outcome(&self, probe: &Probe) -> Outcome {
        self.tried.lock().unwrap().push(probe.to.clone());
        let says = self.says.lock().unwrap();
        let found = says.iter().find(|(to, _)| *to == probe.to);
        found.map_or(Outcome::Refused, |(_, outcome)| *outcome)
    }
}

fn probe(to: &str) -> Probe {
    Probe {
        id: format!("id-{to}"),
        what: probe::what::TCP.to_owned(),
        to: to.to_owned(),
    }
}

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[test]
fn it_is_tried_at_once_and_then_ever_more_seldom() {
    let script = Script::default();
    let mut prober = Prober::new(&script);
    assert_eq!(prober.due(), None, "a gate without addresses tries nothing");
    prober.wants(vec![probe("db")], seconds(3));
    let mut pauses = Vec::new();
    for _ in 0..7 {
        let due = prober.due().unwrap();
        assert!(!prober.run(|| due.saturating_sub(Duration::from_millis(1)), &mut || 0.0));
        prober.run(|| due, &mut || 0.0);
        pauses.push(prober.due().unwrap().saturating_sub(due).as_secs());
    }
    assert_eq!(pauses, [1, 2, 4, 8, 10, 10, 10]);
    assert_eq!(script.tried.lock().unwrap().len(), 7);
}

#[test]
fn a_crowd_does_not_come_back_together_nor_more_often() {
    let script = Script::default();
    for (chance, expected) in [(0.0, 10_000), (0.5, 11_250), (1.0, 12_500)] {
        let mut prober = Prober::new(&script);
        prober.wants(vec![probe("db")], Duration::ZERO);
        let mut last = Duration::ZERO;
        for _ in 0..8 {
            last = prober.due().unwrap();
            prober.run(|| last, &mut || chance);
        }
        let pause = prober.due().unwrap().saturating_sub(last);
        assert_eq!(pause, Duration::from_millis(expected));
    }
    // Ten thousand gates that wait for one address try it a thousand times a second at most.
    assert!(10_000.0 / LONGEST.as_secs_f64() <= 1_000.0);
}

#[test]
fn what_came_of_it_is_told_and_only_what_is_otherwise_is_news() {
    let script = Script::default();
    let clock = Cell::new(Duration::ZERO);
    let mut prober = Prober::new(&script);
    assert_eq!(prober.told(), "");
    prober.wants(vec![probe("a"), probe("b")], Duration::ZERO);
    let run = |prober: &mut Prober<&Script>| {
        clock.set(clock.get() + seconds(20));
        prober.run(|| clock.get(), &mut || 0.0)
    };
    assert!(run(&mut prober));
    assert_eq!(prober.told(), "id-a=refused, id-b=refused");
    assert!(!run(&mut prober), "nothing is otherwise");
    script.says("b", Outcome::Connected);
    assert!(run(&mut prober));
    assert_eq!(prober.told(), "id-a=refused, id-b=connected");
    script.says("b", Outcome::Refused);
    assert!(run(&mut prober), "it may have gone again");
}

#[test]
fn an_edited_list_leaves_alone_what_stays() {
    let script = Script::default();
    let mut prober = Prober::new(&script);
    prober.wants(vec![probe("a"), probe("b")], Duration::ZERO);
    prober.run(|| Duration::ZERO, &mut || 0.0);
    prober.wants(vec![probe("b"), probe("c")], Duration::from_millis(500));
    assert_eq!(prober.told(), "id-b=refused");
    script.tried.lock().unwrap().clear();
    prober.run(|| Duration::from_millis(500), &mut || 0.0);
    assert_eq!(*script.tried.lock().unwrap(), ["c"]);
    prober.wants(Vec::new(), seconds(1));
    assert_eq!((prober.due(), prober.told()), (None, String::new()));
}

#[test]
fn slow_addresses_are_tried_beside_each_other() {
    struct Slow;
    impl Try for Slow {
        fn outcome(&self, _: &Probe) -> Outcome {
            thread::sleep(Duration::from_millis(200));
            Outcome::TimedOut
        }
    }
    let mut prober = Prober::new(Slow);
    prober.wants(
        (0..AT_ONCE).map(|it| probe(&it.to_string())).collect(),
        Duration::ZERO,
    );
    let began = std::time::Instant::now();
    prober.run(|| began.elapsed(), &mut || 0.0);
    assert!(
        began.elapsed() < Duration::from_millis(800),
        "{:?}",
        began.elapsed()
    );
}
