//! A custom kind that a list, a plan or an administrator spells otherwise than its objects do.

use super::wave::of_release;
use super::*;

/// Rollout `web` of release `r`, in a group, with this list.
fn web(text: &str) -> Value {
    let mut web = of_release(owned("Rollout", "web", None, list(text)), None, -60);
    web["metadata"]["uid"] = json!("u");
    web["metadata"]["labels"] = json!({"app": "web"});
    web["metadata"]["annotations"]["sluice.dev/group"] = json!("all");
    web["spec"] = json!({"replicas": 1});
    web
}

fn pod_of_web() -> Value {
    let mut pod = owned("Pod", "web-1", Some(("Rollout", "web")), json!({}));
    pod["metadata"]["ownerReferences"][0]["uid"] = json!("u");
    pod
}

#[test]
fn a_plan_may_name_a_kind_by_its_resource() {
    for subject in [
        "rollouts.argoproj.io/web",
        "rollout.argoproj.io/web",
        "Rollout.argoproj.io/web",
        "{kind: rollouts.argoproj.io, selector: app=web}",
    ] {
        let mut plan = of_release(config_map("shop", "plan"), None, -60);
        plan["data"] = json!({"order": format!("{subject}: [job/migrate]")});
        let cluster = Cluster::of(vec![web(""), plan]);
        assert_eq!(
            reasons(&pod_of_web(), &cluster),
            [Reason::NotFound],
            "{subject}"
        );
    }
}
