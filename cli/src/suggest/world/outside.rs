//! Finds the address outside of the chart that a loop waits for, where the gate can try that address itself.

use super::World;
use crate::suggest::container::Container;
use crate::suggest::environment::taken_over;
use crate::suggest::host;
use crate::suggest::reason::Reason;
use crate::suggest::target::{Form, Target};
use crate::suggest::wait::Address;

impl World<'_> {
    /// The target of an address that the gate tries itself. `None` where the address has no port, and its scheme has no usual one, and for the
    /// name of an object that is not there.
    ///
    /// # Errors
    ///
    /// The host or the port is a variable that no gate can have, the loop asks with credentials, or the host is made of a default.
    pub(super) fn outside(
        &self,
        address: &Address,
        container: &Container,
    ) -> Result<Option<Target>, Reason> {
        let host = taken_over(&address.host, container, self.pods)?;
        if address.logs_in && address.succeeds {
            return Err(Reason::LogsIn(host));
        }
        let known = Address {
            port: taken_over(&address.port, container, self.pods)?,
            ..address.clone()
        };
        let entry = Address { host, ..known };
        if has_a_default(&entry.host) {
            return Err(Reason::OfValues(entry.host));
        }
        let of_values = self.is_of_values(&entry.host);
        if !of_values && self.is_of_the_release(&entry.host) {
            return Ok(None);
        }
        Ok(entry.entry().map(|name| of_address(name, of_values)))
    }

    /// The target of a host whose name the gate looks up itself, with the entry `dns://HOST`. An error for a variable that no gate can have.
    pub(super) fn outside_name(
        &self,
        asked: &Address,
        container: &Container,
    ) -> Result<Target, Reason> {
        let host = taken_over(&asked.host, container, self.pods)?;
        let of_values = self.is_of_values(&host);
        Ok(of_address(format!("dns://{host}"), of_values))
    }

    /// Whether a host has the name of the release or one that the set gives in its place, and has the name of no sub-chart that is missing
    /// here: such a host is never outside of the cluster, and no object of the chart has its name.
    fn is_of_the_release(&self, host: &str) -> bool {
        let is_missing = || self.missing.iter().any(|it| host.contains(it.as_str()));
        let mut names = std::iter::once(&self.release).chain(self.overrides);
        let is_one = |name: &&str| {
            host.strip_prefix(name)
                .is_some_and(|it| it.starts_with('-'))
        };
        names.any(is_one) && !is_missing()
    }

    /// Whether a value of the chart is a host, or has it in a URL or another address, so that the user chooses the host.
    pub(super) fn is_of_values(&self, host: &str) -> bool {
        let mut texts = self.values.iter();
        texts.any(|it| it == host || host::is_within(it, host))
    }
}

/// Whether a name begins with `localhost-`, so that a chart has made it of the usual default for a host that the user gives:
/// `localhost-primary`.
pub(super) fn has_a_default(host: &str) -> bool {
    host.starts_with("localhost-")
}

fn of_address(name: String, of_values: bool) -> Target {
    Target {
        form: Form::Address { of_values },
        name,
        namespace: None,
        object: None,
        asks: None,
    }
}
