//! The Secret: read, created, updated under its version.

use std::sync::Arc;

use certs::{
    Ca, Lifetimes,
    plan::{self, CaPlan, CaReason},
};
use jiff::Timestamp;
use k8s_openapi::{api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::OwnerReference};
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
    pub(super) lifetimes: Lifetimes,
    /// For the error when there is nothing to own the Secret.
    pub(super) configuration: String,
}

/// The CA to sign with, and why it was written if it was.
pub(super) struct Synced {
    pub(super) stored: Stored,
    pub(super) written: Option<CaReason>,
}

impl CaStore {
    /// Reads the Secret, writes it where the plan says so, and gives what is in it afterwards. `held` is what this
    /// process signs with; a new Secret belongs to `owner`, and without one nothing is written.
    pub(super) async fn sync(
        &self,
        now: Timestamp,
        held: Option<&Stored>,
        owner: Option<&OwnerReference>,
    ) -> Result<Synced, AuthorityError> {
        let name = &self.name;
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
            let (next, reason) = match (
                plan::authority(now, seen, held.map(|held| &*held.ca), &self.lifetimes),
                held,
            ) {
                (CaPlan::Restore(reason), Some(held)) => (held.clone(), reason),
                (CaPlan::Restore(reason) | CaPlan::Create(reason), _) => {
                    (self.make(now, seen)?, reason)
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
            if self.write(found, &next, owner).await? {
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

    /// A new CA. One that replaces a working one leaves that one's certificate in the bundle.
    fn make(&self, now: Timestamp, seen: plan::Stored<'_>) -> Result<Stored, AuthorityError> {
        let previous = match seen {
            plan::Stored::Usable(old) => Some(old.pem().to_owned()),
            plan::Stored::Missing | plan::Stored::Unusable => None,
        };
        let ca = Ca::generate(now, self.lifetimes.ca)?;
        Ok(Stored {
            ca: Arc::new(ca),
            previous,
        })
    }

    /// Updates the Secret that was found, or creates one; `false` when somebody else changed it in between.
    async fn write(
        &self,
        found: Option<Secret>,
        next: &Stored,
        owner: Option<&OwnerReference>,
    ) -> Result<bool, AuthorityError> {
        let Some(owner) = owner else {
            return Err(AuthorityError::NoConfiguration(self.configuration.clone()));
        };
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
            let secret = secret::create(&self.name, owner.clone(), next);
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
