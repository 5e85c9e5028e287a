use super::*;

fn claim(class: Option<&str>, phase: &str) -> Value {
    let spec = class.map_or(json!({}), |class| json!({ "storageClassName": class }));
    object(
        "v1",
        "PersistentVolumeClaim",
        spec,
        json!({ "phase": phase }),
    )
}

fn class(mode: &str, annotations: Value) -> Value {
    json!({ "metadata": { "name": "c", "annotations": annotations }, "volumeBindingMode": mode })
}

fn with_class(mode: &str) -> Cluster {
    Cluster {
        object: Lookup::Found(class(mode, json!({}))),
        ..Cluster::empty()
    }
}

const BOUND: &str = "Current Satisfied: PVC is Bound";
const FIRST: &str = "Current Satisfied: PVC waits for its first consumer";
const PENDING: &str = "InProgress ClaimNotBound: PVC is not Bound. phase: Pending";
const NO_VOLUME: &str = "InProgress ClaimNotBound: PVC is not Bound. phase: Pending, its StorageClass has made no volume yet: \
                         \"kubectl describe pvc\" says why";
const BY_HAND: &str = "InProgress ClaimNotBound: PVC is not Bound. phase: Pending, its storageClassName is \"\", and no \
                       PersistentVolume that somebody made fits it";

fn ask_claim(claim: &Value, world: &Cluster) -> String {
    told_as(claim, State::Ready, world)
}

#[test]
fn bound_or_waiting_for_its_first_consumer() {
    let fast = claim(Some("fast"), "Pending");
    assert_eq!(
        ask_claim(&claim(Some("fast"), "Bound"), &Cluster::empty()),
        BOUND
    );
    assert_eq!(ask_claim(&fast, &with_class("WaitForFirstConsumer")), FIRST);
    assert_eq!(ask_claim(&fast, &with_class("Immediate")), NO_VOLUME);
    assert_eq!(
        ask_claim(&fast, &Cluster::empty()),
        format!("{PENDING}, StorageClass \"fast\" does not exist")
    );
    assert_eq!(
        ask_claim(
            &claim(Some(""), "Pending"),
            &with_class("WaitForFirstConsumer")
        ),
        BY_HAND
    );
    let mut chosen = claim(Some(""), "Pending");
    chosen["spec"]["volumeName"] = json!("pv-1");
    assert_eq!(
        ask_claim(&chosen, &with_class("Immediate")),
        format!("{PENDING}, it waits for PersistentVolume \"pv-1\"")
    );
    assert_eq!(
        ask_claim(
            &claim(Some("fast"), "Lost"),
            &with_class("WaitForFirstConsumer")
        ),
        "Failed Failed: PVC is Lost: its PersistentVolume no longer exists"
    );
    let selected = json!({ "annotations": { "volume.kubernetes.io/selected-node": "n1" } });
    assert_eq!(
        ask_claim(
            &with_metadata(fast, selected),
            &with_class("WaitForFirstConsumer")
        ),
        NO_VOLUME
    );
}

#[test]
fn without_a_class_the_newest_default_decides() {
    let default = |mode: &str, created: &str| {
        let mut class = class(
            mode,
            json!({ "storageclass.kubernetes.io/is-default-class": "true" }),
        );
        class["metadata"]["creationTimestamp"] = json!(created);
        class
    };
    let (old, new) = ("2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z");
    let pending = claim(None, "Pending");
    let other = class("Immediate", json!({}));
    let late = json!([
        default("Immediate", old),
        default("WaitForFirstConsumer", new),
        other
    ]);
    assert_eq!(ask_claim(&pending, &Cluster::listing(late)), FIRST);
    let early = json!([
        default("Immediate", new),
        default("WaitForFirstConsumer", old)
    ]);
    assert_eq!(ask_claim(&pending, &Cluster::listing(early)), NO_VOLUME);
    assert_eq!(
        ask_claim(&pending, &Cluster::listing(json!([other]))),
        format!("{PENDING}, there is no default StorageClass")
    );
}

#[test]
fn a_claim_is_waited_for_while_its_class_cannot_be_read() {
    let pending = claim(Some("fast"), "Pending");
    let key = "volume.kubernetes.io/storage-provisioner";
    let provisioned = with_metadata(pending.clone(), json!({ "annotations": { key: "x" } }));
    for (why, reason) in [
        (Unavailable::Forbidden, Reason::KindForbidden),
        (Unavailable::Stale, Reason::Stale),
    ] {
        for claim in [&pending, &provisioned] {
            let judged = ask(claim, State::Ready, &Cluster::unavailable(why));
            assert_eq!((judged.satisfied, judged.reason), (false, reason));
        }
    }
}
