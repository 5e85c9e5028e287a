//! A certificate that another issuer signs for us, in a Secret that cert-manager usually writes. The Secret is read,
//! never written.

use certs::{Leaf, joined};
use jiff::Timestamp;
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::Api;

use super::{
    bundle::MOST,
    error::{AuthorityError, failed},
};

/// The keys of the chain, the private key and the CA, as cert-manager writes them for a `Certificate`.
const KEYS: [&str; 3] = ["tls.crt", "tls.key", "ca.crt"];

/// Reads the Secret with the issued certificate.
pub(super) struct IssuedStore {
    pub(super) api: Api<Secret>,
    /// The name of the Secret with the issued certificate.
    pub(super) name: String,
    /// The DNS name that the certificate has to hold.
    pub(super) server_name: String,
}

/// The certificate that the other issuer has signed, and the bundle to publish: its CA, and the CAs trusted before.
pub(super) struct Issued {
    pub(super) leaf: Leaf,
    pub(super) bundle: String,
}

impl IssuedStore {
    /// Reads the issued certificate and its CA. An error while the Secret lacks one of its keys, or the certificate cannot be used. The bundle
    /// holds [`MOST`] certificates at most: the CA, then those of the PEM text `trusted` that have not expired, since other replicas may still
    /// serve a leaf of the former CA. The caller takes `trusted` from the live `caBundle`, where all replicas see one text.
    pub(super) async fn read(
        &self,
        now: Timestamp,
        trusted: Option<&str>,
    ) -> Result<Issued, AuthorityError> {
        let name = &self.name;
        let found = self.api.get_opt(name).await;
        let found = found.map_err(|error| failed(format!("read the Secret {name:?}"), &error))?;
        let data = found.and_then(|secret| secret.data).unwrap_or_default();
        let text = |key: &'static str| match data.get(key) {
            Some(ByteString(bytes)) if !bytes.is_empty() => {
                Ok(String::from_utf8_lossy(bytes).into_owned())
            }
            _ => Err(AuthorityError::NotIssued {
                secret: name.clone(),
                key,
            }),
        };
        let [chain, key, ca] = KEYS.map(text);
        let (chain, key, ca) = (chain?, key?, ca?);
        let leaf = Leaf::read(&chain, &key, &ca, &self.server_name, now)?;
        let bundle = joined(&ca, trusted.unwrap_or_default(), now, MOST);
        let bundle = bundle.map_err(|error| AuthorityError::Bundle(error.to_string()))?;
        Ok(Issued { leaf, bundle })
    }
}
