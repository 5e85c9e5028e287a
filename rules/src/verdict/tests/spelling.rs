//! Tests a custom kind that a list, a plan or an administrator spells in another way than its objects do.

use super::selection::{job, told};
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

/// The answer to a pod of the Rollout `web` with this list, beside `others`, where an administrator has granted `rollouts.argoproj.io`.
fn of_web(text: &str, others: Vec<Value>) -> String {
    let granted = Kind::Custom {
        group: "argoproj.io".to_owned(),
        word: "rollouts".to_owned(),
    };
    let cluster = Cluster {
        custom: vec![(granted, true)],
        ..Cluster::of([vec![web(text)], others].concat())
    };
    told(&pod_of_web(), &cluster)
}

#[test]
fn a_member_does_not_wait_for_itself_however_its_kind_is_spelled() {
    let seed = || of_release(job("shop", "seed", "x", true), None, -60);
    for list in ["- {release: r}", "group/all"] {
        let mut seed = seed();
        seed["metadata"]["annotations"]["sluice.dev/group"] = json!("all");
        assert_eq!(
            of_web(list, vec![seed]),
            "open Current Satisfied: 1 of 1 ready",
            "{list}"
        );
    }
    let selected = of_web("- {kind: rollouts.argoproj.io, selector: app=web}", vec![]);
    assert!(selected.contains("only the dependent itself"), "{selected}");
}

#[test]
fn who_names_itself_by_another_word_is_told_so() {
    for word in ["Rollout", "rollout", "rollouts"] {
        let said = of_web(&format!("{word}.argoproj.io/web"), vec![]);
        assert!(said.contains("SelfReference"), "{word}: {said}");
    }
}

#[test]
fn a_cycle_is_named_however_its_members_are_spelled() {
    let mut db = owned("Deployment", "db", None, list("rollouts.argoproj.io/web"));
    db["spec"] = json!({"replicas": 1, "selector": {"matchLabels": {"app": "db"}}});
    let said = of_web("deployment/db", vec![db]);
    let way = "Rollout.argoproj.io/web -> Deployment/db -> Rollout.argoproj.io/web";
    assert!(said.contains(&format!("Cycle: {way}")), "{said}");
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
