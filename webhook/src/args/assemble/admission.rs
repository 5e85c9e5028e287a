//! Assembles admission, its certificates, and the parts of its gates.

use super::Parts;
use crate::admission::{self, Admission, Cached, CreationHolds};
use crate::args::{Args, Windows};
use crate::authority::{self, Authority};
use crate::event::Outbox;
use crate::gate_spec::{self, Fixed};
use crate::inject::{Options, Prefetch};
use crate::known::Known;
use crate::stranded::{self, Lookout};
use axum::Router;
use certs::Lifetimes;
use std::sync::Arc;

impl Args {
    /// Returns the router of admission, and starts the tasks that keep the certificates, look for stranded pods and keep the parts of a gate up to
    /// date.
    pub(super) fn admission(
        &self,
        parts: &mut Parts,
        known: &Arc<Known>,
        lifetimes: Lifetimes,
        fixed: Fixed,
        outbox: Outbox,
    ) -> Router {
        let options = Options {
            config_depends_on: self.honor_config_depends_on,
            every_pod: false,
            skip_windows: self.windows == Windows::Skip,
            holds: self.holds,
            prefetch: if self.prefetch_default {
                Prefetch::All
            } else {
                Prefetch::Asked
            },
            creation_holds: self.creations_configuration.is_some(),
        };
        let metrics = admission::AdmissionMetrics::register(&mut parts.registry);
        let cached = Arc::new(Cached(Arc::clone(known)));
        let limits = admission::AdmissionLimits::default();
        let limits = parts.memory.map_or(limits, |memory| limits.within(memory));
        let (admission, spec) = Admission::new(options, limits, parts.alarm.clone(), metrics);
        let creations = CreationHolds {
            api_servers: self.api_servers.clone(),
            known: Arc::clone(known),
            clock: parts.clock.clone(),
        };
        let admission = admission.knowing(cached).holding(creations);
        let config = authority::Config {
            namespace: self.service_namespace.clone(),
            secret: self.ca_secret.clone(),
            issued: self.issued_secret.clone(),
            cluster_trust_bundle: self.cluster_trust_bundle.clone(),
            service: self.service_name.clone(),
            instance: self.instance.clone(),
            webhook_configuration: self.webhook_configuration.clone(),
            creations_configuration: self.creations_configuration.clone(),
            names: vec![
                fixed.server_name(),
                format!("{}.cluster.local", fixed.server_name()),
            ],
            lifetimes,
        };
        let metrics = authority::AuthorityMetrics::register(&mut parts.registry);
        let resolver = Arc::clone(&parts.resolver);
        let (authority, bundle) =
            Authority::new(&parts.client, config, resolver, &parts.readiness, metrics);
        let keep = authority.run(parts.clock.clone(), parts.shutdown.clone());
        parts.tasks.keep("authority", keep);
        let lookout = Lookout {
            client: parts.client.clone(),
            resolver: Arc::clone(&parts.resolver),
            cluster_trust_bundle: self.cluster_trust_bundle.clone(),
            outbox,
            clock: parts.clock.clone(),
            count: stranded::register(&mut parts.registry),
        };
        let keep = lookout.keep(bundle.clone());
        parts.tasks.keep("stranded pods", keep);
        let found = parts
            .readiness
            .condition("gate", "the address of our own Service is not known yet");
        let keep = gate_spec::maintain(parts.client.clone(), fixed, bundle, spec, found);
        parts.tasks.keep("gate spec", keep);
        Arc::new(admission).router()
    }
}
