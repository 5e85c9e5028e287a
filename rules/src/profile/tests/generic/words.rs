//! The one word in which many kinds tell how they are.

use super::*;

#[test]
fn words_are_read_by_their_sense() {
    for (word, sense) in [
        ("Provisioning", "InProgress"),
        ("Setting up primary", "InProgress"),
        ("ImportInProgress", "InProgress"),
        ("DEPLOYED_NOT_READY", "InProgress"),
        ("NotFound", "InProgress"),
        ("Paused", "InProgress"),
        ("pending", "InProgress"),
        ("BUILD", "InProgress"),
        ("BuildSucceeded", "Current"),
        ("InitializationComplete", "Current"),
        ("HEALTH_ERR", "Failed"),
        ("ConfigError", "Failed"),
        ("failed", "Failed"),
        ("Faulted", "Failed"),
        ("Forbidden", "Failed"),
        ("Outdated", "InProgress"),
        ("Running", "Current"),
        ("Serving", "Current"),
        ("StandingBy", "Current"),
        ("Exporting", "Current"),
        ("ACTIVE", "Current"),
        ("Cluster in healthy state", "Current"),
        ("NoErrors", "Current"),
        ("Whatever", "Current"),
        (
            "The last attempt was failing, which is now of no interest to anybody at all",
            "Current",
        ),
    ] {
        for status in [
            json!({ "phase": word }),
            json!({ "overallStatus": word }),
            json!({ "condition": word }),
            json!({ "app": { "state": word } }),
        ] {
            let told = thing(status);
            assert_eq!(told.split(' ').next(), Some(sense), "{word}: {told}");
        }
        for elsewhere in [
            json!({ "lastBackup": { "state": word } }),
            json!({ "name": word }),
        ] {
            assert!(thing(elsewhere).starts_with("Current"), "{word}");
        }
    }
}

#[test]
fn the_worst_word_is_told() {
    let told = thing(json!({ "phase": "Creating", "state": "error" }));
    assert_eq!(told, "Failed Failed: status.state is error");
}

#[test]
fn what_completes_is_not_ready_while_it_runs() {
    let phase = |kind: &str, phase: &str| {
        let status = json!({ "phase": phase });
        told(&object("example.com/v1", kind, json!({}), status))
    };
    let running = |kind: &str| phase(kind, "Running");
    assert!(phase("JobSnapshot", "Exporting").starts_with("InProgress"));
    assert!(phase("HeapDump", "Started").starts_with("InProgress"));
    assert_eq!(
        running("AnalysisRun"),
        "InProgress InProgress: status.phase is Running, and AnalysisRun has to complete"
    );
    for kind in ["Thing", "CronJob", "ScheduledBackup", "Runner"] {
        assert_eq!(
            running(kind),
            "Current Satisfied: Resource is current",
            "{kind}"
        );
    }
}

#[test]
fn one_word_may_be_written_as_two_and_what_need_not_be_is_well() {
    let told = |word: &str| thing(json!({ "phase": word }));
    for held in [
        "OutOfSync",
        "UnHealthy",
        "CrashLoopBackOff",
        "NotReady",
        "TimedOut",
    ] {
        assert!(!told(held).starts_with("Current"), "{held}: {}", told(held));
    }
    for fine in ["NotRequired", "Not Applicable", "Passing", "Publishing"] {
        assert!(told(fine).starts_with("Current"), "{fine}: {}", told(fine));
    }
}

#[test]
fn a_status_that_is_one_word_is_read() {
    assert_eq!(thing(json!("ok")), "Current Satisfied: Resource is current");
    for (word, told) in [("conflict", "Failed"), ("Pending", "InProgress")] {
        assert!(thing(json!(word)).starts_with(told), "{word}");
    }
}

#[test]
fn words_that_definitions_list_are_known() {
    let told = |word: &str| thing(json!({ "phase": word }));
    for word in ["Abnormal", "RolledBack", "ROLLED_BACK", "NodeDown"] {
        assert!(told(word).starts_with("Failed"), "{word}: {}", told(word));
    }
    for word in [
        "Absent",
        "Inactive",
        "Inqueue",
        "delayed",
        "unscheduled",
        "STAGED",
        "Stop",
        "Imagebuild",
        "detached",
        "False",
        "ScaledDown",
    ] {
        assert!(
            told(word).starts_with("InProgress"),
            "{word}: {}",
            told(word)
        );
    }
    for word in ["Warning", "RebalanceOnScaleUp", "Created"] {
        assert!(told(word).starts_with("Current"), "{word}: {}", told(word));
    }
    let of = |kind: &str, word: &str| {
        let status = json!({ "phase": word });
        super::told(&object("example.com/v1", kind, json!({}), status))
    };
    assert!(of("DataImport", "CREATED").starts_with("InProgress"));
    assert!(!told("RebalanceOnScaleDown").starts_with("Failed"));
}
