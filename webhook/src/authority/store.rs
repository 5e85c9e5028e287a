//! Reads, creates and updates the Secret with the CA, under its version.

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

/// The most attempts to read and write the Secret within a round, while other replicas write first.
const ATTEMPTS: usize = 3;

/// The Secret with the CA.
pub(super) struct CaStore {
    pub(super) api: Api<Secret>,
    /// The name of the Secret with the CA.
    pub(super) name: String,
    pub(super) services: Api<Service>,
    /// The name of our Service, which the Secret belongs to.
    pub(super) service: String,
    pub(super) lifetimes: Lifetimes,
}

/// The facts beside the Secret by which this process decides whether to write it.
#[derive(Clone, Copy)]
pub(super) struct KnownTrust<'a> {
    /// The contents of the Secret with the CA that this process signs with; `None` before the first reading.
    pub(super) held: Option<&'a Stored>,
    /// The certificates that API servers trust so far, PEM.
    pub(super) trusted: Option<&'a str>,
    /// Whether another replica may hold the CA of `trusted`.
    pub(super) elsewhere: bool,
    /// Whether API servers have trusted the next CA for long enough.
    pub(super) settled: bool,
}

/// The CA to sign with, and the reason for writing it, if it was written.
pub(super) struct Synced {
    pub(super) stored: Stored,
    pub(super) written: Option<CaReason>,
}

impl CaStore {
    /// Reads the Secret, writes it where [`plan::authority`] says so, and returns its contents. `may_write` returns an error where writing is
    /// forbidden. An error also where other replicas wrote first, [`ATTEMPTS`] times in a row.
    pub(super) async fn sync(
        &self,
        now: Timestamp,
        known: KnownTrust<'_>,
        may_write: impl Fn() -> Result<(), AuthorityError>,
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
                Some(Ok(stored)) => plan::Stored::Usable(stored.line()),
            };
            let plan = plan::authority(
                now,
                seen,
                plan::Known {
                    held: known.held.map(Stored::line),
                    elsewhere: known.elsewhere,
                    settled: known.settled,
                },
                &self.lifetimes,
            );
            let stored = read.as_ref().and_then(|read| read.as_ref().ok());
            let Some((next, reason)) = self.planned(plan, now, stored, known, &may_write)? else {
                match read {
                    Some(Ok(stored)) => {
                        return Ok(Synced {
                            stored,
                            written: None,
                        });
                    }
                    // The plan keeps and adopts only a usable CA.
                    _ => continue,
                }
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

    /// Returns the contents that the plan wants to store, and the reason; `None` where they are stored already. A new
    /// CA follows the former one. Where no replica holds the former CA, its trusted certificates stay in the bundle. An
    /// error while another replica gets time to write its CA back.
    fn planned(
        &self,
        plan: CaPlan,
        now: Timestamp,
        stored: Option<&Stored>,
        known: KnownTrust<'_>,
        may_write: impl Fn() -> Result<(), AuthorityError>,
    ) -> Result<Option<(Stored, CaReason)>, AuthorityError> {
        let make = || Ca::generate(now, self.lifetimes.ca()).map(Arc::new);
        let next = match (plan, stored, known.held) {
            (CaPlan::Restore(reason), _, Some(held)) => {
                let after = held.next.as_ref();
                let after = after.or(stored.and_then(|it| it.next.as_ref()));
                (held.with_next(after.map(Arc::clone)), reason)
            }
            (CaPlan::Join, Some(Stored { ca, next, .. }), Some(held)) => {
                let joined = held.followed_by(ca)?;
                (joined.with_next(next.clone()), CaReason::Foreign)
            }
            (CaPlan::Prepare, Some(stored), _) => (stored.with_next(Some(make()?)), CaReason::Due),
            (CaPlan::Promote(reason), Some(stored), _) => match &stored.next {
                Some(next) => (stored.followed_by(next)?, reason),
                None => return Ok(None),
            },
            (CaPlan::Create(reason), stored, held) => match stored.or(held) {
                Some(old) => (old.followed_by(&*make()?)?, reason),
                None => (
                    Stored {
                        ca: make()?,
                        next: None,
                        previous: known.trusted.map(ToOwned::to_owned),
                    },
                    reason,
                ),
            },
            (CaPlan::Await(reason), ..) => {
                may_write()?;
                return Err(AuthorityError::Elsewhere { reason });
            }
            // `Keep` and `Adopt` write nothing. The other plans always find their CAs, because they are made from them.
            (
                CaPlan::Keep
                | CaPlan::Adopt
                | CaPlan::Restore(_)
                | CaPlan::Join
                | CaPlan::Prepare
                | CaPlan::Promote(_),
                ..,
            ) => return Ok(None),
        };
        Ok(Some(next))
    }

    /// Returns our Service as the owner of the Secret. An administrator may delete the webhook configuration in an
    /// emergency, and the CA has to outlive that.
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

    /// Updates the Secret that was found, or creates one. Returns `false` when another writer came first, or the Secret to update has just been
    /// deleted.
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
            // The name is taken, or the version is old.
            Err(Error::Api(status)) if status.code == 409 => Ok(false),
            // The Secret to update has just been deleted. A create that finds nothing lacks its namespace.
            Err(Error::Api(status)) if status.code == 404 && doing == "update" => Ok(false),
            Err(error) => Err(failed(
                format!("{doing} the Secret {:?}", self.name),
                &error,
            )),
        }
    }
}
