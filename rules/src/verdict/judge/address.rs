//! What is not in the cluster: judged by the word of the dependent's gate, which alone can try it.

use super::basis::Judge;
use super::home::Home;
use crate::dependency::Address;
use crate::judged::{Judged, Reason, unmet};
use crate::kstatus::Status;
use crate::object::name;
use crate::probed;
use serde_json::Value;

impl Judge<'_> {
    /// An address, and that the gate is to try it.
    pub(super) fn address(&self, address: &Address) -> Judged {
        self.note_probe(address.probe());
        probed::judge(address, &self.dependent.probed)
    }

    /// Whether a Service accepts connections by its own name and port, as the pod's own network finds it. Of several ports the first
    /// that speaks TCP counts.
    pub(super) fn connects(&self, service: &Value, home: Home<'_>) -> Judged {
        let ports = service["spec"]["ports"].as_array();
        let mut ports = ports.into_iter().flatten();
        let speaks_tcp = |port: &&Value| matches!(port["protocol"].as_str(), None | Some("TCP"));
        let port = ports.find(speaks_tcp).and_then(|it| it["port"].as_u64());
        let Some(port) = port.and_then(|port| u16::try_from(port).ok()) else {
            let message = "the Service has no TCP port in spec.ports; write one, or tcp://HOST:PORT in the list";
            return unmet(Status::Unknown, Reason::Unjudgeable, message.to_owned());
        };
        let namespace = home.namespace.unwrap_or_default();
        let host = format!("{}.{namespace}.svc", name(service));
        self.address(&Address::connection(&host, port))
    }
}
