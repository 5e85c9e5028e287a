//! The errors of a round of certificate upkeep.

use certs::{CaError, LeafError, plan::CaReason};

use super::{PATIENCE, ROUND};

/// The reason why a round of the certificates' upkeep failed. The next round tries again.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// The API server refused, or could not be reached.
    #[error("failed to {doing}: {error}")]
    Api {
        /// The action on the API server that failed, with the object's name.
        doing: String,
        /// The message of the API server or the client.
        error: String,
    },
    /// A round of the certificates' upkeep took longer than its limit.
    #[error("the API server took longer than {ROUND:?} to answer")]
    Slow,
    /// Other replicas wrote the Secret of this name first, at every attempt of the round.
    #[error("the Secret {0:?} changed each time it was about to be written")]
    Contended(String),
    /// The MutatingWebhookConfiguration of this name does not exist, or is being deleted.
    #[error("there is no MutatingWebhookConfiguration {0:?}; the chart creates it")]
    NoConfiguration(String),
    /// The Secret has no usable CA. Another replica may hold the CA that API servers trust, and gets time to write it back.
    #[error(
        "{reason}, and the caBundle has a CA that another replica may hold: it gets {PATIENCE:?} to write that one back"
    )]
    Elsewhere {
        /// The reason why a CA is needed.
        reason: CaReason,
    },
    /// The other issuer has not signed our certificate yet, or its Secret does not name the CA.
    #[error(
        "the Secret {secret:?} has no {key:?} yet; look at the Certificate in our namespace, and take an issuer that says which CA it signs with"
    )]
    NotIssued {
        /// The name of the Secret with the issued certificate.
        secret: String,
        /// The key that the Secret lacks.
        key: &'static str,
    },
    /// The CA beside the issued certificate cannot be read, for this reason.
    #[error("failed to read the CA of our certificate: {0}")]
    Bundle(String),
    /// The API server does not serve ClusterTrustBundles.
    #[error(
        "the API server serves no ClusterTrustBundle in certificates.k8s.io/v1 or v1beta1; turn that on, or set certificates.clusterTrustBundle to false"
    )]
    NoTrustBundles,
    /// The Service of this name, which would own the Secret, does not exist.
    #[error("there is no Service {0:?} for the Secret to belong to; the chart creates it")]
    NoService(String),
    /// This process could not make a CA.
    #[error(transparent)]
    Ca(#[from] CaError),
    /// This process could not sign its leaf certificate, or cannot use the one that the other issuer has signed.
    #[error(transparent)]
    Leaf(#[from] LeafError),
}

/// Makes [`AuthorityError::Api`] of the client's error, in one line: the `Display` of that error prints a status twice.
pub(super) fn failed(doing: String, error: &kube::Error) -> AuthorityError {
    let error = match error {
        kube::Error::Api(status) => format!("{} ({})", status.message, status.code),
        other => other.to_string(),
    };
    AuthorityError::Api { doing, error }
}
