//! The forms of an entry: the texts by which a list in a template may name the target of a wait.

use super::candidates;
use super::known::{Group, Known};
use super::list::Listed;
use super::operands;
use super::outcome::ListEntry;
use super::survey::SeenContainer;
use super::switches::Switch;
use super::target::{Form, Target};
use super::traces::NamedValues;
use std::collections::BTreeMap;

/// The action for the number of the release's revision.
const REVISION: &str = ".Release.Revision";

/// The way in which an entry names its target, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// The entry has the host or the name as the container's own text writes it.
    AsWritten,
    /// The entry has the name that the target's own template writes.
    ByTemplate,
    /// The entry has the name by a helper that is called after the target.
    ByHelper,
    /// The entry has the rendered name, with the release's name in it as an action.
    ByRelease,
}

impl Way {
    /// This way, and then the next best ones, for a target that has no form in this way.
    fn with_next_best(self) -> &'static [Self] {
        use Way::{AsWritten, ByHelper, ByRelease, ByTemplate};
        match self {
            Self::AsWritten => &[AsWritten, ByHelper, ByTemplate, ByRelease],
            Self::ByTemplate => &[ByTemplate, AsWritten, ByHelper, ByRelease],
            Self::ByHelper => &[ByHelper, ByTemplate, AsWritten, ByRelease],
            // The name that the target's template writes follows the release, too.
            Self::ByRelease => &[ByTemplate, ByRelease],
        }
    }
}

/// The entries that name a target for a release of any name, by the target's rendered entry. Each target is looked up once, because the search
/// through the templates is slow.
pub(super) type Names = BTreeMap<String, Vec<ListEntry>>;

/// The entry that was chosen for each wait, by the number of the wait's container in [`Known::seen`], and the wait's number there.
pub(super) type ChosenForms = BTreeMap<(usize, usize), Listed>;

/// The forms of the entry of one wait: the template texts that may name its target in a list.
pub(super) struct EntryForms {
    /// The entry with the values from which the address comes; `None` where no values are known.
    of_values: Option<NamedValues>,
    /// The further forms, by the way in which they name the target. A target may lack some.
    of_ways: BTreeMap<Way, ListEntry>,
    /// Whether the address comes from a value, so that an entry without an action would hold with the present value alone.
    is_bound: bool,
    /// Whether the target's name has the number of the release's revision in it. Helm renders the first revision here, so that a rendered
    /// name would hold for that one alone.
    is_of_revision: bool,
}

impl EntryForms {
    /// The forms of the entry for the wait number `at` of a container, whose target is `target`. `root` stands in front of `.Values`: it is `$`
    /// where the dot is something else than the root.
    pub(super) fn of(
        known: &Known<'_>,
        seen: &SeenContainer,
        at: usize,
        target: &Target,
        root: &str,
        names: &mut Names,
    ) -> Self {
        let of_target = || {
            let objects = known.objects(seen.set);
            candidates::names(known.texts, known.folder, objects, target)
        };
        let names = names.entry(target.plain().text).or_insert_with(of_target);
        let text = match target.form {
            Form::Address { .. } => known.as_address(seen, at, false),
            _ => known.as_written(seen, at),
        };
        let from_root = |it: String| {
            if root.is_empty() {
                it
            } else {
                operands::from_root(&it)
            }
        };
        let dot = if root.is_empty() { "." } else { root };
        let changes = |it: &ListEntry| known.texts.reach(&it.text).contains(REVISION);
        let of_text = text.map(|it| ListEntry::new(from_root(it)));
        let of_template = names.first().filter(|_| names.len() > 1).cloned();
        let of_missing = || {
            let entry = candidates::by_missing_helper(known.texts, &known.stubs, target)?;
            Some(ListEntry {
                text: from_root(entry.text),
                ..entry
            })
        };
        let of_helper = candidates::by_helper(known.texts, target, dot).or_else(of_missing);
        let of_ways = [
            (Way::AsWritten, of_text),
            (Way::ByTemplate, of_template),
            (Way::ByHelper, of_helper),
            (Way::ByRelease, names.last().cloned()),
        ];
        let of_ways = of_ways.into_iter().filter_map(|it| Some((it.0, it.1?)));
        Self {
            of_values: known.written(seen, at, root),
            of_ways: of_ways.collect(),
            is_bound: target.form == (Form::Address { of_values: true }),
            is_of_revision: names.first().is_some_and(changes),
        }
    }

    /// The entry with the values from which the address comes; without these, the entry in one way, or else in the target's next best way.
    /// `None` where that entry would hold for the present values or the present revision alone.
    pub(super) fn in_way(&self, known: &Known<'_>, way: Way) -> Option<Listed> {
        let mut ways = way.with_next_best().iter();
        let mut formed = || ways.find_map(|it| self.of_ways.get(it)).cloned();
        let (entry, within) = match &self.of_values {
            Some(it) => (ListEntry::new(it.text.clone()), it.within.clone()),
            None => (formed()?, Vec::new()),
        };
        self.fits(known, &entry).then_some(Listed { entry, within })
    }

    /// All forms that follow the values and the revision which the target depends on, the best first. Empty where the address comes from the
    /// elements of a list, which stand in a `range`.
    pub(super) fn all(&self, known: &Known<'_>) -> Vec<ListEntry> {
        if self
            .of_values
            .as_ref()
            .is_some_and(|it| !it.within.is_empty())
        {
            return Vec::new();
        }
        let of_values = self.of_values.as_ref();
        let of_values = of_values.map(|it| ListEntry::new(it.text.clone()));
        let of_url = self.of_ways.get(&Way::AsWritten).and_then(host_of_url);
        let all = of_values
            .into_iter()
            .chain(self.of_ways.values().cloned())
            .chain(of_url);
        all.filter(|it| self.fits(known, it)).collect()
    }

    fn fits(&self, known: &Known<'_>, entry: &ListEntry) -> bool {
        let has_action = || entry.text.contains("{{");
        let changes = || known.texts.reach(&entry.text).contains(REVISION);
        (!self.is_bound || has_action()) && (!self.is_of_revision || changes())
    }
}

/// The entry whose name is the host of a URL, or of a host with a port, where one action writes all of it: `service/{{ include "shop.url" . }}`.
/// `None` for any other entry.
fn host_of_url(entry: &ListEntry) -> Option<ListEntry> {
    let (kind, action) = entry.text.split_once("{{ ")?;
    let (action, behind) = action.split_once(" }}")?;
    let is_whole = kind.ends_with("service/") && !behind.contains("{{") && !behind.contains('/');
    let host = r#"trimPrefix "http://" | trimPrefix "https://" | splitList ":" | first"#;
    is_whole.then(|| ListEntry::new(format!("{kind}{{{{ {action} | {host} }}}}{behind}")))
}

/// The entries of the wait number `at` of a container with the values that its target follows when they change: where the other text of a value
/// stands in the target's name, an action with that value takes its place. Empty for a container whose text stands in the chart's values.
pub(super) fn of_variations(
    known: &Known<'_>,
    group: &Group,
    (seen, at): (&SeenContainer, usize),
    root: &str,
) -> Vec<ListEntry> {
    // A template cannot follow what a user writes into the containers of the values.
    if known.is_in_values(seen) {
        return Vec::new();
    }
    // A value that the loop's own text does not name comes out of a helper, which may read another value in its place.
    let read = known.text_of(seen);
    let is_read = |it: &Switch| it.is_read_in(&read);
    let varied = group.varied.iter().map(|it| &known.seen[*it]);
    let own = varied.filter(|it| {
        known.varied.get(&it.set) == Some(&seen.set)
            && it.container.name == seen.container.name
            && it.found.len() == seen.found.len()
    });
    own.filter_map(|it| {
        let target = it.found[at].target.as_ref().ok()?.as_ref()?;
        let entry = target.plain();
        let mut text = entry
            .text
            .replace(known.release(it.set), "{{ .Release.Name }}");
        let before = text.clone();
        let values = known.sets[it.set].iter();
        for switch in values.filter(|it| it.is_varied() && it.value.len() > 3 && is_read(it)) {
            let action = format!("{{{{ {root}.Values.{} }}}}", switch.path);
            text = text.replace(&switch.value, &action);
        }
        (text != before).then_some(ListEntry { text, ..entry })
    })
    .collect()
}
