//! Tests that a kind that cannot be read is never taken for empty.

use super::selection::told;
use super::wave::of_release;
use super::*;
use crate::dependent::Unknown;

/// The causes why a kind cannot be read, each with the reason of an edge to that kind.
const UNREAD: [(Unavailable, Reason); 3] = [
    (Unavailable::Forbidden, Reason::KindForbidden),
    (Unavailable::NotServed, Reason::KindNotServed),
    (Unavailable::Undiscovered, Reason::DiscoveryFailed),
];

/// A pod of release `r` that waits by its weight, by a sub-chart, by a group, or by a release.
fn pods() -> [Value; 4] {
    let wave = of_release(owned("Pod", "p", None, json!({})), Some("1"), -60);
    let lists = [
        "subchart/db",
        "- {group: data, optional: true}",
        "release/r",
    ];
    let [chart, group, release] = lists.map(|list| of_release(pod(list), None, -60));
    [wave, chart, group, release]
}

/// A complete Job of the release, so that the release is not empty.
fn seed() -> Value {
    let seed = super::selection::job("shop", "seed", "x", true);
    let mut seed = of_release(seed, Some("0"), -60);
    seed["metadata"]["annotations"]["sluice.dev/group"] = json!("data");
    seed["metadata"]["labels"] = json!({"helm.sh/chart": "db-1.0.0"});
    seed
}

fn without(word: &'static str, why: Unavailable) -> Cluster {
    Cluster {
        unavailable: vec![(word, why)],
        ..Cluster::of(vec![seed()])
    }
}

/// The reasons of a pod's edges, each once: beside its entries the pod has its wave.
fn told_of(pod: &Value, cluster: &Cluster) -> Vec<Reason> {
    let mut reasons = reasons(pod, cluster);
    reasons.dedup();
    reasons
}

#[test]
fn a_built_in_kind_that_cannot_be_read_holds_back() {
    for pod in pods() {
        let open = reasons(&pod, &Cluster::of(vec![seed()]));
        assert_eq!(open, [Reason::Satisfied], "{pod}");
        for (why, reason) in UNREAD {
            for word in ["StatefulSet", "Job"] {
                assert_eq!(told_of(&pod, &without(word, why)), [reason], "{pod}");
            }
        }
    }
}

#[test]
fn who_says_no_weight_is_held_back_as_well() {
    let listless = of_release(owned("Pod", "p", None, json!({})), None, -60);
    assert_eq!(reasons(&listless, &Cluster::of(vec![seed()])), []);
    let forbidden = without("StatefulSet", Unavailable::Forbidden);
    assert_eq!(reasons(&listless, &forbidden), [Reason::KindForbidden]);
}

#[test]
fn a_service_that_cannot_be_read_holds_back_where_it_could_count() {
    let [wave, chart, group, _] = pods();
    let forbidden = without("Service", Unavailable::Forbidden);
    assert_eq!(told_of(&wave, &forbidden), [Reason::KindForbidden]);
    assert_eq!(told_of(&group, &forbidden), [Reason::KindForbidden]);
    let of_workloads_alone = [Reason::Satisfied, Reason::KindForbidden];
    assert_eq!(told_of(&chart, &forbidden), of_workloads_alone);
}

#[test]
fn a_custom_kind_counts_where_sluice_is_meant_to_read_it() {
    let widget = || Kind::Custom {
        group: "example.com".to_owned(),
        word: "widget".to_owned(),
    };
    for pod in pods() {
        let told = |granted: bool, why: Unavailable| {
            let mut cluster = without("widget", why);
            cluster.custom = vec![(widget(), granted)];
            told_of(&pod, &cluster)
        };
        for why in [
            Unavailable::Forbidden,
            Unavailable::Undiscovered,
            Unavailable::Syncing,
        ] {
            assert_eq!(told(true, why), [Reason::from(why)], "{pod}");
            assert_eq!(told(false, why), [Reason::Satisfied], "anybody may name it");
        }
        for granted in [true, false] {
            let gone = told(granted, Unavailable::NotServed);
            assert_eq!(gone, [Reason::Satisfied], "without a kind no object");
            let stale = told(granted, Unavailable::Stale);
            assert_eq!(stale, [Reason::Stale], "there were some");
        }
    }
}

/// While it is not known which custom kinds may be in a scope, a wave, a group, a sub-chart and a release are not satisfied: the ClusterRole that
/// lists these kinds has not been read.
#[test]
fn no_scope_is_whole_while_nobody_knows_which_kinds_there_are() {
    for pod in pods() {
        let mut cluster = Cluster::of(vec![seed()]);
        assert_eq!(told_of(&pod, &cluster), [Reason::Satisfied], "{pod}");
        cluster.kinds_unread = Some(Unavailable::Syncing);
        assert_eq!(told_of(&pod, &cluster), [Reason::Syncing], "{pod}");
    }
}

/// Every kind is asked for, so that a world that reads on demand can read all kinds in one round.
#[test]
fn every_kind_is_asked_for_although_none_has_been_read() {
    let wave = of_release(owned("Pod", "p", None, json!({})), Some("1"), -60);
    // In no release there is no wave that would ask.
    for pod in [wave, pod("release/r"), pod("group/data")] {
        let mut cluster = Cluster::of(Vec::new());
        let unread = |kind| match kind {
            Kind::Builtin(builtin) => (builtin.kind, Unavailable::Syncing),
            Kind::Custom { .. } => panic!("workloads are built in"),
        };
        cluster.unavailable = scope::workloads().map(unread).collect();
        assert_eq!(reasons(&pod, &cluster), [Reason::Syncing], "{pod}");
        let asked = cluster.asked.take();
        let mut left = scope::workloads().filter(|kind| !asked.contains(kind));
        assert_eq!(left.next(), None, "{pod}");
    }
}

#[test]
fn a_list_is_not_whole_while_the_plans_cannot_be_read() {
    let pod = of_release(pod("job/seed"), None, -60);
    for (why, _) in UNREAD {
        let cluster = without("plan", why);
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
            panic!("resolved")
        };
        let listed = dependent.edges(true, &cluster);
        assert_eq!(listed, Err(Unknown::Plans(why)));
    }
}

#[test]
fn a_forbidden_kind_comes_with_the_way_out() {
    let told = |list: &str, word| told(&pod(list), &without(word, Unavailable::Forbidden));
    assert_eq!(
        told("statefulset/db", "StatefulSet"),
        "wait Unknown KindForbidden: sluice may not watch StatefulSet; the chart's value rbac.kinds allows it"
    );
    assert_eq!(
        told("secret/db", "Secret"),
        "wait Unknown KindForbidden: sluice may not watch Secret; the chart's value rbac.secrets allows it"
    );
    assert_eq!(
        told("widget.example.com/db", "widget"),
        "wait Unknown KindForbidden: sluice may not watch widget.example.com; a ClusterRole with the label sluice.dev/aggregate-to-watch, or the chart's value rbac.kinds, allows it"
    );
}

/// While the revision of a StatefulSet's pod cannot be read, it is unknown which objects are older and so may be about to be
/// replaced.
#[test]
fn what_is_older_is_not_known_while_the_revision_cannot_be_read() {
    let mut pod = owned("Pod", "db-0", Some(("StatefulSet", "db")), list("job/seed"));
    pod["metadata"]["labels"] = json!({"controller-revision-hash": "db-1"});
    let set = owned("StatefulSet", "db", None, json!({}));
    let mut cluster = without("ControllerRevision", Unavailable::Forbidden);
    cluster.objects.push(of_release(set, None, -60));
    assert_eq!(reasons(&pod, &cluster), [Reason::KindForbidden]);
    let exact = "- {kind: Job, name: seed, revision: any}";
    pod["metadata"]["annotations"] = list(exact);
    assert_eq!(
        reasons(&pod, &cluster),
        [Reason::Satisfied],
        "it needs no time"
    );
}
