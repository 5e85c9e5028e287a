//! `release --all-holds`: releases everything that sluice holds, because after an uninstall nothing else would.

use super::free::{Freed, HeldKind, ReleaseOptions, free, kept_by_others};
use crate::access;
use crate::held::Held;
use crate::output::{counted, printable};
use anyhow::{Result, bail};
use futures::{StreamExt, stream};
use kube::Client;
use rules::keys;
use rules::lookup::Lookup;
use serde_json::Value;
use std::process::ExitCode;

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the answer of a command line tool"
)]
pub(super) async fn run(
    client: &Client,
    namespace: Option<&str>,
    manner: ReleaseOptions<'_>,
) -> Result<ExitCode> {
    let all = found(Held::read(client, namespace).await?, namespace)?;
    let dry = if manner.dry_run { " (dry run)" } else { "" };
    if all.is_empty() {
        println!("nothing is held: there is nothing to release");
        return Ok(ExitCode::SUCCESS);
    }
    let freed = all.iter().map(async |(what, object)| {
        let freed = free(client, *what, object, manner).await;
        (*what, name(*what, object), freed)
    });
    let mut freed = stream::iter(freed).buffered(access::AT_ONCE);
    let mut failed = 0;
    while let Some((what, name, freed)) = freed.next().await {
        match freed {
            Ok(freed) => println!("{}{dry}", printable(&told(what, &name, &freed))),
            Err(why) => {
                failed += 1;
                eprintln!(
                    "{}",
                    printable(&format!("{name}: cannot be released: {why:#}"))
                );
            }
        }
    }
    if failed > 0 {
        bail!("{failed} of {} could not be released", all.len());
    }
    let key = keys::SKIP;
    println!(
        "{} released{dry}. Each carries {key}: \"true\" now, which kubectl annotate KIND/NAME --namespace NAMESPACE {key}- takes away; a hold does not come back.",
        counted(all.len(), "object")
    );
    Ok(ExitCode::SUCCESS)
}

/// The held objects to release, Jobs first: their pods are made anew. An error where the caller may not list one of the two kinds.
fn found(held: Held, namespace: Option<&str>) -> Result<Vec<(HeldKind, Value)>> {
    let mut all = Vec::new();
    for (what, found) in [(HeldKind::Job, held.jobs), (HeldKind::Pod, held.pods)] {
        match found {
            Lookup::Found(objects) => all.extend(objects.into_iter().map(|it| (what, it))),
            Lookup::NotFound => {}
            Lookup::Unavailable(why) => bail!(access::unread(why, "list", &what.kind(), namespace)),
        }
    }
    Ok(all)
}

/// The kind and name of a held object: `Pod shop/api-0`.
fn name(what: HeldKind, object: &Value) -> String {
    let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
    format!("{} {}/{}", what.word(), text("namespace"), text("name"))
}

fn told(what: HeldKind, name: &str, freed: &Freed) -> String {
    match freed {
        Freed::Now(_) if what == HeldKind::Job => {
            format!("{name}: resumed; the gates of its pods open")
        }
        Freed::Now(pod) => format!(
            "{name}: held no more; its gate opens{}",
            kept_by_others(pod).unwrap_or_default()
        ),
        Freed::Resumed => format!("{name}: somebody else has resumed it"),
        Freed::Gone => format!("{name}: gone"),
    }
}
