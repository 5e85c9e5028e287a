//! Addresses, in the cluster or outside: judged by the report of the dependent's gate, because only the gate connects from the pod's own
//! network.

use super::basis::Judge;
use super::home::Home;
use crate::dependency::Address;
use crate::judged::{Judged, Reason, unmet};
use crate::kstatus::Status;
use crate::object::name;
use crate::probed;
use serde_json::Value;

impl Judge<'_> {
    /// Judges an address by the gate's last report, and notes that the gate is to try the address.
    pub(super) fn address(&self, address: &Address) -> Judged {
        self.note_probe(address.probe());
        probed::judge(address, &self.dependent.probed)
    }

    /// Judges whether a Service accepts connections at its own name and port, by the report of the dependent's gate. Of several ports the first TCP
    /// port counts; a Service without one cannot be judged.
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
