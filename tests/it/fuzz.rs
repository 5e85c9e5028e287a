//! Gives random texts and objects to the rules: nothing panics, and nothing reads them more than a few times.
//!
//! `SLUICE_SEED=… SLUICE_CASES=… cargo test --workspace fuzz` repeats a run, or makes it longer. A case that panics is printed.

mod text; // what is read

use crate::differential::run;
use jiff::Timestamp;
use rules::definition::Declared;
use rules::dependency::State;
use rules::dependent::Dependent;
use rules::expression::Expression;
use rules::health::Rules;
use rules::jsonpath::{self, Effort};
use rules::kinds::{self, Kind};
use rules::kstatus;
use rules::lookup::Lookup;
use rules::object::group_kind;
use rules::readiness::{self, Readiness};
use rules::selector::Selector;
use rules::verdict::{self, Policy};
use rules::world::{Objects, Only};
use rules::{annotation, keys, profile};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::cell::Cell;
use text::PIECES;

const KEYS: [&str; 11] = [
    keys::DEPENDS_ON,
    keys::CONFIG_DEPENDS_ON,
    keys::HEALTH,
    "sluice.dev/health.status.a.each",
    keys::READINESS_SUCCESS,
    keys::READINESS_FAILURE,
    keys::REVISION,
    keys::TIMEOUT,
    keys::ON_TIMEOUT,
    keys::SKIP,
    keys::ALLOW_DEPENDENTS_FROM,
];

/// A cluster that answers each question with one object or none, and counts the questions.
#[derive(Default)]
struct Empty {
    asked: Cell<usize>,
    object: Option<Value>,
}

impl Empty {
    fn count(&self) {
        self.asked.set(self.asked.get() + 1);
    }
}

impl Objects for Empty {
    fn object(&self, _: &Kind, _: Option<&str>, _: &str) -> Lookup<Value> {
        self.count();
        self.object.clone().map_or(Lookup::NotFound, Lookup::Found)
    }

    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(&self, _: &Kind, _: Option<&str>, _: &Selector) -> Lookup<Vec<Value>> {
        self.count();
        Lookup::Found(self.object.iter().cloned().collect())
    }

    fn namespaced(&self, _: &Kind) -> Lookup<bool> {
        Lookup::Found(true)
    }
}

fn world(objects: Empty) -> Only<Empty> {
    Only {
        declared: Lookup::Found(Declared::unseen()),
        health: Box::new(rules::health::builtin),
        ..Only::of(objects)
    }
}

fn kind_of(object: &Value) -> Kind {
    let (group, word) = group_kind(object);
    kinds::builtin(group, word).map_or_else(
        || Kind::Custom {
            group: group.to_owned(),
            word: word.to_owned(),
        },
        Kind::Builtin,
    )
}

/// Prints the case when it is dropped while the test panics: with the seed alone a reader would have to run all earlier cases again.
struct Case<'a>(&'a dyn std::fmt::Display);

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the case:\n{}", self.0);
        }
    }
}

/// Judges an object by kstatus and by each state, and returns the number of questions about the cluster. Fails where a message has a control
/// character.
fn judge(object: &Value, now: Timestamp) -> usize {
    let world = world(Empty::default());
    let _ = kstatus::compute(object, now);
    for &state in State::ALL {
        let judged = profile::judge(&kind_of(object), object, state, &world, now);
        assert!(!judged.message.contains(char::is_control));
    }
    world.objects.asked.get()
}

#[test]
fn any_object_can_be_judged() {
    let (mut random, cases) = run(20_000);
    let now = Timestamp::now();
    for _ in 0..cases {
        let mut object = if random.percent(90) {
            random.manifest()
        } else {
            random.odd(4)
        };
        if random.percent(30) && object["metadata"].is_object() {
            let key = random.pick(&KEYS);
            let value = if random.percent(95) {
                json!(random.pieces())
            } else {
                random.odd(2)
            };
            object["metadata"]["annotations"] = json!({ key: value });
        }
        let _case = Case(&object);
        let asked = judge(&object, now);
        assert!(asked <= 2 * State::ALL.len(), "{asked} questions");
    }
}

#[test]
fn any_text_can_be_read_as_a_list() {
    let (mut random, cases) = run(50_000);
    for _ in 0..cases {
        let text = random.pieces();
        let _case = Case(&text);
        let own = annotation::parse_depends_on(&text);
        // A refusal has one line, and a place that the text has.
        if let Err(error) = own {
            let told = error.to_string();
            assert!(!told.contains('\n'), "{told:?}");
            let place = error.place.unwrap();
            assert!(place.line <= text.split('\n').count(), "{told}");
        }
        let _ = annotation::parse_config_depends_on(&text);
        let _ = annotation::parse_depends_on(&format!("- {{kind: Pod, selector: {text:?}}}"));
    }
}

#[test]
fn any_text_can_be_read_in_any_annotation() {
    let (mut random, cases) = run(30_000);
    for _ in 0..cases {
        let annotations: Map<String, Value> = (0..2)
            .map(|_| (random.pick(&KEYS).to_owned(), json!(random.pieces())))
            .collect();
        let case = Value::Object(annotations.clone());
        let _case = Case(&case);
        let _ = annotation::declared(&annotations);
        let _ = annotation::terms(&annotations);
        let _ = annotation::health(&annotations);
    }
}

#[test]
fn any_text_can_be_read_as_an_expression_and_held_against_any_object() {
    let (mut random, cases) = run(30_000);
    for _ in 0..cases {
        let (text, object) = (random.pieces(), random.odd(3));
        let _case = Case(&text);
        if let Ok(expression) = Expression::parse(&text) {
            let _ = expression.holds(&object);
        }
        if let Ok(path) = jsonpath::Path::parse(&text)
            && let Ok(found) = path.find(&object, &mut Effort::new())
        {
            let _ = jsonpath::print(&found);
        }
        let _ = readiness::lint(&text);
        let list = json!([format!("{{.status.{text}}} == 1"), text]).to_string();
        if let Ok(Some(readiness)) = Readiness::read(Some(&list), Some("[\"{.a} == 1\"]")) {
            let _ = readiness.judge(&object);
        }
    }
}

#[test]
fn any_text_can_be_read_as_health_rules() {
    let (mut random, cases) = run(6_000);
    for _ in 0..cases {
        let pieces = random.pieces();
        let text = match random.below(3) {
            0 => pieces,
            1 => format!("- apiVersion: example.com/v1\n  current: {pieces}"),
            _ => format!("- apiVersion: example.com/v1\n  current: {pieces:?}"),
        };
        let _case = Case(&text);
        let (rules, problems) = Rules::read([("a.yaml", text.as_str())]);
        assert!(problems.iter().all(|it| !it.message.is_empty()));
        let mut object = random.odd(3);
        if object.is_object() {
            object["apiVersion"] = json!("example.com/v1");
            object["kind"] = json!("Thing");
        }
        let _ = rules.judge(&object, false);
    }
}

/// The cost of a verdict grows with the length of the list: twice the list, twice the questions.
#[test]
fn a_verdict_asks_as_often_as_the_list_is_long() {
    let asked = |entries: usize| {
        let list: Vec<_> = (0..entries).map(|at| format!("svc/s{at}")).collect();
        let pod = json!({"metadata": {"namespace": "a", "name": "p", "annotations": {keys::DEPENDS_ON: list.join(",")}}});
        let world = world(Empty {
            object: Some(
                json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "a"},
                "spec": {"selector": {"a": "b"}}}),
            ),
            ..Empty::default()
        });
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &world) else {
            return 0;
        };
        let dependencies = dependent.edges(true, &world).unwrap();
        let edges = verdict::judge(
            &dependent,
            dependencies,
            &Policy::of_the_chart(),
            &world,
            Timestamp::now(),
        );
        assert_eq!(edges.edges.len(), entries);
        world.objects.asked.get()
    };
    let few = asked(8);
    assert!(few > 0);
    for doubled in 1..=3 {
        let times = 1 << doubled;
        assert_eq!(asked(8 * times), few * times);
    }
}

/// Large objects and texts are judged in time that grows with their size. No time is measured: an algorithm that reads each part again and again
/// would not end while a test run lasts.
#[test]
fn large_objects_and_texts_come_to_an_end() {
    const MANY: usize = 200_000;
    let condition = |at: usize| json!({"type": format!("C{at}"), "status": "True", "message": "m"});
    let conditions: Vec<Value> = (0..MANY).map(condition).collect();
    let labels: Map<String, Value> = (0..MANY).map(|at| (format!("k{at}"), json!("v"))).collect();
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "labels": labels, "annotations": labels}, "status": {"conditions": conditions}});
    judge(&widget, Timestamp::UNIX_EPOCH);

    let expression = Expression::parse("/status/conditions/each/status == True").unwrap();
    let _ = expression.holds(&widget);
    for path in [
        "..type",
        ".status.conditions[*].type",
        ".status.conditions[?(@.type==\"x\")]",
    ] {
        let path = jsonpath::Path::parse(path).unwrap();
        let _ = path.find(&widget, &mut Effort::new());
    }
    let nested = "['a','a']".repeat(60);
    let path = jsonpath::Path::parse(&nested).unwrap();
    let object = (0..60).fold(json!(1), |inner, _| json!({ "a": inner }));
    assert_eq!(
        path.find(&object, &mut Effort::new()),
        Err(jsonpath::FindError::TooMuch),
        "2^60 values"
    );

    for piece in PIECES {
        let text = piece.repeat(MANY);
        let _ = annotation::parse_depends_on(&text);
        let _ = annotation::parse_config_depends_on(&text);
        // As long as a list may be, which is where nesting and quoting could tell.
        let most = annotation::MAX_BYTES / piece.len();
        let _ = annotation::parse_depends_on(&piece.repeat(most));
        let _ = annotation::parse_depends_on(&format!("- {}", piece.repeat(most - 2)));
        let _ = jsonpath::Path::parse(&text);
        let _ = Expression::parse(&text);
        let _ = readiness::lint(&text);
        let _ = Rules::read([("a", text.as_str())]);
    }
}
