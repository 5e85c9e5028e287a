//! A certificate that somebody else signs for us, in a Secret: cert-manager's, as a rule. Read, and never written.

use certs::{Leaf, joined};
use jiff::Timestamp;
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::Api;

use super::{
    bundle::MOST,
    error::{AuthorityError, failed},
};

/// The chain, the key and the CA, as a `Certificate` of cert-manager has them written.
const KEYS: [&str; 3] = ["tls.crt", "tls.key", "ca.crt"];

/// Where the certificate is.
pub(super) struct IssuedStore {
    pub(super) api: Api<Secret>,
    /// The Secret's name.
    pub(super) name: String,
    /// The DNS name that it has to be good for.
    pub(super) server_name: String,
}

/// What is in there, and the bundle that goes with it.
pub(super) struct Issued {
    pub(super) leaf: Leaf,
    pub(super) bundle: String,
}

impl IssuedStore {
    /// What is there now. The certificates that are `trusted` so far stay in the bundle until they are over: other replicas
    /// may still serve what the CA before has signed. They are read where all replicas see the same.
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
