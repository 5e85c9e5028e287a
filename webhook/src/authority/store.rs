//! The Secret: read, created, updated under its version.

use std::sync::Arc;

use certs::{
    Ca, Lifetimes,
    plan::{self, CaPlan, CaReason},
};
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Secret, Service},
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{Api, Error, api::PostParams};
use tracing::{debug, info, warn};

use super::{
    FIELD_MANAGER,
    error::{AuthorityError, failed},
    secret::{self, Stored},
};

/// How often a write is tried again within a round when another replica was faster.
const ATTEMPTS: usize = 3;

/// Where the CA is kept.
pub(super) struct CaStore {
    pub(super) api: Api<Secret>,
    /// The Secret's name.
    pub(super) name: String,
    pub(super) services: Api<Service>,
    /// The name of our Service, which the Secret belongs to.
    pub(super) service: String,
    pub(super) lifetimes: Lifetimes,
}

/// What this process knows beside the Secret.
#[derive(Clone, Copy)]
pub(super) struct Trust<'a> {
    /// What it signs with.
    pub(super) held: Option<&'a Stored>,
    /// The certificates that API servers trust so far, PEM.
    pub(super) trusted: Option<&'a str>,
    /// Whether another replica may hold the CA of these.
    pub(super) elsewhere: bool,
}

/// The CA to sign with, and why it was written if it was.
pub(super) struct Synced {
    pub(super) stored: Stored,
    pub(super) written: Option<CaReason>,
}

impl CaStore {
    /// Reads the Secret, writes it where the plan says so, and gives what is in it afterwards. `may_write` is the error of
    /// a write where there must be none.
    pub(super) async fn sync(
        &self,
        now: Timestamp,
        known: Trust<'_>,
        may_write: impl Fn() -> Result<(), AuthorityError>,
    ) -> Result<Synced, AuthorityError> {
        let name = &self.name;
        let held = known.held;
        for _ in 0..ATTEMPTS {
            let found = self.api.get_opt(name).await;
            let found =
                found.map_err(|error| failed(format!("read the Secret {name:?}"), &error))?;
            let read = found.as_ref().map(secret::read);
            let seen = match &read {
                None => plan::Stored::Missing,
                Some(Err(_)) => plan::Stored::Unusable,
                Some(Ok(stored)) => plan::Stored::Usable(&stored.ca),
            };
            let ours = held.map(|held| &*held.ca);
            let plan = plan::authority(now, seen, ours, known.elsewhere, &self.lifetimes);
            let (next, reason) = match (plan, held) {
                (CaPlan::Restore(reason), Some(held)) => (held.clone(), reason),
                (CaPlan::Restore(reason) | CaPlan::Create(reason), _) => {
                    (self.make(now, seen, known.trusted)?, reason)
                }
                (CaPlan::Await(reason), _) => {
                    may_write()?;
                    return Err(AuthorityError::Elsewhere { reason });
                }
                (CaPlan::Keep | CaPlan::Adopt, _) => match read {
                    Some(Ok(stored)) => {
                        return Ok(Synced {
                            stored,
                            written: None,
                        });
                    }
                    // The plan keeps and adopts only what is usable.
                    _ => continue,
                },
            };
            if let Some(Err(error)) = &read {
                warn!(secret = name, %error, "The stored CA cannot be used");
            }
            may_write()?;
            if self.write(found, &next).await? {
                info!(secret = name, %reason, not_after = %next.ca.not_after(), "Wrote the CA");
                return Ok(Synced {
                    stored: next,
                    written: Some(reason),
                });
            }
            debug!(secret = name, "Another replica was faster");
        }
        Err(AuthorityError::Contended(name.clone()))
    }

    /// A new CA. One that replaces a working one leaves that one's certificate in the bundle, and one that replaces what
    /// nobody has any more leaves what is trusted so far.
    fn make(
        &self,
        now: Timestamp,
        seen: plan::Stored<'_>,
        trusted: Option<&str>,
    ) -> Result<Stored, AuthorityError> {
        let previous = match seen {
            plan::Stored::Usable(old) => Some(old.pem()),
            plan::Stored::Missing | plan::Stored::Unusable => trusted,
        };
        let previous = previous.map(ToOwned::to_owned);
        let ca = Ca::generate(now, self.lifetimes.ca)?;
        Ok(Stored {
            ca: Arc::new(ca),
            previous,
        })
    }

    /// What the Secret belongs to: our Service. Not the webhook configuration, which somebody deletes in an emergency: the
    /// CA has to outlive that.
    async fn owner(&self) -> Result<OwnerReference, AuthorityError> {
        let name = &self.service;
        let found = self.services.get_opt(name).await;
        let found = found.map_err(|error| failed(format!("read the Service {name:?}"), &error))?;
        let uid = found.and_then(|it| it.metadata.uid);
        Ok(OwnerReference {
            api_version: "v1".to_owned(),
            kind: "Service".to_owned(),
            name: name.clone(),
            uid: uid.ok_or_else(|| AuthorityError::NoService(name.clone()))?,
            ..OwnerReference::default()
        })
    }

    /// Updates the Secret that was found, or creates one; `false` when somebody else changed it in between.
    async fn write(&self, found: Option<Secret>, next: &Stored) -> Result<bool, AuthorityError> {
        let params = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        let (doing, written) = if let Some(found) = found {
            (
                "update",
                self.api
                    .replace(&self.name, &params, &secret::refill(found, next))
                    .await,
            )
        } else {
            let secret = secret::create(&self.name, self.owner().await?, next);
            ("create", self.api.create(&params, &secret).await)
        };
        match written {
            Ok(_) => Ok(true),
            // A name that is taken, or a version that is old.
            Err(Error::Api(status)) if status.code == 409 => Ok(false),
            // What was to be updated has just been deleted. A create that finds nothing lacks its namespace.
            Err(Error::Api(status)) if status.code == 404 && doing == "update" => Ok(false),
            Err(error) => Err(failed(
                format!("{doing} the Secret {:?}", self.name),
                &error,
            )),
        }
    }
}
