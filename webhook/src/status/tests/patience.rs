//! Tests of entries of a list that have to be satisfied for a while, and of entries that are given up: by the clock, while nothing else happens.

use super::*;

fn list(text: &str) -> Value {
    json!({"sluice.dev/depends-on": text})
}

const STABLE: &str = "- {kind: ConfigMap, name: go, stable: 30s}";

impl Desk {
    /// The whole seconds until the gate of the service's pod opens while `happens` runs beside it, and each new answer on the way.
    async fn opens_after(&self, happens: impl Future<Output = ()>) -> (u64, Vec<wire::Answer>) {
        let gate = async {
            let (mut seen, mut told) = (String::new(), Vec::new());
            loop {
                let answer = self.ask(&seen).await;
                let over = answer.verdict != wire::Decision::Wait;
                if answer.digest != seen {
                    seen.clone_from(&answer.digest);
                    told.push(answer);
                }
                if over {
                    return (self.began.elapsed().as_secs(), told);
                }
            }
        };
        tokio::join!(gate, happens).0
    }
}

async fn until(desk: &Desk, second: u64) {
    tokio::time::sleep_until(desk.began + Duration::from_secs(second)).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_seen_satisfied_has_to_last_and_a_break_has_it_count_anew() {
    let desk = Desk::new(&list(STABLE));
    let object = config_map();
    let (opened, told) = desk
        .opens_after(async {
            until(&desk, 100).await;
            desk.put("configmap", &object);
            until(&desk, 120).await;
            let kind = by_word("configmap").map(Kind::Builtin).unwrap();
            desk.service.known.want(&kind).delete(&object);
            until(&desk, 140).await;
            desk.put("configmap", &object);
        })
        .await;
    assert!((170..=171).contains(&opened), "{opened}");
    let reasons: Vec<&str> = told
        .iter()
        .map(|it| it.dependencies[0].reason.as_str())
        .collect();
    // No answer while time goes on.
    assert_eq!(
        reasons,
        [
            "NotFound",
            "NotStable",
            "NotFound",
            "NotStable",
            "Satisfied"
        ]
    );
    let turn = &told[3].dependencies[0].turns[0];
    assert_eq!((turn.what.as_str(), turn.takes), ("stable", 30));
}

#[tokio::test(start_paused = true)]
async fn an_entry_is_given_up_at_its_moment_and_a_warning_says_so() {
    let desk = Desk::new(&list(
        "- {kind: ConfigMap, name: missing, timeout: 40s, on-timeout: proceed}\n- configmap/go",
    ));
    let (opened, told) = desk
        .opens_after(async {
            until(&desk, 100).await;
            desk.put("configmap", &config_map());
        })
        .await;
    assert_eq!(opened, 100);
    let notes: Vec<Option<&str>> = told.iter().map(|it| it.note.as_deref()).collect();
    let given_up = "ConfigMap/missing, given up after 40s (NotFound)";
    let without = format!("without {given_up}");
    assert_eq!(notes, [None, Some(&*without), Some(given_up)]);
    let event = desk.warned("TimedOut").await;
    assert!(event.contains(given_up), "{event}");
}

/// The custom resource `db` of the kind Widget, whose condition `Ready` has this status.
fn widget(ready: &str) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"namespace": "shop", "name": "db", "uid": "w"},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    })
}

/// The milliseconds until a gate with this list opens, and the reasons that the gate was told on the way. The condition `Ready` of the Widget `db`
/// gets each status of `says` at its millisecond.
async fn opens_for(list_text: &str, says: &[(u64, &str)]) -> (u128, Vec<String>) {
    let desk = Desk::new(&list(list_text));
    let kind = Kind::Custom {
        group: "example.com".to_owned(),
        word: "Widget".to_owned(),
    };
    let store = desk.service.known.want(&kind);
    store.describe(crate::known::Details {
        namespaced: Some(true),
        ..crate::known::Details::default()
    });
    store.replace::<&Value>([]);
    let happens = async {
        for (at, ready) in says {
            tokio::time::sleep_until(desk.began + Duration::from_millis(*at)).await;
            store.apply(&widget(ready));
        }
        std::future::pending::<()>().await;
    };
    let signs = async {
        loop {
            tokio::time::sleep(Duration::from_secs(5)).await;
            store.heard();
        }
    };
    let gate = async {
        let (mut seen, mut reasons) = (String::new(), Vec::new());
        loop {
            let answer = desk.ask(&seen).await;
            if answer.digest != seen {
                reasons.push(answer.dependencies[0].reason.clone());
            }
            if answer.verdict != wire::Decision::Wait {
                return (desk.began.elapsed().as_millis(), reasons);
            }
            seen = answer.digest;
        }
    };
    tokio::select! {
        biased;
        () = happens => unreachable!(),
        () = signs => unreachable!(),
        opened = gate => opened,
    }
}

const WIDGET: &str = "Widget.example.com/db";

/// The statuses of `Ready` that an operator writes, each at its millisecond: it reads the state of its objects out of a cache, and so says for a
/// moment that all is well.
const BLINKS: [(u64, &str); 4] = [
    (10_000, "False"),
    (20_000, "True"),
    (20_123, "False"),
    (40_500, "True"),
];

#[tokio::test(start_paused = true)]
async fn an_operator_that_blinks_fools_nobody_and_costs_a_second() {
    let (opened, reasons) = opens_for(WIDGET, &BLINKS).await;
    assert_eq!(opened, 41_500, "{reasons:?}");
    let expected = [
        "NotFound",
        "InProgress",
        "NotStable",
        "InProgress",
        "NotStable",
        "Satisfied",
    ];
    assert_eq!(reasons, expected);
}

#[tokio::test(start_paused = true)]
async fn what_was_never_seen_otherwise_costs_nothing_and_so_does_zero() {
    let (opened, _) = opens_for(WIDGET, &[(10_000, "True")]).await;
    assert_eq!(opened, 10_000);
    let zero = "- {kind: Widget.example.com, name: db, stable: 0s}";
    let (opened, _) = opens_for(zero, &BLINKS).await;
    assert_eq!(opened, 20_000);
}

#[tokio::test(start_paused = true)]
async fn a_warning_says_what_counted_as_absent() {
    let desk = Desk::new(&list("- {kind: ConfigMap, name: none, optional: true}"));
    let answer = desk.ask("").await;
    assert_eq!(answer.verdict, wire::Decision::Open);
    let event = desk.warned("Absent").await;
    assert_eq!(
        event,
        "opened without ConfigMap/none (not found, and optional)"
    );
}
