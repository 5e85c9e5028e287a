//! Tests of the gate's marker, in the same boot of the node and in another one. A test cannot boot its machine again, so the marker names another
//! boot.

use super::*;
use wire::reboot::Reboot;

/// Returns the ID of this machine's boot, which the gate reads as well.
fn this_boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    id.trim().to_owned()
}

/// Returns the lines of a gate's log after the first, which names the addresses.
fn told(log: &[String]) -> Vec<&str> {
    log.iter().skip(1).map(String::as_str).collect()
}

const OPENED_BEFORE: &str = "sluice-gate: open: it opened in this pod before";
const REBOOTED: &str = "sluice-gate: it opened in this pod before the node's last boot, and asks again: the node was rebooted";

#[test]
fn the_marker_names_the_boot_and_a_restart_asks_nothing() {
    let authority = Authority::new();
    let service = serving(&authority, vec![ok(OPEN)]);
    let pod = Pod::new(&authority, &[service.address]);
    assert_eq!(pod.gate().end().code, Some(0));
    assert_eq!(fs::read_to_string(pod.path("open")).unwrap(), this_boot());
    assert_eq!(pod.gate().end().log, [OPENED_BEFORE]);
    let [first] = &service.requests()[..] else {
        panic!("one request, since the second gate asks nothing")
    };
    assert_eq!(first.rebooted, None, "no boot to tell of");
}

#[test]
fn another_boot_asks_again_and_says_so_until_it_has_opened_in_that_boot() {
    let authority = Authority::new();
    let answers = [wait_for_migrate("1"), OPEN.to_owned()];
    let service = serving(&authority, answers.iter().map(|it| ok(it)).collect());
    let pod = Pod::new(&authority, &[service.address]);
    let earlier = "0b5c1f7e-0000-4000-8000-000000000000";
    fs::write(pod.path("open"), earlier).unwrap();

    let ended = pod.gate().end();
    assert_eq!(ended.code, Some(0));
    let log = told(&ended.log);
    assert_eq!(log[0], REBOOTED);
    assert!(
        log[1].starts_with("sluice-gate: waiting 0s for Job/migrate"),
        "{log:?}"
    );
    assert_eq!(log.last().unwrap(), &"sluice-gate: open after 0s");

    let requests = service.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        let told = request.rebooted.as_deref();
        let told = Reboot::read(told.expect("each question tells of the boot")).unwrap();
        assert_eq!(told.id, this_boot());
        assert!(
            told.booted > 1_000_000_000,
            "in seconds since 1970: {told:?}"
        );
        assert!(told.asked < 60, "{told:?}");
    }

    assert_eq!(fs::read_to_string(pod.path("open")).unwrap(), this_boot());
    assert_eq!(pod.gate().end().log, [OPENED_BEFORE]);
}

#[test]
fn a_gate_that_waits_after_a_boot_keeps_the_earlier_marker() {
    let authority = Authority::new();
    let refusal = wait_for_migrate("1").replace("wait", "refuse");
    let service = serving(&authority, vec![ok(&refusal), ok(OPEN)]);
    let pod = Pod::new(&authority, &[service.address]);
    fs::write(pod.path("open"), "an-earlier-boot").unwrap();
    assert_eq!(pod.gate().end().code, Some(1));
    assert_eq!(
        fs::read_to_string(pod.path("open")).unwrap(),
        "an-earlier-boot"
    );
    let ended = pod.gate().end();
    assert_eq!(told(&ended.log)[0], REBOOTED);
    assert_eq!(ended.code, Some(0));
}

#[test]
fn a_gate_that_opens_for_good_asks_in_no_later_boot() {
    let authority = Authority::new();
    let for_good = r#"{"verdict": "open", "digest": "end", "for_good": true}"#;
    let service = serving(&authority, vec![ok(for_good)]);
    let pod = Pod::new(&authority, &[service.address]);
    assert_eq!(pod.gate().end().code, Some(0));
    let marker = fs::read_to_string(pod.path("open")).unwrap();
    assert_eq!(marker, format!("{} for-good", this_boot()));
    fs::write(pod.path("open"), "an-earlier-boot for-good").unwrap();
    assert_eq!(pod.gate().end().log, [OPENED_BEFORE]);
    assert_eq!(service.requests().len(), 1);
}

/// An empty marker opens the gate without a question: a gate of an older version leaves it.
#[test]
fn the_empty_marker_of_an_older_gate_opens_as_before() {
    let authority = Authority::new();
    let service = serving(&authority, vec![ok(OPEN)]);
    let pod = Pod::new(&authority, &[service.address]);
    fs::write(pod.path("open"), "").unwrap();
    let ended = pod.gate().end();
    assert_eq!(ended.log, [OPENED_BEFORE]);
    assert_eq!(ended.code, Some(0));
    assert!(service.requests().is_empty());
}
