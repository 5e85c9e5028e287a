//! Compares the `caBundle`s of a webhook configuration with the wanted bundle, and makes the patch that corrects them.
//! Pure: no request is made here.

use certs::{CertificateDer, certificates};
use k8s_openapi::{
    ByteString, api::admissionregistration::v1::MutatingWebhookConfiguration,
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use serde_json::{Value, json};

use super::secret::holds;

const API_VERSION: &str = "admissionregistration.k8s.io/v1";
const KIND: &str = "MutatingWebhookConfiguration";

/// The most certificates of a bundle that carries on the certificates of a live `caBundle`. A `caBundle` with more is
/// not carried on.
pub(super) const MOST: usize = 8;

/// Returns the names of the webhooks in `observed` whose `caBundle` is missing or differs from `bundle`.
pub(super) fn lacking(observed: &MutatingWebhookConfiguration, bundle: &str) -> Vec<String> {
    without(observed, |pem| pem == bundle.as_bytes())
}

/// Returns the names of the webhooks in `observed` whose `caBundle` is missing, cannot be read, or lacks a certificate of `bundle`. Further
/// certificates in it are no fault: while a roll-out sets or removes an issuer, other replicas serve leaves of those.
pub(super) fn distrusting(observed: &MutatingWebhookConfiguration, bundle: &str) -> Vec<String> {
    let Ok(ours) = certificates(bundle.as_bytes()) else {
        return lacking(observed, bundle);
    };
    let has_all = |found: Vec<_>| ours.iter().all(|it| found.contains(it));
    without(observed, |pem| certificates(pem).is_ok_and(has_all))
}

fn without(observed: &MutatingWebhookConfiguration, right: impl Fn(&[u8]) -> bool) -> Vec<String> {
    let webhooks = observed.webhooks.iter().flatten();
    let is_right = |ByteString(pem): &ByteString| right(pem);
    webhooks
        .filter(|webhook| {
            !webhook
                .client_config
                .ca_bundle
                .as_ref()
                .is_some_and(is_right)
        })
        .map(|webhook| webhook.name.clone())
        .collect()
}

/// Returns the strategic merge patch that puts `bundle` into every webhook of `observed`.
///
/// The patch holds only names and `caBundle`s. The API server merges webhooks by name, so the chart keeps the rest.
/// The uid and the resourceVersion keep the patch from creating anything: a webhook that the chart has just removed
/// would come back without its rules.
///
/// Server-side apply would make us an owner of each webhook as a whole. A chart could then not remove a webhook: the
/// API server would keep our part of it, and refuse that part as incomplete. With a patch we own the field alone, and
/// the field goes with its webhook.
pub(super) fn correction(observed: &MutatingWebhookConfiguration, bundle: &str) -> Value {
    let wanted = ByteString(bundle.as_bytes().to_vec());
    let webhooks = observed.webhooks.as_deref().unwrap_or_default();
    let corrected = |name: &str| json!({"name": name, "clientConfig": {"caBundle": wanted}});
    let metadata = &observed.metadata;
    json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": metadata.name, "uid": metadata.uid, "resourceVersion": metadata.resource_version},
        "webhooks": webhooks.iter().map(|webhook| corrected(&webhook.name)).collect::<Vec<_>>(),
    })
}

/// Returns an owner reference to the webhook configuration, for objects that Kubernetes is to remove with it.
pub(super) fn owner(observed: &MutatingWebhookConfiguration) -> OwnerReference {
    OwnerReference {
        api_version: API_VERSION.to_owned(),
        kind: KIND.to_owned(),
        name: observed.metadata.name.clone().unwrap_or_default(),
        uid: observed.metadata.uid.clone().unwrap_or_default(),
        ..OwnerReference::default()
    }
}

/// Returns whether the `caBundle` of every webhook in this configuration holds the certificate `issuer`. `true` also for
/// a configuration without webhooks.
pub(super) fn trusts(observed: &MutatingWebhookConfiguration, issuer: &CertificateDer<'_>) -> bool {
    let webhooks = observed.webhooks.as_deref().unwrap_or_default();
    webhooks.iter().all(|webhook| {
        let bundle = webhook.client_config.ca_bundle.as_ref();
        bundle.is_some_and(|ByteString(pem)| holds(pem, issuer))
    })
}

/// Returns the certificates that API servers trust so far, in PEM: those of the first webhook that has 1 to [`MOST`].
/// `None` where no webhook has. A longer bundle is not ours.
pub(super) fn trusted(observed: &MutatingWebhookConfiguration) -> Option<String> {
    let webhooks = observed.webhooks.as_deref().unwrap_or_default();
    webhooks.iter().find_map(|webhook| {
        let ByteString(pem) = webhook.client_config.ca_bundle.as_ref()?;
        let found = certificates(pem).ok()?.len();
        let pem = String::from_utf8(pem.clone()).ok()?;
        (1..=MOST).contains(&found).then_some(pem)
    })
}

#[cfg(test)]
mod tests {
    use certs::Ca;
    use jiff::SignedDuration;

    use super::*;

    fn ca() -> Ca {
        Ca::generate(
            "2026-11-20T10:00:00Z".parse().unwrap(),
            SignedDuration::from_hours(24),
        )
        .unwrap()
    }

    fn configuration(bundles: &[Option<&str>]) -> MutatingWebhookConfiguration {
        let webhook = |(number, bundle): (usize, Option<&str>)| {
            let bundle = bundle.map(|bundle| ByteString(bundle.as_bytes().to_vec()));
            json!({
                "name": format!("{number}.sluice.dev"),
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"caBundle": bundle, "service": {"name": "sluice", "namespace": "sluice-system"}},
            })
        };
        let webhooks: Vec<Value> = bundles.iter().copied().enumerate().map(webhook).collect();
        let metadata = json!({"name": "sluice", "uid": "u", "resourceVersion": "7"});
        serde_json::from_value(json!({"metadata": metadata, "webhooks": webhooks})).unwrap()
    }

    #[test]
    fn corrects_every_webhook_and_nothing_else() {
        let observed = configuration(&[Some("bundle\n"), None]);
        assert_eq!(
            correction(&observed, "bundle\n"),
            json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "MutatingWebhookConfiguration",
                "metadata": {"name": "sluice", "uid": "u", "resourceVersion": "7"},
                "webhooks": [
                    {"name": "0.sluice.dev", "clientConfig": {"caBundle": "YnVuZGxlCg=="}},
                    {"name": "1.sluice.dev", "clientConfig": {"caBundle": "YnVuZGxlCg=="}},
                ],
            })
        );
    }

    #[test]
    fn finds_what_has_another_bundle() {
        let observed = configuration(&[Some("bundle\n"), Some("other\n"), None]);
        let expected = ["1.sluice.dev", "2.sluice.dev"];
        assert_eq!(lacking(&observed, "bundle\n"), expected);
    }

    #[test]
    fn trusts_what_stands_in_every_bundle() {
        let (ours, other) = (ca(), ca());
        let both = format!("{}{}", other.pem(), ours.pem());
        for (bundles, trusted) in [
            (vec![Some(ours.pem())], true),
            (vec![Some(both.as_str()), Some(ours.pem())], true),
            (vec![Some(ours.pem()), None], false),
            (vec![Some(ours.pem()), Some(other.pem())], false),
            (vec![Some("rubbish")], false),
        ] {
            assert_eq!(
                trusts(&configuration(&bundles), ours.certificate()),
                trusted,
                "{bundles:?}"
            );
        }
    }
}
