use super::*;

fn attempt(host: &str, failure: Failure) -> Attempt {
    Attempt {
        address: Address {
            host: host.to_owned(),
            port: 9764,
        },
        failure,
    }
}

fn io_error(text: &str) -> io::Error {
    io::Error::other(text)
}

#[test]
fn says_what_is_wrong_and_what_to_check() {
    let replaced = "sluice seems to have a new CA since this pod was made, so this gate cannot be told to open: delete the pod, and its owner makes another that trusts the new CA";
    let version = "sluice may be of another version than this gate: delete the pod, and the next one gets the matching gate";
    let json = serde_json::from_str::<wire::Answer>("{\"verdict\": \"perhaps\"}").unwrap_err();
    for (failure, problem, advice) in [
        (
            Failure::Lookup(io_error("Name or service not known")),
            "Name or service not known",
            "check the cluster's DNS, and that sluice is installed",
        ),
        (
            Failure::ConnectTimeout,
            "connection timed out",
            "check that no NetworkPolicy keeps this pod from the sluice pods, and that the nodes are up",
        ),
        (
            Failure::Refused,
            "connection refused",
            "check that the sluice pods are running and ready",
        ),
        (
            Failure::Slow,
            "connected, but no answer in time",
            "check the sluice pods, and any proxy or mesh on the way to them",
        ),
        (
            Failure::Broken(io_error("reset\nby peer")),
            "connection broke: reset\\nby peer",
            "check the sluice pods, and any proxy or mesh on the way to them",
        ),
        (
            Failure::Expired,
            "its certificate has expired",
            "delete the pod, and its owner makes another that trusts the CA of now; if that one says the same, check the clocks of the nodes",
        ),
        (
            Failure::Untrusted,
            "its certificate is not signed by the CA that this pod was given",
            replaced,
        ),
        (
            Failure::WrongName,
            "its certificate is for another name",
            "something else answers here: check the Service of sluice and SLUICE_SERVER_NAME",
        ),
        (
            Failure::Tls(rustls::Error::HandshakeNotComplete),
            "TLS failed: handshake not complete",
            "check that nothing between this pod and sluice takes part in TLS, and the clocks of the nodes",
        ),
        (
            Failure::Status(401, "bad\u{1b}[0m".to_owned()),
            "HTTP status 401 (bad\\u{1b}[0m)",
            "the token was not accepted: check that the pod is not being deleted, and that the API server takes tokens for the audience sluice",
        ),
        (
            Failure::Status(404, String::new()),
            "HTTP status 404",
            version,
        ),
        (
            Failure::Status(429, String::new()),
            "HTTP status 429",
            "it asks again by itself; if this lasts, give sluice more replicas",
        ),
        (
            Failure::Status(503, String::new()),
            "HTTP status 503",
            "it asks again by itself; if this lasts, give sluice more replicas",
        ),
        (
            Failure::Status(500, String::new()),
            "HTTP status 500",
            "check the log of the sluice pods",
        ),
        (
            Failure::Garbled(Bad::NotHttp),
            "bad answer: it is not HTTP",
            "check the log of the sluice pods",
        ),
        (
            Failure::NotAnAnswer(json),
            "bad answer: unknown variant `perhaps`, expected one of `wait`, `open`, `refuse` at line 1 column 21",
            version,
        ),
    ] {
        let trouble = Trouble::NoAnswer(vec![attempt("10.96.0.10", failure)]);
        assert_eq!(
            trouble.to_string(),
            format!("10.96.0.10:9764: {problem}; {advice}")
        );
    }
}

#[test]
fn advises_by_the_address_that_tells_most() {
    let unknown = || {
        attempt(
            "sluice.sluice-system.svc",
            Failure::Lookup(io_error("Name or service not known")),
        )
    };
    let expected = "check that the sluice pods are running and ready";
    for attempts in [
        vec![unknown(), attempt("10.96.0.10", Failure::Refused)],
        vec![attempt("10.96.0.10", Failure::Refused), unknown()],
    ] {
        let text = Trouble::NoAnswer(attempts).to_string();
        assert!(text.ends_with(expected), "{text}");
        assert!(
            text.contains("sluice.sluice-system.svc:9764: Name or service not known; "),
            "{text}"
        );
    }
}

#[test]
fn says_once_what_is_wrong_with_both_addresses() {
    let attempts = [
        attempt("10.96.0.10", Failure::Untrusted),
        attempt("sluice.sluice-system.svc", Failure::Untrusted),
        attempt("sluice.sluice-system.svc", Failure::Refused),
    ];
    assert_eq!(
        Attempts(&attempts).to_string(),
        "10.96.0.10:9764 and sluice.sluice-system.svc:9764: its certificate is not signed by the CA that this pod was given; \
         sluice.sluice-system.svc:9764: connection refused"
    );
}

#[test]
fn knows_silence() {
    for (attempts, expected) in [
        (
            vec![
                attempt("a", Failure::Refused),
                attempt("b", Failure::ConnectTimeout),
            ],
            true,
        ),
        (
            vec![
                attempt("a", Failure::Refused),
                attempt("b", Failure::Untrusted),
            ],
            false,
        ),
        (
            vec![attempt("a", Failure::Status(503, String::new()))],
            false,
        ),
    ] {
        assert_eq!(Trouble::NoAnswer(attempts).silent(), expected);
    }
    assert!(!Trouble::Token(PathBuf::new(), BadToken::Malformed).silent());
}

#[test]
fn says_what_is_wrong_with_the_token() {
    let path = || PathBuf::from("/token");
    for (problem, expected) in [
        (
            BadToken::Unreadable(io_error("no such file")),
            "cannot read the token /token: no such file; check the projected volume of the sluice-gate container",
        ),
        (
            BadToken::Malformed,
            "/token holds no token; check the projected volume of the sluice-gate container",
        ),
    ] {
        assert_eq!(Trouble::Token(path(), problem).to_string(), expected);
    }
}

#[test]
fn sorts_what_breaks_a_connection() {
    use CertificateError as E;
    let tls = |error| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            rustls::Error::InvalidCertificate(error),
        )
    };
    for (error, expected) in [
        (
            io::ErrorKind::TimedOut.into(),
            "connected, but no answer in time",
        ),
        (
            io::ErrorKind::WouldBlock.into(),
            "connected, but no answer in time",
        ),
        (tls(E::Expired), "its certificate has expired"),
        (
            tls(E::UnknownIssuer),
            "its certificate is not signed by the CA that this pod was given",
        ),
        (
            tls(E::BadSignature),
            "its certificate is not signed by the CA that this pod was given",
        ),
        (
            tls(E::NotValidForName),
            "its certificate is for another name",
        ),
        (
            tls(E::Revoked),
            "TLS failed: invalid peer certificate: Revoked",
        ),
        (
            io::ErrorKind::ConnectionReset.into(),
            "connection broke: connection reset",
        ),
    ] {
        assert_eq!(Failure::of(error).to_string(), expected);
    }
}
