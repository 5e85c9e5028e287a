//! Tests the line of `check` about pods and Jobs that are held.

use super::*;

fn held(seen: &mut Seen) {
    let named = |name: &str| json!({"metadata": {"namespace": "shop", "name": name}});
    seen.held = Held {
        pods: Lookup::Found(vec![named("web"), named("api")]),
        jobs: Lookup::Found(vec![named("seed")]),
    };
}

#[test]
fn what_is_held_is_named_where_nobody_lets_it_go() {
    let names = "Job shop/seed, Pod shop/api, Pod shop/web; ";
    let off = wrong(held);
    let begin = format!(
        "problem  holds: holds are off in this installation, so nobody lets these go: {names}delete the pods, and their owners make \
         others, which wait at their gates (a pod that nobody owns has to be made again by hand); kubectl sluice release \
         --all-holds has all of them start without waiting; "
    );
    assert_line(&off, &begin, "holds.enabled turns holds on again");

    let gone = wrong(|seen| {
        held(seen);
        seen.installation.deployments = Lookup::Found(Vec::new());
        seen.configuration = Lookup::NotFound;
        seen.pending = Lookup::Found(Vec::new());
    });
    let begin =
        format!("problem  holds: without sluice nobody lets these go: {names}delete the pods, ");
    assert!(
        gone[0].starts_with("problem  controller: sluice is not installed; "),
        "{gone:?}"
    );
    assert_line(
        &gone[1..],
        &begin,
        "kubectl sluice release --all-holds resumes the Jobs; or install sluice again, with holds.enabled",
    );

    let hidden = wrong(|seen| seen.held.jobs = Lookup::Unavailable(Unavailable::Forbidden));
    assert_line(
        &hidden,
        "warning  holds: Jobs that are held could not be looked at: ",
        "an administrator",
    );
}

#[test]
fn what_is_held_and_let_go_is_counted_with_what_an_uninstall_needs() {
    let line = |ready: u64, change: fn(&mut Seen)| {
        let mut seen = healthy();
        let mut deployment = deployment();
        deployment["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["--holds=asked"]);
        deployment["status"]["readyReplicas"] = json!(ready);
        seen.installation.deployments = Lookup::Found(vec![deployment]);
        change(&mut seen);
        judge(&seen, Timestamp::UNIX_EPOCH)
            .last()
            .map(ToString::to_string)
            .unwrap()
    };
    let before = "before an uninstall: kubectl sluice release --all-holds";
    assert_eq!(
        line(2, held),
        format!("ok       holds: held now: 2 pods, 1 Job; {before}")
    );
    assert_eq!(
        line(2, |_| {}),
        format!("ok       holds: nothing is held now; {before}")
    );
    let down = line(0, held);
    assert!(
        down.starts_with("problem  holds: no replica is ready to let these go: Job shop/seed"),
        "{down}"
    );
}
