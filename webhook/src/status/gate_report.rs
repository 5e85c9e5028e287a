//! The facts that only a gate can tell, which it sends in headers of its question.

use axum::http::HeaderMap;
use jiff::Timestamp;
use rules::dependent::Dependent;
use rules::probed::Probed;
use rules::reboot::Reboot;
use wire::{probe, reboot};

/// The facts that only a gate can tell. The default holds none, for a waiter without a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GateReport {
    /// The outcomes of the gate's tries of addresses outside of the cluster, or the fact that it is too old to try any.
    pub(super) probed: Probed,
    /// The present boot of the node, where the gate has opened in an earlier one; `None` for any other gate.
    pub(super) rebooted: Option<Reboot>,
}

impl GateReport {
    /// Reads the facts from the headers of a question that has come `now`. A gate without the header of tried addresses is too old to try any.
    pub(super) fn of(headers: &HeaderMap, now: Timestamp) -> Self {
        let header = |name: &str| {
            let value = headers.get(name)?;
            Some(value.to_str().unwrap_or_default())
        };
        // A gate that can try an address always sends this header.
        let probed =
            header(probe::HEADER).map_or(Probed::Unable, |value| Probed::Told(probe::read(value)));
        let rebooted = header(reboot::HEADER).and_then(reboot::Reboot::read);
        let rebooted = rebooted.map(|told| Reboot::told(told, now));
        Self { probed, rebooted }
    }

    /// Puts the facts that the gate has told into the dependent of its pod. After a boot the wait counts from the moment at which the gate asked
    /// anew.
    pub(super) fn tell(&self, dependent: &mut Dependent) {
        dependent.probed = self.probed.clone();
        dependent.rebooted.clone_from(&self.rebooted);
        // The wait of the earlier boot is over.
        dependent.started = self.asked().or(dependent.started);
    }

    /// The time at which the gate began to ask anew after a boot of its node; `None` without such a boot.
    pub(super) fn asked(&self) -> Option<Timestamp> {
        self.rebooted.as_ref().map(|reboot| reboot.asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(headers: &[(&'static str, &'static str)]) -> GateReport {
        let headers = headers.iter().map(|(name, value)| {
            let name = axum::http::HeaderName::from_static(name);
            (name, axum::http::HeaderValue::from_static(value))
        });
        GateReport::of(&headers.collect(), Timestamp::from_second(1000).unwrap())
    }

    #[test]
    fn a_gate_of_an_older_version_tells_nothing() {
        let told = report(&[]);
        assert_eq!(told.probed, Probed::Unable);
        assert_eq!(told.rebooted, None);
    }

    #[test]
    fn a_gate_tells_when_its_node_was_booted_and_since_when_it_asks() {
        let told = report(&[("sluice-probed", ""), ("sluice-rebooted", "b-1,900,30")]);
        assert_eq!(told.probed, Probed::Told(Vec::new()));
        let rebooted = told.rebooted.unwrap();
        assert_eq!(rebooted.id, "b-1");
        assert_eq!(rebooted.booted.as_second(), 900);
        assert_eq!(rebooted.asked.as_second(), 970);
    }

    #[test]
    fn numbers_beyond_any_time_do_no_harm() {
        let odd = "b,9223372036854775807,18446744073709551615";
        let rebooted = report(&[("sluice-rebooted", odd)]).rebooted.unwrap();
        assert_eq!(rebooted.booted, Timestamp::UNIX_EPOCH);
        assert_eq!(rebooted.asked, Timestamp::UNIX_EPOCH);
        assert_eq!(report(&[("sluice-rebooted", "b/c,1,1")]).rebooted, None);
    }
}
