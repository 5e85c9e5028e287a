//! `check`: whether the installed sluice can do its work, and the faults of health rules before they are applied.

mod admission;
mod before;
mod controller;
mod creations;
mod finding;
mod gates;
mod health;
mod holds;
mod inputs;
mod namespaces;
mod node_rules;
mod prefetch;
mod rights;
mod trial;
mod webhook;

use crate::health_rules;
use crate::installation::{Installation, Published, Settings};
use crate::output::{self, Output, counted};
use crate::style::Style;
use anyhow::{Result, bail};
use before::Before;
use controller::Replicas;
use finding::{Checked, Result as Outcome};
use inputs::Seen;
use jiff::Timestamp;
use kube::Client;
use rules::lookup::{Lookup, Unavailable};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio::time::sleep;
use trial::TrialOutcome;

/// The pause between two checks of the cluster, for `check --wait`.
const PAUSE: Duration = Duration::from_secs(2);

/// Checks a file of health rules without a cluster: prints each problem, or else the number of rules, to standard error. A problem makes the
/// exit code 1.
pub(crate) fn rules(path: &Path) -> Result<ExitCode> {
    let (name, rules, problems) = health_rules::read(path)?;
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() {
        eprintln!("{name}: {} in order", counted(rules.len(), "rule"));
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

/// The two things that `check` can look at: an installed sluice, or a cluster without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CheckTarget {
    /// The installed sluice, with a pod that is tried in this namespace.
    Installed(String),
    /// The cluster, before sluice is installed in this namespace.
    Before(String),
}

/// Checks the cluster and prints one line for each finding; a problem makes the exit code 1. Checks again every two seconds until there is no
/// problem and no error, or until `patience` is over, and prints only the last findings.
pub(crate) async fn cluster(
    client: &Client,
    what: &CheckTarget,
    patience: Duration,
    (output, style): (Output, Style),
) -> Result<ExitCode> {
    let end = Instant::now() + patience;
    let findings = loop {
        let found = look(client, what).await;
        let is_fine = found.as_ref().is_ok_and(|it| !is_wrong(it));
        if is_fine || Instant::now() + PAUSE > end {
            break found?;
        }
        sleep(PAUSE).await;
    };
    for finding in &findings {
        match output {
            Output::Text => output::print_line(&finding.line(style)),
            Output::Json => output::print(finding, output)?,
        }
    }
    Ok(if is_wrong(&findings) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

async fn look(client: &Client, what: &CheckTarget) -> Result<Vec<Checked>> {
    Ok(match what {
        CheckTarget::Installed(namespace) => {
            judge(&Seen::read(client, namespace).await?, Timestamp::now())
        }
        CheckTarget::Before(namespace) => before::judge(&Before::read(client, namespace).await?),
    })
}

fn is_wrong(findings: &[Checked]) -> bool {
    findings.iter().any(|it| it.result == Outcome::Problem)
}

/// Prints three lines: the version of the installed chart, by the label `app.kubernetes.io/version` of the controller's Deployment, the
/// image of the controller and the image of the gate. A caller that may not list Deployments gets the first line alone, as the chart
/// publishes it. The exit code is 0.
///
/// # Errors
///
/// The API server cannot be asked, or the cluster has no Deployment of the controller, or several.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) async fn versions(client: &Client) -> Result<ExitCode> {
    let installation = Installation::read(client, None).await?;
    match controller::find(&installation.deployments) {
        Ok(deployment) => print!("{}", controller::Versions::of(deployment)),
        Err(finding) => match &installation.published {
            Some(published) => println!("chart {}", published.version),
            None => bail!("{}", finding.message),
        },
    }
    Ok(ExitCode::SUCCESS)
}

/// The findings of every check of an installed sluice. Where there is not exactly one controller, most checks are left out; see
/// [`without_controller`]. For a caller that may not list Deployments the settings that the chart publishes count.
fn judge(seen: &Seen, now: Timestamp) -> Vec<Checked> {
    let installation = &seen.installation;
    let found = controller::find(&installation.deployments);
    let mut is_explained = false;
    let (deployment, settings, mut findings) = match (found, &installation.published) {
        (Ok(deployment), _) => {
            let trouble = controller::trouble(&seen.own, now);
            is_explained = Replicas::of(deployment).are_silent()
                && trouble.as_ref().is_some_and(controller::never_ran);
            let findings = vec![
                controller::replicas(deployment, trouble.as_ref()),
                controller::versions(deployment),
            ];
            (Some(deployment), Settings::of(deployment), findings)
        }
        (Err(finding), Some(published)) => {
            let mut findings = vec![finding, controller::version_of_chart(&published.version)];
            findings.extend(withheld(published));
            (None, published.settings.clone(), findings)
        }
        (Err(finding), None) => return without_controller(finding, seen),
    };
    // Where no replica runs and its pods say why, it is no news that nothing has written the CA and nothing answers the API server.
    findings.extend(webhook::configuration(&seen.configuration, is_explained));
    findings.extend(creations::held(deployment, &seen.creations));
    if !(is_explained && matches!(seen.tried.answer, TrialOutcome::Refused(_))) {
        findings.push(admission::judge(&seen.tried));
    }
    findings.extend(prefetch::judge(&seen.tried.namespace, &seen.tried.pulls));
    let (rules, of_rules) = health::rules(&settings, &installation.health_rules);
    findings.extend(of_rules);
    let watch_role = settings.watch_role.as_deref();
    findings.extend(rights::kinds(&installation.roles, watch_role, &rules));
    findings.extend(namespaces::labelled(&seen.namespaces));
    findings.extend(node_rules::agents(&seen.agents));
    findings.push(gates::stranded(&seen.stranded, &seen.pending));
    findings.push(holds::kept(deployment, &seen.held));
    findings
}

/// A warning that the caller may not see the values `nodeRules` and `extraArgs`, where they are set and the chart does not publish them;
/// `None` where neither is.
fn withheld(published: &Published) -> Option<Checked> {
    let values = ["nodeRules", "extraArgs"].into_iter();
    let values: Vec<_> = values.filter(|it| published.withholds(it)).collect();
    (!values.is_empty()).then(|| {
        let what = format!("the chart's values {}", values.join(", "));
        Checked::unseen("settings", &what, Unavailable::Forbidden)
    })
}

/// The lines of `check` where there is not exactly one controller; `finding` says why and comes first. Lines about objects that an installation
/// left behind follow only where there is certainly no controller; else the webhook configuration is checked, if there is one.
fn without_controller(finding: Checked, seen: &Seen) -> Vec<Checked> {
    let mut findings = vec![finding];
    if seen.is_not_installed() {
        findings.push(webhook::left_behind(&seen.configuration));
        findings.extend(creations::left_behind(&seen.creations));
        findings.extend(gates::left_behind(&seen.pending));
        findings.extend(holds::left_behind(&seen.held));
    } else if seen.configuration != Lookup::NotFound {
        findings.extend(webhook::configuration(&seen.configuration, false));
    }
    findings
}

#[cfg(test)]
mod tests;
