//! Reports each container: the entries that replace it, the reason why it stays, and remarks.

use super::by_text;
use super::candidates;
use super::edits;
use super::known::{Group, Known};
use super::reason::Reason;
use super::removed;
use super::settle::Settled;
use super::survey::{Found, SeenContainer};
use super::switches::Switch;
use super::told::{Report, Says};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The places of containers: file, and line from 0.
pub(super) type ContainerPlaces = BTreeSet<(PathBuf, usize)>;

/// Reports every rendered container, and returns the places of these containers in the texts.
pub(super) fn of_groups(
    known: &Known<'_>,
    groups: &[Group],
    settled: &Settled,
    by_values: &BTreeSet<usize>,
    report: &mut Report,
) -> ContainerPlaces {
    let mut covered = ContainerPlaces::new();
    for (at, group) in groups.iter().enumerate() {
        let list = settled.lists.get(&at);
        if let Some(list) = list {
            let edit = known.edit(group, list);
            report
                .edits
                .entry(known.folder.join(&group.source))
                .or_default()
                .extend(edit);
            report.proposed += list.len();
        }
        let is_taken = list.is_some() || by_values.contains(&at);
        for index in &group.seen {
            let seen = &known.seen[*index];
            let (place, block) = known.place(seen);
            covered.extend(block);
            let taken = match (is_taken, settled.late.contains(&at)) {
                (true, _) => Taken::Yes,
                (false, true) => Taken::Late,
                (false, false) => Taken::No,
            };
            of_container(known, group, seen, &place, taken, report);
        }
    }
    covered
}

/// Whether a group has got a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Yes,
    No,
    /// No time was left to try one.
    Late,
}

fn of_container(
    known: &Known<'_>,
    group: &Group,
    seen: &SeenContainer,
    place: &str,
    taken: Taken,
    report: &mut Report,
) {
    let name = &seen.container.name;
    let objects = known.objects(seen.set);
    let mut entries = Vec::new();
    let mut itself = false;
    for found in &seen.found {
        match &found.target {
            Ok(Some(target)) if taken == Taken::Yes => {
                let entry =
                    candidates::names(known.texts, known.folder, objects, target).swap_remove(0);
                if let Some(note) = removed::note(target, &entry, objects, &known.missing) {
                    report.tell(place.to_owned(), name, Says::Note(note));
                }
                entries.push(entry.text);
            }
            Ok(Some(target)) => {
                let entry =
                    candidates::names(known.texts, known.folder, objects, target).swap_remove(0);
                let reason = if taken == Taken::Late {
                    Reason::NoTime(entry.text)
                } else {
                    why_not(known, group, entry.text)
                };
                report.tell(
                    place.to_owned(),
                    name,
                    Says::Left(found.what.clone(), reason),
                );
            }
            Ok(None) => itself = true,
            Err(reason) => {
                let says = Says::Left(found.what.clone(), reason.clone());
                report.tell(place.to_owned(), name, says);
            }
        }
    }
    if !entries.is_empty() {
        let is_told = report.told.iter().any(|it| {
            it.place == place && it.container == *name && matches!(it.says, Says::Replaced { .. })
        });
        if !is_told {
            let (kind, workload) = &seen.workload;
            let workload = (kind.as_str(), workload.as_str());
            let stays = seen.found.iter().any(|it| it.target.is_err());
            let removed = if stays {
                "the loop stays for the rest".to_owned()
            } else if let Some(values) = with_more(known, group, seen) {
                format!("the loop stays: with {values} it waits for something that no list says")
            } else {
                removed::of(&seen.container, workload, objects)
            };
            report.tell(place.to_owned(), name, Says::Replaced { entries, removed });
        }
    } else if itself && seen.found.iter().all(|it| it.target == Ok(None)) {
        report.tell(place.to_owned(), name, Says::Itself);
    } else if seen.found.is_empty() && seen.looks {
        report.tell(
            place.to_owned(),
            name,
            Says::Left(String::new(), Reason::Unread),
        );
    }
}

/// The values, as `--set` takes them, with which a container waits for something that no list says: a host that the user has to
/// give, or a container of its own pod.
fn with_more(known: &Known<'_>, group: &Group, seen: &SeenContainer) -> Option<String> {
    let others = group.seen.iter().map(|at| &known.seen[*at]);
    let mut others = others.filter(|it| it.container.name == seen.container.name);
    let is_listed = |it: &Found| matches!(it.target, Ok(Some(_)));
    // Without the host a command may name nothing that can be read.
    let has_more = |it: &SeenContainer| it.found.is_empty() || !it.found.iter().all(is_listed);
    let other = others.find(|it| it.set != seen.set && has_more(it))?;
    let pairs: Vec<String> = known.sets[other.set].iter().map(Switch::pair).collect();
    if pairs.is_empty() {
        return Some("the chart's own values".to_owned());
    }
    Some(pairs.join(", "))
}

/// Reports the containers of the texts that no set of values renders.
pub(super) fn of_the_rest(
    known: &Known<'_>,
    covered: &ContainerPlaces,
    broken: &[PathBuf],
    report: &mut Report,
) {
    for file in &known.texts.files {
        let is_new = |line: &usize| !covered.contains(&(file.path.clone(), *line));
        if broken.contains(&file.path) {
            by_text::file(known.texts, file, report);
        } else {
            by_text::unrendered(known.texts, file, is_new, report);
        }
    }
}

/// The reason why a group has no list although entries for its waits exist.
fn why_not(known: &Known<'_>, group: &Group, entry: String) -> Reason {
    if known.is_listed(group) {
        return Reason::Listed;
    }
    let of_document = known.with_document(group, |_, document| {
        edits::annotate(document, &[String::new()]).map(|_| Reason::Untrue(entry.clone()))
    });
    of_document.unwrap_or(Reason::Closed(entry))
}
