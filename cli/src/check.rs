//! `check`: whether the installed sluice can do its work, and what is wrong with health rules before they are applied.

mod controller;
mod finding;
mod gates;
mod health;
mod namespaces;
mod rights;
mod seen;
mod webhook;

use crate::health_rules;
use crate::output::{self, Output};
use anyhow::Result;
use finding::{Checked, Result as Outcome};
use kube::Client;
use seen::Seen;
use std::path::Path;
use std::process::ExitCode;

/// The health rules of a file; asks no cluster.
pub(crate) fn rules(path: &Path) -> Result<ExitCode> {
    let (name, rules, problems) = health_rules::read(path)?;
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() {
        eprintln!("{name}: {} rules are in order", rules.len());
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

/// The installed sluice.
pub(crate) async fn cluster(client: &Client, output: Output) -> Result<ExitCode> {
    let seen = Seen::read(client).await?;
    let findings = judge(&seen);
    for finding in &findings {
        output::print(finding, output)?;
    }
    let wrong = findings.iter().any(|it| it.result == Outcome::Problem);
    Ok(if wrong {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Every check, in the order in which one needs the other: where nothing is installed, the rest says nothing.
fn judge(seen: &Seen) -> Vec<Checked> {
    let deployment = match controller::find(&seen.installation.deployments) {
        Ok(deployment) => deployment,
        Err(finding) => return vec![finding, webhook::left_behind(&seen.configuration)],
    };
    let mut findings = vec![
        controller::replicas(deployment),
        controller::versions(deployment),
    ];
    findings.extend(webhook::configuration(&seen.configuration));
    let (rules, of_rules) = health::rules(deployment, &seen.installation.health_rules);
    findings.extend(of_rules);
    findings.extend(rights::kinds(&seen.installation.roles, &rules));
    findings.extend(namespaces::labelled(&seen.namespaces));
    findings.push(gates::stranded(&seen.stranded, &seen.pending));
    findings
}

#[cfg(test)]
mod tests;
