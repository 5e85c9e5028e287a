//! The HTTP errors of admission: for a body that is no review, or for which there is no memory or no time.

use super::review::Unreadable;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// The reason why an admission request gets an HTTP error.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the review exceeds {0} bytes; make the object smaller")]
    TooLarge(usize),
    #[error("the review holds more than {0} values; make the object smaller")]
    TooManyValues(usize),
    #[error(
        "the review would take more than {0} bytes of memory; make the object smaller, or raise resources.limits.memory"
    )]
    TooHeavy(usize),
    #[error("too many reviews are being answered; try again")]
    Busy,
    #[error(
        "the review may take more memory than this replica has left; try again, make the object smaller, or raise resources.limits.memory"
    )]
    Scarce,
    #[error(
        "other reviews needed the room, and this one arrived too slowly or its sender held the most; try again"
    )]
    Outpaced,
    #[error("the body did not arrive in time; try again")]
    Slow,
    #[error("the body broke off; try again")]
    Broken,
    #[error(transparent)]
    Unreadable(Unreadable),
}

impl Refusal {
    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::TooLarge(_) | Self::TooManyValues(_) | Self::TooHeavy(_) => "too-large",
            Self::Busy => "busy",
            Self::Scarce => "scarce",
            Self::Outpaced => "outpaced",
            Self::Slow => "slow",
            Self::Broken => "broken",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self {
            Self::TooLarge(_) | Self::TooManyValues(_) | Self::TooHeavy(_) => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            Self::Busy | Self::Scarce | Self::Outpaced => StatusCode::SERVICE_UNAVAILABLE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Broken | Self::Unreadable(_) => StatusCode::BAD_REQUEST,
        };
        (status, self.to_string()).into_response()
    }
}
