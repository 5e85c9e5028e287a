//! Tests that the gate waits out every trouble on the way to a verdict.

use super::*;

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

/// The gate trusts only a certificate of its own CA, for the right name and not expired. The first service has another one, and gets no request; the
/// second is the real one.
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
fn says_to_delete_a_pod_whose_authority_was_replaced() {
    let service = serving(&Authority::new(), vec![ok(OPEN)]);
    let pod = Pod::new(&Authority::new(), &[service.address]);
    let mut gate = pod.gate();
    gate.line(
        "so this gate cannot be told to open: delete the pod, and its owner makes another that trusts the new CA",
    );
}

/// The gate trusts a new CA once its file has it. The kubelet writes that file minutes after the service has a certificate of the new CA.
#[test]
fn believes_a_new_authority_once_its_file_has_it() {
    let (old, new) = (Authority::new(), Authority::new());
    let service = serving(&new, vec![ok(OPEN)]);
    let mut pod = Pod::new(&old, &[service.address]);
    let file = pod.path("ca.pem").to_str().unwrap().to_owned();
    pod.environment.insert(env::CA_FILE, file);
    pod.renew("ca.pem", &old.pem());
    let mut gate = pod.gate();
    gate.line("its certificate is not signed by the CA that this pod was given");
    assert_eq!(service.requests(), []);
    pod.renew("ca.pem", &format!("{}{}", new.pem(), old.pem()));
    assert_eq!(gate.end().code, Some(0));
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
            "HTTP status 503; it asks again by itself; if this lasts, give sluice more replicas",
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

/// The gate reads an answer that comes a byte at a time, each in a TLS record of its own.
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

/// The gate acts on a complete answer although the service leaves the connection open.
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
fn waits_for_a_token() {
    let authority = Authority::new();
    let service = serving(&authority, vec![ok(OPEN)]);
    let pod = Pod::new(&authority, &[service.address]);
    fs::remove_file(pod.path("token")).unwrap();
    let mut gate = pod.gate();
    gate.line("/token: No such file or directory (os error 2); check the projected volume");
    pod.renew("token", "second");
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
