//! Entries that have to stand for a while, and entries that are given up: by the clock, while nothing else happens.

use super::*;

fn list(text: &str) -> Value {
    json!({"sluice.dev/depends-on": text})
}

const STABLE: &str = "- {kind: ConfigMap, name: go, stable: 30s}";

impl Desk {
    /// When the gate of a pod with this list opens, in whole seconds, while `happens` goes on beside it.
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
