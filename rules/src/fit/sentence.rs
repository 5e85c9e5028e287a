//! The words for a misfit, with the way out.

use super::{Breach, Misfit};
use std::fmt;

impl fmt::Display for Misfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            by,
            container,
            breach,
        } = self;
        let (of, its) = match container {
            Some(name) => (format!("container {name:?}"), "its resources"),
            None => (
                "a pod with all its containers".to_owned(),
                "the resources of its containers",
            ),
        };
        match breach {
            Breach::BelowMin { amount, min } => write!(
                out,
                "{by} asks for {amount} of at least {min}, and {of} has less; raise it in {its}"
            )?,
            Breach::AboveMax { amount, max } => write!(
                out,
                "{by} allows {amount} of {max} at most, and {of} has more; lower it in {its}"
            )?,
            Breach::Ratio { resource, most } => write!(
                out,
                "{by} allows a limit of {resource} of {most} times the request at most, and {of} has more; raise the request in {its}, or \
                 lower the limit"
            )?,
            Breach::NotSaid { amounts } => write!(
                out,
                "{by} asks for {}, and {of} says none; write it into {its}, or into the defaults of a LimitRange",
                amounts.join(", ")
            )?,
        }
        write!(out, ", or change {by}")
    }
}
