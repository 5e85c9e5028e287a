//! An item that names an address outside of the cluster.

use super::super::address;
use super::super::names::{self, NameRule};
use super::super::problem::{Flaw, Problem};
use super::fields::{Field, Fields};
use crate::dependency::{Asks, Dependency, Reference};
use crate::text::Quoted;

/// The keys that an item may have beside the one that names an address.
const BESIDE: [&str; 5] = ["status", "container", "timeout", "on-timeout", "stable"];

impl<'n> Fields<'n> {
    /// Reads an item that names an address outside of the cluster in `field`, whose key is `tcp`, `http` or `dns`. A key that means nothing
    /// beside it is an error.
    pub(super) fn address(&self, field: &Field<'n>) -> Result<Dependency, Flaw> {
        if let Some(optional) = self.find("optional") {
            return Err(Flaw::at(optional.at, Problem::OptionalAddress));
        }
        let beside = |it: &&Field<'_>| it.key != field.key && !BESIDE.contains(&it.key);
        if let Some(idle) = self.pairs.iter().find(beside) {
            return Err(Flaw::at(idle.at, Problem::BesidePart(idle.key, field.key)));
        }
        let mut address = address::of_key(field.key, field.text("a text")?)?;
        if let Some(status) = self.find("status") {
            const TAKES: &str = "a status code from 100 to 599, or two with \"-\" between them";
            let Asks::Answer(codes) = &mut address.asks else {
                let problem = Problem::BesidePart("status", field.key);
                return Err(Flaw::at(status.at, problem));
            };
            let said = status.text(TAKES)?.text;
            let found = || status.bad(TAKES, Quoted(said).to_string());
            *codes = address::codes(said).ok_or_else(found)?;
        }
        if let Some(container) = self.find("container") {
            if address.variables().next().is_none() {
                return Err(Flaw::at(container.at, Problem::IdleContainer));
            }
            let name = container.text("a text")?;
            names::check("container", name, NameRule::Label)?;
            address.container = Some(name.text.to_owned());
        }
        Ok(Dependency::on(Reference::Address(address)))
    }
}
