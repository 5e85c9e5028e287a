//! Writes rendered texts and names for messages, without the texts that were made up to render the chart.

use super::{Group, Known};
use crate::suggest::mask;
use crate::suggest::release;
use crate::suggest::survey::SeenContainer;
use crate::suggest::switches::{self, Switch};
use crate::suggest::traces;

/// The most values that a message names.
const MOST_TOLD: usize = 3;

impl Known<'_> {
    /// The paths of the values in the variation number `set` with which the waits of a group change, for a message: those whose varied texts the
    /// waits show, or else those of all varied texts, or else those of the varied names; at most [`MOST_TOLD`].
    pub(in crate::suggest) fn changing(&self, group: &Group, set: usize) -> String {
        let own = group.varied.iter().map(|it| &self.seen[*it]);
        let found = own.filter(|it| it.set == set).flat_map(|it| &it.found);
        let targets = found.filter_map(|it| it.target.as_ref().ok()?.as_ref());
        let entries: Vec<String> = targets.map(|it| it.plain().text).collect();
        let varied = self.sets[set].iter().filter(|it| it.is_varied());
        let is_letter = |it: char| !it.is_ascii_alphanumeric();
        let is_shown = |it: &&Switch| {
            let mut entries = entries.iter();
            entries.any(|entry| match it.value.parse::<u64>() {
                Ok(_) => entry.split(is_letter).any(|word| word == it.value),
                Err(_) => entry.contains(&it.value),
            })
        };
        let (shown, others): (Vec<&Switch>, Vec<&Switch>) = varied.partition(is_shown);
        let (values, names): (Vec<&Switch>, Vec<&Switch>) =
            others.into_iter().partition(|it| it.is_text());
        let mut all = [shown, values, names].into_iter();
        let changing = all.find(|it| !it.is_empty()).unwrap_or_default();
        let paths = changing.iter().take(MOST_TOLD).map(|it| it.path.as_str());
        paths.collect::<Vec<_>>().join(" or ")
    }

    /// The name of a container for a message. The rendered name may come from an element of a made-up list; where the set has such a list, the
    /// name is as the container's text writes it.
    pub(in crate::suggest) fn name(&self, seen: &SeenContainer) -> String {
        let rendered = &seen.container.name;
        let has_list = self.sets[seen.set].iter().any(|it| it.list().is_some());
        let written = || {
            let (path, line) = self.place(seen).1?;
            let file = self.texts.file(&path)?;
            let block = file.blocks.iter().find(|it| it.first == line)?;
            let mut names = block.branches.iter().map(|it| &it.name);
            let name = names.find(|it| mask::is_masked(it))?;
            Some(file.template.masked.seen(name))
        };
        let written = has_list.then(written).flatten();
        written.unwrap_or_else(|| rendered.clone())
    }

    /// A text for a message. The names of values and helpers take the place of the texts that were made up for them.
    pub(in crate::suggest) fn shown(&self, text: &str, set: usize) -> String {
        let switches = &self.sets[set];
        let text = self.stubs.shown(&traces::shown(text, switches));
        let made_up = switches.iter().filter(|it| switches::is_made_up(&it.value));
        let text = made_up.fold(text, |text, it| {
            text.replace(&it.value, &format!("{{{{ .Values.{} }}}}", it.path))
        });
        release::shown(&text)
    }
}
