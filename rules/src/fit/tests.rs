use super::*;
use serde_json::json;

fn range(kind: &str, bounds: Value) -> Value {
    let mut item = bounds;
    item["type"] = json!(kind);
    json!({"kind": "LimitRange", "metadata": {"name": "small"}, "spec": {"limits": [item]}})
}

fn quota(hard: &Value) -> Value {
    json!({"kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": hard}})
}

fn pod(containers: &Value) -> Value {
    json!({"spec": {"containers": containers}})
}

fn app(resources: &Value) -> Value {
    pod(&json!([{"name": "app", "resources": resources}]))
}

fn told(pod: &Value, ranges: &[Value], quotas: &[Value]) -> Vec<String> {
    let ranges: Vec<_> = ranges.iter().collect();
    let quotas: Vec<_> = quotas.iter().collect();
    let found = of(pod, &ranges, &quotas);
    found.iter().map(ToString::to_string).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn an_amount_below_the_least_one_is_told() {
    let least = || [range("Container", json!({"min": {"memory": "32Mi"}}))];
    let asks = |memory: &str| app(&json!({"requests": {"memory": memory}}));
    assert_eq!(
        told(&asks("8Mi"), &least(), &[]),
        [
            "LimitRange/small asks for requests.memory of at least 32Mi, and container \"app\" has less; raise it in its resources, or \
             change LimitRange/small"
        ]
    );
    for fits in [asks("32Mi"), asks("33554432"), app(&json!({}))] {
        assert_eq!(told(&fits, &least(), &[]), NONE, "{fits}");
    }
    let limited = app(&json!({"limits": {"memory": "8Mi"}}));
    assert_eq!(told(&limited, &least(), &[]).len(), 2);
}

#[test]
fn an_amount_above_the_largest_one_is_told() {
    let most = || [range("Container", json!({"max": {"cpu": "1"}}))];
    let large = app(&json!({"limits": {"cpu": "2"}, "requests": {"cpu": "100m"}}));
    assert_eq!(
        told(&large, &most(), &[]),
        [
            "LimitRange/small allows limits.cpu of 1 at most, and container \"app\" has more; lower it in its resources, or change \
             LimitRange/small"
        ]
    );
    assert_eq!(told(&app(&json!({})), &most(), &[]), NONE);
}

#[test]
fn a_ratio_needs_both_amounts() {
    let ratio = || {
        [range(
            "Container",
            json!({"maxLimitRequestRatio": {"cpu": "4"}}),
        )]
    };
    let of = |request: &str, limit: &str| {
        app(&json!({"requests": {"cpu": request}, "limits": {"cpu": limit}}))
    };
    assert_eq!(told(&of("100m", "400m"), &ratio(), &[]), NONE);
    let found = told(&of("100m", "500m"), &ratio(), &[]);
    assert!(
        found[0].contains("of 4 times the request at most"),
        "{found:?}"
    );
    let found = told(&app(&json!({})), &ratio(), &[]);
    assert!(
        found[0].contains("asks for limits.cpu, requests.cpu, and container \"app\" says none"),
        "{found:?}"
    );
}

#[test]
fn the_containers_of_a_pod_are_counted_together() {
    let most = || [range("Pod", json!({"max": {"cpu": "1"}}))];
    let half = json!({"limits": {"cpu": "500m"}});
    let container = |name: &str| json!({"name": name, "resources": half});
    let two = pod(&json!([container("one"), container("two")]));
    assert_eq!(told(&two, &most(), &[]), NONE);
    let three = pod(&json!([
        container("one"),
        container("two"),
        container("three")
    ]));
    let found = told(&three, &most(), &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("a pod with all its containers has more"));
    let mut beside = two.clone();
    beside["spec"]["initContainers"] = json!([container("first")]);
    assert_eq!(told(&beside, &most(), &[]), NONE, "it ends before them");
    beside["spec"]["initContainers"][0]["restartPolicy"] = json!("Always");
    assert_eq!(told(&beside, &most(), &[]).len(), 2, "it runs beside them");
    let mut own = three;
    own["spec"]["resources"] = json!({"limits": {"cpu": "1"}});
    assert_eq!(told(&own, &most(), &[]), NONE);
}

#[test]
fn a_quota_asks_each_container_for_what_it_counts() {
    let counts = quota(&json!({"requests.cpu": "1", "limits.memory": "1Gi", "pods": "4"}));
    assert_eq!(
        told(&app(&json!({})), &[], std::slice::from_ref(&counts)),
        [
            "ResourceQuota/few asks for limits.memory, requests.cpu, and container \"app\" says none; write it into its resources, or into \
             the defaults of a LimitRange, or change ResourceQuota/few"
        ]
    );
    let defaults = range(
        "Container",
        json!({"default": {"memory": "1Gi"}, "defaultRequest": {"cpu": "10m"}}),
    );
    assert_eq!(
        told(&app(&json!({})), &[defaults], std::slice::from_ref(&counts)),
        NONE
    );
    let large = app(&json!({"requests": {"cpu": "2"}, "limits": {"memory": "1Gi"}}));
    assert_eq!(
        told(&large, &[], std::slice::from_ref(&counts)),
        [
            "ResourceQuota/few allows requests.cpu of 1 at most, and a pod with all its containers has more; lower it in the resources of \
             its containers, or change ResourceQuota/few"
        ]
    );
    let mut scoped = counts;
    scoped["spec"]["scopes"] = json!(["BestEffort"]);
    assert_eq!(told(&large, &[], &[scoped]), NONE);
    let storage =
        quota(&json!({"limits.ephemeral-storage": "1Gi", "requests.nvidia.com/gpu": "0"}));
    assert_eq!(told(&app(&json!({})), &[], &[storage]), NONE);
}
