//! After any change, the answer for a wave agrees with a search through all lists, and a view with another answer is woken.

use crate::known::{Details, Freshness, Known, ObjectName, Settings, View};
use jiff::{SignedDuration, Timestamp};
use rules::definition::Declared;
use rules::dependency::Part;
use rules::kinds::{self, Kind, by_word};
use rules::lookup::Lookup;
use rules::profile;
use rules::scope::{self, Scope};
use rules::world::{self, FirstUnready, Scopes};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The number of changes of each random world.
const CHANGES: usize = 300;
const WORLDS: u64 = 6;
/// The weight below which the wave is asked for.
const BELOW: i64 = 2;

/// Random numbers that a seed determines.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn coin(&mut self) -> bool {
        self.roll(2) == 0
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        let side = self.roll(u64::try_from(of.len()).expect("few"));
        of[usize::try_from(side).expect("few")].clone()
    }
}

fn builtin(word: &str) -> Kind {
    by_word(word).map(Kind::Builtin).expect("built in")
}

fn custom(word: &str) -> Kind {
    Kind::Custom {
        group: "example.com".to_owned(),
        word: word.to_owned(),
    }
}

struct Cluster {
    known: Arc<Known>,
    dice: Dice,
    now: Timestamp,
}

impl Cluster {
    fn new(seed: u64) -> Self {
        let settings = Settings {
            reads_by_role: true,
            ..Settings::of_the_chart()
        };
        let (known, _) = Known::new(settings);
        let everything = scope::workloads().chain(scope::outspoken());
        let beside = [
            kinds::ENDPOINT_SLICE,
            kinds::STORAGE_CLASS,
            kinds::CUSTOM_RESOURCE_DEFINITION,
        ];
        for kind in everything.chain(beside.map(Kind::Builtin)) {
            known.want(&kind).replace::<&Value>([]);
        }
        known.gated().replace::<&Value>([]);
        known.grant(vec![custom("Widget")]);
        Self {
            known,
            dice: Dice(seed * 2 + 1),
            now: "2026-01-01T00:00:00Z".parse().expect("a time"),
        }
    }

    fn kinds(view: &View) -> Vec<Kind> {
        let kinds = view.kinds().expect("granted").into_iter();
        kinds.chain(scope::outspoken()).collect()
    }

    fn object(&mut self, kind: &Kind) -> Value {
        let name = self.dice.one(&["a", "b", "c"]);
        let release = self.dice.one(&["r", "r", "r", "s"]);
        let group = if kind.group().is_empty() {
            String::new()
        } else {
            format!("{}/", kind.group())
        };
        let app = if self.dice.coin() { "web" } else { "db" };
        let age = i64::try_from(self.dice.roll(20)).expect("small");
        let mut object = json!({
            "apiVersion": format!("{group}v1"), "kind": kind.word(),
            "metadata": {
                "namespace": "shop", "name": name, "uid": name, "generation": 1,
                "creationTimestamp": (self.now - SignedDuration::from_secs(age)).to_string(),
                "annotations": {
                    "meta.helm.sh/release-name": release,
                    "sluice.dev/weight": self.dice.roll(4).to_string(),
                },
                "labels": {"app.kubernetes.io/name": app},
            },
        });
        let done = self.dice.coin();
        match kind.word() {
            "Deployment" => {
                object["spec"] = json!({"replicas": 1});
                object["status"] = json!({
                    "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1,
                    "readyReplicas": i32::from(done), "availableReplicas": i32::from(done),
                    "conditions": [{"type": "Available", "status": if done { "True" } else { "False" }}],
                });
                if self.dice.coin() {
                    // Too large to be kept whole, so it is read by itself.
                    object["metadata"]["annotations"]["sluice.dev/health"] =
                        "/spec/template/spec/serviceAccountName == default".into();
                    object["metadata"]["cut"] = true.into();
                }
            }
            "Job" if done => {
                object["status"] = json!({"conditions": [{"type": "Complete", "status": "True"}]});
            }
            "Service" => {
                object["spec"] = json!({"clusterIP": "10.0.0.1", "selector": {"app": "web"}});
            }
            "PersistentVolumeClaim" => {
                object["status"] = json!({"phase": if done { "Bound" } else { "Pending" }});
            }
            "Widget" if done => object["status"] = json!({"phase": "Ready"}),
            _ => {}
        }
        object
    }

    /// Makes a random change to the known cluster. Returns whether the change may wake the waiting view: the passing of time wakes none.
    async fn change(&mut self) -> bool {
        let words = ["deploy", "job", "svc", "pvc"];
        let kinds: Vec<Kind> = words
            .map(builtin)
            .into_iter()
            .chain([custom("Widget")])
            .collect();
        let kind = self.dice.one(&kinds);
        let store = self.known.want(&kind);
        match self.dice.roll(12) {
            0..=4 => store.apply(&self.object(&kind)),
            5 => store.delete(&self.object(&kind)),
            6 => {
                let (ready, name) = (
                    self.dice.coin(),
                    self.object(&kind)["metadata"]["name"].clone(),
                );
                self.known.want(&Kind::Builtin(kinds::ENDPOINT_SLICE)).apply(&json!({
                    "metadata": {"namespace": "shop", "name": name, "labels": {"kubernetes.io/service-name": name}},
                    "addressType": "IPv4", "endpoints": [{"conditions": {"ready": ready}}],
                }));
            }
            7 => {
                let mut whole = self.object(&builtin("deploy"));
                let account = if self.dice.coin() { "default" } else { "other" };
                whole["spec"]["template"]["spec"]["serviceAccountName"] = account.into();
                let named = ObjectName {
                    kind: builtin("deploy"),
                    namespace: "shop".into(),
                    name: whole["metadata"]["name"].as_str().expect("a name").into(),
                };
                if let Some(reading) = self.known.whole(&named) {
                    reading.store.replace([&whole]);
                }
            }
            8 => store.describe(Details {
                namespaced: Some(true),
                declared: self
                    .dice
                    .one(&[None, Some(true), Some(false)])
                    .map(|status| {
                        Arc::new(Declared {
                            status,
                            ..Declared::default()
                        })
                    }),
            }),
            9 => match self.dice.roll(4) {
                0 => store.clear(Freshness::Syncing),
                1 => self
                    .known
                    .want(&custom("Other"))
                    .replace([&self.object(&custom("Other"))]),
                2 => self.known.grant(vec![custom("Widget"), custom("Other")]),
                _ => self.known.wake_all(),
            },
            10 => {
                let objects: Vec<Value> = (0..3).map(|_| self.object(&kind)).collect();
                store.replace(&objects);
            }
            _ => {
                let seconds = self.dice.roll(8);
                tokio::time::advance(Duration::from_secs(seconds)).await;
                self.now += SignedDuration::from_secs(i64::try_from(seconds).expect("small"));
                let quiet = self.dice.roll(8) == 0;
                for (_, store) in self.known.stores() {
                    if store.freshness() == Freshness::Live && !(quiet && self.dice.coin()) {
                        store.heard();
                    }
                }
                self.known.gated().heard();
                return false;
            }
        }
        true
    }

    fn scope() -> Scope {
        Scope {
            namespace: "shop".to_owned(),
            name: "r".to_owned(),
            kept_in: None,
        }
    }

    fn asked(&self, view: &View) -> FirstUnready {
        let is_ready =
            |kind: &Kind, object: &Value| profile::readiness(kind, object, view, self.now);
        view.first_unready(&Self::kinds(view), &Self::scope(), BELOW, &is_ready)
    }

    fn listed(&self) -> FirstUnready {
        let view = self.known.view();
        let is_ready =
            |kind: &Kind, object: &Value| profile::readiness(kind, object, &view, self.now);
        world::first_unready(&view, &Self::kinds(&view), &Self::scope(), BELOW, &is_ready)
    }

    fn members(view: &View) -> Vec<(Kind, Lookup<Vec<Value>>)> {
        let part = Part::SubChart("web".to_owned());
        let found = |kind: Kind| {
            let members = view.members(&kind, "shop", Some("r"), &part);
            (kind, members)
        };
        let kinds = view.kinds().expect("granted").into_iter();
        let mut found: Vec<_> = kinds.map(found).collect();
        found.sort_by_key(|(kind, _)| kind.to_string());
        // Nothing of it is there, either way.
        found.retain(|(kind, it)| {
            !matches!(it, Lookup::Found(it) if it.is_empty()) || kind.group() != "example.com"
        });
        found
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_changes_a_wave_is_told_as_every_list_says_and_who_was_told_otherwise_is_woken() {
    let (mut unready, mut nothing, mut unread) = (0, 0, 0);
    for seed in 1..=WORLDS {
        let mut cluster = Cluster::new(seed);
        let (mut waves, mut parts): (Vec<(View, FirstUnready)>, Vec<_>) = (Vec::new(), Vec::new());
        for number in 0..CHANGES {
            let told = cluster.change().await;
            let listed = cluster.listed();
            let view = cluster.known.view();
            let asked = cluster.asked(&view);
            assert_eq!(asked, listed, "world {seed}, change {number}");
            match &asked {
                Ok(Some(_)) => unready += 1,
                Ok(None) => nothing += 1,
                Err(_) => unread += 1,
            }
            let own = cluster.known.view();
            let members = Cluster::members(&own);
            if told {
                for (view, before) in &waves {
                    let woken = view.has_changed() || *before == listed;
                    assert!(
                        woken,
                        "world {seed}, change {number}: {before:?}, {listed:?}"
                    );
                }
                for (view, before) in &parts {
                    let woken = View::has_changed(view) || *before == members;
                    assert!(
                        woken,
                        "world {seed}, change {number}: {before:?}, {members:?}"
                    );
                }
            } else {
                // The waiting views ask again for an answer that depends on the time.
                waves.clear();
                parts.clear();
            }
            waves.retain(|(view, _)| !view.has_changed());
            parts.retain(|(view, _)| !View::has_changed(view));
            waves.push((view, asked));
            parts.push((own, members));
        }
    }
    // Otherwise nothing was compared.
    assert!(
        unready > 50 && nothing > 50 && unread > 50,
        "{unready}, {nothing}, {unread}"
    );
}
