//! Says why there is no answer, and what a reader of the log can check.

use crate::config::Address;
use crate::http::Bad;
use rustls::CertificateError;
use std::fmt;
use std::io;
use std::path::PathBuf;
use wire::said::clean;

/// The longest quotation of a peer's text, in characters.
const QUOTE: usize = 200;

/// A question that got no answer from any address.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The request could not be written, for lack of a token.
    Token(PathBuf, BadToken),
    /// The failure of each address that was tried; never empty.
    NoAnswer(Vec<Attempt>),
}

/// One address that gave no answer.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) address: Address,
    pub(crate) failure: Failure,
}

/// The reason why the token cannot be sent.
#[derive(Debug)]
pub(crate) enum BadToken {
    Unreadable(io::Error),
    /// The token is empty, or has characters that no token has.
    Malformed,
}

/// The reason why an address gave no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The name has no address, or no name server answered.
    Lookup(io::Error),
    /// The attempt to connect got no reply in time.
    ConnectTimeout,
    /// No process listens, or no pod is ready behind the Service.
    Refused,
    /// The connection was made, but the answer took too long.
    Slow,
    /// The connection broke, or was never made, for another reason.
    Broken(io::Error),
    /// The service's certificate, or that of its authority, has expired.
    Expired,
    /// The service's certificate is not signed by an authority that the gate trusts.
    Untrusted,
    /// The service's certificate is signed by an authority that the gate trusts, but for another name.
    WrongName,
    /// TLS failed in another way.
    Tls(rustls::Error),
    /// An HTTP status other than 200, with the beginning of the body.
    Status(u16, String),
    /// A response that cannot be read.
    Garbled(Bad),
    /// A response that is no answer of this version.
    NotAnAnswer(serde_json::Error),
}

impl Trouble {
    /// Returns whether no address gave any sign of a server: each lookup, connection or answer failed or took too long. A TLS error or an HTTP
    /// response is a sign, even from another server. `false` where no request was sent, for lack of a token.
    pub(crate) fn silent(&self) -> bool {
        let silent = |attempt: &Attempt| {
            use Failure::{Broken, ConnectTimeout, Lookup, Refused, Slow};
            matches!(
                attempt.failure,
                Lookup(_) | ConnectTimeout | Refused | Slow | Broken(_)
            )
        };
        matches!(self, Self::NoAnswer(attempts) if attempts.iter().all(silent))
    }
}

/// Writes the failure of each address, and then what to check.
impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(path, problem) => {
                let path = path.display();
                match problem {
                    BadToken::Unreadable(error) => {
                        write!(out, "cannot read the token {path}: {error}")
                    }
                    BadToken::Malformed => write!(out, "{path} holds no token"),
                }?;
                out.write_str("; check the projected volume of the sluice-gate container")
            }
            Self::NoAnswer(attempts) => {
                write!(out, "{}", Attempts(attempts))?;
                // A failed name lookup proves nothing about the service. The failure at another address does.
                let telling = attempts
                    .iter()
                    .find(|attempt| !matches!(attempt.failure, Failure::Lookup(_)));
                match telling.or(attempts.first()) {
                    Some(attempt) => write!(out, "; {}", attempt.failure.advice()),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Prints each address with its failure, such as `10.96.0.10:9764: connection refused; sluice.sluice-system.svc:9764: ...`, and a failure
/// of several addresses in a row once.
pub(crate) struct Attempts<'a>(pub(crate) &'a [Attempt]);

impl fmt::Display for Attempts<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_same =
            |one: &Attempt, other: &Attempt| one.failure.to_string() == other.failure.to_string();
        for (place, alike) in self.0.chunk_by(is_same).enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            let addresses: Vec<String> = alike.iter().map(|it| it.address.to_string()).collect();
            let addresses = addresses.join(" and ");
            write!(out, "{separator}{addresses}: {}", alike[0].failure)?;
        }
        Ok(())
    }
}

impl Failure {
    /// Returns the failure for an error that occurred after the connection was made.
    pub(crate) fn of(error: io::Error) -> Self {
        if matches!(
            error.kind(),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
        ) {
            return Self::Slow;
        }
        match error.downcast::<rustls::Error>() {
            Ok(rustls::Error::InvalidCertificate(error)) => Self::of_certificate(error),
            Ok(error) => Self::Tls(error),
            Err(error) => Self::Broken(error),
        }
    }

    fn of_certificate(error: CertificateError) -> Self {
        use CertificateError as E;
        match error {
            E::Expired | E::ExpiredContext { .. } => Self::Expired,
            // A new CA under the old name: the issuer is known, but the signature is another CA's.
            E::UnknownIssuer | E::BadSignature => Self::Untrusted,
            E::NotValidForName | E::NotValidForNameContext { .. } => Self::WrongName,
            other => Self::Tls(rustls::Error::InvalidCertificate(other)),
        }
    }

    /// Returns whether a trusted server has answered, though with no usable answer, so that no other address is tried: it would lead to the same
    /// service.
    pub(crate) fn final_word(&self) -> bool {
        matches!(
            self,
            Self::Status(..) | Self::Garbled(_) | Self::NotAnAnswer(_)
        )
    }

    /// Returns the advice for a reader of the log: the thing to check or to do about this failure.
    fn advice(&self) -> &'static str {
        match self {
            Self::Lookup(_) => "check the cluster's DNS, and that sluice is installed",
            Self::ConnectTimeout => {
                "check that no NetworkPolicy keeps this pod from the sluice pods, and that the nodes are up"
            }
            Self::Refused => "check that the sluice pods are running and ready",
            Self::Slow | Self::Broken(_) => {
                "check the sluice pods, and any proxy or mesh on the way to them"
            }
            Self::Untrusted => {
                "sluice seems to have a new CA since this pod was made, so this gate cannot be told to open: delete the pod, and its owner makes another that trusts the new CA"
            }
            Self::Expired => {
                "delete the pod, and its owner makes another that trusts the CA of now; if that one says the same, check the clocks of the nodes"
            }
            Self::WrongName => {
                "something else answers here: check the Service of sluice and SLUICE_SERVER_NAME"
            }
            Self::Tls(_) => {
                "check that nothing between this pod and sluice takes part in TLS, and the clocks of the nodes"
            }
            Self::Status(401 | 403, _) => {
                "the token was not accepted: check that the pod is not being deleted, and that the API server takes tokens for the audience sluice"
            }
            Self::Status(404, _) | Self::NotAnAnswer(_) => {
                "sluice may be of another version than this gate: delete the pod, and the next one gets the matching gate"
            }
            Self::Status(429 | 503, _) => {
                "it asks again by itself; if this lasts, give sluice more replicas"
            }
            Self::Status(..) | Self::Garbled(_) => "check the log of the sluice pods",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lookup(error) => out.write_str(&clean(&error.to_string(), QUOTE)),
            Self::ConnectTimeout => out.write_str("connection timed out"),
            Self::Refused => out.write_str("connection refused"),
            Self::Slow => out.write_str("connected, but no answer in time"),
            Self::Broken(error) => write!(
                out,
                "connection broke: {}",
                clean(&error.to_string(), QUOTE)
            ),
            Self::Expired => out.write_str("its certificate has expired"),
            Self::Untrusted => {
                out.write_str("its certificate is not signed by the CA that this pod was given")
            }
            Self::WrongName => out.write_str("its certificate is for another name"),
            Self::Tls(error) => write!(out, "TLS failed: {}", clean(&error.to_string(), QUOTE)),
            Self::Status(code, body) if body.is_empty() => write!(out, "HTTP status {code}"),
            Self::Status(code, body) => write!(out, "HTTP status {code} ({})", clean(body, QUOTE)),
            Self::Garbled(bad) => write!(out, "bad answer: {bad}"),
            Self::NotAnAnswer(error) => {
                write!(out, "bad answer: {}", clean(&error.to_string(), QUOTE))
            }
        }
    }
}

#[cfg(test)]
mod tests;
