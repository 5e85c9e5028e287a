//! Reports each container: the entries that replace its loop, or the reason why the loop stays, and remarks.

use super::by_text;
use super::candidates;
use super::edits;
use super::forms::{self, EntryForms, Names};
use super::known::{Group, Known};
use super::list::Listed;
use super::outcome::ListEntry;
use super::reason::Reason;
use super::removed;
use super::report::{Report, Says};
use super::settle::Settled;
use super::survey::SeenContainer;
use super::switches::Switch;
use super::target::Target;
use super::traces;
use super::values::{ByValues, InValues};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The places of containers in the texts: the file, and the number of the line, from 0.
pub(super) type ContainerPlaces = BTreeSet<(PathBuf, usize)>;

/// Reports the rendered containers of all groups, and adds the changes that write their lists to the report. Returns the places of these
/// containers in the texts.
pub(super) fn of_groups(
    known: &Known<'_>,
    groups: &[Group],
    settled: &Settled,
    by_values: &ByValues,
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
        for index in &group.seen {
            let seen = &known.seen[*index];
            let (place, block) = known.place(seen);
            covered.extend(block);
            let in_values = by_values.get(&(at, seen.workload.1.clone()));
            let taken = match in_values {
                _ if list.is_some() => Taken::Yes,
                Some(InValues::Listed) => Taken::Yes,
                Some(InValues::Untrue) => Taken::Untrue,
                Some(InValues::Late) => Taken::Late,
                None if settled.late.contains(&at) => Taken::Late,
                None => match settled.varied.get(&at) {
                    Some(set) => Taken::Varied(*set),
                    None => Taken::No,
                },
            };
            let list = list.map_or(&[][..], Vec::as_slice);
            of_container(known, group, seen, &place, (taken, list), report);
        }
    }
    covered
}

/// Whether a workload gets a list, or why it gets none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Yes,
    No,
    /// The only list is one in the values, and with some values this list says something else than the loops.
    Untrue,
    /// No render was left to try a list.
    Late,
    /// A list says something else than the loops with other values or names: in the variation, a set of values, with this number.
    Varied(usize),
}

fn of_container(
    known: &Known<'_>,
    group: &Group,
    seen: &SeenContainer,
    place: &str,
    (taken, list): (Taken, &[Listed]),
    report: &mut Report,
) {
    // Only the address is missing here that the user has to give, so the container is reported as the set with marks shows it.
    if taken == Taken::Yes && known.is_said_with_values(seen) {
        return;
    }
    // A user sets no marks, so a set with marks can add a proposal, and no further reason why a loop stays.
    let is_marked = traces::follow(&known.sets[seen.set]) && known.is_in_plain_set(seen);
    if is_marked && !(taken == Taken::Yes && seen.is_listed()) {
        return;
    }
    let name = &known.name(seen);
    let objects = known.objects(seen.set);
    let mut entries = Vec::new();
    let mut itself = false;
    for (at, found) in seen.found.iter().enumerate() {
        let what = known.shown(&found.what, seen.set);
        match &found.target {
            Ok(Some(target)) if taken == Taken::Yes => {
                let entry = entry(known, group, (seen, at), target, list);
                let note = removed::note(target, &entry, objects, &known.missing);
                let consent = removed::consent(target, &entry);
                let leads = removed::leads(target, &entry, &seen.container);
                let path = removed::path(target, &entry, &found.what, objects);
                for note in [note, consent, leads, path].into_iter().flatten() {
                    let note = known.shown(&note, seen.set);
                    report.tell(place.to_owned(), name, Says::Note(note));
                }
                if !entries.contains(&entry.text) {
                    entries.push(entry.text);
                }
            }
            Ok(Some(target)) => {
                let entry = entry(known, group, (seen, at), target, list);
                let reason = match taken {
                    Taken::Late => Reason::Late(entry.text),
                    Taken::Untrue => Reason::Untrue(entry.text),
                    Taken::Varied(set) => Reason::Varied {
                        entry: entry.text,
                        values: known.changing(group, set),
                    },
                    Taken::Yes | Taken::No => why_not(known, group, entry.text),
                };
                let why = known.shown(&reason.to_string(), seen.set);
                report.tell(place.to_owned(), name, Says::Left(what, why));
            }
            Ok(None) => itself = true,
            Err(reason) => {
                let why = known.shown(&reason.to_string(), seen.set);
                let says = Says::Left(what, why);
                report.tell(place.to_owned(), name, says);
            }
        }
    }
    // The list may say an address in another form than the set with this container shows it.
    let is_listed = |it: &String| list.iter().any(|listed| listed.entry.text == *it);
    if entries.iter().any(is_listed) {
        entries.retain(is_listed);
    }
    if !entries.is_empty() {
        let (kind, workload) = &seen.workload;
        let workload = (kind.as_str(), workload.as_str());
        let stays = seen.found.iter().any(|it| it.target.is_err());
        let removed = if stays {
            Err("the loop stays for the rest".to_owned())
        } else if let Some(values) = with_more(known, group, seen) {
            Err(format!(
                "the loop stays: with {values} it waits for something that no list says"
            ))
        } else if let Some(values) = unknown(known, group) {
            Err(format!(
                "the loop stays: with {values} nothing tells what it waits for"
            ))
        } else {
            let removed = removed::of(seen, workload, objects);
            let removed = removed.replace(&seen.container.name, name);
            Ok(known.shown(&removed, seen.set))
        };
        report.replace(place, name, entries, removed);
    } else if itself && seen.found.iter().all(|it| it.target == Ok(None)) {
        report.tell(place.to_owned(), name, Says::Itself);
    } else if seen.found.is_empty() && seen.looks {
        report.tell(
            place.to_owned(),
            name,
            Says::Left(String::new(), Reason::Unread.to_string()),
        );
    }
}

/// The entry for the wait number `at` of a container, in the form that the proposed list has.
fn entry(
    known: &Known<'_>,
    group: &Group,
    (seen, at): (&SeenContainer, usize),
    target: &Target,
    list: &[Listed],
) -> ListEntry {
    if let Some(written) = known.written(seen, at, "") {
        let inner = written.within.last().and_then(|it| it.first());
        return ListEntry::new(match inner {
            Some(range) => format!("{{{{ {range} }}}} {} {{{{ end }}}}", written.text),
            None => written.text,
        });
    }
    let objects = known.objects(seen.set);
    let mut names = candidates::names(known.texts, known.folder, objects, target);
    let own = ["", "$"].map(|root| {
        let own = EntryForms::of(known, seen, at, target, root, &mut Names::new());
        let varied = forms::of_variations(known, group, (seen, at), root);
        own.all(known).into_iter().chain(varied)
    });
    let own = own.into_iter().flatten().map(|it| ListEntry {
        asks: target.asks,
        ..it
    });
    let mut forms = names.iter().cloned().chain(own);
    let is_listed = |it: &ListEntry| list.iter().any(|listed| listed.entry.text == it.text);
    if let Some(listed) = forms.find(is_listed) {
        return listed;
    }
    let first = names.swap_remove(0);
    let text = known.shown(&first.text, seen.set);
    ListEntry { text, ..first }
}

/// The values, in the form of `--set`, with which a container waits for something that the list does not say: a host that the user sets, or
/// another container of the pod. `None` where no such values were tried.
fn with_more(known: &Known<'_>, group: &Group, seen: &SeenContainer) -> Option<String> {
    let others = group.seen.iter().map(|at| &known.seen[*at]);
    let mut others = others.filter(|it| it.container.name == seen.container.name);
    // A container that lacks only the user's host waits for nothing that the list does not say.
    let is_more = |it: &SeenContainer| !it.is_listed() && !known.is_said_with_values(it);
    let other = others.find(|it| it.set != seen.set && is_more(it))?;
    let own = known.sets[other.set].iter().filter(|it| !it.follows());
    let pairs: Vec<String> = own.map(Switch::told).collect();
    if pairs.is_empty() {
        return Some("the chart's own values".to_owned());
    }
    Some(pairs.join(", "))
}

/// The values, in the form of `--set`, with which the waits of a group are unknown, because the chart does not render with them or was not
/// rendered. `None` where there are no such values.
fn unknown(known: &Known<'_>, group: &Group) -> Option<String> {
    let doubts = known.doubts(group);
    let pairs: Vec<String> = doubts.into_iter().map(Switch::told).collect();
    (!pairs.is_empty()).then(|| pairs.join(", "))
}

/// Reports the containers in the texts that no set of values renders, as far as they seem to wait; for none of them a list is proposed. `covered`
/// are the places of the rendered containers, and `broken` the templates that do not render, which are read as text.
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

/// The reason why a group gets no list although its waits have entries: it has one, its annotations have no place, or each list meant something
/// else.
fn why_not(known: &Known<'_>, group: &Group, entry: String) -> Reason {
    if known.is_listed(group) {
        return Reason::Listed;
    }
    let of_document = known.with_document(group, |_, document| {
        edits::annotate(known.texts, document, &[String::new()])
            .map(|_| Reason::Untrue(entry.clone()))
    });
    of_document.unwrap_or(Reason::Closed(entry))
}
