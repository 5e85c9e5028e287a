use super::source::{Source, charts};
use harness::cluster::{Manifest, items, other, text};
use harness::gitops::{address, application};
use serde_json::{Value, json};

/// A way to deploy an application: an engine, and how it finds differences and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Argo CD with its default comparison: the last applied object against the stored object.
    LastApplied,
    /// Argo CD by a dry run of server-side apply, without the changes that webhooks make.
    ServerSideDiff,
    /// Argo CD by a dry run of server-side apply, with the changes of webhooks.
    MutationsIncluded,
    /// Argo CD that writes by PUT.
    Replace,
    /// Flux's kustomize-controller, which waits for health.
    Kustomization,
    /// Flux's helm-controller with drift detection.
    HelmRelease,
}

/// The state of an application, as the engine's own object has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Says {
    /// Synced and Healthy, or Ready.
    Settled,
    /// Synced and Progressing, or Ready unknown while it progresses.
    Progressing,
    /// Synced and Suspended, which Argo CD says of a suspended Job.
    Suspended,
    /// A sync runs: Argo CD sends objects, or waits for a wave or a hook.
    Syncing,
    /// Any other state, in the engine's words.
    Other(String),
}

impl Way {
    /// Every way.
    pub(super) const ALL: [Self; 6] = [
        Self::LastApplied,
        Self::ServerSideDiff,
        Self::MutationsIncluded,
        Self::Replace,
        Self::Kustomization,
        Self::HelmRelease,
    ];

    /// The name of the way, which is part of the names of namespaces and folders.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::LastApplied => "last-applied",
            Self::ServerSideDiff => "server-side-diff",
            Self::MutationsIncluded => "mutations-included",
            Self::Replace => "replace",
            Self::Kustomization => "kustomization",
            Self::HelmRelease => "helmrelease",
        }
    }

    pub(super) fn is_argo(self) -> bool {
        !matches!(self, Self::Kustomization | Self::HelmRelease)
    }

    /// Returns a manifest in its form for this way. By PUT a Job can only be written again where it brings its own selector: otherwise the API server
    /// adds labels to its template, and then finds them missing.
    pub(super) fn adapt(self, manifest: &Manifest) -> Manifest {
        let manifest = manifest.clone();
        if self != Self::Replace || manifest.kind() != "Job" {
            return manifest;
        }
        let labels = json!({"matchLabels": {"app": manifest.name()}});
        manifest
            .with("/spec/manualSelector", true)
            .with("/spec/selector", labels)
    }

    /// Returns the reference, `kind/name`, of the engine's own object that deploys the application into a namespace.
    pub(super) fn reference(self, namespace: &str) -> String {
        match self {
            Self::Kustomization => "kustomization/app".to_owned(),
            Self::HelmRelease => "helmrelease/app".to_owned(),
            _ => format!("application/{namespace}"),
        }
    }

    /// Returns the objects by which a user makes the engine deploy a source into a namespace.
    pub(super) fn objects(self, namespace: &str, source: &Source) -> Vec<Manifest> {
        match self {
            Self::Kustomization => kustomization(namespace, self.label(), source),
            Self::HelmRelease => helm_release(namespace, source),
            _ => vec![self.application(namespace, source)],
        }
    }

    /// Returns the Application of Argo CD, compared and written in this way. A sync that is refused is tried again, with the source of that time.
    fn application(self, namespace: &str, source: &Source) -> Manifest {
        let backoff = json!({"duration": "5s", "factor": 1});
        let retry = json!({"limit": 20, "refresh": true, "backoff": backoff});
        let automated = json!({"prune": true, "selfHeal": true});
        let finalizer = "resources-finalizer.argocd.argoproj.io/background";
        let application = other(application(namespace, &source.name, self.label()))
            .with("/metadata/finalizers", json!([finalizer]))
            .with(
                "/spec/syncPolicy",
                json!({"automated": automated, "retry": retry}),
            );
        let compared = |how| {
            application
                .clone()
                .annotated("argocd.argoproj.io/compare-options", how)
        };
        match self {
            Self::ServerSideDiff => compared("ServerSideDiff=true"),
            Self::MutationsIncluded => compared("ServerSideDiff=true,IncludeMutationWebhook=true"),
            Self::Replace => {
                application.with("/spec/syncPolicy/syncOptions", json!(["Replace=true"]))
            }
            _ => application,
        }
    }

    /// Reads the state of the application from the engine's own object, that of [`Self::reference`].
    pub(super) fn says(self, object: &Value) -> Says {
        if self.is_argo() {
            argo(object)
        } else {
            flux(object)
        }
    }

    /// Whether the engine's own object tells of a failed attempt to deploy.
    pub(super) fn has_failed(self, object: &Value) -> bool {
        let status = &object["status"];
        let failed = |it: &Value| text(it, "/lastReconciledStatus") != "ReconciliationSucceeded";
        match self {
            Self::Kustomization => items(status, "/history").iter().any(failed),
            Self::HelmRelease => items(status, "/history").len() != 1,
            _ => status["operationState"]["retryCount"].as_u64() > Some(0),
        }
    }

    /// Returns a merge patch of the engine's own object that makes it try again after a failure; `None` for Argo CD and a Kustomization, which do so
    /// by themselves.
    pub(super) fn tries_again(self) -> Option<Value> {
        let again = json!({"strategy": {"name": "RetryOnFailure", "retryInterval": "5s"}});
        let spec = json!({"spec": {"install": again, "upgrade": again}});
        (self == Self::HelmRelease).then_some(spec)
    }

    /// Returns the fields of the engine's own object that change with every write of the engine, even one that is undone again.
    pub(super) fn deeds(self, object: &Value) -> Value {
        let status = &object["status"];
        match self {
            Self::Kustomization => json!([status["lastAppliedRevision"], status["inventory"]]),
            Self::HelmRelease => status["history"].clone(),
            _ => json!([status["operationState"]["startedAt"], status["history"]]),
        }
    }
}

fn kustomization(namespace: &str, path: &str, source: &Source) -> Vec<Manifest> {
    let repository = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
        "metadata": {"name": "app", "namespace": namespace},
        "spec": {"interval": "1m", "url": address(&source.name), "ref": {"branch": "main"}},
    });
    let kustomization = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": "app", "namespace": namespace},
        "spec": {
            "interval": "1m", "retryInterval": "5s", "timeout": "5m", "prune": true, "wait": true,
            "path": path, "targetNamespace": namespace,
            "sourceRef": {"kind": "GitRepository", "name": "app"},
        },
    });
    vec![other(repository), other(kustomization)]
}

fn helm_release(namespace: &str, source: &Source) -> Vec<Manifest> {
    let repository = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
        "metadata": {"name": "app", "namespace": namespace},
        "spec": {"interval": "1m", "url": charts()},
    });
    let chart = json!({
        "chart": source.name, "version": "*", "interval": "1m",
        "sourceRef": {"kind": "HelmRepository", "name": "app"},
    });
    let release = json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": "app", "namespace": namespace},
        "spec": {
            "interval": "1m", "timeout": "5m", "chart": {"spec": chart},
            "driftDetection": {"mode": "enabled"},
        },
    });
    vec![other(repository), other(release)]
}

fn argo(object: &Value) -> Says {
    let sync = text(object, "/status/sync/status");
    let health = text(object, "/status/health/status");
    let phase = text(object, "/status/operationState/phase");
    match (sync, health, phase) {
        ("Synced", "Healthy", "Succeeded") => Says::Settled,
        ("Synced", "Progressing", "Succeeded") => Says::Progressing,
        ("Synced", "Suspended", "Succeeded") => Says::Suspended,
        (_, _, "Running") => Says::Syncing,
        _ => Says::Other(format!("{:#}", object["status"])),
    }
}

fn flux(object: &Value) -> Says {
    let ready = items(object, "/status/conditions")
        .iter()
        .find(|condition| condition["type"] == "Ready");
    let (status, reason) = ready.map_or(("", ""), |ready| {
        (text(ready, "/status"), text(ready, "/reason"))
    });
    let current = object["status"]["observedGeneration"] == object["metadata"]["generation"];
    match (status, reason) {
        ("True", _) if current => Says::Settled,
        ("Unknown", "Progressing") => Says::Progressing,
        _ => Says::Other(format!("{:#}", object["status"])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness::cluster::{job, service, yaml};

    #[test]
    fn only_a_job_that_is_put_brings_its_selector() {
        let selects = |way: Way, it| yaml(&[way.adapt(&it)]).contains("manualSelector");
        assert!(selects(Way::Replace, job("x")));
        assert!(!selects(Way::Replace, service("x")));
        assert!(!selects(Way::LastApplied, job("x")));
    }

    #[test]
    fn an_application_that_is_out_of_sync_is_neither_settled_nor_progressing() {
        let status = |sync, health| {
            json!({"status": {"sync": {"status": sync}, "health": {"status": health},
                "operationState": {"phase": "Succeeded"}}})
        };
        let says = |sync, health| Way::Replace.says(&status(sync, health));
        assert_eq!(says("Synced", "Healthy"), Says::Settled);
        assert_eq!(says("Synced", "Progressing"), Says::Progressing);
        for (sync, health) in [("OutOfSync", "Healthy"), ("Synced", "Degraded")] {
            assert!(matches!(says(sync, health), Says::Other(_)));
        }
    }

    #[test]
    fn an_old_readiness_of_flux_does_not_count() {
        let ready = |seen, status, reason| {
            let ready = json!({"type": "Ready", "status": status, "reason": reason});
            Way::HelmRelease.says(&json!({"metadata": {"generation": 2},
                "status": {"observedGeneration": seen, "conditions": [ready]}}))
        };
        assert_eq!(ready(2, "True", "UpgradeSucceeded"), Says::Settled);
        assert_eq!(ready(2, "Unknown", "Progressing"), Says::Progressing);
        assert!(matches!(
            ready(1, "True", "UpgradeSucceeded"),
            Says::Other(_)
        ));
        assert!(matches!(
            ready(2, "False", "HealthCheckFailed"),
            Says::Other(_)
        ));
    }
}
