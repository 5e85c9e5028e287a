//! Writes the entries of waits with the values and the texts from which their addresses come.

use super::Known;
use crate::suggest::container::Container;
use crate::suggest::in_text::{self, Context};
use crate::suggest::outcome::Outcome;
use crate::suggest::places;
use crate::suggest::survey::SeenContainer;
use crate::suggest::target::Form;
use crate::suggest::texts::File;
use crate::suggest::traces::{self, NamedValues};
use crate::suggest::wait::Wait;
use crate::suggest::waits::Reading;

impl Known<'_> {
    /// The entry of the wait number `at`, whose address comes from values, with these values in it; `None` for any other wait, where no made-up
    /// address (mark) tells the values, or where the list cannot have the port as the text computes it.
    pub(in crate::suggest) fn written(
        &self,
        seen: &SeenContainer,
        at: usize,
        root: &str,
    ) -> Option<NamedValues> {
        let found = self.followed(seen, at, root)?;
        if !self.is_port_open(seen, at, &found.text) {
            return Some(found);
        }
        // A `range` sets the dot by which the text may name its values.
        let is_plain = found.within.is_empty();
        let port = self.in_text(seen, at, false, in_text::port_there);
        let text = with_port(&found.text, &port.filter(|_| is_plain)?)?;
        Some(NamedValues { text, ..found })
    }

    /// Whether the text of a wait computes the port that `found`, the entry of the wait, has as a number. Such a number is the port with
    /// the present values alone.
    pub(super) fn is_port_open(&self, seen: &SeenContainer, at: usize, found: &str) -> bool {
        let is_number = !found.rsplit(':').next().unwrap_or_default().contains("{{");
        let port = || self.in_text(seen, at, false, in_text::port);
        is_number && port().is_some_and(|it| it.contains("{{"))
    }

    /// The entry of the wait number `at`, whose address comes from values, with the values that made-up addresses (marks) show. The port may still be
    /// a plain number. `None` for any other wait, and where no set of values has marks that show the values.
    pub(super) fn followed(
        &self,
        seen: &SeenContainer,
        at: usize,
        root: &str,
    ) -> Option<NamedValues> {
        let text = address_of_values(seen, at)?;
        let written = |it: &SeenContainer| {
            let text = address_of_values(it, at)?;
            traces::written(text, &self.sets[it.set], self.texts, root)
        };
        // Another set with the same values of the user may follow this one.
        let by_twin = |seen: &SeenContainer| {
            let twins = self.with_other_marks(seen);
            let mut twins = twins.filter(|it| it.found.len() == seen.found.len());
            twins.find_map(written)
        };
        let by_alike = || {
            let is_alike = |it: &&SeenContainer| {
                it.is_the_same(seen)
                    && it.found.len() == seen.found.len()
                    && address_of_values(it, at) == Some(text)
            };
            self.seen.iter().filter(is_alike).find_map(by_twin)
        };
        written(seen)
            .or_else(|| by_twin(seen))
            .or_else(|| self.in_list(seen, text, root))
            .or_else(by_alike)
    }

    /// The entry of the address `text`, an element of a list in the chart's own values, for which another set has a made-up address (a mark) in the
    /// same place of the list. `None` where no other set has one.
    fn in_list(&self, seen: &SeenContainer, text: &str, root: &str) -> Option<NamedValues> {
        let mut all = self.with_other_marks(seen).flat_map(|twin| {
            let set = &self.sets[twin.set];
            let numbers = 0..twin.found.len();
            let addresses = numbers.filter_map(move |at| address_of_values(twin, at));
            addresses.map(move |it| (it, set))
        });
        let (marked, set) =
            all.find(|(it, set)| traces::with_own_elements(it, set).as_deref() == Some(text))?;
        traces::written(marked, set, self.texts, root)
    }

    /// The entry of the wait number `at`, with its target written as in the container's own text. `None` where that text stands in the chart's
    /// values, or yields no entry.
    pub(in crate::suggest) fn as_written(&self, seen: &SeenContainer, at: usize) -> Option<String> {
        let target = seen.found.get(at)?.target.as_ref().ok()?.as_ref()?;
        let is_ready = matches!(target.form, Form::Object { state: None, .. });
        if self.is_in_values(seen) {
            return None;
        }
        let is_pod = matches!(&target.form, Form::Object { kind, .. } if kind == "pod");
        if is_pod && target.namespace.is_none() {
            return self.in_text(seen, at, false, in_text::pod);
        }
        self.in_text(seen, at, false, |context, wait| {
            match context.resolve(wait) {
                // The text does not tell whether a Service is headless.
                Outcome::Entry(entry) if is_ready => {
                    Some(entry.text.trim_end_matches(":present").to_owned())
                }
                Outcome::Entry(entry) => Some(entry.text),
                _ => None,
            }
        })
    }

    /// The entry of the wait number `at` as an address that the gate tries, with the host and the port as the container's text writes them.
    /// `in_values`: that text has to stand in the chart's values, or else outside of them. `None` where it does not, or yields no such entry.
    pub(in crate::suggest) fn as_address(
        &self,
        seen: &SeenContainer,
        at: usize,
        in_values: bool,
    ) -> Option<String> {
        let is_there = self.is_in_values(seen) == in_values;
        let found = || self.in_text(seen, at, in_values, in_text::as_address);
        is_there.then(found).flatten()
    }

    /// Whether the text of a container stands in the chart's values.
    pub(in crate::suggest) fn is_in_values(&self, seen: &SeenContainer) -> bool {
        let place = self.place(seen).1;
        let file = place.and_then(|(path, _)| self.texts.file(&path));
        file.is_some_and(File::is_values)
    }

    /// The text of a container, with the helpers and the variables that it reads; empty where no text shows the container.
    pub(in crate::suggest) fn text_of(&self, seen: &SeenContainer) -> String {
        let place = self.place(seen).1;
        let found = place.and_then(|(path, line)| {
            let file = self.texts.file(&path)?;
            let block = file.blocks.iter().find(|it| it.first == line)?;
            let own = file.text_of(block);
            let variables = file.variables_of(&own);
            Some(self.texts.reach(&format!("{own}\n{variables}")))
        });
        found.unwrap_or_default()
    }

    /// The result of `resolve` for the wait number `at` in the text of the container. `in_values`: only a text that stands in the values counts.
    /// `None` where no text shows the container, where the text has another number of waits, or where `resolve` gives nothing.
    fn in_text(
        &self,
        seen: &SeenContainer,
        at: usize,
        in_values: bool,
        resolve: impl Fn(&Context<'_>, &Wait) -> Option<String>,
    ) -> Option<String> {
        let (path, line) = self.place(seen).1?;
        let file = self.texts.file(&path)?;
        let fits = !in_values || file.is_values();
        let number = seen.found.get(at)?.wait;
        let resolved = |(container, reading): (&Container, &Reading)| {
            let is_it = reading.waits.len() == seen.waits;
            let wait = reading.waits.get(number).filter(|_| is_it)?;
            let context = Context {
                masked: &file.template.masked,
                container,
                texts: self.texts,
                open: &[],
                text: &file.text,
                by_address: false,
                of_service: true,
            };
            resolve(&context, wait)
        };
        let mut variants = places::variants(file, line, &seen.container).into_iter();
        fits.then(|| variants.find_map(resolved)).flatten()
    }
}

/// The entry of the wait number `at` as rendered, where its target is an address that comes from values; `None` for any other wait.
fn address_of_values(seen: &SeenContainer, at: usize) -> Option<&str> {
    let target = seen.found.get(at)?.target.as_ref().ok()?.as_ref()?;
    let is_of_values = target.form == (Form::Address { of_values: true });
    is_of_values.then_some(target.name.as_str())
}

/// An entry with `port` in the place of its own port, which is a number. `None` for an entry without a port, or with another text as its port.
fn with_port(entry: &str, port: &str) -> Option<String> {
    let (before, behind) = entry.rsplit_once(':')?;
    let path = behind.trim_start_matches(|it: char| it.is_ascii_digit());
    (path.len() < behind.len()).then(|| format!("{before}:{port}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_put_in_the_place_of_a_number() {
        for (entry, expected) in [
            ("tcp://db:5432", Some("tcp://db:{{ .port }}")),
            ("http://api:80/ready", Some("http://api:{{ .port }}/ready")),
            ("dns://db", None),
        ] {
            let found = with_port(entry, "{{ .port }}");
            assert_eq!(found.as_deref(), expected, "{entry}");
        }
    }
}
