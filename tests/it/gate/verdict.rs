//! Tests of the gate's reaction to a verdict, to its environment and to a signal.

use super::*;

/// Returns the first line of a request without the number of seconds for which it may be held. Each gate draws that number, between 225 and 300.
fn question(request: &Request) -> String {
    let (before, after) = request.line.split_once("wait=").unwrap();
    let (seconds, version) = after.split_once(' ').unwrap();
    assert!((225..=300).contains(&seconds.parse::<u32>().unwrap()));
    format!("{before}wait= {version}")
}

#[test]
fn opens_at_once_and_leaves_a_marker() {
    let authority = Authority::new();
    let service = serving(&authority, vec![ok(OPEN)]);
    let pod = Pod::new(&authority, &[service.address]);

    let first = pod.gate().end();
    assert_eq!(first.code, Some(0));
    let address = service.address;
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        first.log,
        [
            format!(
                "sluice-gate: version {version}, asks {address} until the dependencies of this pod are ready"
            ),
            "sluice-gate: open after 0s".to_owned()
        ]
    );

    let second = pod.gate().end();
    assert_eq!(second.code, Some(0));
    assert_eq!(
        second.log,
        ["sluice-gate: open: it opened in this pod before"]
    );
    let [only] = &service.requests()[..] else {
        panic!("one request, since the second gate asks nobody")
    };
    assert_eq!(question(only), format!("GET {PATH}?wait= HTTP/1.1"));
    assert_eq!(only.token, "first");
    assert!(!pod.path("termination").exists());
}

#[test]
fn opens_without_a_place_for_the_marker() {
    let authority = Authority::new();
    let service = serving(&authority, vec![ok(OPEN)]);
    let mut pod = Pod::new(&authority, &[service.address]);
    pod.environment
        .insert(env::STATE_DIR, "/nowhere/sluice".to_owned());
    let ended = pod.gate().end();
    assert_eq!(ended.code, Some(0));
    assert_eq!(
        ended.log.last().unwrap(),
        "sluice-gate: cannot write /nowhere/sluice/open: No such file or directory (os error 2); \
         a restart of this container will ask again"
    );
}

#[test]
fn waits_until_a_change_opens_it() {
    let authority = Authority::new();
    let (service, change) = holding(&authority, ok(&wait_for_migrate("sha256:1")));
    let pod = Pod::new(&authority, &[service.address]);
    let mut gate = pod.gate();
    assert_eq!(
        gate.line("waiting"),
        "sluice-gate: waiting 0s for Job/migrate: InProgress (JobNotComplete: Job in progress. success:0, active: 1, \
         failed: 0), and 1 other"
    );
    change.send(()).unwrap();
    let ended = gate.end();
    assert_eq!(ended.code, Some(0));
    let lines: Vec<_> = service
        .requests()
        .into_iter()
        .map(|request| question(&request))
        .collect();
    let held = format!("GET {PATH}?seen=sha256%3A1&wait= HTTP/1.1");
    assert_eq!(lines, [format!("GET {PATH}?wait= HTTP/1.1"), held]);
}

#[test]
fn refuses_with_the_reason_in_the_termination_message() {
    let authority = Authority::new();
    let refusal = wait_for_migrate("1").replace("wait", "refuse");
    let service = serving(&authority, vec![ok(&refusal)]);
    let pod = Pod::new(&authority, &[service.address]);
    let ended = pod.gate().end();
    assert_eq!(ended.code, Some(1));
    let reason = "refused after 0s: Job/migrate: InProgress (JobNotComplete: Job in progress. success:0, active: 1, \
                  failed: 0), and 1 other";
    assert_eq!(fs::read_to_string(pod.path("termination")).unwrap(), reason);
    assert_eq!(ended.log.last().unwrap(), &format!("sluice-gate: {reason}"));
    assert!(!pod.path("open").exists());
}

/// Returns the answer to a gate that waits for the Job `migrate`, but with another verdict in place of `wait`, such as a policy gives, and with its
/// note.
fn cut_short(verdict: &str, note: &str) -> String {
    let verdict = format!(r#"{{"verdict": "{verdict}", "note": "{note}""#);
    wait_for_migrate("2").replace(r#"{"verdict": "wait""#, &verdict)
}

#[test]
fn refuses_at_a_timeout_with_the_dependency_and_the_way_out_and_asks_again_when_it_is_started_again()
 {
    let authority = Authority::new();
    let note = "the timeout of 10m (sluice.dev/timeout) has passed: raise it";
    let refusal = cut_short("refuse", note);
    let answers = [wait_for_migrate("1"), refusal, OPEN.to_owned()];
    let service = serving(&authority, answers.iter().map(|it| ok(it)).collect());
    let pod = Pod::new(&authority, &[service.address]);
    let ended = pod.gate().end();
    assert_eq!(ended.code, Some(1));
    let message = fs::read_to_string(pod.path("termination")).unwrap();
    assert_eq!(
        message,
        format!(
            "refused after 0s: Job/migrate: InProgress (JobNotComplete: Job in progress. success:0, active: 1, failed: \
             0), and 1 other; {note}"
        )
    );
    assert_eq!(pod.gate().end().code, Some(0));
}

#[test]
fn opens_without_what_is_not_ready_and_says_so() {
    let authority = Authority::new();
    let proceed = cut_short("open", "the timeout of 10m has passed");
    let skip = r#"{"verdict": "open", "digest": "1", "note": "asking: sluice.dev/skip is \"true\" on the pod"}"#;
    for (answer, without) in [
        (
            proceed.as_str(),
            "Job/migrate: InProgress (JobNotComplete: Job in progress. success:0, active: 1, failed: 0), and 1 other; the \
             timeout of 10m has passed",
        ),
        (skip, "asking: sluice.dev/skip is \"true\" on the pod"),
    ] {
        let service = serving(&authority, vec![ok(answer)]);
        let pod = Pod::new(&authority, &[service.address]);
        let ended = pod.gate().end();
        assert_eq!(ended.code, Some(0));
        let last = format!("sluice-gate: open after 0s, without {without}");
        assert_eq!(ended.log.last().unwrap(), &last);
        assert!(pod.path("open").exists());
    }
}

#[test]
fn names_the_variable_that_is_wrong() {
    let authority = Authority::new();
    for (variable, value, expected) in [
        (
            env::ADDRESSES,
            "nowhere",
            r#"SLUICE_ADDRESSES has "nowhere" where host:port is expected"#,
        ),
        (
            env::SERVER_NAME,
            "a b",
            r#"SLUICE_SERVER_NAME is "a b", which is no DNS name"#,
        ),
        (
            env::CA_BUNDLE,
            "none",
            "SLUICE_CA_BUNDLE has no PEM certificate (-----BEGIN CERTIFICATE-----)",
        ),
        (
            env::TOKEN_FILE,
            "token",
            r#"SLUICE_TOKEN_FILE is "token", which does not begin with /"#,
        ),
        (env::STATE_DIR, "", "SLUICE_STATE_DIR is empty"),
    ] {
        let mut pod = Pod::new(&authority, &[SocketAddr::from(([127, 0, 0, 1], 1))]);
        pod.environment.insert(variable, value.to_owned());
        let ended = pod.gate().end();
        assert_eq!(ended.code, Some(2));
        assert_eq!(
            ended.log,
            [format!("sluice-gate: misconfigured: {expected}")]
        );
        assert_eq!(
            fs::read_to_string(pod.path("termination")).unwrap(),
            format!("misconfigured: {expected}")
        );
        pod.environment.remove(variable);
        let ended = pod.gate().end();
        assert_eq!(ended.code, Some(2));
        assert!(ended.log[0].starts_with(&format!(
            "sluice-gate: misconfigured: {variable} is not set; "
        )));
    }
}

#[test]
fn explains_itself() {
    for (argument, code, expected) in [
        (
            "--help",
            0,
            "sluice-gate waits until the dependencies of its pod are ready.",
        ),
        ("--version", 0, "sluice-gate 0."),
        (
            "--now",
            2,
            "sluice-gate: unknown argument \"--now\"; it takes none but --help and --version",
        ),
    ] {
        let ended = Process::start(
            Command::new(binary("sluice-gate"))
                .env_clear()
                .arg(argument),
        )
        .end();
        assert_eq!(ended.code, Some(code));
        assert!(ended.log[0].starts_with(expected), "{:?}", ended.log);
    }
}

#[test]
fn sends_the_token_that_is_there_now() {
    let authority = Authority::new();
    let (rotate, rotated) = mpsc::channel();
    let rotated = Mutex::new(rotated);
    let service = StatusService::start(
        authority.server(Leaf::Good),
        move |request: &Request, out: Out| {
            let answer = match request.number {
                0 => wait_for_migrate("1"),
                // This request may have been written with either token.
                1 => {
                    let _ = rotated.lock().unwrap().recv();
                    wait_for_migrate("2")
                }
                _ => OPEN.to_owned(),
            };
            out.write_all(ok(&answer).as_bytes())
        },
    );
    let pod = Pod::new(&authority, &[service.address]);
    let mut gate = pod.gate();
    gate.line("waiting");
    pod.renew("token", "second");
    rotate.send(()).unwrap();
    assert_eq!(gate.end().code, Some(0));
    let tokens: Vec<_> = service
        .requests()
        .into_iter()
        .map(|request| request.token)
        .collect();
    assert_eq!(
        (tokens.len(), tokens[0].as_str(), tokens[2].as_str()),
        (3, "first", "second")
    );
}

/// Sends a gate SIGTERM, and returns the time until its end and its exit code.
fn terminated(gate: Process) -> (Duration, Option<i32>) {
    gate.signal("TERM");
    let sent = Instant::now();
    let ended = gate.end();
    (sent.elapsed(), ended.code)
}

#[test]
fn goes_when_it_is_told_to() {
    let authority = Authority::new();
    let (service, _change) = holding(&authority, ok(&wait_for_migrate("1")));
    let waiting_pod = Pod::new(&authority, &[service.address]);
    let mut waiting = waiting_pod.gate();
    waiting.line("waiting");
    service.asked(2);
    let (hole, _full) = black_hole();
    let connecting_pod = Pod::new(&authority, &[hole]);
    let mut connecting = connecting_pod.gate();
    connecting.line("asks");
    let (_socket, dead) = reserved();
    let pausing_pod = Pod::new(&authority, &[dead]);
    let mut pausing = pausing_pod.gate();
    pausing.line("refused");
    for gate in [waiting, connecting, pausing] {
        let (took, code) = terminated(gate);
        assert_eq!(
            code,
            Some(143),
            "it ends itself: as PID 1 it gets no signal that it does not handle"
        );
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}
