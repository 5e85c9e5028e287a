use super::*;
use proptest::prelude::*;

fn whole(text: &str) -> Result<Option<(u16, String)>, Bad> {
    let response = Response::parse(text.as_bytes(), true)?;
    Ok(response.map(|response| (response.status, String::from_utf8(response.body).unwrap())))
}

#[expect(clippy::unnecessary_wraps, reason = "it is what `whole` returns")]
fn answer(status: u16, body: &str) -> Result<Option<(u16, String)>, Bad> {
    Ok(Some((status, body.to_owned())))
}

fn unreadable(text: &str) -> Result<Option<(u16, String)>, Bad> {
    Err(Bad::Unreadable(text.to_owned()))
}

fn question(seen: Option<&str>, seconds: u64) -> Question<'_> {
    Question {
        seen,
        hold: Duration::from_secs(seconds),
        probed: "a=refused",
    }
}

#[test]
fn writes_the_request() {
    assert_eq!(
        request(
            "sluice.sluice-system.svc",
            "t.o-k",
            &question(None, 300),
            None
        ),
        format!(
            "GET /v1/verdict?wait=300 HTTP/1.1\r\nHost: sluice.sluice-system.svc\r\nAuthorization: Bearer t.o-k\r\n\
             Accept: application/json\r\nUser-Agent: sluice-gate/{}\r\n\
             sluice-probed: a=refused\r\n\r\n",
            env!("CARGO_PKG_VERSION")
        )
    );
    let rebooted = Reboot {
        id: "b-1".to_owned(),
        booted: 1_790_000_000,
        asked: 7,
    };
    let text = request("h", "t", &question(None, 300), Some(&rebooted));
    assert!(
        text.ends_with("\r\nsluice-probed: a=refused\r\nsluice-rebooted: b-1,1790000000,7\r\n\r\n")
    );
    let digest = "sha256:aZ09-._~+/= \r\né";
    let text = request("h", "t", &question(Some(digest), 1), None);
    assert!(text.starts_with(
        "GET /v1/verdict?seen=sha256%3AaZ09-._~%2B%2F%3D%20%0D%0A%C3%A9&wait=1 HTTP/1.1\r\n"
    ));
}

#[test]
fn reads_every_framing() {
    for (text, expected) in [
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
            answer(200, "{}"),
        ),
        (
            "HTTP/1.1 200\r\ncontent-length:2 \r\n\r\n{}rest",
            answer(200, "{}"),
        ),
        ("HTTP/1.0 503 No\r\n\r\n", answer(503, "")),
        ("HTTP/1.1 200 OK\r\nX: y\r\n\r\n{}", answer(200, "{}")),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\n{\r\n01;x=y\r\n}\r\n0\r\n\r\n",
            answer(200, "{}"),
        ),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nTrailer",
            answer(200, ""),
        ),
        (
            "HTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            answer(200, ""),
        ),
    ] {
        assert_eq!(whole(text), expected, "{text:?}");
    }
}

#[test]
fn knows_whether_another_request_may_follow() {
    let chunked = "Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n2\r\n{}\r\n0\r\n";
    for (text, ended, expected) in [
        ("1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", false, true),
        ("1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", true, false),
        ("1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}x", false, false),
        ("1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", false, false),
        (
            "1.1 200 OK\r\nconnection: x, Close\r\nContent-Length: 2\r\n\r\n{}",
            false,
            false,
        ),
        (
            "1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}",
            false,
            true,
        ),
        (&format!("1.1 200 OK\r\n{chunked}\r\n"), false, true),
        (&format!("1.1 200 OK\r\n{chunked}"), false, false),
        (
            &format!("1.1 200 OK\r\n{chunked}A: b\r\n\r\n"),
            false,
            false,
        ),
        ("1.1 200 OK\r\n\r\n{}", true, false),
    ] {
        let response = Response::parse(format!("HTTP/{text}").as_bytes(), ended).unwrap();
        let response = response.unwrap();
        assert_eq!(response.goes_on, expected, "{text:?}");
        assert_eq!(response.body.trim_ascii(), b"{}");
    }
}

#[test]
fn refuses_what_is_no_answer() {
    let head = |headers: &str| format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n");
    let chunked = |body: &str| format!("{}{body}", head("Transfer-Encoding: chunked"));
    for (text, expected) in [
        (String::new(), Err(Bad::Truncated)),
        ("HTTP/1.1 200".to_owned(), Err(Bad::Truncated)),
        ("SSH-2.0-x".to_owned(), Err(Bad::NotHttp)),
        ("HTTP/2 200 OK\r\n\r\n".to_owned(), Err(Bad::NotHttp)),
        ("HTTP/1.1\r\n\r\n".to_owned(), unreadable("HTTP/1.1")),
        (
            "HTTP/1.1 +20 OK\r\n\r\n".to_owned(),
            unreadable("HTTP/1.1 +20 OK"),
        ),
        (
            "HTTP/1.1 2000 OK\r\n\r\n".to_owned(),
            unreadable("HTTP/1.1 2000 OK"),
        ),
        (head("no colon"), unreadable("no colon")),
        (head("Content-Length: +5"), unreadable("Content-Length: +5")),
        (head("Content-Length: "), unreadable("Content-Length: ")),
        (
            head("Content-Length: 99999999999999999999999"),
            unreadable("Content-Length: 99999999999999999999999"),
        ),
        (head("Content-Length: 1048577"), Err(Bad::TooLong)),
        (head("Content-Length: 5"), Err(Bad::Truncated)),
        (
            head("Content-Length: 0\r\nContent-Length: 0"),
            unreadable("Content-Length: 0"),
        ),
        (
            head("Content-Length: 5\r\nTransfer-Encoding: chunked"),
            unreadable("Transfer-Encoding: chunked"),
        ),
        (
            head("Transfer-Encoding: gzip, chunked"),
            unreadable("Transfer-Encoding: gzip, chunked"),
        ),
        (head(&format!("A: {}", "x".repeat(HEAD))), Err(Bad::TooLong)),
        (head("A: b") + &"x".repeat(BODY + 1), Err(Bad::TooLong)),
        (chunked(""), Err(Bad::Truncated)),
        (chunked("5\r\nabc"), Err(Bad::Truncated)),
        (chunked("\r\n"), unreadable("")),
        (chunked("-1\r\n"), unreadable("-1")),
        (
            chunked("ffffffffffffffffff\r\n"),
            unreadable("ffffffffffffffffff"),
        ),
        (chunked("ffffffffffffffff\r\n"), Err(Bad::TooLong)),
        (chunked("100001\r\n"), Err(Bad::TooLong)),
        (
            chunked(&format!("80001\r\n{}\r\n", "x".repeat(0x80001)).repeat(2)),
            Err(Bad::TooLong),
        ),
        (chunked("1\r\nab\r\n"), unreadable("b\r")),
        (chunked(&"0".repeat(300)), unreadable(&"0".repeat(300))),
        (chunked(&"1\r\na\r\n".repeat(400_000)), Err(Bad::TooLong)),
        (
            "HTTP/1.1 100 Continue\r\n\r\n".repeat(3),
            Err(Bad::Truncated),
        ),
    ] {
        assert_eq!(whole(&text), expected, "{:?}", clean(&text, 80));
    }
}

#[test]
fn survives_a_flood_of_interim_responses() {
    let flood = "HTTP/1.1 100\r\n\r\n".repeat(RAW / 16);
    assert_eq!(whole(&flood), Err(Bad::Truncated));
}

#[test]
fn names_what_is_wrong_in_one_line() {
    for (bad, expected) in [
        (Bad::NotHttp, "it is not HTTP"),
        (
            Bad::Unreadable("a\r\nb".to_owned()),
            r#"cannot read "a\r\nb""#,
        ),
        (Bad::TooLong, "it is longer than 1048576 bytes"),
        (Bad::Truncated, "it ends in the middle"),
    ] {
        assert_eq!(bad.to_string(), expected);
    }
}

proptest! {
    /// However the bytes of a good answer are split, the reader asks for more until the answer is whole.
    #[test]
    fn every_prefix_asks_for_more(body in "[a-z{}]{0,40}", size in 1usize..9) {
        let pieces: Vec<_> = body.as_bytes().chunks(size).collect();
        let chunks: Vec<_> =
            pieces.iter().map(|piece| format!("{:x}\r\n{}\r\n", piece.len(), String::from_utf8_lossy(piece))).collect();
        let chunked = chunks.concat();
        let texts = [
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}0\r\n"),
        ];
        for text in texts {
            for end in 0..text.len() {
                prop_assert_eq!(Response::parse(&text.as_bytes()[..end], false), Ok(None));
            }
            prop_assert_eq!(whole(&text), answer(200, &body));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(head in "(HTTP/1\\.[01] [0-9 ]{0,4}\r\n)?((content-length|transfer-encoding): ?(chunked|[0-9a-f]{1,9})\r\n)?(\r\n)?", tail: Vec<u8>, ended: bool) {
        let _ = Response::parse(&[head.into_bytes(), tail].concat(), ended);
    }
}
