//! Whether a pod is held before it takes a node, a Job before it has a pod, or any object before it exists: the value of
//! [`keys::HOLD`].

use super::piece::Piece;
use super::problem::HoldFault;
use super::terms::{FLAGS, word};
use super::{ParseError, placed, text};
use crate::installer;
use crate::keys;
use serde_json::{Map, Value};

/// The value by which a Job asks to be created suspended.
const SUSPEND: &str = "suspend";

/// The value by which any object asks to be created only once its list is satisfied.
const CREATE: &str = "create";

/// Whether the annotations of a pod or a pod template ask for a hold of the pod; `None` where they leave it to the installation.
///
/// # Errors
///
/// A value that is neither `true` nor `false`. A pod itself may also say `create` ([`hold_of_object`]).
pub fn hold(annotations: &Map<String, Value>) -> Result<Option<bool>, ParseError> {
    let key = keys::HOLD;
    let Some(value) = annotations.get(key) else {
        return Ok(None);
    };
    let text = text(key, value)?;
    if text == SUSPEND {
        let flaw = Piece::whole(text).flaw(HoldFault::SuspendsNoJob);
        return Err(placed(key, text, flaw));
    }
    if text == CREATE {
        let flaw = Piece::whole(text).flaw(HoldFault::CreatesNoObject);
        return Err(placed(key, text, flaw));
    }
    let flag = word(Piece::whole(text), &FLAGS).map_err(|flaw| placed(key, text, flaw))?;
    Ok(Some(flag))
}

/// Checks the hold in the annotations of an object itself, other than a Job.
///
/// # Errors
///
/// A value that is no hold of the object, nor of its pods.
pub fn hold_of_object(annotations: &Map<String, Value>) -> Result<(), ParseError> {
    if holds_creation(annotations) {
        return Ok(());
    }
    hold(annotations).map(drop)
}

/// Whether the annotations of an object ask that its creation be held.
pub fn holds_creation(annotations: &Map<String, Value>) -> bool {
    annotations.get(keys::HOLD).is_some_and(|it| it == CREATE)
}

/// Whether the annotations of a Job ask that it be created suspended.
///
/// # Errors
///
/// A value other than `true`, `false`, `suspend` and `create`.
pub fn suspends(annotations: &Map<String, Value>) -> Result<bool, ParseError> {
    let key = keys::HOLD;
    let Some(value) = annotations.get(key) else {
        return Ok(false);
    };
    match text(key, value)? {
        SUSPEND => Ok(true),
        CREATE => Ok(false),
        text => {
            let flag = word::<bool>(Piece::whole(text), &["true", "false", SUSPEND, CREATE]);
            flag.map(|_| false).map_err(|flaw| placed(key, text, flaw))
        }
    }
}

/// Refuses `suspend` on a Job that an installer would take for done while it waits or runs.
///
/// # Errors
///
/// The installer does not wait for a Job with this metadata.
pub fn suspends_safely(metadata: &Value) -> Result<(), ParseError> {
    let key = keys::HOLD;
    match installer::goes_on_too_soon(metadata) {
        Some((who, by)) if metadata["annotations"][key] == SUSPEND => {
            let flaw = Piece::whole(SUSPEND).flaw(HoldFault::DoneTooSoon { who, key: by });
            Err(placed(key, SUSPEND, flaw))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(value: &Value) -> Map<String, Value> {
        let annotations = json!({ keys::HOLD: value });
        annotations.as_object().cloned().unwrap_or_default()
    }

    fn of(value: &Value) -> Result<Option<bool>, String> {
        hold(&with(value)).map_err(|error| error.to_string())
    }

    #[test]
    fn two_words() {
        assert_eq!(of(&json!("true")), Ok(Some(true)));
        assert_eq!(of(&json!("false")), Ok(Some(false)));
        assert_eq!(hold(&Map::new()), Ok(None));
    }

    #[test]
    fn any_object_may_wait_to_be_created_and_a_pod_template_may_not() {
        let create = with(&json!("create"));
        assert!(holds_creation(&create) && !holds_creation(&with(&json!("true"))));
        assert_eq!(hold_of_object(&create), Ok(()));
        assert_eq!(suspends(&create), Ok(false));
        insta::assert_snapshot!(hold(&create).unwrap_err(),
            @r#"sluice.dev/hold: line 1, column 1: an object's creation is held by its own annotations, and not by those of its pod template; write "true" here to hold its pods"#);
        insta::assert_snapshot!(hold_of_object(&with(&json!("suspend"))).unwrap_err(),
            @r#"sluice.dev/hold: line 1, column 1: only a Job can be suspended, by its own annotations and not by those of its pod template; write "true" to hold pods"#);
    }

    #[test]
    fn a_job_has_a_third() {
        let of = |value: Value| suspends(&with(&value)).map_err(|error| error.to_string());
        assert_eq!(of(json!("suspend")), Ok(true));
        assert_eq!(of(json!("true")), Ok(false));
        assert_eq!(suspends(&Map::new()), Ok(false));
        insta::assert_snapshot!(of(json!("Suspend")).unwrap_err(),
            @r#"sluice.dev/hold: line 1, column 1: unknown word "Suspend"; did you mean "suspend"?"#);
    }

    #[test]
    fn nobody_may_take_the_job_for_done_too_soon() {
        let of = |annotations: Value, labels: Value| {
            let mut metadata = json!({"annotations": annotations, "labels": labels});
            metadata["annotations"][keys::HOLD] = json!(SUSPEND);
            suspends_safely(&metadata).map_err(|error| error.to_string())
        };
        let tracked = |more: &str| json!({ keys::TRACKING_ID: "shop:batch/Job:shop/migrate", more: "pre-install" });
        let released = json!({ keys::HELM_RELEASE: "shop" });
        insta::assert_snapshot!(of(json!({ keys::SYNC_HOOK: "PreSync" }), json!({})).unwrap_err(),
            @r#"sluice.dev/hold: line 1, column 1: Argo CD would wait for the end of this Job, which has argocd.argoproj.io/hook, but takes one that is created suspended for done too soon; write "true" on its pod template instead, which holds its pods"#);
        let flux = of(json!({ keys::HELM_HOOK: "pre-install" }), released.clone()).unwrap_err();
        assert!(
            flux.contains("Flux would wait for the end of this Job, which has helm.sh/hook"),
            "{flux}"
        );
        for refused in [
            tracked(keys::HELM_HOOK),
            json!({ keys::SYNC_WAVE: "0" }),
            json!({ keys::SYNC_HOOK: "Skip, Sync" }),
        ] {
            assert!(of(refused.clone(), json!({})).is_err(), "{refused}");
        }
        let skipped = json!({ keys::SYNC_HOOK: "Skip", keys::HELM_HOOK: "pre-install", keys::TRACKING_ID: "shop" });
        for allowed in [
            json!({}),
            json!({ keys::HELM_HOOK: "pre-install" }),
            tracked("other"),
            skipped,
        ] {
            assert_eq!(of(allowed, json!({})), Ok(()));
        }
        assert_eq!(of(json!({}), released), Ok(()));
        let held = json!({"annotations": { keys::HOLD: "true", keys::SYNC_WAVE: "0" }});
        assert_eq!(suspends_safely(&held), Ok(()));
    }

    #[test]
    fn whatever_else_is_refused_with_the_way_out() {
        let said = |value: Value| of(&value).unwrap_err();
        insta::assert_snapshot!(said(json!("yes")),
            @r#"sluice.dev/hold: line 1, column 1: unknown word "yes"; the words are true, false"#);
        insta::assert_snapshot!(said(json!(true)),
            @"sluice.dev/hold: the value is not a text; put it in quotes");
        insta::assert_snapshot!(said(json!("suspend")),
            @r#"sluice.dev/hold: line 1, column 1: only a Job can be suspended, by its own annotations and not by those of its pod template; write "true" to hold pods"#);
    }
}
