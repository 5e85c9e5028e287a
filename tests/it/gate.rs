//! The gate as a process, against a status service on loopback that speaks real TLS.

use harness::process::{Process, binary};
use harness::status::{Authority, Leaf, NAME, Out, Request, StatusService, chunked, ok, response};
use rules::wire::{PATH, env};
use socket2::{Domain, Socket, Type};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const OPEN: &str =
    r#"{"verdict": "open", "digest": "end", "news": ["a field of a later version"]}"#;

fn wait_for_migrate(digest: &str) -> String {
    format!(
        r#"{{"verdict": "wait", "digest": "{digest}", "dependencies": [
            {{"dependency": "Service/redis", "name": "redis", "satisfied": false, "status": "NotFound", "reason": "NotFound"}},
            {{"dependency": "Job/migrate", "name": "migrate", "satisfied": false, "status": "InProgress",
              "reason": "JobNotComplete", "message": "Job in progress. success:0, active: 1, failed: 0"}}]}}"#
    )
}

/// What a gate finds in its pod.
struct Pod {
    folder: TempDir,
    environment: BTreeMap<&'static str, String>,
}

impl Pod {
    fn new(authority: &Authority, addresses: &[SocketAddr]) -> Self {
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let addresses: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
        fs::write(path("token"), "first\n").unwrap();
        let environment = BTreeMap::from([
            (env::ADDRESSES, addresses.join(",")),
            (env::SERVER_NAME, NAME.to_owned()),
            (env::CA_BUNDLE, authority.pem()),
            (env::TOKEN_FILE, path("token")),
            (env::STATE_DIR, path("")),
            ("SLUICE_TERMINATION_LOG", path("termination")),
        ]);
        Self {
            folder,
            environment,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn gate(&self) -> Process {
        Process::start(
            Command::new(binary("sluice-gate"))
                .env_clear()
                .envs(&self.environment),
        )
    }

    /// As the kubelet does it: the file is never half written.
    fn rotate_token(&self, token: &str) {
        fs::write(self.path("next"), token).unwrap();
        fs::rename(self.path("next"), self.path("token")).unwrap();
    }
}

/// A service whose answers to the first, second, ... request are given; the last one is repeated.
fn serving(authority: &Authority, answers: Vec<String>) -> StatusService {
    StatusService::start(
        authority.server(Leaf::Good),
        move |request: &Request, out: Out| {
            out.write_all(answers[request.number.min(answers.len() - 1)].as_bytes())
        },
    )
}

/// A service that answers the first request and holds the second until the sender is used, then opens.
fn holding(authority: &Authority, first: String) -> (StatusService, mpsc::Sender<()>) {
    let (change, changed) = mpsc::channel();
    let changed = Mutex::new(changed);
    let service = StatusService::start(
        authority.server(Leaf::Good),
        move |request: &Request, out: Out| {
            if request.number == 0 {
                return out.write_all(first.as_bytes());
            }
            let _ = changed.lock().unwrap().recv();
            out.write_all(ok(OPEN).as_bytes())
        },
    );
    (service, change)
}

/// A port that refuses connections until somebody listens, and cannot be taken by another test.
fn reserved() -> (Socket, SocketAddr) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket
        .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}

/// A port where connections get no reply at all, as behind a policy that drops packets: its queue is full. What is
/// returned keeps it so.
fn black_hole() -> (SocketAddr, impl Sized) {
    let (socket, address) = reserved();
    socket.listen(0).unwrap();
    let mut queue = vec![];
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        queue.push(stream);
    }
    (address, (socket, queue))
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
    let line = format!("GET {PATH}?wait=25 HTTP/1.1");
    assert_eq!(
        service.requests(),
        [Request {
            number: 0,
            line,
            token: "first".to_owned()
        }]
    );
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
        .map(|request| request.line)
        .collect();
    let held = format!("GET {PATH}?seen=sha256%3A1&wait=25 HTTP/1.1");
    assert_eq!(lines, [format!("GET {PATH}?wait=25 HTTP/1.1"), held]);
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
fn waits_for_a_service_that_starts_later() {
    let authority = Authority::new();
    let (socket, address) = reserved();
    let pod = Pod::new(&authority, &[address]);
    let mut gate = pod.gate();
    let line = gate.line("waiting");
    let problem = "connection refused; check that the sluice pods are running and ready";
    assert_eq!(
        line,
        format!("sluice-gate: waiting 0s for the status service: {address}: {problem}")
    );
    socket.listen(16).unwrap();
    let open = |_: &Request, out: Out| out.write_all(ok(OPEN).as_bytes());
    let _service = StatusService::on(
        TcpListener::from(socket),
        authority.server(Leaf::Good),
        open,
    );
    assert_eq!(gate.end().code, Some(0));
}

/// The second service is the real one; the first is in the way, and no request may reach it.
#[test]
fn trusts_its_own_authority_and_name_only() {
    let authority = Authority::new();
    for (other, leaf, expected) in [
        (
            &Authority::new(),
            Leaf::Good,
            "its certificate is not signed by the CA that this pod was given; the next address answers",
        ),
        (
            &authority,
            Leaf::OtherName,
            "its certificate is for another name; the next address answers",
        ),
        (
            &authority,
            Leaf::Expired,
            "its certificate has expired; the next address answers",
        ),
    ] {
        let open = |_: &Request, out: Out| out.write_all(ok(OPEN).as_bytes());
        let impostor = StatusService::start(other.server(leaf), open);
        let service = serving(&authority, vec![ok(OPEN)]);
        let pod = Pod::new(&authority, &[impostor.address, service.address]);
        let mut gate = pod.gate();
        assert_eq!(
            gate.line(expected),
            format!("sluice-gate: {}: {expected}", impostor.address)
        );
        assert_eq!(gate.end().code, Some(0));
        assert_eq!(impostor.requests(), []);
    }
}

#[test]
fn says_to_delete_a_pod_whose_authority_was_rotated() {
    let service = serving(&Authority::new(), vec![ok(OPEN)]);
    let pod = Pod::new(&Authority::new(), &[service.address]);
    let mut gate = pod.gate();
    gate.line(
        "rotated since this pod was made: delete the pod, and the next one trusts the new CA",
    );
}

#[test]
fn waits_out_bad_answers() {
    let huge = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n{}",
        "x".repeat(100_000)
    );
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(1_100_000));
    for (bad, expected) in [
        (
            "\u{1b}[2Jnonsense\n\n".to_owned(),
            "bad answer: it is not HTTP; ",
        ),
        (
            ok(OPEN).replace("end", ""),
            "bad answer: it ends in the middle; ",
        ),
        (String::new(), "bad answer: it ends in the middle; "),
        (huge, "bad answer: it is longer than 1048576 bytes; "),
        (endless, "bad answer: it is longer than 1048576 bytes; "),
        (
            ok("<html>"),
            "bad answer: expected value at line 1 column 1; ",
        ),
        (
            ok(r#"{"verdict": "perhaps", "digest": "1"}"#),
            "bad answer: unknown variant `perhaps`, ",
        ),
        (
            ok(r#"{"verdict": "open"}"#),
            "bad answer: missing field `digest` ",
        ),
        (
            response("401 Unauthorized", "no\nsuch pod"),
            "HTTP status 401 (no\\nsuch pod); the token was not accepted: ",
        ),
        (
            response("403 Forbidden", ""),
            "HTTP status 403; the token was not accepted: ",
        ),
        (
            response("404 Not Found", ""),
            "HTTP status 404; sluice may be of another version than this gate: ",
        ),
        (
            response("503 Service Unavailable", ""),
            "HTTP status 503; check the log of the sluice pods",
        ),
        (response("302 Found", ""), "HTTP status 302; "),
    ] {
        let authority = Authority::new();
        let service = serving(&authority, vec![bad, ok(OPEN)]);
        let pod = Pod::new(&authority, &[service.address]);
        let mut gate = pod.gate();
        let line = gate.line("waiting");
        assert!(line.contains(expected), "{line}");
        assert_eq!(gate.end().code, Some(0));
    }
}

/// Written a byte at a time, each in a TLS record of its own.
#[test]
fn reads_an_answer_that_comes_in_pieces() {
    let authority = Authority::new();
    let service = StatusService::start(authority.server(Leaf::Good), |_: &Request, out: Out| {
        for byte in chunked(OPEN).bytes() {
            out.write_all(&[byte])?;
            out.flush()?;
        }
        Ok(())
    });
    let pod = Pod::new(&authority, &[service.address]);
    let ended = pod.gate().end();
    assert_eq!((ended.code, ended.log.len()), (Some(0), 2));
}

/// The answer is whole, so it does not matter that the connection stays.
#[test]
fn does_not_wait_for_the_connection_to_close() {
    let authority = Authority::new();
    for answer in [ok(OPEN), chunked(OPEN)] {
        let (keep, kept) = mpsc::channel::<()>();
        let kept = Mutex::new(kept);
        let service = StatusService::start(
            authority.server(Leaf::Good),
            move |_: &Request, out: Out| {
                out.write_all(answer.as_bytes())?;
                out.flush()?;
                kept.lock().unwrap().recv().map_err(io::Error::other)
            },
        );
        assert_eq!(
            Pod::new(&authority, &[service.address]).gate().end().code,
            Some(0)
        );
        drop(keep);
    }
}

#[test]
fn falls_back_to_the_next_address() {
    let authority = Authority::new();
    let (_socket, dead) = reserved();
    let service = serving(&authority, vec![ok(OPEN)]);
    let pod = Pod::new(&authority, &[dead, service.address]);
    let mut gate = pod.gate();
    assert_eq!(
        gate.line("refused"),
        format!("sluice-gate: {dead}: connection refused; the next address answers")
    );
    assert_eq!(gate.end().code, Some(0));
}

#[test]
fn asks_no_other_address_once_the_service_has_spoken() {
    let authority = Authority::new();
    let service = serving(&authority, vec![response("401 Unauthorized", ""), ok(OPEN)]);
    let other = serving(&authority, vec![ok(OPEN)]);
    assert_eq!(
        Pod::new(&authority, &[service.address, other.address])
            .gate()
            .end()
            .code,
        Some(0)
    );
    assert_eq!(other.requests(), []);
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
    pod.rotate_token("second");
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

#[test]
fn waits_for_a_token() {
    let authority = Authority::new();
    let service = serving(&authority, vec![ok(OPEN)]);
    let pod = Pod::new(&authority, &[service.address]);
    fs::remove_file(pod.path("token")).unwrap();
    let mut gate = pod.gate();
    gate.line("/token: No such file or directory (os error 2); check the projected volume");
    pod.rotate_token("second");
    assert_eq!(gate.end().code, Some(0));
}

#[test]
fn names_a_policy_that_drops_packets() {
    let authority = Authority::new();
    let (address, _full) = black_hole();
    let service = serving(&authority, vec![ok(OPEN)]);
    let pod = Pod::new(&authority, &[address]);
    let line = pod.gate().line("waiting");
    assert!(
        line.contains("connection timed out; check that no NetworkPolicy keeps this pod from"),
        "{line}"
    );
    let ended = Pod::new(&authority, &[address, service.address])
        .gate()
        .end();
    assert_eq!(ended.code, Some(0));
}

/// How long a gate lives after SIGTERM, and how it ends.
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
