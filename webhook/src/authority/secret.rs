//! The CA as a Secret: the keys' names, a wary reader, and a writer. Pure.

use std::{collections::BTreeMap, sync::Arc};

use certs::{Ca, CaError, CaParts, CertificateDer, PemError, certificates, plan::Line};
use k8s_openapi::{
    ByteString,
    api::core::v1::Secret,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};

/// The key of the Secret's data for the certificate of the CA, PEM.
const CERTIFICATE: &str = "ca.crt";
/// The key of the Secret's data for the private key of the CA, PEM.
const KEY: &str = "ca.key";
/// The certificate and the private key of the next CA, PEM; usually absent.
const NEXT: [&str; 2] = ["next.crt", "next.key"];
/// The private keys of former CAs, PEM, the newest first: they vouch for the present CA. Absent until there is a
/// former CA.
const FORMERS: &str = "former.key";
/// Certificates that are trusted beside the CA's, PEM; usually absent. Every replica honours them, so that a CA can
/// be replaced while leaves of the former CA are still served.
const PREVIOUS: &str = "previous.crt";

/// The contents of the Secret with the CA: the present CA, the next one, and certificates that are trusted beside them,
/// PEM. The bundle is a function of these alone, so replicas never disagree about it.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) ca: Arc<Ca>,
    pub(super) next: Option<Arc<Ca>>,
    pub(super) previous: Option<String>,
}

/// The reason why a Secret's contents cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    #[error("it has no key {0:?}")]
    Lacks(&'static str),
    #[error("{0:?} is not UTF-8")]
    NotText(&'static str),
    #[error(transparent)]
    Ca(#[from] CaError),
    #[error("{PREVIOUS:?}: {0}")]
    Previous(PemError),
}

impl Stored {
    pub(super) fn line(&self) -> Line<'_> {
        Line {
            ca: &self.ca,
            next: self.next.as_deref(),
        }
    }

    /// Returns contents with `ca` as the present CA. The former one vouches for it and stays in the bundle; no next CA is
    /// left.
    pub(super) fn followed_by(&self, ca: &Ca) -> Result<Self, CaError> {
        Ok(Self {
            ca: Arc::new(ca.after(&self.ca)?),
            next: None,
            previous: Some(self.ca.pem().to_owned()),
        })
    }

    /// Returns these contents with `next` in the place of the next CA.
    pub(super) fn with_next(&self, next: Option<Arc<Ca>>) -> Self {
        Self {
            next,
            ..self.clone()
        }
    }

    /// Returns the bundle for verifiers, in PEM: the CA that signs now, then the next one, then the certificates that are trusted beside them.
    pub(super) fn bundle(&self) -> String {
        let mut bundle = String::new();
        let next = self.next.as_ref().map(|next| next.pem());
        for pem in [Some(self.ca.pem()), next, self.previous.as_deref()]
            .into_iter()
            .flatten()
        {
            bundle.push_str(pem.trim());
            bundle.push('\n');
        }
        bundle
    }
}

/// Reads the contents of the Secret with the CA, which a user may have edited. An unusable next CA is left out; any other fault is an error.
pub(super) fn read(secret: &Secret) -> Result<Stored, Unusable> {
    let text = |key: &'static str| match secret.data.as_ref().and_then(|data| data.get(key)) {
        Some(ByteString(bytes)) => {
            String::from_utf8(bytes.clone()).map_err(|_| Unusable::NotText(key))
        }
        None => Err(Unusable::Lacks(key)),
    };
    let ca = Ca::restore(CaParts {
        certificate: text(CERTIFICATE)?,
        key: text(KEY)?,
        formers: text(FORMERS).unwrap_or_default(),
    })?;
    // An unusable next CA is made anew when it is due. It must not cost the CA itself.
    let next = match NEXT.map(text) {
        [Ok(certificate), Ok(key)] => Ca::restore(CaParts {
            certificate,
            key,
            formers: String::new(),
        })
        .ok(),
        _ => None,
    };
    let previous = match text(PREVIOUS) {
        Err(Unusable::Lacks(_)) => None,
        read => Some(read?),
    };
    if let Some(pem) = &previous {
        certificates(pem.as_bytes()).map_err(Unusable::Previous)?;
    }
    Ok(Stored {
        ca: Arc::new(ca),
        next: next.map(Arc::new),
        previous,
    })
}

/// Returns a new Secret that belongs to `owner`, so an uninstallation removes it.
pub(super) fn create(name: &str, owner: OwnerReference, stored: &Stored) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(labels()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(data(stored)),
        ..Secret::default()
    }
}

/// The labels of the Secret and the ClusterTrustBundle that the replicas create.
pub(super) fn labels() -> BTreeMap<String, String> {
    ["name", "managed-by"]
        .map(|key| (format!("app.kubernetes.io/{key}"), "sluice".to_owned()))
        .into()
}

/// Returns the Secret with `stored` in the place of all its data. Its resourceVersion stays and guards the update.
pub(super) fn refill(secret: Secret, stored: &Stored) -> Secret {
    Secret {
        data: Some(data(stored)),
        ..secret
    }
}

fn data(Stored { ca, next, previous }: &Stored) -> BTreeMap<String, ByteString> {
    let CaParts {
        certificate,
        key,
        formers,
    } = ca.parts();
    let ours = [(CERTIFICATE, certificate), (KEY, key)];
    let formers = (!formers.is_empty()).then_some((FORMERS, formers));
    let next = next.iter().flat_map(|next| {
        let CaParts {
            certificate, key, ..
        } = next.parts();
        NEXT.into_iter().zip([certificate, key])
    });
    let previous = previous.iter().map(|pem| (PREVIOUS, pem.clone()));
    ours.into_iter()
        .chain(formers)
        .chain(next)
        .chain(previous)
        .map(|(key, text)| (key.to_owned(), ByteString(text.into_bytes())))
        .collect()
}

/// Returns whether the bundle `pem` holds `certificate`. An unreadable bundle holds nothing.
pub(super) fn holds(pem: &[u8], certificate: &CertificateDer<'_>) -> bool {
    certificates(pem).is_ok_and(|found| found.contains(certificate))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    fn ca() -> Arc<Ca> {
        let now = "2026-11-20T10:00:00Z".parse().unwrap();
        Arc::new(Ca::generate(now, SignedDuration::from_hours(24)).unwrap())
    }

    fn secret(stored: &Stored) -> Secret {
        create("sluice-ca", OwnerReference::default(), stored)
    }

    fn alone() -> Stored {
        Stored {
            ca: ca(),
            next: None,
            previous: None,
        }
    }

    #[test]
    fn survives_being_stored() {
        let (old, next) = (ca(), ca());
        let stored = Stored {
            ca: Arc::new(ca().after(&old).unwrap()),
            next: Some(Arc::clone(&next)),
            previous: Some(old.pem().to_owned()),
        };
        let read = read(&secret(&stored)).unwrap();
        assert_eq!(read.ca.parts(), stored.ca.parts());
        assert_eq!(read.next.as_ref().unwrap().parts(), next.parts());
        assert_eq!(read.bundle(), stored.bundle());
        for trusted in [&stored.ca, &next, &old] {
            assert!(holds(read.bundle().as_bytes(), trusted.certificate()));
        }
    }

    #[test]
    fn a_damaged_next_one_costs_nobody_the_ca() {
        let mut secret = secret(&Stored {
            next: Some(ca()),
            ..alone()
        });
        for damage in [Some(ByteString(b"x".to_vec())), None] {
            let data = secret.data.as_mut().unwrap();
            data.extend(damage.map(|damage| (NEXT[1].to_owned(), damage)));
            assert!(read(&secret).unwrap().next.is_none());
            secret.data.as_mut().unwrap().remove(NEXT[1]);
        }
    }

    #[test]
    fn a_refilled_secret_stays_what_it_was() {
        let mut edited = secret(&alone());
        edited.metadata.resource_version = Some("7".to_owned());
        edited.metadata.annotations = Some(BTreeMap::from([("a".to_owned(), "b".to_owned())]));
        edited.data = None;
        let stored = alone();
        let refilled = refill(edited.clone(), &stored);
        assert_eq!(refilled.metadata, edited.metadata);
        assert_eq!(read(&refilled).unwrap().ca.parts(), stored.ca.parts());
    }

    #[test]
    fn says_what_is_wrong_with_a_secret() {
        let good = secret(&alone());
        let broken = |key: &str, value: Option<&[u8]>| {
            let mut secret = good.clone();
            let data = secret.data.get_or_insert_default();
            match value {
                Some(value) => data.insert(key.to_owned(), ByteString(value.to_vec())),
                None => data.remove(key),
            };
            read(&secret).unwrap_err().to_string()
        };
        assert_eq!(
            read(&Secret::default()).unwrap_err().to_string(),
            r#"it has no key "ca.crt""#
        );
        assert_eq!(broken(KEY, None), r#"it has no key "ca.key""#);
        assert_eq!(
            broken(CERTIFICATE, Some(&[0xff])),
            r#""ca.crt" is not UTF-8"#
        );
        assert_eq!(
            broken(CERTIFICATE, Some(b"x")),
            "failed to read the CA's certificate: the PEM text holds no certificate"
        );
        assert_eq!(
            broken(PREVIOUS, Some(b"x")),
            r#""previous.crt": the PEM text holds no certificate"#
        );
        let key = ca().parts().key;
        assert!(broken(KEY, Some(key.as_bytes())).contains("do not belong together"));
    }
}
