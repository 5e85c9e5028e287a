//! Tests entries with addresses, judged by the gate's report.

use super::*;
use crate::dependency::{Address, Reference};
use crate::probed::Probed;
use wire::Decision;
use wire::probe::Outcome;

fn of(pod: &Value, probed: Probed, cluster: &Cluster) -> Verdict {
    let Lookup::Found(mut dependent) = Dependent::resolve(pod, &rollouts(), cluster) else {
        panic!("resolved")
    };
    dependent.probed = probed;
    let now = Timestamp::UNIX_EPOCH;
    decide(&dependent, &Policy::of_the_chart(), cluster, now, false)
}

/// A gate's report: these outcomes for the addresses of a list, in their order.
fn told(text: &str, outcomes: &[Outcome]) -> Probed {
    let list = crate::annotation::parse_depends_on(text).expect(text);
    let addresses: Vec<&Address> = list.iter().flat_map(|it| it.addresses()).collect();
    let told = addresses.iter().zip(outcomes);
    Probed::Told(
        told.map(|(it, outcome)| (it.probe().id, *outcome))
            .collect(),
    )
}

fn summary(decided: &Verdict) -> (Decision, Vec<Reason>, Vec<String>) {
    let reasons = decided.edges.iter().map(|it| it.judged.reason).collect();
    let probes = decided
        .answer
        .probes
        .iter()
        .map(|it| format!("{} {}", it.what, it.to));
    (decided.answer.verdict, reasons, probes.collect())
}

#[test]
fn the_gate_is_told_what_to_try_until_it_opens() {
    use Reason as R;
    let cluster = Cluster::of(vec![config_map("shop", "go")]);
    let text = "tcp://db:1, configmap/go, https://web/health";
    let probes = vec!["tcp db:1".to_owned(), "http https://web/health".to_owned()];
    for (probed, verdict, reasons) in [
        (
            Probed::Unheard,
            Decision::Wait,
            [R::NotProbed, R::Satisfied, R::NotProbed],
        ),
        (
            Probed::Unable,
            Decision::Wait,
            [R::CannotProbe, R::Satisfied, R::CannotProbe],
        ),
        (
            told(text, &[Outcome::Connected, Outcome::Status(503)]),
            Decision::Wait,
            [R::Satisfied, R::Satisfied, R::HttpStatus],
        ),
        (
            told(text, &[Outcome::Connected, Outcome::Status(204)]),
            Decision::Open,
            [R::Satisfied, R::Satisfied, R::Satisfied],
        ),
    ] {
        let decided = of(&pod(text), probed, &cluster);
        let probes = if verdict == Decision::Wait {
            probes.clone()
        } else {
            Vec::new()
        };
        assert_eq!(summary(&decided), (verdict, reasons.to_vec(), probes));
    }
}

#[test]
fn some_of_several_are_enough_and_one_address_is_tried_once() {
    let cluster = Cluster::of(Vec::new());
    let text = "- any: [tcp://a:1, tcp://b:1]\n- {tcp: \"b:1\", stable: 0s}";
    let decided = of(
        &pod(text),
        told(text, &[Outcome::Refused, Outcome::Connected]),
        &cluster,
    );
    assert_eq!(decided.answer.verdict, Decision::Open);
    let decided = of(&pod(text), Probed::Unheard, &cluster);
    assert_eq!(
        decided.answer.probes.len(),
        2,
        "{:?}",
        decided.answer.probes
    );
}

#[test]
fn its_own_timeout_gives_it_up() {
    let cluster = Cluster::of(Vec::new());
    let text = "- {tcp: \"db:1\", timeout: 1s, on-timeout: proceed}";
    let mut late = pod(text);
    late["status"]["startTime"] = json!("1969-12-31T23:00:00Z");
    let decided = of(&late, told(text, &[Outcome::TimedOut]), &cluster);
    assert_eq!(decided.answer.verdict, Decision::Open);
    assert_eq!(decided.edges[0].judged.reason, Reason::GivenUp);
}

#[test]
fn it_has_to_last_where_that_is_asked_for() {
    let text = "- {tcp: \"db:1\", stable: 30s}";
    let connected = || told(text, &[Outcome::Connected]);
    let mut cluster = Cluster::of(Vec::new());
    cluster.seen = Some("1969-12-31T23:59:50Z".parse().unwrap());
    let decided = of(&pod(text), connected(), &cluster);
    assert_eq!(decided.edges[0].judged.reason, Reason::NotStable);
    cluster.seen = Some("1969-12-31T23:59:00Z".parse().unwrap());
    assert_eq!(
        of(&pod(text), connected(), &cluster).answer.verdict,
        Decision::Open
    );
}

#[expect(clippy::needless_pass_by_value, reason = "a test hands over a literal")]
fn service(spec: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "spec": spec,
        "metadata": {"namespace": "shop", "name": "rds", "creationTimestamp": "1969-12-31T00:00:00Z"}})
}

#[test]
fn a_service_connects_by_its_own_name_and_port() {
    let text = "svc/rds:connects";
    let external =
        json!({"type": "ExternalName", "externalName": "db.example", "ports": [{"port": 5432}]});
    let ports = json!({"ports": [{"port": 53, "protocol": "UDP"}, {"port": 5432}, {"port": 1}]});
    let address = Address::connection("rds.shop.svc", 5432);
    for spec in [external, ports] {
        let cluster = Cluster::of(vec![service(spec)]);
        let decided = of(&pod(text), Probed::Unheard, &cluster);
        let expected = vec!["tcp rds.shop.svc:5432".to_owned()];
        assert_eq!(
            summary(&decided),
            (Decision::Wait, vec![Reason::NotProbed], expected)
        );
        for (outcome, verdict) in [
            (Outcome::Refused, Decision::Wait),
            (Outcome::Connected, Decision::Open),
        ] {
            let probed = Probed::Told(vec![(address.probe().id, outcome)]);
            assert_eq!(of(&pod(text), probed, &cluster).answer.verdict, verdict);
        }
    }
    for (objects, reason) in [
        (vec![], Reason::NotFound),
        (
            vec![service(json!({"type": "ExternalName"}))],
            Reason::Unjudgeable,
        ),
    ] {
        let decided = of(&pod(text), Probed::Unheard, &Cluster::of(objects));
        assert_eq!(summary(&decided), (Decision::Wait, vec![reason], vec![]));
    }
}

#[test]
fn what_one_pod_reaches_is_no_answer_for_another() {
    let is_of_all_alike = |text: &str| {
        let owned = owned("Pod", "p", Some(("StatefulSet", "s")), list(text));
        let cluster = Cluster::of(vec![owned_set()]);
        let Lookup::Found(dependent) = Dependent::resolve(&owned, &[], &cluster) else {
            panic!("resolved")
        };
        let now = Timestamp::UNIX_EPOCH;
        find(&dependent, &Policy::of_the_chart(), &cluster, now).of_all_alike
    };
    assert!(is_of_all_alike("configmap/go"));
    for text in [
        "tcp://db:1",
        "svc/rds:connects",
        "[{any: [configmap/go, tcp://db:1]}]",
    ] {
        assert!(!is_of_all_alike(text), "{text}");
    }
}

fn owned_set() -> Value {
    owned("StatefulSet", "s", None, json!({}))
}

#[test]
fn a_pod_that_is_held_leaves_it_to_its_gate() {
    let cluster = Cluster::of(vec![config_map("shop", "go")]);
    let mut held = pod("tcp://db:1, svc/rds:connects, configmap/go");
    held["spec"]["schedulingGates"] = json!([{"name": "sluice.dev/hold"}]);
    let decided = of(&held, Probed::Unheard, &cluster);
    assert_eq!(
        summary(&decided),
        (Decision::Open, vec![Reason::Satisfied], vec![])
    );
}

/// A cluster with the StatefulSet `s` and its pods of ordinals 0 to 2; ordinal 0 is ready, or waits at its gate.
fn ordinals(zero_ready: bool, text: &str) -> Cluster {
    let pods = [0, 1, 2].map(|ordinal| {
        let mut pod = owned(
            "Pod",
            &format!("s-{ordinal}"),
            Some(("StatefulSet", "s")),
            list(text),
        );
        pod["metadata"]["labels"] = json!({"sluice.dev/gated": "true"});
        pod["metadata"]["uid"] = json!(format!("u{ordinal}"));
        let ready = if zero_ready && ordinal == 0 {
            "True"
        } else {
            "False"
        };
        let phase = if ready == "True" {
            "Running"
        } else {
            "Pending"
        };
        pod["status"] = json!({"phase": phase, "conditions": [{"type": "Ready", "status": ready}]});
        pod
    });
    Cluster::of([owned_set()].into_iter().chain(pods).collect())
}

#[test]
fn ordinals_wait_for_ordinal_0_and_it_waits_for_nobody() {
    let text = "pod/s-0";
    for (zero_ready, ordinal, expected) in [
        (false, 0, Reason::Satisfied),
        (true, 0, Reason::Satisfied),
        (true, 1, Reason::Satisfied),
        (true, 2, Reason::Satisfied),
    ] {
        let cluster = ordinals(zero_ready, text);
        let reasons = reasons(&cluster.objects[1 + ordinal], &cluster);
        assert_eq!(reasons, [expected], "{zero_ready} {ordinal}");
    }
    let cluster = ordinals(false, text);
    for ordinal in [1, 2] {
        let reasons = reasons(&cluster.objects[1 + ordinal], &cluster);
        assert_ne!(reasons, [Reason::Satisfied]);
        assert_ne!(reasons, [Reason::SelfReference], "{ordinal}");
        assert_ne!(reasons, [Reason::Cycle], "{ordinal}");
    }
    // An ordinal that is not there yet is waited for as well.
    let mut gone = ordinals(false, text);
    let one = gone.objects[2].clone();
    gone.objects.retain(|it| it["metadata"]["name"] != "s-0");
    assert_eq!(reasons(&one, &gone), [Reason::NotFound]);
    // Of another ordinal, and of a pod of its own, it is as it was.
    let cluster = ordinals(false, "pod/s-1");
    assert_eq!(
        reasons(&cluster.objects[2], &cluster),
        [Reason::SelfReference]
    );
    let alone = owned("Pod", "s-0", None, list(text));
    assert_eq!(
        reasons(&alone, &Cluster::of(vec![])),
        [Reason::SelfReference]
    );
}

/// The gate of ordinal 0 passes without waiting for ordinal 0, so the passed revision does not show that ordinal 0 is ready.
#[test]
fn an_ordinal_asks_although_another_has_passed() {
    let text = "pod/s-0, configmap/go";
    let cluster = ordinals(false, text);
    let Lookup::Found(one) = Dependent::resolve(&cluster.objects[2], &[], &cluster) else {
        panic!("resolved")
    };
    let asked = one
        .asked_after(true, Policy::of_the_chart().edge_sources(), &cluster)
        .unwrap();
    let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
    assert_eq!(asked, ["Pod/s-0"]);
    let list = crate::annotation::parse_depends_on(text).unwrap();
    assert!(matches!(list[0].reference, Reference::Object(_)));
}
