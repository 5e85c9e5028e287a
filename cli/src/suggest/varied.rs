//! Chooses the values and the names that change before a list is proposed. A literal in an entry may come from a value, or from a helper that
//! makes names. With another value, another override or another release the loop then waits for something else, and so must the list.

mod bases;
mod other_values;
mod values;

use super::release::RELEASE_NAME;
use super::render::ChartNames;
use super::switches::{Switch, Tested};
use super::texts::Texts;
use super::tried_sets::TriedSets;
use bases::{bases, literals};
use other_values::is_within;
use values::VariedValues;

/// The most sets of values that are rendered once more with other names and texts.
const MOST_BASES: usize = 5;
/// The most sub-charts whose names come into the name of a release.
const MOST_PARTS: usize = 3;
/// The longest name of a chart that comes into the name of a release. Helm takes 53 letters.
const LONGEST_CHART: usize = 40;
/// The most values that change at once.
const MOST_VALUES: usize = 40;
/// The number of the first mark that is a host; the marks that trace addresses back to values have lower numbers.
const FIRST: usize = 500;

/// A set of values that is rendered once more, with further switches.
#[derive(Debug, Clone)]
pub(super) struct Variation {
    /// The number of the set of values that the variation extends.
    pub(super) base: usize,
    pub(super) switches: Vec<Switch>,
}

impl Variation {
    /// The variation in two halves, for one that does not render; `None` where it has one switch alone.
    pub(super) fn halves(&self) -> Option<[Self; 2]> {
        let (first, second) = self.switches.split_at(self.switches.len() / 2);
        let half = |switches: &[Switch]| Self {
            base: self.base,
            switches: switches.to_vec(),
        };
        (!first.is_empty()).then(|| [half(first), half(second)])
    }
}

/// The variations of a chart: of the sets that show all waits, each with another release and other texts, with the names of the chart and of
/// its sub-charts overridden, and with a text in each empty value that names something. The second list has the numbers of the sets with
/// further entries, which are not varied.
pub(super) fn of(
    texts: &Texts,
    tried: &TriedSets<'_>,
    names: &ChartNames,
) -> (Vec<Variation>, Vec<usize>) {
    let values = VariedValues::of(texts, tried, names);
    let mut all = Vec::new();
    let mut bases = bases(tried);
    let others = bases.split_off(bases.len().min(MOST_BASES));
    for (number, base) in bases.into_iter().enumerate() {
        let literals = literals(tried, base);
        let set = &tried.sets[base];
        let is_free = |it: &Switch| set.iter().all(|own| own.path != it.path);
        let own = release(&names.chart).into_iter();
        let mut kinds = vec![
            own.chain(values.within(&literals)).collect(),
            overrides(texts, names, "fullnameOverride"),
        ];
        // A helper that follows one override follows the other, and a release of another name, so the first set shows enough of these.
        if number == 0 {
            kinds.push(overrides(texts, names, "nameOverride"));
            kinds.push(values.empty(texts, &tried.waiting()));
            let parts = names.parts.iter().filter(|it| **it != names.chart);
            let parts = parts.filter(|part| literals.iter().any(|it| is_within(it, part)));
            let releases = parts.filter_map(|it| release(it)).take(MOST_PARTS);
            kinds.extend(releases.map(|it| vec![it]));
        }
        for mut switches in kinds {
            switches.retain(is_free);
            all.extend(switches.chunks(MOST_VALUES).map(|it| Variation {
                base,
                switches: it.to_vec(),
            }));
        }
    }
    (all, others)
}

/// A release whose name has that of a chart in it: the usual helper for a name then leaves out the chart's. `None` where the chart's name is too
/// long or fits no release.
fn release(chart: &str) -> Option<Switch> {
    let is_letter = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    let is_fit = !chart.is_empty() && chart.len() < LONGEST_CHART && chart.chars().all(is_letter);
    is_fit.then(|| varied(RELEASE_NAME, format!("zq{chart}"), true))
}

/// The switches that override the names of the chart and of its sub-charts by `key`; empty where no template has that key.
fn overrides(texts: &Texts, names: &ChartNames, key: &str) -> Vec<Switch> {
    // The helper that reads an override may be in a library that stands elsewhere, and then the values have its key.
    if !texts.files.iter().any(|it| it.text.contains(key)) {
        return Vec::new();
    }
    let own = std::iter::once(key.to_owned());
    let of_parts = names.parts.iter().map(|it| format!("{it}.{key}"));
    let paths = own.chain(of_parts).enumerate();
    paths
        .map(|(number, path)| varied(&path, label(number), true))
        .collect()
}

fn varied(path: &str, value: String, is_name: bool) -> Switch {
    Switch {
        path: path.to_owned(),
        value,
        tested: Tested::Varied { is_name },
    }
}

/// A made-up text that may be a name, and that no other such text contains.
fn label(number: usize) -> String {
    format!("zqv{number}v")
}
