//! The laws of the patch on a hundred thousand objects. They are dealt from small decks by a counter, because a strategy of proptest takes longer to
//! make an object than admission to decide it.

use super::any::IMAGES;
use super::intent::{intended, qos, without_additions};
use super::{apply, decide_pod, decide_workload, holder, marker, template, unmarked};
use crate::differential::Random;
use serde_json::{Map, Value, json};
use std::thread;
use webhook::{Action, Decision, Skip};

const PODS: u64 = 50_000;
const WORKLOADS: u64 = 50_000;
const THREADS: u64 = 4;

/// Makes the parts of an object by chance from a number; an equal number gives an equal object.
struct Dealer(Random);

impl Dealer {
    fn one<'d, T>(&mut self, deck: &'d [T]) -> &'d T {
        &deck[self.0.below(deck.len())]
    }

    /// Returns a mapping of up to three of these keys with some of these values, or null, or `None`.
    fn maybe_map(&mut self, keys: &[&str], values: &[&str]) -> Option<Value> {
        match self.0.below(6) {
            0 => None,
            1 => Some(Value::Null),
            _ => {
                let mut map = Map::new();
                for _ in 0..self.0.below(4) {
                    let key = (*self.one(keys)).to_owned();
                    map.insert(key, json!(self.one(values)));
                }
                Some(map.into())
            }
        }
    }

    fn resources(&mut self) -> Value {
        match self.0.below(5) {
            0 => json!({}),
            1 => {
                json!({"requests": {"cpu": "10m", "memory": "1Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}})
            }
            2 => json!({"requests": {"cpu": "100m"}}),
            _ => {
                let amounts =
                    json!({"cpu": self.one(&["100m", "1"]), "memory": self.one(&["64Mi", "1Gi"])});
                json!({"limits": amounts, "requests": amounts})
            }
        }
    }

    fn containers(&mut self, names: &[&str], most: usize) -> Vec<Value> {
        let count = self.0.below(most + 1);
        let container = |dealer: &mut Self| {
            let mut container = json!({"name": dealer.one(names), "resources": dealer.resources()});
            if dealer.0.percent(70) {
                container["image"] = json!(dealer.one(&IMAGES));
            }
            if dealer.0.percent(30) {
                container["imagePullPolicy"] = json!(dealer.one(&["Always", "Never"]));
            }
            if dealer.0.percent(30) {
                container["restartPolicy"] = json!(dealer.one(&["Always", "Never"]));
            }
            if dealer.0.percent(20) {
                container["fromTheFuture"] = json!({"a/b~c": [dealer.0.bits() % 9, null, {}]});
            }
            container
        };
        (0..count).map(|_| container(self)).collect()
    }

    fn pod(&mut self) -> Value {
        const INIT: [&str; 7] = [
            "istio-init",
            "istio-validation",
            "istio-proxy",
            "linkerd-init",
            "linkerd-proxy",
            "migrate",
            "vault-agent-init",
        ];
        const NOTES: [&str; 6] = [
            "sluice.dev/gated",
            "sluice.dev/depends-on",
            "config.kubernetes.io/depends-on",
            "traffic.sidecar.istio.io/excludeOutboundPorts",
            "config.linkerd.io/skip-outbound-ports",
            "team/x~y",
        ];
        let mut annotations = self.maybe_map(&NOTES, &["", " ", "\n"]).unwrap_or_default();
        annotations["sluice.dev/gated"] = json!("true");
        if self.0.percent(30) {
            let positions = [
                "first",
                "last",
                "after=migrate",
                "after=istio-init",
                "after=gone",
            ];
            annotations["sluice.dev/gate-position"] = json!(self.one(&positions));
        }
        if self.0.percent(40) {
            annotations["sluice.dev/prefetch"] = json!(self.one(&["true", "false"]));
        }
        let mut pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "annotations": annotations, "managedFields": [{}]},
            "spec": {"containers": self.containers(&["app", "side", "istio-proxy", "linkerd-proxy"], 3), "future": self.0.bits()},
            "status": {},
        });
        if let Some(labels) = self.maybe_map(&["app", "a/b", "c~d"], &["x", ""]) {
            pod["metadata"]["labels"] = labels;
        }
        match self.0.below(4) {
            0 => {}
            1 => pod["spec"]["initContainers"] = Value::Null,
            _ => pod["spec"]["initContainers"] = self.containers(&INIT, 4).into(),
        }
        match self.0.below(4) {
            0 => {}
            1 => pod["spec"]["volumes"] = Value::Null,
            _ => pod["spec"]["volumes"] = json!([{"name": "v", "future": self.0.bits()}]),
        }
        pod
    }

    fn template(&mut self) -> Value {
        let mut template = json!({"spec": {"future": self.0.bits() % 3}});
        if self.0.percent(80) {
            let keys = ["sluice.dev/gated", "a/b", "c"];
            let mut metadata = Map::new();
            for part in ["labels", "annotations"] {
                if let Some(map) = self.maybe_map(&keys[usize::from(part == "labels")..], &["true"])
                {
                    metadata.insert(part.to_owned(), map);
                }
            }
            template["metadata"] = metadata.into();
        }
        template
    }
}

/// Runs a law on the objects of every number below `count`, on a few threads.
fn for_each(count: u64, law: impl Fn(&mut Dealer) + Sync) {
    thread::scope(|scope| {
        for first in 0..THREADS {
            let law = &law;
            scope.spawn(move || {
                let numbers = (first..count).step_by(THREADS.try_into().unwrap());
                numbers.for_each(|number| law(&mut Dealer(Random::new(number << 20))));
            });
        }
    });
}

/// Returns the patch of a decision as the text that is sent, or the name of a decision without a patch.
fn bytes(decision: &Decision) -> String {
    match &decision.action {
        Action::Patch(_, operations) => serde_json::to_string(operations).unwrap(),
        other => other.label().to_owned(),
    }
}

#[test]
fn fifty_thousand_pods_keep_the_law() {
    for_each(PODS, |dealer| {
        let pod = dealer.pod();
        let decision = decide_pod(&pod);
        assert_eq!(bytes(&decision), bytes(&decide_pod(&pod)), "{pod}");
        let gated = apply(&pod, &decision); // which finds nothing but `add`
        assert_eq!(gated, intended(&pod));
        assert_eq!(without_additions(&gated), without_additions(&pod));
        assert_eq!(qos(&gated), qos(&pod), "{pod}");
        let again = decide_pod(&gated).action;
        assert_eq!(again, Action::Skip(Skip::AlreadyInjected), "{pod}");
    });
}

#[test]
fn fifty_thousand_workloads_keep_the_law() {
    for_each(WORKLOADS, |dealer| {
        let kind = *dealer.one(&["Deployment", "Job", "CronJob"]);
        let new_template = dealer.template();
        let old_template = if dealer.0.percent(50) {
            new_template.clone()
        } else {
            dealer.template()
        };
        let new = holder(kind, &new_template, dealer.0.percent(50));
        let mut old = holder(kind, &old_template, dealer.0.percent(50));
        if dealer.0.percent(30) {
            old = unmarked(&old);
        }
        if dealer.0.percent(30) {
            old = Value::Null;
        }
        let decision = decide_workload(kind, &new, &old);
        assert_eq!(bytes(&decision), bytes(&decide_workload(kind, &new, &old)));
        let result = apply(&new, &decision);
        assert_eq!(unmarked(&result), unmarked(&new), "nothing but the marker");
        let kept = !old.is_null()
            && (kind == "Job" || template(&unmarked(&new)) == template(&unmarked(&old)));
        if kept {
            assert_eq!(marker(&result), marker(&old), "{new}\n{old}");
        }
        let again = decide_workload(kind, &result, &old).action;
        assert!(matches!(again, Action::Skip(_)), "{again:?}");
    });
}
