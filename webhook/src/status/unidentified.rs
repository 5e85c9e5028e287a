//! The reasons for which a request is rejected before it is answered.

use rules::keys::{AUDIENCE, GATED, GATED_VALUE};
use strum::IntoStaticStr;
use thiserror::Error;

/// The reason for which a request is rejected before it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Unidentified {
    /// The request has no header `Authorization: Bearer`.
    #[error("no bearer token")]
    NoToken,
    /// The text after `Bearer` has not the form of a token.
    #[error("the token is no token of an account")]
    NotAToken,
    /// The token has expired, or is not valid yet.
    #[error("the token has expired or is not valid yet")]
    OutOfDate,
    /// The token is not for our audience by its claims, or the API server does not accept it.
    #[error("the token is not accepted for audience {AUDIENCE:?}")]
    NotAccepted,
    /// The request's token is not bound to a pod.
    #[error("the token is not bound to a pod")]
    NotAPod,
    /// No pod with the label of gated pods has the name that the token claims.
    #[error(
        "sluice sees no such pod with the label {GATED}: \"{GATED_VALUE}\"; it was deleted, or the label was removed"
    )]
    NoPod,
    /// The pod name that the token claims belongs to a pod with another UID by now.
    #[error("the token's pod no longer exists")]
    AnotherPod,
    /// The budget of token reviews is used up for the client's address, the claimed pod, its namespace, or all unknown issuers.
    #[error(
        "too many tokens that nobody knows come from this address, or for this namespace; try again"
    )]
    TooMany,
    /// The request's token was not reviewed in time, because too many others are.
    #[error("too many tokens are being reviewed; try again")]
    NoTurn,
    /// The pod has as many open requests to this replica as one pod may have: `MOST` of `wait_registry.rs`.
    #[error("this pod waits for too many answers already; its gate waits for one at a time")]
    Asking,
    /// The API server could not be asked to review the token, or took too long.
    #[error("the API server cannot review the token now")]
    Unreachable,
}

impl Unidentified {
    /// The word for the rejection in a metric label.
    pub(crate) fn label(&self) -> &'static str {
        self.into()
    }
}
