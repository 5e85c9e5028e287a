//! Serves HTTP/1.1 requests without a body, each of which may stay open for minutes.
//!
//! Hyper keeps three buffers of 8 KiB for a connection that only waits. This server keeps nothing but the connection
//! itself: the memory of a head is freed before the wait, and the answer is put together when there is something to
//! send. A client that sends a body, or sends more before its answer, is no gate and gets no second answer.

use super::deadlines::{Paced, Phase};
use super::{Caller, Server, why};
use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, request};
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use http_body_util::BodyExt;
use std::io::{self, ErrorKind, Write};
use std::panic::AssertUnwindSafe;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout};
use tracing::debug;

/// The most headers of a request.
pub(super) const HEADERS: usize = 64;
/// The step by which the buffer for a head grows, in bytes. Most heads, with a token of a kilobyte, fit into the
/// first step.
const STEP: usize = 2048;
/// The bytes that end the head of a request.
const END: &[u8] = b"\r\n\r\n";

/// A request without its body. `last`: the connection ends after the answer, because the client asks for that, sends a body, or has sent more
/// already.
#[derive(Debug)]
struct ReadRequest {
    request: Request<Body>,
    last: bool,
}

impl Server {
    /// Answers one request after the other until the client ends the connection, breaks a limit or pauses for too long, or the process drains.
    pub(super) async fn questions<S>(
        &self,
        mut stream: Paced<S>,
        phase: &Phase,
        caller: &Caller,
        retired_at: Instant,
    ) where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut answered = false;
        loop {
            match self
                .question(&mut stream, phase, caller, retired_at, answered)
                .await
            {
                Ok(true) => answered = true,
                Ok(false) => return,
                Err(error) => return self.turn(why(Some(&error)), &error),
            }
        }
    }

    /// Reads and answers one request. Returns whether the connection may carry another. `answered`: the connection has had an answer, so it ends
    /// when the process drains. An error is a request that is invalid or comes too slowly, or a client that is gone.
    async fn question<S>(
        &self,
        stream: &mut Paced<S>,
        phase: &Phase,
        caller: &Caller,
        retired_at: Instant,
        answered: bool,
    ) -> io::Result<bool>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut head = Vec::new();
        tokio::select! {
            biased;
            // Every client may ask its first question.
            () = self.shutdown.draining(), if answered => return stream.shutdown().await.map(|()| false),
            begins = timeout(self.limits.idle, more(stream, &mut head)) => match begins {
                Err(_elapsed) => {
                    debug!("Closed after the idle limit");
                    return Ok(false);
                }
                // The connection ended between two requests.
                Ok(Ok(0) | Err(_)) => return Ok(false),
                Ok(Ok(_)) => {}
            },
        }
        let question = match self.rest(stream, head).await? {
            Ok(question) => question,
            Err(refusal) => {
                self.send(stream, (refusal, [(CONNECTION, "close")]).into_response())
                    .await?;
                return Err(io::Error::new(ErrorKind::InvalidData, refusal.to_string()));
            }
        };
        let _answering = caller.answering(phase);
        // Boxed, so that a streamed response does not carry the size of the future that produced it.
        let answer = Box::pin(self.answer(question.request, caller, retired_at));
        let mut response = tokio::select! {
            biased;
            response = answer => response,
            gone = gone(stream) => return Err(gone),
        };
        if question.last {
            let headers = response.headers_mut();
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let closes = closes(response.headers());
        self.send(stream, response).await?;
        if closes || self.shutdown.is_leaving() || Instant::now() >= retired_at {
            return stream.shutdown().await.map(|()| false);
        }
        Ok(true)
    }

    /// Reads the rest of the request whose first bytes are `head`. The inner error is the code of the refusal of an invalid or too long request;
    /// the outer one is that of the stream.
    async fn rest<S>(
        &self,
        stream: &mut S,
        mut head: Vec<u8>,
    ) -> io::Result<Result<ReadRequest, StatusCode>>
    where
        S: AsyncRead + Unpin,
    {
        let mut looked_at = 0_usize;
        loop {
            let news = &head[looked_at.saturating_sub(END.len() - 1)..];
            if news.windows(END.len()).any(|bytes| bytes == END) {
                return Ok(parse(&head));
            }
            if head.len() >= self.limits.read_ahead {
                return Ok(Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
            }
            looked_at = head.len();
            if more(stream, &mut head).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Sends a response, each part of its body as soon as it is there. Fails where the client leaves, or sends more, before the end.
    async fn send<S>(&self, stream: &mut S, response: Response) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let (mut head, mut body) = response.into_parts();
        let length = body.size_hint().exact();
        let (name, value) = match length {
            Some(length) => (CONTENT_LENGTH, length.into()),
            None => (TRANSFER_ENCODING, HeaderValue::from_static("chunked")),
        };
        head.headers.insert(name, value);
        let mut out = written(head.status, &head.headers);
        drop(head);
        loop {
            let part = if let Some(part) = self.part(&mut body).now_or_never() {
                part?
            } else {
                stream.write_all(&out).await?;
                stream.flush().await?;
                out = Vec::new();
                tokio::select! {
                    biased;
                    part = self.part(&mut body) => part?,
                    gone = gone(stream) => return Err(gone),
                }
            };
            if length.is_none() {
                write!(out, "{:x}\r\n", part.as_ref().map_or(0, Bytes::len))?;
            }
            out.extend_from_slice(part.as_deref().unwrap_or_default());
            if length.is_none() {
                out.extend_from_slice(b"\r\n");
            }
            if part.is_none() {
                stream.write_all(&out).await?;
                return stream.flush().await;
            }
        }
    }

    /// Returns the next part of a body, never empty; `None` at its end. A body that fails or panics is an error, so it does not look complete.
    async fn part(&self, body: &mut Body) -> io::Result<Option<Bytes>> {
        loop {
            match AssertUnwindSafe(body.frame()).catch_unwind().await {
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(io::Error::other(error)),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => return Ok(Some(data)),
                    Ok(_) | Err(_) => {}
                },
                Err(_panic) => {
                    self.metrics.panicked(self.port);
                    return Err(io::Error::other("the answer hit a bug in sluice"));
                }
            }
        }
    }
}

/// Waits for bytes, appends them to `head`, and returns their number; 0 at the end of the stream.
async fn more<S: AsyncRead + Unpin>(stream: &mut S, head: &mut Vec<u8>) -> io::Result<usize> {
    head.reserve(STEP);
    stream.read_buf(head).await
}

/// Returns the head of an HTTP/1.1 response as bytes, with the empty line at its end.
fn written(status: StatusCode, headers: &HeaderMap) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status}\r\n").into_bytes();
    for (name, value) in headers {
        let line = [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"];
        head.extend_from_slice(&line.concat());
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// Returns an error when the client leaves before its answer, or sends more before it. Waits while the client does neither.
async fn gone<S: AsyncRead + Unpin>(stream: &mut S) -> io::Error {
    match stream.read(&mut [0]).await {
        Ok(0) => ErrorKind::UnexpectedEof.into(),
        Ok(_) => io::Error::new(ErrorKind::InvalidData, "a request before the answer"),
        Err(error) => error,
    }
}

/// Parses the head of the request at the start of `bytes`, which may hold more. The error is the code of the refusal. The body is not read.
fn parse(bytes: &[u8]) -> Result<ReadRequest, StatusCode> {
    const BAD: StatusCode = StatusCode::BAD_REQUEST;
    let end = bytes.windows(END.len()).position(|bytes| bytes == END);
    let end = end.ok_or(BAD)?;
    let head = str::from_utf8(&bytes[..end]).map_err(|_| BAD)?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(BAD);
    };
    if version != "HTTP/1.1" {
        return Err(StatusCode::HTTP_VERSION_NOT_SUPPORTED);
    }
    let mut request = request::Builder::new().method(method).uri(target);
    for (count, line) in lines.enumerate() {
        if count >= HEADERS {
            return Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
        }
        // A name with a blank is invalid, so a folded header line is refused too.
        let (name, value) = line.split_once(':').ok_or(BAD)?;
        request = request.header(name, value.trim_matches([' ', '\t']));
    }
    let request = request.body(Body::empty()).map_err(|_| BAD)?;
    let headers = request.headers();
    let body = headers.contains_key(TRANSFER_ENCODING)
        || headers.get(CONTENT_LENGTH).is_some_and(|it| it != "0");
    let last = body || bytes.len() > end + END.len() || closes(headers);
    Ok(ReadRequest { request, last })
}

/// Returns whether the connection ends after the message with these headers: `Connection` has the option `close`.
fn closes(headers: &HeaderMap) -> bool {
    let says_so = |value: &HeaderValue| {
        let options = value.to_str().unwrap_or_default().split(',');
        options
            .map(str::trim)
            .any(|option| option.eq_ignore_ascii_case("close"))
    };
    headers.get_all(CONNECTION).iter().any(says_so)
}
