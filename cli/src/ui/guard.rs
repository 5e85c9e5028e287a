//! The requests that are allowed. A page of another site, open in the same browser, can send requests to loopback as well; and by
//! a name of its own that it has resolve to loopback (DNS rebinding) it could read the answers.

use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use std::fmt::{self, Display};

/// The host names that no foreign page can have.
const LOOPBACK: [&str; 2] = ["127.0.0.1", "localhost"];

/// Lets a request pass, or says why not.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    secret: String,
}

/// The reason why the server refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The request was sent to another name than loopback's.
    Host,
    /// A page from another origin sent the request.
    Origin,
    /// The request does not have the secret.
    Secret,
    /// The request has a method that does more than read.
    Method,
}

impl Guard {
    pub(super) fn new(secret: String) -> Self {
        Self { secret }
    }

    pub(super) fn admit(&self, request: &Parts) -> Result<(), Refusal> {
        let host = host(request).ok_or(Refusal::Host)?;
        let origins = request.headers.get_all(header::ORIGIN);
        let own = format!("http://{host}");
        if origins.iter().any(|origin| origin != own.as_str()) {
            return Err(Refusal::Origin);
        }
        let path = request.uri.path();
        let secret = path.split('/').nth(1).unwrap_or_default();
        if !same(secret, &self.secret) {
            return Err(Refusal::Secret);
        }
        match request.method {
            Method::GET | Method::HEAD => Ok(()),
            _ => Err(Refusal::Method),
        }
    }
}

/// The name and port that the request was sent to; `None` unless it names loopback and nothing else. Every port will do: there may be a tunnel
/// between the browser and this process.
fn host(request: &Parts) -> Option<&str> {
    let in_line = request.uri.authority().map(|it| it.as_str().as_bytes());
    let headers = request.headers.get_all(header::HOST).iter();
    let mut named = in_line
        .into_iter()
        .chain(headers.map(HeaderValue::as_bytes));
    let first = std::str::from_utf8(named.next()?).ok()?;
    let name = first.split_once(':').map_or(first, |(name, _)| name);
    let alone = named.all(|other| other == first.as_bytes());
    (alone && LOOPBACK.contains(&name)).then_some(first)
}

/// Whether two texts are equal, found in a time that does not tell a guesser how much of a guess is right.
fn same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let differs = pairs.fold(0, |differs, (one, other)| differs | (one ^ other));
    one.len() == other.len() && differs == 0
}

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Secret => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
        }
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "this page answers to 127.0.0.1 and localhost alone; open the address that kubectl sluice ui printed",
            Self::Origin => "no other page may read this one; open the address that kubectl sluice ui printed in a tab of its own",
            Self::Secret => {
                "this address does not have the secret of this start; open the address that kubectl sluice ui printed last"
            }
            Self::Method => "this page is only read; ask with GET",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    const SECRET: &str = "0123";

    fn ask(method: &str, uri: &str, headers: &[(&str, &str)]) -> Result<(), Refusal> {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        Guard::new(SECRET.to_owned()).admit(&parts)
    }

    #[test]
    fn who_has_the_address_may_read() {
        for host in ["127.0.0.1:4000", "localhost:4000", "localhost"] {
            assert_eq!(ask("GET", "/0123/", &[("host", host)]), Ok(()));
            let own = format!("http://{host}");
            let same_origin = [("host", host), ("origin", own.as_str())];
            assert_eq!(ask("HEAD", "/0123/api/graph?a=b", &same_origin), Ok(()));
        }
    }

    #[test]
    fn everybody_else_is_refused() {
        let host = ("host", "127.0.0.1:4000");
        for (uri, headers, expected) in [
            ("/0123/", vec![], Refusal::Host),
            ("/0123/", vec![("host", "evil.example:4000")], Refusal::Host),
            (
                "/0123/",
                vec![("host", "127.0.0.1.evil.example")],
                Refusal::Host,
            ),
            (
                "/0123/",
                vec![host, ("host", "evil.example")],
                Refusal::Host,
            ),
            ("http://evil.example/0123/", vec![host], Refusal::Host),
            (
                "/0123/",
                vec![host, ("origin", "http://evil.example")],
                Refusal::Origin,
            ),
            (
                "/0123/",
                vec![host, ("origin", "http://127.0.0.1:3000")],
                Refusal::Origin,
            ),
            (
                "/0123/",
                vec![host, ("origin", "https://127.0.0.1:4000")],
                Refusal::Origin,
            ),
            ("/0123/", vec![host, ("origin", "null")], Refusal::Origin),
            ("/", vec![host], Refusal::Secret),
            ("/0124/", vec![host], Refusal::Secret),
            ("/012/", vec![host], Refusal::Secret),
            ("/01234/", vec![host], Refusal::Secret),
            ("/a/0123/", vec![host], Refusal::Secret),
        ] {
            assert_eq!(
                ask("GET", uri, &headers),
                Err(expected),
                "{uri} {headers:?}"
            );
        }
        assert_eq!(ask("POST", "/0123/", &[host]), Err(Refusal::Method));
    }

    #[test]
    fn a_refusal_says_the_way_out() {
        for refusal in [Refusal::Host, Refusal::Origin, Refusal::Secret] {
            let text = refusal.to_string();
            assert!(text.contains("; open the address that"), "{text}");
        }
    }
}
