//! Opens the ports. Each port has its router, its threads and its share of the memory.

use super::Parts;
use crate::admin;
use crate::args::Args;
use crate::memory_alarm::MemoryAlarm;
use crate::server::{self, Port, Server, ServerLimits};
use crate::tasks::Tasks;
use anyhow::{Context, Result};
use axum::Router;
use std::sync::Arc;
use tokio::runtime::Handle;
use tracing::info;

impl Args {
    /// Opens the ports of admission, of the status service, and of probes and metrics, and returns the tasks that serve them. Admission is served
    /// by its own threads.
    pub(super) fn listen(
        &self,
        mut parts: Parts,
        admission: Router,
        status: Router,
    ) -> Result<Tasks> {
        let metrics = server::ServerMetrics::register(&mut parts.registry);
        let for_gates = parts.resolver.config_for_gates();
        let for_gates = for_gates.context("failed to set up TLS")?;
        let pem = self.admission_client_ca.as_deref();
        let for_api_servers = pem
            .map_or(Ok(Vec::new()), |pem| certs::certificates(pem.as_bytes()))
            .map_err(anyhow::Error::from)
            .and_then(|clients| Ok(parts.resolver.config_for_api_servers(&clients)?))
            .context("failed to use the certificates of --admission-client-ca")?;
        let Parts {
            readiness,
            shutdown,
            registry,
            admission: own,
            memory,
            alarm,
            ..
        } = parts;
        let shared = Handle::current();
        info!(memory, "Granted");
        let server = |port, tls, alarm| Server {
            port,
            tls,
            limits: ServerLimits::of(port, memory),
            metrics: metrics.clone(),
            shutdown: shutdown.clone(),
            alarm,
        };
        // API servers are few, and an admission that finds no place fails: gates, which ask again, give way alone.
        let never = MemoryAlarm::default;
        let for_admission = server(Port::Admission, Some(for_api_servers), never());
        let for_status = server(Port::Status, Some(for_gates), alarm);
        let for_admin = server(Port::Admin, None, never());
        let admin = admin::router(readiness, Arc::new(registry));
        let (spawner, servers) = Tasks::new();
        for (server, port, router, threads) in [
            (for_admission, self.admission_port, admission, &own),
            (for_status, self.status_port, status, &shared),
            (for_admin, self.admin_port, admin, &shared),
        ] {
            let _entered = threads.enter();
            let name = format!("{} server", server.port.label());
            let listener = server.listen(port);
            let listener = listener.with_context(|| format!("failed to listen on port {port}"))?;
            spawner.keep_on(threads, name, server.serve(listener, router));
        }
        Ok(servers)
    }
}
