//! Tests of the addresses that the gate tries in its pod's own network, and of the outcomes in its next question.

use super::*;
use std::io::{Read, Write};
use std::thread;
use wire::probe::{Outcome, read};

/// Returns an answer that asks the gate to try these addresses, each with the sort of the try. The IDs are `p0`, `p1` and so on.
fn wants(digest: &str, probes: &[(&str, String)]) -> String {
    let probe = |(number, (what, to)): (usize, &(&str, String))| {
        format!(r#"{{"id": "p{number}", "what": "{what}", "to": "{to}", "later": 1}}"#)
    };
    let probes: Vec<_> = probes.iter().enumerate().map(probe).collect();
    let probes = probes.join(", ");
    format!(r#"{{"verdict": "wait", "digest": "{digest}", "probes": [{probes}]}}"#)
}

/// Starts a status service that asks for these tries, and opens once the gate reports `until` for the last of them. It holds every other question.
fn waiting_for(
    authority: &Authority,
    probes: Vec<(&'static str, String)>,
    until: Outcome,
) -> StatusService {
    let last = format!("p{}", probes.len() - 1);
    StatusService::start(authority.server(Leaf::Good), move |request, out| {
        let told = read(request.probed.as_deref().unwrap_or("no header"));
        if told.iter().any(|(id, it)| *id == last && *it == until) {
            return out.write_all(ok(OPEN).as_bytes());
        }
        if request.line.contains("seen=1") {
            // It is held until the gate has something else to tell, and leaves.
            thread::sleep(Duration::from_secs(30));
        }
        out.write_all(ok(&wants("1", &probes)).as_bytes())
    })
}

fn at(address: SocketAddr) -> String {
    address.to_string()
}

/// Starts an HTTP server that answers each request with this text.
fn answers(text: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(text.as_bytes());
        }
    });
    address
}

#[test]
fn an_address_that_begins_to_listen_later_opens_the_gate() {
    let authority = Authority::new();
    let (socket, later) = reserved();
    let service = waiting_for(&authority, vec![("tcp", at(later))], Outcome::Connected);
    let pod = Pod::new(&authority, &[service.address]);
    let mut gate = pod.gate();
    service.asked(2);
    socket.listen(16).unwrap();
    gate.line("open after");
    assert_eq!(gate.end().code, Some(0));
    let told: Vec<_> = service.requests().into_iter().map(|it| it.probed).collect();
    let [first, second, .., last] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(
        first.as_deref(),
        Some(""),
        "a gate that can try says so from the first"
    );
    assert_eq!(second.as_deref(), Some("p0=refused"));
    assert_eq!(last.as_deref(), Some("p0=connected"));
    assert_eq!(told.len(), 3, "what comes out as before is no news");
}

/// The gate reports each outcome that loopback can bring about by its own word, in the first question after the tries.
#[test]
fn each_outcome_is_told_by_its_own_word() {
    let authority = Authority::new();
    let (_refused, refused) = reserved();
    let (dropped, _full) = black_hole();
    let resets = TcpListener::bind("127.0.0.1:0").unwrap();
    let reset = resets.local_addr().unwrap();
    thread::spawn(move || {
        for stream in resets.incoming().flatten() {
            let _ = Socket::from(stream).set_linger(Some(Duration::ZERO));
        }
    });
    let unavailable = answers("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    let mail = answers("220 mail.example ESMTP\r\n");
    let cases = [
        ("tcp", at(refused), Outcome::Refused),
        ("tcp", at(dropped), Outcome::TimedOut),
        ("tcp", at(reset), Outcome::Reset),
        ("tcp", at(unavailable), Outcome::Connected),
        (
            "http",
            format!("http://{unavailable}/health"),
            Outcome::Status(503),
        ),
        ("http", format!("http://{mail}/"), Outcome::NoHttp),
        ("http", format!("https://{unavailable}/"), Outcome::NoTls),
        ("dns", "localhost".to_owned(), Outcome::Found),
        ("tcp", "$(NOWHERE):1".to_owned(), Outcome::NoVariable),
        ("tcp", "$(NOT_AN_ADDRESS)".to_owned(), Outcome::NoAddress),
        ("tcp", "$(DATABASE_URL)".to_owned(), Outcome::Connected),
        ("icmp", "127.0.0.1".to_owned(), Outcome::Unknown),
    ];
    let probes: Vec<_> = cases
        .iter()
        .map(|(what, to, _)| (*what, to.clone()))
        .collect();
    let service = waiting_for(&authority, probes, Outcome::Unknown);
    let mut pod = Pod::new(&authority, &[service.address]);
    let url = format!("postgres://user:secret@{unavailable}/app?sslmode=require");
    pod.environment.insert("DATABASE_URL", url);
    pod.environment
        .insert("NOT_AN_ADDRESS", "sesame".to_owned());
    let ended = pod.gate().end();
    assert_eq!(ended.code, Some(0));
    let requests = service.requests();
    let told = read(requests.last().unwrap().probed.as_deref().unwrap());
    for (number, (what, to, expected)) in cases.iter().enumerate() {
        let (_, outcome) = told
            .iter()
            .find(|(id, _)| *id == format!("p{number}"))
            .unwrap();
        assert_eq!(outcome, expected, "{what} {to}");
    }
    // The value of a variable is never sent or logged.
    let said = format!("{:?} {requests:?}", ended.log);
    assert!(
        !said.contains("secret") && !said.contains("sesame"),
        "{said}"
    );
}

#[test]
fn a_gate_that_tries_an_address_goes_when_it_is_told_to() {
    let authority = Authority::new();
    let (dropped, _full) = black_hole();
    let service = waiting_for(&authority, vec![("tcp", at(dropped))], Outcome::Connected);
    let pod = Pod::new(&authority, &[service.address]);
    let gate = pod.gate();
    service.asked(1);
    gate.signal("TERM");
    let sent = Instant::now();
    assert_eq!(gate.end().code, Some(143));
    assert!(
        sent.elapsed() < Duration::from_secs(1),
        "a try of 5 s keeps nobody"
    );
}
