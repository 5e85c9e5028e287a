//! One HTTP/1.1 exchange as text. Pure, so hostile answers can be tried without a socket.
//!
//! Reads only the HTTP that the status service speaks: no redirects, no compression.

use std::fmt;
use std::fmt::Write as _;
use std::time::Duration;
use wire::probe;
use wire::reboot::{self, Reboot};
use wire::said::clean;

/// The longest status line and headers together, in bytes.
const HEAD: usize = 16 * 1024;
/// The longest body, in bytes.
const BODY: usize = wire::LONGEST_ANSWER;
/// The longest response as it is sent, in bytes, with its head: chunks of a few bytes each can double the length of the body.
const RAW: usize = HEAD + 2 * BODY;

/// The parts of a question to the status service that differ from one question of a gate to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    /// The digest of the last answer that the gate got; `None` before the first answer.
    pub(crate) seen: Option<&'a str>,
    /// The longest time for which the service may hold the question while the answer would have the digest `seen`, in whole seconds.
    pub(crate) hold: Duration,
    /// The outcomes of the tried addresses, as the value of the header [`probe::HEADER`].
    pub(crate) probed: &'a str,
}

/// Returns the text of the whole HTTP request that asks for the verdict, for one write. Several writes would become several TLS records, which wait
/// for each other's acknowledgement. `rebooted` adds the header that tells of a boot of the node.
pub(crate) fn request(
    host: &str,
    token: &str,
    question: &Question<'_>,
    rebooted: Option<&Reboot>,
) -> String {
    let Question { seen, hold, probed } = question;
    let hold = hold.as_secs();
    let mut text = format!("GET {}?", wire::PATH);
    if let Some(digest) = seen {
        text.push_str("seen=");
        for byte in digest.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                text.push(char::from(byte));
            } else {
                // Writing to a String cannot fail.
                let _ = write!(text, "%{byte:02X}");
            }
        }
        text.push('&');
    }
    let version = wire::VERSION;
    let _ = write!(
        text,
        "wait={hold} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nAccept: application/json\r\n\
         User-Agent: sluice-gate/{version}\r\n{}: {probed}\r\n",
        probe::HEADER
    );
    if let Some(rebooted) = rebooted {
        let _ = write!(text, "{}: {rebooted}\r\n", reboot::HEADER);
    }
    text.push_str("\r\n");
    text
}

/// An HTTP response of the status service.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// Whether another request may follow on the connection: the response does not close it, and no bytes of the
    /// response are left.
    pub(crate) goes_on: bool,
}

/// The reason why a response is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// The response does not begin like HTTP/1.
    NotHttp,
    /// The headers or the chunks cannot be understood; holds their text.
    Unreadable(String),
    /// The head or the body of the response is longer than its limit.
    TooLong,
    /// The connection ended within the response.
    Truncated,
}

impl fmt::Display for Bad {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHttp => out.write_str("it is not HTTP"),
            Self::Unreadable(text) => write!(out, "cannot read \"{}\"", clean(text, 60)),
            Self::TooLong => write!(out, "it is longer than {BODY} bytes"),
            Self::Truncated => out.write_str("it ends in the middle"),
        }
    }
}

impl Response {
    /// Reads a response from the bytes that have arrived. `ended` says that no more will come. Returns `None` while
    /// the response is incomplete. Interim responses (1xx) are skipped. RFC 9112 sections 4 to 7.
    pub(crate) fn parse(bytes: &[u8], ended: bool) -> Result<Option<Self>, Bad> {
        if bytes.len() > RAW {
            return Err(Bad::TooLong);
        }
        let mut head = Head::parse(bytes)?;
        while let Some(Head {
            status: 100..200,
            rest,
            ..
        }) = head
        {
            head = Head::parse(rest)?;
        }
        let Some(Head {
            status,
            framing,
            closes,
            rest,
        }) = head
        else {
            return more(ended);
        };
        let body = match framing {
            Framing::Length(length) if length > BODY => return Err(Bad::TooLong),
            Framing::Length(length) => rest
                .get(..length)
                .map(|body| (body.to_vec(), rest.len() == length)),
            Framing::Chunks => chunks(rest)?.map(|(body, rest)| (body, rest == b"\r\n")),
            Framing::Close if rest.len() > BODY => return Err(Bad::TooLong),
            Framing::Close => ended.then(|| (rest.to_vec(), false)),
        };
        match body {
            Some((body, nothing_left)) => Ok(Some(Self {
                status,
                body,
                goes_on: nothing_left && !closes && !ended,
            })),
            None => more(ended),
        }
    }
}

/// The facts in the head of a response, and the bytes that follow the head.
struct Head<'a> {
    status: u16,
    framing: Framing,
    closes: bool,
    rest: &'a [u8],
}

impl<'a> Head<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Option<Self>, Bad> {
        if bytes
            .iter()
            .zip(b"HTTP/1.")
            .any(|(byte, expected)| byte != expected)
        {
            return Err(Bad::NotHttp);
        }
        let Some(end) = find(&bytes[..bytes.len().min(HEAD)], b"\r\n\r\n") else {
            return if bytes.len() >= HEAD {
                Err(Bad::TooLong)
            } else {
                Ok(None)
            };
        };
        let (head, rest) = (String::from_utf8_lossy(&bytes[..end]), &bytes[end + 4..]);
        let (line, headers) = head.split_once("\r\n").unwrap_or((&head, ""));
        Ok(Some(Self {
            status: status(line)?,
            framing: Framing::of(headers)?,
            closes: closes(line, headers),
            rest,
        }))
    }
}

/// Returns whether the connection ends with the response: it has `Connection: close`, or is not HTTP/1.1. RFC 9112 section 9.3.
fn closes(line: &str, headers: &str) -> bool {
    let says_so = |(name, value): (&str, &str)| {
        let mut options = value.split(',').map(str::trim);
        name.eq_ignore_ascii_case("connection")
            && options.any(|option| option.eq_ignore_ascii_case("close"))
    };
    let mut headers = headers.split("\r\n").filter_map(|it| it.split_once(':'));
    !line.starts_with("HTTP/1.1 ") || headers.any(says_so)
}

fn more(ended: bool) -> Result<Option<Response>, Bad> {
    if ended { Err(Bad::Truncated) } else { Ok(None) }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes
        .windows(needle.len())
        .position(|window| window == needle)
}

/// Reads the code of a status line such as `HTTP/1.1 200 OK`; a code that is not three digits is an error. The reason phrase is optional.
fn status(line: &str) -> Result<u16, Bad> {
    let unreadable = || Bad::Unreadable(line.to_owned());
    let code = line.split(' ').nth(1).ok_or_else(unreadable)?;
    if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(unreadable());
    }
    code.parse().map_err(|_| unreadable())
}

/// The way in which the end of the body is found: by its length, by the last of its chunks, or by the end of the connection.
enum Framing {
    Length(usize),
    Chunks,
    Close,
}

impl Framing {
    fn of(headers: &str) -> Result<Self, Bad> {
        let mut framing = Self::Close;
        for line in headers.split("\r\n").filter(|line| !line.is_empty()) {
            let unreadable = || Bad::Unreadable(line.to_owned());
            let (name, value) = line.split_once(':').ok_or_else(unreadable)?;
            let value = value.trim();
            let found = if name.eq_ignore_ascii_case("content-length") {
                let digits = value.bytes().all(|byte| byte.is_ascii_digit());
                Self::Length(
                    value
                        .parse()
                        .ok()
                        .filter(|_| digits)
                        .ok_or_else(unreadable)?,
                )
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                value
                    .eq_ignore_ascii_case("chunked")
                    .then_some(Self::Chunks)
                    .ok_or_else(unreadable)?
            } else {
                continue;
            };
            // Refuse two framings, even equal ones: a proxy in between might see another end of the body than this
            // gate.
            if !matches!(framing, Self::Close) {
                return Err(unreadable());
            }
            framing = found;
        }
        Ok(framing)
    }
}

/// A body, and the bytes after its last chunk.
type Chunked<'a> = (Vec<u8>, &'a [u8]);

/// Reads the body of a chunked response; `None` while it is incomplete. The body ends with its last chunk, even if trailers follow.
fn chunks(mut rest: &[u8]) -> Result<Option<Chunked<'_>>, Bad> {
    /// The longest line with the size of a chunk and its extensions, in bytes.
    const SIZE_LINE: usize = 256;
    let mut body = Vec::new();
    loop {
        let Some(end) = find(&rest[..rest.len().min(SIZE_LINE)], b"\r\n") else {
            let long = rest.len() >= SIZE_LINE;
            return if long {
                Err(Bad::Unreadable(String::from_utf8_lossy(rest).into_owned()))
            } else {
                Ok(None)
            };
        };
        let line = String::from_utf8_lossy(&rest[..end]);
        let unreadable = || Bad::Unreadable(line.to_string());
        let digits = line.split(';').next().unwrap_or_default().trim_end();
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unreadable());
        }
        let size = usize::from_str_radix(digits, 16).map_err(|_| unreadable())?;
        if size > BODY - body.len() {
            return Err(Bad::TooLong);
        }
        rest = &rest[end + 2..];
        if size == 0 {
            return Ok(Some((body, rest)));
        }
        let Some(data) = rest.get(..size + 2) else {
            return Ok(None);
        };
        let (data, line_end) = data.split_at(size);
        if line_end != b"\r\n" {
            return Err(Bad::Unreadable(
                String::from_utf8_lossy(line_end).into_owned(),
            ));
        }
        body.extend_from_slice(data);
        rest = &rest[size + 2..];
    }
}

#[cfg(test)]
mod tests;
