//! Reads and mends the bundle in our webhook configuration, and tells the administrator when another program
//! overwrote it.

use std::collections::BTreeSet;

use certs::CertificateDer;
use k8s_openapi::{
    api::admissionregistration::v1::MutatingWebhookConfiguration,
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use tracing::info;

use super::{
    FIELD_MANAGER, bundle,
    changes::{self, ConfigurationWatch},
    error::{AuthorityError, failed},
};
use crate::{
    clock::Clock,
    event::{Note, Regarding, Telling, Writer},
};

/// Whether the CA bundle of this round differs from that of the round before, in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Novelty {
    /// The CA bundle differs from that of the round before, or this is the first round.
    New,
    /// The CA bundle is that of the round before.
    Known,
}

/// A MutatingWebhookConfiguration of this installation, into which the CA bundle is written.
pub(super) struct Published {
    pub(super) client: Client,
    /// The name of the MutatingWebhookConfiguration.
    pub(super) name: String,
    /// The name of sluice's own pod, for Events.
    pub(super) instance: String,
    /// The object that Events are about, our Service, because the configuration is in no namespace.
    pub(super) beside: Regarding,
    /// The configuration as last read or written; `None` while there is none.
    observed: Option<MutatingWebhookConfiguration>,
    /// The names of the webhooks that had the present CA bundle when it was last published.
    ours: BTreeSet<String>,
}

impl Published {
    /// Returns a configuration that has not been read yet.
    pub(super) fn new(client: Client, name: String, instance: String, beside: Regarding) -> Self {
        Self {
            client,
            name,
            instance,
            beside,
            observed: None,
            ours: BTreeSet::new(),
        }
    }

    /// Returns a watch of the MutatingWebhookConfiguration, which makes no request until it is waited for.
    pub(super) fn changes(&self) -> ConfigurationWatch {
        ConfigurationWatch::of(self.api(), self.name.clone())
    }

    /// The `resourceVersion` of the MutatingWebhookConfiguration as last read or written; `None` while there is none.
    pub(super) fn version(&self) -> Option<String> {
        self.observed.as_ref().and_then(changes::version)
    }

    pub(super) async fn read(&mut self) -> Result<(), AuthorityError> {
        let found = self.api().get_opt(&self.name).await;
        let doing = || format!("read the MutatingWebhookConfiguration {:?}", self.name);
        let found = found.map_err(|error| failed(doing(), &error))?;
        // A configuration that waits for its dependents to be deleted counts as deleted.
        self.observed = found.filter(|found| found.metadata.deletion_timestamp.is_none());
        Ok(())
    }

    /// Returns an error if the last reading found no configuration, or one that is being deleted. Makes no request.
    pub(super) fn is_there(&self) -> Result<(), AuthorityError> {
        match &self.observed {
            Some(_) => Ok(()),
            None => Err(AuthorityError::NoConfiguration(self.name.clone())),
        }
    }

    /// Returns an owner reference to the configuration, for objects without a namespace that Kubernetes is to remove with
    /// it; `None` while there is no configuration.
    pub(super) fn owner(&self) -> Option<OwnerReference> {
        self.observed.as_ref().map(bundle::owner)
    }

    /// The certificates, PEM, that API servers trust so far: the `caBundle` of the first webhook that has a usable one.
    /// `None` where no webhook has, or there is no configuration.
    pub(super) fn trusted(&self) -> Option<String> {
        self.observed.as_ref().and_then(bundle::trusted)
    }

    /// Whether every webhook of the configuration trusts a leaf that `issuer` signed; `false` while there is no
    /// configuration.
    pub(super) fn trusts(&self, issuer: &CertificateDer<'_>) -> bool {
        let observed = self.observed.as_ref();
        observed.is_some_and(|observed| bundle::trusts(observed, issuer))
    }

    /// Writes the bundle into all webhooks of the configuration, if one of them needs it. A new bundle replaces every other bundle; a known one
    /// replaces only bundles that lack a part of it. Writes an Event about our Service where a webhook that had this bundle has lost it. Does
    /// nothing while there is no configuration.
    pub(super) async fn publish(
        &mut self,
        bundle: &str,
        novelty: Novelty,
        clock: &Clock,
    ) -> Result<(), AuthorityError> {
        let Some(observed) = &self.observed else {
            return Ok(());
        };
        if novelty == Novelty::New {
            self.ours.clear();
        }
        let lacking = match novelty {
            Novelty::New => bundle::lacking(observed, bundle),
            Novelty::Known => bundle::distrusting(observed, bundle),
        };
        if !lacking.is_empty() {
            let overwritten = lacking.iter().any(|name| self.ours.contains(name));
            self.write(&bundle::correction(observed, bundle)).await?;
            if overwritten {
                self.tell_of_mending(clock).await;
            }
        }
        let webhooks = self.observed.iter().flat_map(|it| &it.webhooks).flatten();
        self.ours = webhooks.map(|webhook| webhook.name.clone()).collect();
        Ok(())
    }

    async fn write(&mut self, correction: &serde_json::Value) -> Result<(), AuthorityError> {
        let params = PatchParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let name = &self.name;
        let patch = Patch::Strategic(correction);
        let written = self.api().patch(name, &params, &patch).await;
        let doing = || format!("write the caBundle of the MutatingWebhookConfiguration {name:?}");
        self.observed = Some(written.map_err(|error| failed(doing(), &error))?);
        info!(webhook_configuration = name, "Wrote the caBundle");
        Ok(())
    }

    async fn tell_of_mending(&self, clock: &Clock) {
        let writer = Writer {
            client: self.client.clone(),
            instance: self.instance.clone(),
            clock: clock.clone(),
        };
        let name = &self.name;
        let note = Note {
            severity: "Warning",
            action: "Trust",
            reason: "CaBundleMended",
            text: format!(
                "the caBundle of MutatingWebhookConfiguration {name} was overwritten, and annotated objects were refused until it was mended; the program that manages the configuration has to leave caBundle alone"
            ),
            wait: None,
            telling: Telling::Anew,
        };
        writer.write(self.beside.clone(), note).await;
    }

    fn api(&self) -> Api<MutatingWebhookConfiguration> {
        Api::all(self.client.clone())
    }
}
